"""Real conversations: 80 of an airline agent, 30 of a shop's, each with what it came to (tau-bench, MIT).

Success is whether the database ended as it should. The numbers are those of docs/real-conversations.md.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from proctor import MISSING, ScorerRun, run_evals, run_evals_sync
from proctor.checks import no_tool_errors
from proctor.running.source import read_items
from tests.documents import commands, matches
from tests.real.conversations import (
    DOMAINS,
    Counts,
    changed_what_was_expected,
    changing_tools,
    counts_of,
    measured,
    path,
    rows,
    same_checks,
    with_own,
)
from tests.support import ROOT

DOCUMENT = ROOT / "docs" / "real-conversations.md"
OPENING = ("system", "user")

# Passed and success, passed and failure, missed and success, missed and failure.
COUNTS = {
    "airline": {
        "no_tool_errors()": Counts(30, 30, 7, 13),
        "no_tool_errors(text=False)": Counts(37, 43, 0, 0),
        "max_tool_calls(5)": Counts(26, 14, 11, 29),
        "max_tool_calls(10)": Counts(36, 33, 1, 10),
        "max_tool_calls(15)": Counts(37, 42, 0, 1),
        "called_tool, each expected tool": Counts(36, 29, 1, 14),
        "called_tool, each expected tool that changes something": Counts(37, 32, 0, 11),
        "did_not_call, every other tool that changes something": Counts(35, 28, 2, 15),
        "the last two together": Counts(35, 18, 2, 25),
        "tool_order, the expected tools": Counts(34, 25, 3, 18),
    },
    "retail": {
        "no_tool_errors()": Counts(6, 1, 14, 9),
        "no_tool_errors(text=False)": Counts(20, 10, 0, 0),
        "max_tool_calls(5)": Counts(4, 2, 16, 8),
        "max_tool_calls(10)": Counts(15, 8, 5, 2),
        "max_tool_calls(15)": Counts(20, 10, 0, 0),
        "called_tool, each expected tool": Counts(16, 6, 4, 4),
        "called_tool, each expected tool that changes something": Counts(19, 7, 1, 3),
        "did_not_call, every other tool that changes something": Counts(19, 7, 1, 3),
        "the last two together": Counts(18, 4, 2, 6),
        "tool_order, the expected tools": Counts(13, 4, 7, 6),
    },
}
# Messages in the file, messages once each result has joined its call, calls.
SIZES = {"airline": (1980, 1535, 445), "retail": (1006, 760, 246)}
REUSED_IDS = {"airline": 19, "retail": 0}


def calls_of(row):
    return [call for message in row["messages"] for call in message.get("tool_calls") or ()]


def runs(domain):
    """Each row with its conversation as scorers see it."""
    for row, item in zip(rows(domain), read_items(path(domain)).items, strict=True):
        yield row, ScorerRun(output=item.output, input=item.input)


@pytest.mark.parametrize("domain", DOMAINS)
def test_which_checks_agree_with_success(domain):
    assert measured(domain) == COUNTS[domain]


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_message_and_every_call_is_read(domain):
    found = [run for _, run in runs(domain)]
    written = sum(len(row["messages"]) for row in rows(domain))
    assert (written, sum(len(run.messages) for run in found), sum(len(run.tool_calls) for run in found)) == SIZES[
        domain
    ]


@pytest.mark.parametrize("domain", DOMAINS)
def test_results_join_their_calls_in_order_though_ids_repeat(domain):
    reused = 0
    for row, run in runs(domain):
        asked = calls_of(row)
        reused += len({call["id"] for call in asked}) < len(asked)
        said = [message["content"] for message in row["messages"] if message["role"] == "tool"]
        assert [call.name for call in run.tool_calls] == [call["function"]["name"] for call in asked]
        assert [call.result for call in run.tool_calls] == said
        assert all(call.result is not MISSING for call in run.tool_calls)
        assert all(call.state == "done" for call in run.tool_calls)
    assert reused == REUSED_IDS[domain]


@pytest.mark.parametrize("domain", DOMAINS)
def test_arguments_are_read_from_their_json(domain):
    assert all(isinstance(call.args, dict) for _, run in runs(domain) for call in run.tool_calls)


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_row_is_an_item(domain):
    """The opening is the input, the rest the output, and everything else about the row its metadata."""
    for row, item in zip(rows(domain), read_items(path(domain)).items, strict=True):
        messages = row["messages"]
        length = next(at for at, message in enumerate(messages) if message["role"] not in OPENING)
        assert item.id == row["id"]
        assert (item.input, item.output) == (messages[:length], messages[length:])
        assert item.output[0]["role"] == "assistant"
        assert item.metadata == {key: value for key, value in row.items() if key not in {"id", "messages"}}
        assert {"env", "reward", "success", "task_id", "expected_actions"} <= item.metadata.keys()


async def test_the_result_keeps_the_ids_and_the_order():
    result = await run_evals(data=str(path("airline")), gates=[no_tool_errors()], concurrency=8)
    assert [item.item_id for item in result.items] == [row["id"] for row in rows("airline")]
    assert (result.verdict, result.exit_code(), result.summary.items) == ("failed", 1, 80)


def test_a_miss_says_what_the_tool_said():
    result = run_evals_sync(data=path("airline"), scorers=[no_tool_errors()])
    missed = [item.scorers[0] for item in result.items if item.scorers[0].score == 0]
    assert len(missed) == 20
    assert all(re.search(r'of \d+ calls failed: .*\w+,? .*said "Error: \w+', outcome.reason) for outcome in missed)


# ── the command ────────────────────────────────────────────────────────────────────────────────────────────────────


def proctor(*arguments, cwd=ROOT):
    command = [Path(sys.executable).with_name("proctor"), *arguments]
    environment = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_command_measures_the_same(domain):
    """A mean between n/N and n/N is n of N."""
    bounds = {name: f"{counts.passed}/{counts.of}" for name, counts in same_checks(domain).items()}
    options = [f"--check={bound} <= {name} <= {bound}" for name, bound in bounds.items()]
    ended = proctor("score", path(domain), *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("dev.jsonl: PASSED")
    assert ended.stdout.count(f"{len(rows(domain))} of {len(rows(domain))}") == len(bounds)


def test_the_command_fails_by_a_gate_and_says_why():
    ended = proctor("score", path("airline"), "--gate", "no_tool_errors()", "--check", "max_tool_calls(15) >= 1")
    assert ended.returncode == 1
    assert "FAILED" in ended.stdout.splitlines()[0]
    assert "Error: payment" in ended.stdout


# ── the document ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_in_the_document_prints_what_it_says():
    block = re.search(r"```console\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    ((command, expected),) = commands(block[1])
    ended = proctor(*shlex.split(command)[1:], cwd=path("airline").parents[1])
    assert matches(expected, "\n".join(line.rstrip() for line in ended.stdout.rstrip().splitlines()))


def test_what_the_failures_did_that_pass_the_best_checks():
    """Those that the document speaks of: checks of names cannot see arguments, counts, or what was said."""
    assert failures_that_pass() == {"other arguments": 7, "other counts": 12, "the expected calls": 3}


def failures_that_pass():
    return Counter(
        compared_with_expected(row, changing_tools(domain))
        for domain in DOMAINS
        for row, passed in zip(rows(domain), with_own(domain, partial(changed_what_was_expected, domain)), strict=True)
        if passed and not row["success"]
    )


def compared_with_expected(row, changing):
    made = [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls_of(row)]
    asked = [(action["name"], action["arguments"]) for action in row["expected_actions"]]
    made, asked = ([call for call in calls if call[0] in changing] for calls in (made, asked))
    if sorted(name for name, _ in made) != sorted(name for name, _ in asked):
        return "other counts"
    return "the expected calls" if sorted(made, key=str) == sorted(asked, key=str) else "other arguments"


def table(domain):
    """The rows of the document's table for the domain, as what each check counts."""
    section = DOCUMENT.read_text(encoding="utf-8").partition(f"### {domain.capitalize()}")[2].partition("\n#")[0]
    lines = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    return {check: cells for check, *cells in lines[2:]}


def written(counts):
    return [str(counts.passed), *map(str, counts), f"{counts.agree} of {counts.of}"]


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_document_says_what_was_measured(domain):
    found = {name.replace("`", ""): cells for name, cells in table(domain).items()}
    assert found == {name: written(counts) for name, counts in measured(domain).items()}


def test_the_program_in_the_document_gives_its_numbers(monkeypatch):
    """It is run here, where the data is, since the document's other examples need none."""
    monkeypatch.chdir(path("airline").parents[1])
    program = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(compile(program[1], str(DOCUMENT), "exec"), names)  # noqa: S102 - our own document
    assert counts_of("airline", names["passed"]) == COUNTS["airline"]["the last two together"]
