"""Runs that the command line keeps: begun, gone on with, done again, scored again."""

import os
import re
import signal
import sqlite3
from pathlib import Path

import pytest

from tests.support import ROOT

PAID = """
    from pathlib import Path

    CALLS, BAD = Path(__file__).with_name("calls"), Path(__file__).with_name("bad")

    def paid(text):
        with CALLS.open("a") as file:
            file.write(text + "\\n")
        if BAD.exists() and text in BAD.read_text().split():
            raise ConnectionError("lost")
        return text

    desk = Eval(
        name="front desk",
        data=[{"id": name, "input": name, "tags": ["even"] * (name in "bd")} for name in "abcd"],
        target=paid,
        gates=[checks.excludes("b")],
        scorers=[(checks.includes("a"), 0.2)],
    )
"""


@pytest.fixture
def calls(tmp_path):
    """What the target was asked since this was last called."""

    def calls():
        path = tmp_path / "calls"
        lines = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    return calls


def without_store():
    return {name: value for name, value in os.environ.items() if name != "PROCTOR_STORE"}


def name_in(err):
    return re.search(r"\b[a-z]+-[a-z]+-\d+\b", err)[0]


# ── run and score ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_kept_under_a_name(keeping, write, tmp_path):
    code, out, err = keeping("run", write(PAID))
    assert code == 1
    assert err == f"Run {name_in(err)}, kept in .proctor/proctor.db\n"
    assert f", kept as {name_in(err)}\n" in out
    assert (tmp_path / ".proctor/.gitignore").read_text() == "*\n"
    assert name_in(err) in keeping("runs")[1]


def test_each_eval_of_a_file_is_a_run(keeping, write):
    path = write(PAID + "    again = Eval(data=[{'output': 'x'}], gates=[checks.includes('x')])\n")
    err = keeping("run", path)[2]
    assert len(set(re.findall(r"^Run (\S+), kept in", err, re.MULTILINE))) == 2


def test_a_score_is_kept_too(keeping):
    code, _, err = keeping("score", ROOT / "examples/refunds.jsonl", "--gate", "no_tool_errors()")
    assert code == 1
    assert "refunds.jsonl" in keeping("show", name_in(err))[1]
    code, _, err = keeping("resume")
    assert code == 2
    assert "run `proctor score` again" in err


@pytest.mark.parametrize("command", ["run", "score"])
def test_nothing_is_kept_where_that_is_not_wanted(keeping, write, tmp_path, command, monkeypatch):
    (tmp_path / "rows.jsonl").write_text('{"output": "x"}\n')
    what = ["run", write(PAID)] if command == "run" else ["score", "rows.jsonl", "--gate", 'includes("x")']
    assert keeping(*what, "--no-store")[2] == ""
    monkeypatch.setenv("PROCTOR_STORE", "none")
    assert keeping(*what)[2] == ""
    assert not (tmp_path / ".proctor").exists()


def test_another_place(keeping, write, tmp_path, monkeypatch):
    path = write(PAID)
    err = keeping("run", path, "--store", "one.db")[2]
    assert err.endswith(", kept in one.db\n")
    monkeypatch.setenv("PROCTOR_STORE", str(tmp_path / "two.db"))
    keeping("run", path)
    assert name_in(err) in keeping("runs", "--store", "one.db")[1]
    assert name_in(err) not in keeping("runs")[1]
    assert not (tmp_path / ".proctor").exists()


def test_an_eval_with_a_place_of_its_own_keeps_it(keeping, write, tmp_path):
    path = write("""
        from proctor import MemoryRecorder

        own = Eval(data=[{"output": "x"}], gates=[checks.includes("x")], recorder=MemoryRecorder())
        other = Eval(data=[{"output": "x"}], gates=[checks.includes("x")], store="own.db")
    """)
    code, _, err = keeping("run", path)
    assert code == 0
    assert err == f"Run {name_in(err)}, kept in own.db\n"
    assert name_in(err) in keeping("runs", "--store", "own.db")[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--store", "x.db", "--no-store"], "opposites"),
        (["--store", ""], "store is True"),
        (["--store", "mysql://here/x"], "no kind of database for store 'mysql'"),
        (["--store", "."], "is a folder"),
        (["--no-store", "--last-failed"], "looks into the store"),
    ],
)
def test_a_place_that_is_none(keeping, write, calls, options, said):
    code, out, err = keeping("run", write(PAID), *options)
    assert (code, out) == (2, "")
    assert said in err
    assert not calls()


def test_a_folder_that_cannot_be_made_is_told_before_anything_is_paid_for(keeping, write, tmp_path, calls):
    path = write(PAID)
    (tmp_path / ".proctor").write_text("no folder")
    code, out, err = keeping("run", path)
    assert (code, out) == (2, "")
    assert "the store '.proctor/proctor.db' cannot be opened" in err
    assert not calls()


def test_a_file_of_something_else_is_told_before_anything_is_paid_for(keeping, write, tmp_path, calls):
    (tmp_path / "x.db").write_text("no database" * 100)
    code, _, err = keeping("run", write(PAID), "--store", "x.db")
    assert code == 2
    assert "the store x.db cannot be opened" in err
    assert not calls()


def test_a_store_that_fails_while_a_run_goes_on(keeping, write, tmp_path):
    path = write("""
        import sqlite3

        def breaks(text):
            if text == "c":
                with sqlite3.connect("runs.db") as other:
                    other.execute("drop table proctor_outcome")
            return text

        e = Eval(data=[{"id": x, "input": x} for x in "abcdef"], target=breaks, gates=[checks.excludes("z")])
    """)
    code, out, err = keeping("run", path, "--store", "runs.db")
    assert (code, out) == (4, "")
    first, hint, error, *_ = err.splitlines()
    assert hint == f"What was done is kept. To go on with it: proctor resume {name_in(first)} --store runs.db"
    assert error.startswith("Error: the store runs.db cannot be written: ")


def test_a_disk_that_is_full(start_proctor, write, tmp_path):
    """Files of this process may not grow beyond a size: what a database is told is that of a full disk."""
    path = write("""
        import resource, time

        def big(text):
            time.sleep(0.005)  # what took time is committed before the next begins
            if text == "5":
                resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            return text * 100_000

        e = Eval(data=[{"id": str(x), "input": str(x)} for x in range(20)], target=big, gates=[checks.excludes("z")])
    """)
    process = start_proctor("run", path, env=os.environ | {"PROCTOR_STORE": "runs.db"})
    out, err = (text.decode() for text in process.communicate(timeout=30))
    assert (process.returncode, out) == (4, "")
    assert "cannot be written" in err
    assert "proctor resume" in err
    with sqlite3.connect(tmp_path / "runs.db") as database:
        assert database.execute("select count(*) from proctor_reply").fetchone()[0] >= 4


# ── resume ─────────────────────────────────────────────────────────────────────────────────────────────────────────

SLOW = """
    import asyncio
    from pathlib import Path

    HOLD = Path(__file__).with_name("hold")

    async def slow(text):
        with Path(__file__).with_name("calls").open("a") as file:
            file.write(text + "\\n")
        if HOLD.exists() and text == "c":
            await asyncio.sleep(0.3)  # what took no time is committed within a moment, not at once
            print("began", flush=True)
            await asyncio.sleep(60)
        return text

    desk = Eval(data=[{"id": x, "input": x, "tags": ["first"] * (x in "abcd")} for x in "abcdefgh"], target=slow,
                gates=[checks.excludes("z")])
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_a_run_that_broke_off_is_gone_on_with_as_it_began(keeping, start_proctor, write, calls, how):
    path = write(SLOW)
    hold = Path("hold")
    hold.touch()
    process = start_proctor("run", path, "--filter", "tag=first", "--repeats", "2", "--limit", "3", env=without_store())
    assert process.stdout.readline() == b"began\n"
    process.send_signal(how)
    out, err = (text.decode() for text in process.communicate(timeout=30))
    run = name_in(err)
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert f"To go on with it: proctor resume {run}\n" in err
        assert f"kept as {run}" in out
    assert calls() == ["a", "a", "b", "b", "c"]
    shown = keeping("show")[1]
    assert ("INTERRUPTED" in shown) == (how == signal.SIGKILL)
    hold.unlink()
    code, out, err = keeping("resume")
    assert (code, err) == (0, f"Going on with {run}, kept in .proctor/proctor.db\n")
    assert "6 of 6" in out
    assert calls() == ["c", "c"]
    assert keeping("resume", run)[0] == 0
    assert calls() == []


def test_from_another_folder(keeping, write, tmp_path, calls, monkeypatch):
    run = name_in(keeping("run", write(PAID), "--limit", "1")[2])
    calls()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    code, out, _ = keeping("resume", run, "--store", "../.proctor/proctor.db")
    assert code == 0
    assert "1 item, " in out
    assert not calls()


def test_the_settings_that_it_began_with_are_there_again(keeping, write, tmp_path, monkeypatch):
    monkeypatch.delenv("WORD", raising=False)
    path = write("""
        import os

        word = Eval(data=[{"id": "a", "input": "x"}], target=str.lower, gates=[checks.includes(os.environ["WORD"])])
    """)
    (tmp_path / "settings").write_text("WORD=x\n")
    assert keeping("run", path, "--env-file", "settings")[0] == 0
    monkeypatch.delenv("WORD")
    assert keeping("resume")[0] == 0


def test_what_has_changed_is_named_and_refused(keeping, write, calls):
    run = name_in(keeping("run", write(PAID))[2])
    calls()
    path = write(PAID.replace("return text\n", "return text.lower()\n"))
    code, out, err = keeping("resume", run)
    assert (code, out) == (2, "")
    assert "the target is another" in err
    assert "--allow-changes" in err
    assert not calls()
    assert keeping("resume", run, "--allow-changes")[0] == 1
    assert path


@pytest.mark.parametrize("command", ["resume", "retry", "show"])
def test_a_run_that_is_not_there(keeping, write, command):
    code, _, err = keeping(command, "calm-otter-42")
    assert code == 2
    assert "there is no store .proctor/proctor.db yet" in err
    run = name_in(keeping("run", write(PAID))[2])
    code, _, err = keeping(command, f"{run}0")
    assert code == 2
    assert f"Did you mean {run!r}?" in err


def test_an_eval_file_that_is_gone(keeping, write, tmp_path):
    path = write(PAID)
    keeping("run", path)
    (tmp_path / path).unlink()
    code, _, err = keeping("resume")
    assert code == 2
    assert "there is no file" in err


# ── retry ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_retry_does_again_what_broke(keeping, write, tmp_path, calls):
    (tmp_path / "bad").write_text("a c")
    run = name_in(keeping("run", write(PAID))[2])
    assert calls() == ["a", "b", "c", "d"]
    (tmp_path / "bad").unlink()
    keeping("resume", run)
    assert calls() == []
    code, out, err = keeping("retry", run)
    assert (code, err) == (1, f"Retrying what broke in {run}, kept in .proctor/proctor.db\n")
    assert "4 items, " in out
    assert "no reply" not in out
    assert calls() == ["a", "c"]


# ── rescore ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rescore_asks_no_target(keeping, write, calls, monkeypatch):
    run = name_in(keeping("run", write(PAID))[2])
    calls()
    strict = write(
        """
        strict = Eval(data=[], target=None, gates=[checks.excludes("c")], scorers=[checks.includes("d")])
        lax = Eval(data=[], scorers=[checks.includes("d")])
        """,
        "scorers.py",
    )
    code, out, err = keeping("rescore", run, "--scorers", f"{strict}::strict", "--repeats", "2")
    assert code == 1
    again = name_in(err.partition("run ")[2])
    assert again != run
    assert "8 of 8" in out
    assert not calls()
    monkeypatch.setenv("COLUMNS", "140")
    listed = keeping("runs")[1]
    assert f"{run} again: " in listed
    code, _, err = keeping("rescore", run, "--scorers", strict)
    assert code == 2
    assert "There are: strict, lax" in err
    code, _, err = keeping("resume", again)
    assert code == 2
    assert f"rescore {run} anew" in err


# ── what failed last time ──────────────────────────────────────────────────────────────────────────────────────────


def test_last_failed(keeping, write, tmp_path, calls):
    (tmp_path / "bad").write_text("c")
    path = write(PAID)
    code, _, err = keeping("run", path, "--last-failed")
    assert code == 1
    assert err.startswith("front desk: no earlier run is kept, so all of it is run\n")
    assert len(calls()) == 4
    (tmp_path / "bad").unlink()
    code, out, _ = keeping("run", path, "--last-failed", "--concurrency", "2")
    assert code == 1
    assert "3 items, " in out  # of b the gate fell short, of b and d the threshold; c broke
    assert sorted(calls()) == ["b", "c", "d"]
    code, out, _ = keeping("run", path, "--last-failed", "--filter", "id=b")
    assert calls() == ["b"]
    write(PAID.replace("excludes", "includes").replace('"a"), 0.2', '"b"), 0.2'))
    assert keeping("run", path, "--last-failed")[0] == 0
    assert calls() == ["b"]
    code, out, err = keeping("run", path, "--last-failed")
    assert (code, out) == (0, "")
    assert "front desk: nothing failed in its last run, " in err
    assert not calls()


def test_last_failed_holds_when_it_is_gone_on_with(keeping, write, calls):
    path = write(PAID)
    keeping("run", path)
    run = name_in(keeping("run", path, "--last-failed")[2])
    calls()
    out = keeping("resume", run)[1]
    assert "3 items, " in out
    assert not calls()


def test_the_help_loads_no_database(start_proctor):
    err = start_proctor("--help", env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"}).communicate(timeout=30)[1]
    assert b"proctor.cli.main" in err
    assert b"sqlalchemy" not in err
