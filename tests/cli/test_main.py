"""The command as a process: help, exit codes, encodings, pipes, Ctrl-C."""

import os
import re
import shlex
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from proctor.cli import main as main_module
from proctor.cli.main import COMMANDS, main
from tests.support import ROOT

PROCTOR = Path(sys.executable).with_name("proctor")
HELP_CPU_S = 0.150
RUNS = 5


def ended(process, timeout=30):
    out, err = process.communicate(timeout=timeout)
    return process.returncode, out, err


# ── help ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_help_names_every_command(proctor):
    code, out, err = proctor("--help")
    assert (code, err) == (0, "")
    for name, (_, summary) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(summary[:20])}", out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_page(proctor, name):
    code, out, err = proctor(name, "-h")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: proctor {name}")
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize("name", ["run", "score"])
def test_the_pages_of_what_decides_tell_the_exit_codes(proctor, name):
    out = proctor(name, "--help")[1]
    assert [int(code) for code in re.findall(r"^ {4,6}(\d+)  ", out, re.MULTILINE)] == [130, 2, 1, 4, 5, 6, 3, 0, 70]


@pytest.mark.parametrize("name", ["run", "score"])
def test_the_examples_of_the_pages_run(proctor, monkeypatch, tmp_path, name):
    out = proctor(name, "--help")[1].replace("\\\n", "")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.delenv("PROCTOR_STORE")
    examples = re.findall(rf"^ +proctor ({name} examples.*?)(?:   .*)?$", out, re.MULTILINE)
    assert examples
    for example in examples:
        code, _, err = proctor(*shlex.split(example))
        assert code in {0, 1, 3}, err


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), ([], 2), (["rum"], 2), (["run"], 2), (["--nonsense"], 2)]
)
def test_the_code_of_what_is_not_a_run(proctor, arguments, code):
    assert proctor(*arguments)[0] == code


def test_the_list_of_checks(proctor):
    code, out, _ = proctor("checks")
    assert code == 0
    assert (
        "called_tool(name, *, times=1, exactly=None, args=None, match='value')\n    1 when the tool was called at least"
        in out
    )


@pytest.mark.slow
def test_help_loads_none_of_the_engine():
    code = "import sys; from proctor.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr.split()
    assert not {"asyncio", "pydantic", "rich", "proctor.running", "proctor.data", "proctor.scoring"} & set(loaded)


@pytest.mark.slow
def test_help_is_quick():
    def cpu_s(*command):
        before = os.times()
        subprocess.run(command, capture_output=True, check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    bare = min(cpu_s(sys.executable, "-c", "") for _ in range(RUNS))
    assert min(cpu_s(PROCTOR, "--help") for _ in range(RUNS)) - bare <= HELP_CPU_S


def test_a_defect_has_its_own_code_and_a_traceback(proctor, monkeypatch):
    def broken():
        raise KeyError("inside")

    monkeypatch.setattr(main_module, "_app", broken)
    code, out, err = proctor("checks")
    assert (code, out) == (70, "")
    assert "KeyError: 'inside'" in err
    assert err.endswith("Error: this is a defect, in proctor or in code that it called\n")


def test_main_takes_the_arguments_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["proctor", "--version"])
    assert main() == 0
    assert re.fullmatch(r"proctor \d+\.\d+\.\d+\n", capsys.readouterr().out)


# ── as a process ───────────────────────────────────────────────────────────────────────────────────────────────────

ROW = '{"id": "\\u6771\\u4eac", "output": "\\u201cZa\\u017c\\u00f3\\u0142\\u0107\\u201d \\ud83d\\ude80 \\ud83d"}\n'


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8", "latin-1:strict"])
def test_u05_any_encoding_prints_with_replacements(start_proctor, tmp_path, encoding):
    (tmp_path / "rows.jsonl").write_text(ROW)
    arguments = ["score", "rows.jsonl", "--gate", 'includes("\u00e9 \u6771")']
    code, out, err = ended(start_proctor(*arguments, env=os.environ | {"PYTHONIOENCODING": encoding}))
    assert (code, err) == (1, b"")
    text = out.decode(encoding.partition(":")[0])
    assert "check-includes" in text
    assert ("?" in text) == (encoding != "utf-8")


def test_u05_errors_print_with_replacements_too(start_proctor, tmp_path):
    (tmp_path / "rows.jsonl").write_text(ROW)
    arguments = ["score", "rows.jsonl", "--gate", "\u6771\u4eac()"]
    code, _, err = ended(start_proctor(*arguments, env=os.environ | {"PYTHONIOENCODING": "cp1252"}))
    assert code == 2
    assert b"no check '??'" in err


@pytest.mark.parametrize("columns", ["40", "100"])
def test_u06_narrow_terminals_and_no_colour(start_proctor, columns):
    environment = os.environ | {"COLUMNS": columns, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    code, out, _ = ended(start_proctor("run", ROOT / "examples/refunds.py", env=environment))
    assert code == 1
    assert b"\x1b" not in out
    prose = [line for line in out.decode().splitlines() if not re.search(r"  (\d+ of \d+|scored) ", line)]
    assert max(map(len, prose)) <= int(columns)


@pytest.mark.parametrize(("no_colour", "coloured"), [("", True), ("1", False)])
def test_u06_on_a_terminal_the_verdict_is_coloured(start_proctor, no_colour, coloured):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = os.environ | {"NO_COLOR": no_colour, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(
        [PROCTOR, "run", ROOT / "examples/refunds.py"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while b" s\r\n" not in shown:
            shown += os.read(ours, 65536)
    finally:
        os.close(ours)
        assert process.wait(30) == 1
    assert (b"\x1b[1;31mFAILED\x1b[0m\r\n" in shown) == coloured


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["run", ROOT / "examples/refunds.py"], 1), (["checks"], 0), (["--help"], 0), (["score", "--help"], 0)],
)
def test_a_reader_that_has_gone_costs_neither_a_traceback_nor_the_code(start_proctor, arguments, code):
    process = start_proctor(*arguments)
    process.stdout.close()
    assert process.wait(30) == code
    assert process.stderr.read() == b""


@pytest.mark.slow
def test_a_closed_output_costs_nothing(tmp_path):
    command = f"exec {PROCTOR} run {ROOT / 'examples/refunds.py'} >&-"
    ran = subprocess.run(["sh", "-c", command], capture_output=True, cwd=tmp_path, check=False)
    assert (ran.returncode, ran.stderr) == (1, b"")


@pytest.mark.parametrize(
    "work", ["async def slow(text): began(); await asyncio.sleep(60)", "def slow(text): began(60)"]
)
def test_ctrl_c_ends_with_130(start_proctor, tmp_path, work):
    text = f"""
        import asyncio, time
        from proctor import Eval, checks

        def began(seconds=0):
            print("began", flush=True)
            time.sleep(seconds)

        {work}

        e = Eval(data=[{{"input": "x"}}], target=slow, gates=[checks.includes("x")])
    """
    (tmp_path / "slow.py").write_text(textwrap.dedent(text))
    process = start_proctor("run", "slow.py")
    assert process.stdout.readline() == b"began\n"
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process, timeout=10)
    assert (code, err) == (130, b"Stopped.\n")
    assert out.startswith(b"e: NO VERDICT, cancelled\n")
    assert b"\n0 of 1 item, " in out
