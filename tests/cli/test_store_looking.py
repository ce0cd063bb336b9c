"""Runs that are kept, looked at: lists, tables, single items, exports; and deleted."""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from proctor import checks, run_evals_sync
from proctor.cli.ago import ago, read_age
from proctor.cli.export import csv_lines
from proctor.data.codec import loads
from proctor.data.column import Column
from proctor.data.item import Item
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult
from proctor.data.result import EvalResult
from proctor.errors import UsageError

PROCTOR = Path(sys.executable).with_name("proctor")
DESK = """
    def answer(text):
        if text == "lost":
            raise ConnectionError("the line is dead")
        return [{"role": "assistant", "content": f"You said {text}.", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "look_up", "arguments": '{"what": 1}'}}]},
            {"role": "tool", "tool_call_id": "1", "content": "Error: nothing there"}]

    desk = Eval(
        name="front desk",
        data=[{"id": "one", "input": "good", "ground_truth": "fine"}, {"id": "two", "input": "bad"},
              {"id": "three", "input": "lost"}, {"input": "good, without an id"}],
        target=answer,
        gates=[checks.excludes("bad")],
        scorers=[(checks.includes("good"), 0.9)],
    )
"""


@pytest.fixture
def desk(keeping, write):
    """A run that is kept; gives its name."""
    return name_in(keeping("run", write(DESK))[2])


def name_in(err):
    return re.search(r"\b[a-z]+-[a-z]+-\d+\b", err)[0]


# ── runs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_list(keeping, desk, write):
    other = name_in(keeping("run", write("e = Eval(data=[{'output': 'x'}], gates=[checks.includes('x')])", "f.py"))[2])
    code, out, err = keeping("runs")
    assert (code, err) == (0, "")
    heads, first, second = out.splitlines()
    assert heads.split() == ["name", "eval", "began", "status", "verdict", "rows", "failures", "errors"]
    assert first.split() == [other, "e", "just", "now", "complete", "passed", "1", "0", "0"]
    assert second.split() == [desk, "front", "desk", "just", "now", "complete", "failed", "4", "2", "1"]
    assert keeping("runs", "--eval", "front desk")[1].splitlines()[1].split() == second.split()
    assert keeping("runs", "--eval", "nobody")[1] == "no runs of nobody\n"
    code, out, err = keeping("runs", "--limit", "1")
    assert (out.count("\n"), err) == (2, "There are more: --limit 4\n")


def test_the_list_as_json(keeping, desk):
    (found,) = json.loads(keeping("runs", "--json")[1])
    assert (found["name"], found["status"], found["failures"], found["options"]) == (desk, "complete", 2, {})
    assert found["source"].endswith("evals.py::desk")


@pytest.mark.parametrize("columns", ["40", "60", "100"])
def test_no_line_is_wider_than_the_terminal(keeping, desk, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    for command in (["runs"], ["show"], ["show", "--item", "two"]):
        out = keeping(*command)[1]
        assert desk in out or "two" in out
        assert max(len(line) for line in out.splitlines()) <= int(columns)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_any_encoding_prints_with_replacements(start_proctor, write, encoding):
    path = write("e = Eval(name='東京', data=[{'id': '東', 'output': '京'}], gates=[checks.includes('x')])")
    env = os.environ | {"PROCTOR_STORE": "runs.db", "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    start_proctor("run", path, env=env).wait(30)
    for command in (["runs"], ["show"], ["show", "--failed"], ["show", "--item", "#0"]):
        process = start_proctor(*command, env=env)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, b"")
        assert b"?" in out


# ── show ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", [None, "latest", "latest~0", "its name", "its id"])
def test_a_run_is_shown_again(keeping, write, name):
    ran = keeping("run", write(DESK))
    info = json.loads(keeping("runs", "--json")[1])[0]
    known = {None: [], "its name": [info["name"]], "its id": [info["eval_id"][:8]]}
    code, out, err = keeping("show", *known.get(name, [name]))
    assert (code, err) == (0, "")
    assert out == f"{ran[1]}{info['name']}: begun just now, of evals.py::desk\n"


def test_what_failed_in_it(keeping, desk):
    code, out, _ = keeping("show", desk, "--failed")
    assert code == 0
    assert [line for line in out.splitlines() if not line.startswith(" ")] == ["two", "three"]
    assert "  target: ConnectionError: the line is dead" in out


def test_nothing_failed(keeping, write):
    keeping("run", write("e = Eval(data=[{'output': 'x'}], gates=[checks.includes('x')])"))
    assert keeping("show", "--failed")[1] == "nothing failed\n"


def test_all_of_one_item(keeping, desk):
    code, out, _ = keeping("show", desk, "--item", "two")
    assert code == 0
    assert out.startswith("two: done\n\ngate check-excludes[bad]: scored 0\n")
    assert "\n\ninput: bad\n\nreply" in out
    assert '  look_up({"what": 1}), done\n    gave: Error: nothing there\n' in out
    assert "  assistant: You said bad.\n" in out
    out = keeping("show", desk, "--item", "three")[1]
    assert out.startswith("three: error\nerror: ConnectionError: the line is dead (")
    assert out.count("Traceback") == 1
    assert "not run: target failed" in out


def test_an_item_without_an_id_is_found_by_its_place(keeping, desk):
    out = keeping("show", "--item", "#3")[1]
    assert out.startswith('#3 "good, without an id": done\nid ')


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--item", "tow"], "no item of {desk} 'tow'. Did you mean 'two'?"),
        (["--item", "#9"], "no item of {desk} '#9'"),
        (["--item", "two", "--repeat", "1"], "no repeat of two in {desk} '1'. Known: 0."),
    ],
)
def test_an_item_that_is_not_there(keeping, desk, options, said):
    code, _, err = keeping("show", *options)
    assert code == 2
    assert said.format(desk=desk) in err


def test_as_json(keeping, desk):
    result = loads(keeping("show", "--json")[1])
    assert isinstance(result, EvalResult)
    assert [row.item_id for row in result.items][:3] == ["one", "two", "three"]
    row = loads(keeping("show", "--item", "two", "--json")[1])
    assert row == result.items[1]
    assert len(loads(keeping("show", "--failed", "--json")[1])) == 2


def interrupted(tmp_path):
    """As if the process of the last run had been killed before its end."""
    with sqlite3.connect(tmp_path / ".proctor/proctor.db") as database:
        database.execute("update proctor_eval set status = 'running', result = null, verdict = null, failures = null")
        database.execute("update proctor_sitting set status = 'running', pid = 999999999")


def test_a_run_that_did_not_end_is_shown_as_far_as_it_is(keeping, desk, tmp_path):
    interrupted(tmp_path)
    assert desk in keeping("runs")[1]
    assert "interrupted" in keeping("runs")[1]
    for options in ([], ["--failed"]):
        code, out, _ = keeping("show", *options)
        assert code == 0
        assert out.startswith("front desk: INTERRUPTED\n4 of 4 rows that were begun have ended\n")
        assert f"To go on with it: proctor resume {desk}" in out
        assert ("\none " in out) == (not options)
    assert json.loads(keeping("show", "--json")[1])["finished"] == 4
    code, _, err = keeping("export", desk)
    assert code == 2
    assert f"proctor resume {desk}" in err


def test_a_run_that_was_stopped_says_how_to_go_on(keeping, write):
    data = "[{'id': 'a', 'input': 'a'}, {'id': 'b', 'input': 'b'}]"
    keeping(
        "run",
        write(f"e = Eval(data={data}, target={{}}.__getitem__, scorers=[checks.includes('1')], stop_after_errors=1)"),
    )
    out = keeping("show")[1]
    assert "stopped by stop_after_errors=1" in out
    assert re.search(r"^To go on with it: proctor resume \S+$", out, re.MULTILINE)


def test_a_run_of_python_that_was_stopped_says_how_to_go_on_there(keeping, tmp_path):
    data = [Item("a"), Item("b")]
    result = run_evals_sync(
        data=data,
        target={}.__getitem__,
        scorers=[checks.includes("1")],
        stop_after_errors=1,
        store=tmp_path / "p.db",
    )
    assert f"in Python: resume('{result.run}', evaluation)\n" in keeping("show", "--store", "p.db")[1]


# ── export ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_json_lines(keeping, desk, tmp_path):
    code, out, _ = keeping("export", desk)
    assert code == 0
    rows = [loads(line) for line in out.splitlines()]
    assert [type(row) for row in rows] == [ItemResult] * 4
    assert rows[1].gates["check-excludes[bad]"].score == 0
    code, out, err = keeping("export", desk, "--format", "jsonl", "-o", "rows.jsonl")
    assert (code, out, err) == (0, "", f"{desk}: written to rows.jsonl\n")
    assert [loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()] == rows


def test_csv(keeping, desk):
    out = keeping("export", desk, "--format", "csv")[1]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["item_id"], row["column"], row["score"]) for row in rows][:4] == [
        ("one", "gate check-excludes[bad]", "1.0"),
        ("one", "check-includes[good]", "1.0"),
        ("two", "gate check-excludes[bad]", "0.0"),
        ("two", "check-includes[good]", "0.0"),
    ]
    assert [row["not_run"] for row in rows if row["item_id"] == "three"] == ["target_failed"] * 2


@pytest.mark.parametrize(
    ("text", "written"),
    [("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\tx", "'\tx"), ("\rx", "'\rx"), ("x=1", "x=1")],
)
def test_no_cell_is_a_formula_for_spreadsheets(text, written):
    outcome = Outcome(Column("scorer", None, "k", "k"), "scored", score=-1.0, reason=text)
    row = ItemResult(item=Item(id=text), item_id=text, scorers=(outcome,))
    lines = b"".join(csv_lines(EvalResult(eval_id="e", items=[row]))).decode()
    (found,) = csv.DictReader(io.StringIO(lines, newline=""))
    assert (found["item_id"], found["reason"], found["score"]) == (written, written, "-1.0")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "xlsx"], "no --format 'xlsx'"),
        (["-o", "nowhere/rows.csv"], "there is no folder"),
        (["-o", "."], "is a folder"),
    ],
)
def test_an_export_that_cannot_be_written(keeping, desk, options, said):
    code, out, err = keeping("export", desk, *options)
    assert (code, out) == (2, "")
    assert said in err


def test_a_reader_that_has_gone_costs_nothing(start_proctor, keeping, desk, tmp_path):
    process = start_proctor("export", desk, env=os.environ | {"PROCTOR_STORE": str(tmp_path / ".proctor/proctor.db")})
    process.stdout.close()
    assert process.wait(30) == 0
    assert process.stderr.read() == b""


# ── delete and prune ───────────────────────────────────────────────────────────────────────────────────────────────


def test_delete(keeping, desk):
    code, out, _ = keeping("delete", desk)
    assert (code, out) == (0, f"Deleted {desk} of front desk, begun just now: 4 rows\n")
    assert keeping("runs")[1] == "no runs\n"
    code, _, err = keeping("delete", desk)
    assert code == 2
    assert f"no run {desk!r}" in err


@pytest.mark.parametrize(("answer", "left"), [("y\n", "no runs\n"), ("n\n", "front desk")])
def test_at_a_terminal_one_is_asked(keeping, desk, tmp_path, answer, left):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROCTOR, "delete", "latest", "--store", ".proctor/proctor.db"],
        cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, answer.encode())
    shown = b""
    try:
        while b"eleted" not in shown.partition(b"?")[2]:
            shown += os.read(ours, 65536)
        assert process.wait(30) == 0
    finally:
        os.close(ours)
    assert f"Delete {desk} of front desk, begun just now, 4 rows? [y/N]".encode() in shown
    assert left in keeping("runs")[1]


def test_a_run_that_goes_on_is_not_deleted(keeping, desk, tmp_path):
    with sqlite3.connect(tmp_path / ".proctor/proctor.db") as database:
        database.execute("update proctor_eval set status = 'running'")
        database.execute("update proctor_sitting set status = 'running', pid = ?", [os.getppid()])
    code, _, err = keeping("delete", desk)
    assert code == 2
    assert "is being run" in err
    assert "No run began" in keeping("prune", "--older-than", "0min")[1]
    assert keeping("delete", desk, "--force")[0] == 0


def test_prune(keeping, desk, write, tmp_path):
    long_ago = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    with sqlite3.connect(tmp_path / ".proctor/proctor.db") as database:
        database.execute("update proctor_eval set started_at = ?", [long_ago])
    new = name_in(keeping("run", "evals.py")[2])
    assert "1 mo ago" in keeping("runs")[1]
    assert keeping("prune", "--older-than", "60d")[1] == "No run began longer ago than 60d.\n"
    assert keeping("prune", "--older-than", "30d", "--dry-run")[1] == f"Would be deleted:\n  {desk}\n1 run, 4 rows\n"
    assert keeping("prune", "--older-than", "30d", "--yes")[1] == "Deleted 1 run: 4 rows\n"
    left = keeping("runs")[1]
    assert new in left
    assert desk not in left


@pytest.mark.parametrize("text", ["", "30", "d", "30 years", "-3d", "1e3d"])
def test_an_age_that_is_none(text):
    with pytest.raises(UsageError, match="an age is a number and min, h, d or w"):
        read_age(text)


@pytest.mark.parametrize(
    ("hours", "said"), [(0, "just now"), (-1, "just now"), (1.5, "1 h ago"), (50, "2 d ago"), (9000, "1 y ago")]
)
def test_how_long_ago(hours, said):
    now = datetime.now(UTC)
    assert ago((now - timedelta(hours=hours)).isoformat(), now=now) == said


# ── PostgreSQL ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_in_postgres(keeping, write, postgres_url, monkeypatch):
    monkeypatch.setenv("PROCTOR_STORE", postgres_url)
    ran = keeping("run", write(DESK))
    run = name_in(ran[2])
    assert postgres_url.partition("@")[0].rpartition(":")[2] not in ran[2]
    assert keeping("show", run)[1].startswith(ran[1])
    assert run in keeping("runs")[1]
    assert keeping("run", "evals.py", "--last-failed")[1].count("2 items, ") == 1
    assert len(keeping("export", run)[1].splitlines()) == 4
    assert keeping("retry", run)[0] == ran[0]
    assert keeping("delete", run)[0] == 0
