"""Case K06: what an agent is configured with, says and raises holds secrets; nothing that is written or shown does."""

import json
import subprocess
import sys
import warnings

import pytest

from proctor import EvalResult, Item, JsonlRecorder, create_scorer, run_evals, run_evals_sync
from tests.support import ROOT

SECRETS = {
    "header": "Hx4mK2vX9pLw4RtB",
    "key": "sk-proj-Kx7qT5nWbE3cYdA1",
    "cookie": "Cz1rN8sVjG6uMeQf",
    "password": "Pw2kD9hJzL5tBxSv",
    "query": "Qy3fR7gUiO0aZlXc",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4iLCJhZG1pbiI6dHJ1ZX0.Jv6wE4yTqN8mKpHs",
}
CONTEXT = {
    "headers": {"Authorization": f"Bearer {SECRETS['header']}", "Cookie": f"session={SECRETS['cookie']}"},
    "apiKey": SECRETS["key"],
    "pairs": [["Accept", "*/*"], ["Set-Cookie", SECRETS["cookie"]]],
    "database": f"postgresql://ann:{SECRETS['password']}@db.example.com/shop",
    "password": SECRETS["password"],
    "raw": f"authorization: bearer {SECRETS['header']}".encode(),
}
INPUT = f"Call https://api.example.com/v1?api_key={SECRETS['query']} with {SECRETS['jwt']}"
SAID = f"I used {SECRETS['key']} and Authorization: Bearer {SECRETS['header']} for it."


class Refused(Exception):
    """What the libraries of a service raise: they like to say all of it."""


def agent(question):
    if "raise" in question:
        request = {"url": question, **CONTEXT}
        raise Refused(f"401 for {request!r}; incorrect key provided: {SECRETS['key']}")
    return SAID


def breaks(run):
    raise Refused(f"the judge refused password={SECRETS['password']}")


SCORERS = [
    create_scorer(id="quotes", description="says what it saw")
    .generate_score(lambda run: 0.0)
    .generate_reason(lambda run: SAID),
    create_scorer(id="breaks", description="raises").generate_score(breaks),
]


def on_item_complete(result):
    raise Refused(f"token rejected: {SECRETS['jwt']}")


def options(**more):
    data = [Item(INPUT, id="says", request_context=CONTEXT), Item(f"raise {INPUT}", id="raises", metadata=CONTEXT)]
    return {"target": agent, "data": data, "scorers": [(scorer, 0.5) for scorer in SCORERS], **more}


def shows_none(text):
    return [name for name, secret in SECRETS.items() if secret in text] == []


@pytest.fixture
def result():
    return run_evals_sync(**options(name=f"with {SECRETS['key']}"))


def test_json_holds_none_and_reads_back(result):
    text = result.to_json()
    assert shows_none(text)
    assert text.count("[secret removed: ") > 10
    back = EvalResult.from_json(text)
    assert back.to_json() == text
    assert back.means == result.means
    assert back.items[0].replies[0].output == (
        "I used [secret removed: api key] and Authorization: [secret removed: authorization header] for it."
    )
    assert (
        back.items[0].item.request_context["database"]
        == "postgresql://ann:[secret removed: password]@db.example.com/shop"
    )
    assert result.items[0].replies[0].output == SAID  # in memory it is what it was


def test_no_way_of_showing_a_result_holds_one(result):
    shown = [str(result), repr(result), result._repr_html_(), str(result.failures()), repr(list(result.failures()))]
    shown += [failure.why for failure in result.failures()]
    assert shows_none("\n".join(shown))
    assert "secret removed" in str(result)
    assert "secret removed" in result._repr_html_()


def test_records_hold_none(result):
    assert shows_none(json.dumps(result.to_records()))


def test_failures_are_made_without(result):
    failures = [result.items[1].error, result.items[0].scorers["breaks"].error]
    for failure in failures:
        assert shows_none(failure.message + failure.traceback)
        assert "[secret removed: " in failure.message
    assert failures[0].traceback.startswith("Traceback")


async def test_a_recorders_file_holds_none_and_can_be_gone_on_from(tmp_path):
    path = tmp_path / "run.jsonl"
    await run_evals(**options(recorder=JsonlRecorder(path)))
    text = path.read_text()
    assert shows_none(text)
    assert SECRETS["header"].encode().hex() not in text
    asked = []

    def counts(question):
        asked.append(question)
        return SAID

    again = await run_evals(**options(recorder=JsonlRecorder(path, other_target="accept"), target=counts))
    assert asked == []  # that the rows are of the same items can be told without their secrets
    assert again.items[0].replies[0].output != SAID  # as it was written


def test_a_warning_holds_none():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = run_evals_sync(**options(on_item_complete=on_item_complete))
    assert any("on_item_complete raised" in str(warning.message) for warning in warned)
    assert shows_none("\n".join(str(warning.message) for warning in warned) + str(result.summary.notes))


FILE = """
from proctor import Eval
from tests.cases.test_secret_cases import SECRETS, options

desk = Eval(name="desk", **options())
"""
BROKEN = """
from tests.cases.test_secret_cases import SECRETS
raise RuntimeError("cannot log in with password=" + SECRETS["password"] + " and " + SECRETS["jwt"])
"""


@pytest.mark.slow
@pytest.mark.parametrize("source", [FILE, BROKEN])
def test_the_command_prints_and_writes_none(source, tmp_path):
    (tmp_path / "desk.py").write_text(source)
    command = [sys.executable, "-c", "import sys; from proctor.cli.main import main; sys.exit(main(sys.argv[1:]))"]
    ended = subprocess.run(
        [*command, "run", "desk.py", "--json", "out.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": ""},
    )
    out = tmp_path / "out.json"
    shown = ended.stdout + ended.stderr + (out.read_text() if out.exists() else "")
    assert "secret removed" in shown
    assert shows_none(shown)
