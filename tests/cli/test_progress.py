"""How far a run is: what the lines say, and that they come to a terminal alone and leave nothing there."""

import os
import select
import signal
import subprocess
import sys
import textwrap

import pytest

from proctor.cli.progress import progress_text, shows_progress
from proctor.data.usage import Cost
from proctor.running.progress import Progress
from tests.cli.conftest import PROCTOR


def progress(total, in_flight=(), **counts):
    made = Progress(total)
    made.in_flight.update(in_flight)
    for name, count in counts.items():
        setattr(made, name, count)
    return made


@pytest.mark.parametrize(
    ("given", "seconds", "text"),
    [
        (progress(100), 0, "e  0/100"),
        (progress(100), 5, "e  0/100"),
        (progress(100, done=10), 5, "e  10/100  2.0/s  0:45 left"),
        (progress(100, done=1), 60, "e  1/100  1.0/min  1:39:00 left"),
        (progress(None, done=1000), 10, "e  1000  100/s"),
        (progress(100, done=100), 10, "e  100/100  10/s"),
        (
            progress(9, done=9, failed=1, errors=1, not_scorable=1),
            1,
            "e  9/9  1 failed  1 error  1 not scorable  9.0/s",
        ),
        (progress(9, done=9, errors=2), 1, "e  9/9  2 errors  9.0/s"),
        (progress(9, done=9, cost=Cost(amount=0.5)), 1, "e  9/9  9.0/s  0.5000 USD"),
        (progress(9, {"a": 0.0}, done=3), 3, "e  3/9  1.0/s  0:06 left"),
        (progress(8, {"new": 2.5, "b": 1.0, "a": 0.0}, done=3), 3, "e  3/8  1.0/s  0:05 left\n  a  3 s\n  b  2 s"),
        (progress(None, {"a": 0.0}, done=3), 3, "e  3  1.0/s"),
        (progress(1, {"x\x1b[31m\ny" + "z" * 50: 0.0}), 3, "e  0/1\n  x\\x1b[31m y" + "z" * 26 + "...  3 s"),
    ],
    ids=lambda value: "" if isinstance(value, Progress) else str(value),
)
def test_what_the_lines_say(given, seconds, text):
    assert progress_text(given, name="e", began=0.0, now=float(seconds)) == text


def test_a_name_is_one_line():
    assert progress_text(progress(1), name="in\nwords \x07", began=0.0, now=0.0) == "in words \\x07  0/1"


def test_where_there_is_no_terminal_nothing_is_made(capsys):
    with shows_progress("e", wanted=True)(progress(1)) as shown:
        assert shown is None
    assert capsys.readouterr() == ("", "")


def test_with_a_closed_error_stream_too(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with shows_progress("e", wanted=True)(progress(1)) as shown:
        assert shown is None


# ── on a terminal ──────────────────────────────────────────────────────────────────────────────────────────────────

SLOW = """
    import asyncio
    import sys
    from pathlib import Path
    from proctor import Eval, checks

    async def slow(text):
        print("said", text, "[red]:smile:", end="" if text == "5" else "\\n")
        if text == "2":
            raise ValueError("broken")
        while text == "3" and not Path("go").exists():
            await asyncio.sleep(0.05)
        return text

    slowly = Eval(data=[{"id": f"case-{n}", "input": str(n)} for n in range(6)], target=slow, concurrency=2,
                  gates=[checks.excludes("1")])
"""
ERASED = b"\r\x1b[1A\x1b[2K"


class Terminal:
    """A process on a terminal of its own, and what it shows there."""

    def __init__(self, folder, *arguments, stdout=None, **environment):
        pty = pytest.importorskip("pty")
        self.ours, theirs = pty.openpty()
        self.shown = b""
        self.process = subprocess.Popen(
            [PROCTOR, *arguments],
            stdin=theirs,
            stdout=theirs if stdout is None else stdout,
            stderr=theirs,
            cwd=folder,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "100", "NO_COLOR": "1"} | environment,
        )
        os.close(theirs)

    def until(self, text):
        """Reads until the text has come."""
        while text not in self.shown:
            assert select.select([self.ours], [], [], 30)[0], self.shown
            self.shown += os.read(self.ours, 65536)

    def end(self):
        """Reads to the end, and gives the exit code."""
        while True:
            try:
                more = os.read(self.ours, 65536)
            except OSError:  # how Linux says that nobody has it open any more
                more = b""
            if not more:
                break
            self.shown += more
        os.close(self.ours)
        return self.process.wait(30)


@pytest.fixture
def terminal(tmp_path):
    (tmp_path / "slow.py").write_text(textwrap.dedent(SLOW))
    started = []

    def start(*arguments, **options):
        started.append(Terminal(tmp_path, *arguments, **options))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.wait()


@pytest.mark.slow
def test_it_shows_what_goes_on_and_leaves_the_table_alone(terminal, tmp_path):
    shown = terminal("run", "slow.py")
    shown.until(b"slowly  5/6  1 failed  1 error  ")
    shown.until(b"\r\n  case-3  1 s")
    (tmp_path / "go").touch()
    assert shown.end() == 1
    live, _, table = shown.shown.rpartition(ERASED)
    assert b"slowly  6/6" in live
    assert live.count(b"\x1b[?25l") == live.count(b"\x1b[?25h") == 1  # the cursor is back
    assert table.startswith(b"slowly: FAILED\r\n")
    assert b"\x1b" not in table
    for number in range(6):
        assert b"said %d [red]:smile:\r\n" % number in live


@pytest.mark.slow
def test_ctrl_c_leaves_the_table_alone_too(terminal):
    shown = terminal("run", "slow.py")
    shown.until(b"\r\n  case-3  1 s")
    os.kill(shown.process.pid, signal.SIGINT)
    assert shown.end() == 130
    table = shown.shown.rpartition(ERASED)[2]
    assert table.startswith(b"slowly: FAILED, cancelled\r\n")
    assert table.endswith(b"\r\nStopped.\r\n")
    assert b"\x1b" not in table
    assert shown.shown.count(b"\x1b[?25h") == 1


@pytest.mark.slow
def test_so_does_ctrl_c_twice(terminal, tmp_path):
    text = """
        import asyncio
        from proctor import Eval, checks

        async def stubborn(text):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                print("not yet")
                await asyncio.sleep(60)

        e = Eval(data=[{"id": "case", "input": "x"}], target=stubborn, gates=[checks.includes("x")])
    """
    (tmp_path / "stubborn.py").write_text(textwrap.dedent(text))
    shown = terminal("run", "stubborn.py")
    shown.until(b"\r\n  case  1 s")
    os.kill(shown.process.pid, signal.SIGINT)
    shown.until(b"not yet\r\n")
    os.kill(shown.process.pid, signal.SIGINT)
    assert shown.end() == 130
    assert shown.shown.endswith(ERASED + b"\x1b[1A\x1b[2KStopped.\r\n")
    assert shown.shown.count(b"\x1b[?25h") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "environment"), [(["--no-progress"], {}), ([], {"TERM": "dumb"})], ids=["--no-progress", "dumb"]
)
def test_it_is_silent_when_told_so(terminal, tmp_path, arguments, environment):
    (tmp_path / "go").touch()
    shown = terminal("run", "slow.py", *arguments, **environment)
    assert shown.end() == 1
    assert b"\x1b" not in shown.shown
    assert b"/6" not in shown.shown


@pytest.mark.slow
def test_what_is_printed_goes_where_it_would(terminal, tmp_path):
    (tmp_path / "go").touch()
    with (tmp_path / "out").open("wb") as out:
        shown = terminal("run", "slow.py", stdout=out)
        assert shown.end() == 1
    printed = (tmp_path / "out").read_text()
    assert "said 0 [red]:smile:\n" in printed
    assert "slowly: FAILED\n" in printed
    assert b"slowly  6/6" in shown.shown
    assert b"said" not in shown.shown
    assert shown.shown.endswith(ERASED)


@pytest.mark.slow
def test_a_terminal_that_goes_away_does_not_end_the_run(terminal, tmp_path):
    with (tmp_path / "out").open("wb") as out:
        shown = terminal("run", "slow.py", "--json", "out.json", stdout=out)
        shown.until(b"case-3")
        os.close(shown.ours)
        (tmp_path / "go").touch()
        assert shown.process.wait(30) == 1
    assert "slowly: FAILED\n" in (tmp_path / "out").read_text()
    assert (tmp_path / "out.json").stat().st_size


@pytest.mark.slow
def test_score_shows_it_too(terminal, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"output": "x"}\n' * 9)
    shown = terminal("score", "rows.jsonl", "--gate", 'includes("x")')
    assert shown.end() == 0
    assert b"rows.jsonl  9/9" in shown.shown


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "score"])
def test_the_help_pages_do_not_load_it(name):
    code = "import sys; from proctor.cli.main import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run(
        [sys.executable, "-c", code, name, "--help"], capture_output=True, text=True, check=True
    ).stderr.split()
    assert not {"rich", "rich.live", "asyncio"} & set(loaded)
