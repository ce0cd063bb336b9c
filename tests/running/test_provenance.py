"""Where a run comes from (case Y07)."""

import asyncio
import json
from dataclasses import replace
from hashlib import sha256
from time import process_time

import pytest

from proctor import (
    Eval,
    EvalResult,
    Item,
    JsonlRecorder,
    Judge,
    MemoryRecorder,
    Prompt,
    Retry,
    Turn,
    checks,
    create_scorer,
    run_evals,
    run_evals_sync,
    scorer,
)
from proctor.running.choice import Choice, choose
from proctor.running.plan import make_plan
from proctor.running.provenance import as_shown, data_hash, provenance_of, scorer_shown
from proctor.running.source import DataFile
from proctor.testing import ScriptedAgent
from tests.running.graded import graded

HIDDEN = "[secret removed: hidden]"


def provenance(**options):
    given = {"data": [{"id": "a", "input": "x"}], "target": echo, "scorers": [graded()]}
    return provenance_of(make_plan(Eval(**{**given, **options})))


async def echo(given):
    return given


# ── a run ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_y07_a_recorded_run_says_where_it_comes_from(tmp_path, repository, kind):
    recorder = MemoryRecorder() if kind == "memory" else JsonlRecorder(tmp_path / "x.jsonl")
    result = await run_evals(
        target=echo,
        data=[{"id": "a", "input": "x"}, {"input": "y"}],
        gates=[checks.includes("x")],
        scorers=[(scorer(id="own", version="3")(lambda run: 1), 0.5)],
        target_options={"seed": 7, "api_key": "sk-1", "max_tokens": 5},
        repeats=2,
        recorder=recorder,
    )
    found = result.summary.provenance
    assert list(found) == [
        "proctor", "python", "platform", "packages", "git", "target", "scorers", "data", "options", "seeds",
    ]  # fmt: skip
    assert found["git"]["dirty"] is False
    assert found["target"]["name"] == f"{__name__}.echo"
    assert found["scorers"]["own"]["version"] == "3"
    assert list(found["scorers"]) == ["gate check-includes[x]", "own"]
    assert found["data"]["item_ids"] == ["a", result.items[-1].item_id]
    assert found["options"] == {
        "target_options": {"seed": 7, "api_key": HIDDEN, "max_tokens": 5},
        "repeats": 2,
    }
    assert found["seeds"] == {"target_options.seed": 7}
    assert EvalResult.from_json(result.to_json()) == result
    json.dumps(found, allow_nan=False)


async def test_without_a_recorder_nothing_is_asked():
    result = await run_evals(target=echo, data=[{"input": 1.0}], scorers=[graded()])
    assert result.summary.provenance == {}


def test_two_runs_of_the_same_come_from_the_same():
    assert provenance() == provenance()
    assert provenance(name="other", recorder=MemoryRecorder(), on_item_complete=print) == provenance()


async def test_the_loop_is_not_held(tmp_path, monkeypatch):
    """git is asked on a thread."""
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec sleep 0.3\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.01)

    counting = asyncio.create_task(count())
    await run_evals(target=echo, data=[{"input": 1.0}], scorers=[graded()], recorder=MemoryRecorder())
    counting.cancel()
    assert turns > 3


@pytest.mark.slow
def test_it_costs_little():
    data = [Item(f"What is the weather like in town {n}?", id=f"i{n}", ground_truth=f"{n}") for n in range(100_000)]
    plan = make_plan(Eval(data=data[:1000], target=echo, scorers=[graded()]))
    began = process_time()
    provenance_of(plan)
    few = process_time() - began
    began = process_time()
    data_hash(data)
    many = process_time() - began
    assert few < 0.3  # about a hundredth of a second
    assert many < 5  # about a third of a second


# ── the target ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Agent:
    def __init__(self, word):
        self.word = word

    async def generate(self, messages, **options):
        return self.word


def test_targets_have_a_name_and_a_fingerprint():
    assert provenance(target="json:dumps")["target"]["name"] == "json:dumps"
    agent = provenance(target=ScriptedAgent("ok"))["target"]
    assert agent == {"name": "proctor.testing.agent.ScriptedAgent", "fingerprint": "unknown"}
    assert provenance(target=Agent("a"))["target"] == provenance(target=Agent("b"))["target"]
    assert provenance(target=Agent("a"))["target"]["fingerprint"][0] == "~"
    assert provenance(target=str.upper)["target"]["name"] == "str.upper"
    assert provenance(target=None, data=[{"output": 1.0}])["target"] is None
    changed = provenance(target=lambda text: text + "!")["target"]
    assert changed["fingerprint"] not in (
        provenance(target=lambda text: text + "?")["target"]["fingerprint"],
        "unknown",
    )


def test_packages_are_those_that_the_target_is_made_of():
    import yaml
    from rich.console import Console

    class Agent(Console):
        async def reply(self, call):
            return yaml.safe_load(call.input)

    found = provenance(target=Agent())["packages"]
    assert "rich" in found
    assert not found.keys() & {"pyyaml", "pytest", "proctor"}


# ── the scorers ────────────────────────────────────────────────────────────────────────────────────────────────────


SETTINGS = {"temperature": 0, "extra_headers": {"api_key": "sk-1"}}


def judged(description="Is it kind?", instructions=None, **judge):
    return (
        create_scorer(id="kind", judge=Judge("m:1", instructions=instructions, settings=SETTINGS))
        .analyze(Prompt(description, output=dict, create=lambda ctx: "Say yes or no.", judge=Judge(**judge)))
        .generate_score(lambda ctx: 1)
    )


def test_y07_prompts_are_told_apart_by_a_hash():
    found = scorer_shown(judged())
    assert found["judges"] == {
        "analyze": {"model": "m:1", "settings": {"temperature": 0, "extra_headers": {"api_key": HIDDEN}}}
    }
    assert len(found["prompts"]["analyze"]) == 12
    assert scorer_shown(judged())["prompts"] == found["prompts"]
    others = [judged("Is it unkind?"), judged(instructions="Be strict."), judged(instructions="Be")]
    hashes = {scorer_shown(other)["prompts"]["analyze"] for other in others}
    assert len({*hashes, found["prompts"]["analyze"]}) == 4
    own = scorer_shown(judged(instructions="Be", model="m:2"))
    assert own["judges"]["analyze"]["model"] == "m:2"


def test_a_prompt_that_cannot_be_written_is_unknown():
    here = object()
    prompt = Prompt("Is it?", output=dict, create=lambda ctx: str(here))
    assert scorer_shown(create_scorer(id="s").analyze(prompt))["prompts"] == {"analyze": "unknown"}
    assert scorer_shown(checks.includes("x"))["prompts"] == {}


def test_scorers_of_items_and_turns_are_there():
    item = Item(turns=[Turn("a", gates=[checks.includes("a")]), Turn("b")], scorers=[checks.includes("b")])
    with pytest.warns(UserWarning, match="no memory"):
        found = provenance(data=[item], scorers=[])
    assert list(found["scorers"]) == ["check-includes[b]", "turn 0 gate check-includes[a]"]


# ── the data ───────────────────────────────────────────────────────────────────────────────────────────────────────

ITEM = Item("x", id="a", ground_truth="t", context=["c"], metadata={"m": 1})


def test_data_is_a_file_as_it_was_given_a_list_or_a_stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.jsonl").write_text('{"input": "x", "id": "a"}\n{"input": "y", "id": "b"}\n')
    file = provenance(data="data.jsonl")["data"]
    assert file == {"source": "data.jsonl", "hash": file["hash"], "items": 2, "item_ids": ["a", "b"]}
    assert provenance(data=tmp_path / "data.jsonl")["data"] == {**file, "source": f"{tmp_path}/data.jsonl"}
    given = [{"input": "x", "id": "a"}, {"input": "y", "id": "b"}]
    assert provenance(data=given)["data"] == {**file, "source": "list"}
    stream = provenance(data=iter(given))["data"]
    assert stream == {"source": "stream", "hash": None, "items": None, "item_ids": None}
    named = provenance(data=DataFile("data.jsonl", {"input": "input"}))["data"]
    assert named == {**file, "names": {"input": "input"}}


def test_of_chosen_data_it_is_those_that_were_chosen():
    data = [{"input": text, "id": text, "tags": ["t"]} for text in "abc"]
    whole = Eval(data=data, target=echo, scorers=[graded()])
    some = provenance_of(make_plan(choose(whole, Choice(ids=("[ab]",), limit=1))))["data"]
    assert (some["item_ids"], some["items"], some["choice"]) == (["a"], 1, {"ids": ["[ab]"], "limit": 1})
    assert some["hash"] == provenance(data=data[:1])["data"]["hash"]


def test_the_hash_is_of_what_is_seen_in_order():
    assert data_hash([ITEM]) == data_hash([replace(ITEM, id="b", tags=["new"], scorers=[graded()])])
    others = [
        [ITEM, ITEM], [], [replace(ITEM, input="y")], [replace(ITEM, ground_truth=None)], [replace(ITEM, context=None)],
        [replace(ITEM, metadata=None)], [replace(ITEM, request_context={"user": 1})], [ITEM, Item("x")],
        [Item("x"), ITEM], [Item(inputs=["a", "b"])], [Item(turns=[Turn("a"), Turn("b")])], [Item(1)], [Item(True)],
        [Item("x", output="o")],
    ]  # fmt: skip
    hashes = [data_hash(items) for items in [[ITEM], *others]]
    assert len(set(hashes)) == len(hashes)
    assert {len(made) for made in hashes} == {16}


def test_the_hash_is_that_of_the_items_canonical_text():
    texts = ['{"ground_truth":"t","input":"x"}', '{"input":{"a":1,"b":2}}']
    items = [Item("x", ground_truth="t"), Item({"b": 2, "a": 1})]
    assert data_hash(items) == sha256("".join(f"{text}," for text in texts).encode()).hexdigest()[:16]
    many = items * 700
    assert data_hash(many) == sha256("".join(f"{text}," for text in texts * 700).encode()).hexdigest()[:16]


@pytest.mark.parametrize("value", ["\ud800", {1: "a", None: "b"}, float("nan"), b"\xff", object(), lambda: 1])
def test_any_item_has_a_hash(value):
    found = data_hash([Item(value, id="a")])
    assert found == data_hash([Item(value, id="b")])
    assert len(found) == 16


def test_what_cannot_be_written_is_unknown():
    deep = []
    for _ in range(400):
        deep = [deep]
    assert data_hash([Item(deep, id="a")]) == "unknown"


# ── the options ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_options_are_those_that_differ_from_the_defaults():
    assert provenance()["options"] == {}
    found = provenance(
        retries=Retry(times=3, on=ConnectionError), concurrency=8, repeats=1, keep="failures", timeout=2.5
    )["options"]
    assert found == {
        "concurrency": 8,
        "keep": "failures",
        "timeout": 2.5,
        "retries": {
            "times": 3, "on": "builtins.ConnectionError", "first_wait": 1.0, "most_wait": 30.0, "jitter": 0.2,
        },
    }  # fmt: skip


def test_of_the_request_context_only_the_names_are_told():
    found = provenance(request_context={"user": "Ann", "token": "t", "seed": 5})
    assert found["options"] == {"request_context": {"keys": ["seed", "token", "user"]}}
    assert found["seeds"] == {"request_context.seed": 5}
    assert "Ann" not in json.dumps(found)


@pytest.mark.parametrize(
    ("options", "seeds"),
    [
        (
            {"seed": 1, "model_settings": {"seed": 2}},
            {"target_options.seed": 1, "target_options.model_settings.seed": 2},
        ),
        ({"seed": True}, {}),
        ({"seed": "1"}, {}),
        ({"model_settings": type("Settings", (), {"seed": 3})()}, {"target_options.model_settings.seed": 3}),
        ({"model_settings": None}, {}),
    ],
)
def test_seeds(options, seeds):
    assert provenance(target_options=options)["seeds"] == seeds


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"api_key": "a", "apiKey": "b", "X-API-Key": "c"}, {"api_key": HIDDEN, "apiKey": HIDDEN, "X-API-Key": HIDDEN}),
        ({"headers": {"Authorization": "x", "Accept": "*"}}, {"headers": {"Authorization": HIDDEN, "Accept": "*"}}),
        ({"auth": {"user": "u", "pass": "p"}, "secrets": ["a", b"b"]}, {"auth": HIDDEN, "secrets": HIDDEN}),
        ({"max_tokens": 100, "top_p": 0.5, "stream": True}, {"max_tokens": 100, "top_p": 0.5, "stream": True}),
        ({"url": "postgresql://me:pass@host/db"}, {"url": "postgresql://[secret removed: hidden]@host/db"}),
        (
            {"urls": ["http://me@host", "http://host/a@b"]},
            {"urls": ["http://[secret removed: hidden]@host", "http://host/a@b"]},
        ),
        ({1: (1, {2})}, {"1": [1, [2]]}),
        ({"client": object(), "data": b"x"}, {"client": "builtins.object", "data": "builtins.bytes"}),
        ([provenance, ValueError], [f"{__name__}.provenance", "builtins.ValueError"]),
    ],
)
def test_what_is_shown_of_a_value(value, shown):
    assert as_shown(value) == shown
    json.dumps(as_shown(value))


def test_of_a_value_that_is_too_deep_there_is_its_type():
    deep = []
    deep.append(deep)
    assert as_shown({"deep": deep}) == "builtins.dict"


def test_a_run_of_objects_that_are_not_data_is_recorded():
    class Odd:
        def __repr__(self):
            raise ValueError("no repr")

        def __eq__(self, other):
            raise ValueError("no equality")

        __hash__ = None

    result = run_evals_sync(
        target=echo,
        data=[{"id": "a", "input": Odd()}],
        scorers=[scorer(lambda run: 1, id="one")],
        target_options={"odd": Odd(), "model_settings": Odd()},
        recorder=MemoryRecorder(),
    )
    assert result.summary.provenance["options"]["target_options"]["odd"].endswith("Odd")
