"""`proctor run`: the evaluations of a Python file."""

import pickle
import sys

import pytest

from proctor.running.eval_file import load_evals
from tests.support import ROOT

THREE = """
    def echo(text):
        return text

    good = Eval(data=[{"input": "Hello"}], target=echo, gates=[checks.includes("hello")])
    mean = Eval(name="half", data=[{"input": "a"}, {"input": "b"}], target=echo, scorers=[(checks.includes("a"), 0.9)])
    again = good
"""


def test_every_eval_of_a_file_runs_in_its_order(proctor, write):
    code, out, err = proctor("run", write(THREE))
    assert (code, err) == (3, "")
    heads = [line for line in out.splitlines() if line.endswith(("PASSED", "SCORED"))]
    assert heads == ["good: PASSED", "half: SCORED"]


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("mean", 3), ("half", 3)])
def test_one_eval_by_variable_or_name(proctor, write, name, code):
    got, out, _ = proctor("run", f"{write(THREE)}::{name}")
    assert got == code
    assert out.count("items") + out.count("1 item,") >= 1
    assert ("good" in out) == (name == "good")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("evals.py::god", "no Eval 'god'. Did you mean 'good'? (Looked in evals.py.)"),
        ("evals.py::", "say which one after ::"),
        ("evils.py", "there is no file 'evils.py'"),
        (".", "is no Python file"),
        ("evals.jsonl", "is no Python file"),
    ],
)
def test_what_is_not_there(proctor, write, tmp_path, place, said):
    write(THREE)
    (tmp_path / "evals.jsonl").touch()
    code, out, err = proctor("run", place)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_two_evals_of_one_name_are_told_apart_by_variable(proctor, write):
    path = write("""
        a = Eval(name="same", data=[{"output": "x"}], scorers=[checks.includes("x")])
        b = Eval(name="same", data=[{"output": "x"}], scorers=[checks.includes("x")])
    """)
    code, _, err = proctor("run", f"{path}::same")
    assert code == 2
    assert "use a variable: a, b" in err


def test_a_file_without_an_eval_says_how_to_write_one(proctor, write):
    code, out, err = proctor("run", write("evals = 1"))
    assert (code, out) == (2, "")
    assert "evals.py has no Eval to run" in err
    assert "= Eval(data=" in err


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("e = Eval(data=[{'output': 'x'}], gates=[checks.includes('y')])", 1),
        ("e = Eval(data=[{'output': 'x'}], scorers=[(checks.includes('y'), 1)])", 3),
        ("e = Eval(data=[{'input': 'x'}], target=lambda text: 1 / 0, gates=[checks.includes('y')])", 4),
        ("e = Eval(data=[{'output': 'x'}], gates=[scorer(id='no')(lambda run: not_scorable('cannot tell'))])", 4),
        ("e = Eval(data=[{'output': 'x'}], scorers=[scorer(id='no')(lambda run: not_scorable('cannot tell'))])", 0),
        ("e = Eval(data=[{'output': 'x'}], scorers=[scorer(id='no')(lambda run: 1 / 0)])", 4),
        ("e = Eval(data=[{'output': 'x'}])", 2),
        ("e = Eval(data=[], gates=[checks.includes('y')])", 2),
        ("e = Eval(data=[{'input': 'x'}], gates=[checks.includes('y')])", 2),
        ("e = Eval(data='nowhere.jsonl', gates=[checks.includes('y')])", 2),
        ("e = Eval(data=[{'input': 'x'}], target=3, gates=[checks.includes('y')])", 2),
    ],
)
def test_g01_each_way_to_fail_has_its_exit_code(proctor, write, text, code):
    got, _, err = proctor("run", write(text))
    assert got == code
    assert "Traceback" not in err


@pytest.mark.parametrize(("words", "code"), [("not-scorable", 4), ("error", 0), ("none", 0)])
def test_fail_on_says_what_counts(proctor, write, words, code):
    path = write("e = Eval(data=[{'output': 'x'}], scorers=[scorer(id='no')(lambda run: not_scorable('cannot tell'))])")
    ended, _, told = proctor("run", path, "--fail-on", words)
    assert ended == code
    assert ("Exit code 4: 1 outcome declined, which --fail-on not-scorable asks for" in told) is (code == 4)


@pytest.mark.parametrize(("kinds", "code"), [("T", 3), ("TE", 4), ("TEG", 1), ("GET", 1), ("OT", 3), ("O", 0)], ids=str)
def test_of_several_exit_codes_the_first_in_the_order_is_given(proctor, write, kinds, code):
    written = {
        "G": "Eval(data=[{'output': 'x'}], gates=[checks.includes('y')])",
        "T": "Eval(data=[{'output': 'x'}], scorers=[(checks.includes('y'), 1)])",
        "E": "Eval(data=[{'output': 'x'}], scorers=[scorer(id='no')(lambda run: 1 / 0)])",
        "O": "Eval(data=[{'output': 'x'}], scorers=[(checks.includes('x'), 1)])",
    }
    path = write("\n".join(f"e{place} = {written[kind]}" for place, kind in enumerate(kinds)))
    assert proctor("run", path)[0] == code


@pytest.mark.parametrize("name", ["", "::wrong", "::in words"], ids=["the file", "by variable", "by name"])
def test_an_eval_that_cannot_be_planned_is_named(proctor, write, name):
    path = write("wrong = Eval(name='in words', data=[{'inptu': 'x'}], target=str.title, gates=[checks.includes('x')])")
    code, out, err = proctor("run", path + name)
    assert (code, out) == (2, "")
    assert err.startswith("Error: evals.py::in words: 1 problem in data:\n  item 0: no field of an item 'inptu'.")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("data=[], gates=[checks.includes('x')]", "data: no items"),
        ("data=[{'output': 'x'}]", "nothing to score with"),
        ("data=[{'output': 'x'}], gates=[(checks.includes('x'), 0.5)]", "has a threshold"),
        ("data=[{'output': 'x'}], scorers=checks.includes('x')", "put it in a list"),
        ("data='nowhere.jsonl', gates=[checks.includes('x')]", "there is no file 'nowhere.jsonl'"),
        ("data=[{'input': 'x'}], target='no_such:thing', gates=[checks.includes('x')]", "cannot import no_such"),
        ("data=[{'output': 'x'}], gates=[checks.includes('x')], concurrency=0", "concurrency must be"),
        ("data=[{'output': 'x'}], gates=[checks.includes('x')], recorder=5", "recorder must have"),
    ],
)
def test_nothing_runs_when_a_later_eval_is_wrong(proctor, write, tmp_path, wrong, said):
    path = write(f"""
        from pathlib import Path

        def paid(text):
            Path("paid").touch()
            return text

        first = Eval(data=[{{"input": "x"}}], target=paid, gates=[checks.includes("x")])
        second = Eval({wrong})
    """)
    code, out, err = proctor("run", path)
    assert (code, out) == (2, "")
    assert err.startswith("Error: evals.py::second: ")
    assert said in err
    assert not (tmp_path / "paid").exists()
    assert proctor("run", f"{path}::first")[0] == 0


RECORDER = """
    from proctor import MemoryRecorder
    from proctor.errors import ProctorError, UsageError

    class Full(MemoryRecorder):
        async def {method}(self, *given):
            raise {error}

    e = Eval(data=[{{"output": "x"}}], gates=[{gate}], recorder=Full())
"""


@pytest.mark.parametrize("method", ["start", "put", "flush"])
@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param("OSError(28, 'No space left on device')", 4, id="OSError"),
        pytest.param("ConnectionError('database is gone')", 4, id="ConnectionError"),
        pytest.param("ProctorError('written by another version')", 4, id="ProctorError"),
        pytest.param("UsageError('another evaluation is in it')", 2, id="UsageError"),
    ],
)
def test_a_run_that_could_not_be_finished_has_an_exit_code(proctor, write, method, error, code):
    path = write(RECORDER.format(method=method, error=error, gate="checks.includes('x')"))
    got, out, err = proctor("run", path)
    assert (got, out) == (code, "")
    assert err.startswith("Error: ")
    assert error.split("'")[1] in err
    assert "Traceback" not in err


def test_so_has_one_whose_scorers_waited_at_the_same_time(proctor, write):
    waits = "*[scorer(id=name)(lambda run: 1) for name in ('a', 'b')]"
    path = write(RECORDER.format(method="put", error="OSError(28, 'No space left on device')", gate=waits))
    code, _, err = proctor("run", path)
    assert code == 4
    assert "No space left on device" in err


def test_a_run_that_ends_at_its_first_failure_has_that_exit_code_too(proctor, write):
    path = write("""
        def lost(text):
            raise ConnectionError("lost")

        e = Eval(data=[{"input": "x"}], target=lost, gates=[checks.includes("x")], on_error="raise")
    """)
    code, out, err = proctor("run", path)
    assert (code, out) == (4, "")
    assert "the target failed: ConnectionError: lost" in err
    assert "Traceback" not in err


# ── loading ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_does_not_load_shows_the_users_own_lines(proctor, write):
    path = write("""
        def make():
            return checks.includes("")

        e = make()
    """)
    code, out, err = proctor("run", path)
    assert (code, out) == (2, "")
    assert err.startswith("Error: evals.py cannot be loaded:\n\nTraceback (most recent call last):\n")
    assert err.count("  File ") == 2
    assert "proctor/checks" not in err
    assert "includes: expected is empty" in err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = (", "SyntaxError: '(' was never closed"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(3)", 'keep what runs it under if __name__ == "__main__":'),
        ("import json\njson.loads('{')", "JSONDecodeError"),
    ],
)
def test_whatever_goes_wrong_while_loading_is_a_usage_error(proctor, write, text, said):
    code, out, err = proctor("run", write(text))
    assert (code, out) == (2, "")
    assert said in err
    assert "importlib" not in err
    assert "/json/" not in err


def test_causes_are_shown_too(proctor, write):
    path = write("""
        try:
            int("x")
        except ValueError as error:
            raise RuntimeError("no settings") from error
    """)
    err = proctor("run", path)[2]
    assert "ValueError" in err
    assert "direct cause" in err
    assert "RuntimeError: no settings" in err


def test_the_folder_of_the_file_and_the_one_one_stands_in_can_be_imported_from(proctor, write):
    write("word = 'hello'", "sub/proctor_test_beside.py")
    write("word = 'hello'", "proctor_test_here.py")
    path = write(
        """
        import proctor_test_beside

        def target(text):
            import proctor_test_here  # later than the loading

            return proctor_test_beside.word + proctor_test_here.word

        e = Eval(data=[{"input": ""}], target=target, gates=[checks.includes("hellohello")])
        """,
        "sub/evals.py",
    )
    code, out, _ = proctor("run", path)
    assert code == 0, out


def test_what_the_file_defines_can_be_pickled(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / write("""
        from dataclasses import dataclass

        @dataclass
        class Case:
            text: str

        e = Eval(data=[{"input": Case("a"), "id": "a"}], target=str, scorers=[checks.includes("a")])
    """)
    case = load_evals(str(path))[0].data[0]["input"]
    assert pickle.loads(pickle.dumps(case)) == case  # noqa: S301 - our own bytes


def test_a_file_saved_twice_within_a_second_is_loaded_as_it_is_now(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("one", "two"):
        path = tmp_path / write(f"{name} = Eval(data=[{{'output': 'x'}}], gates=[checks.includes('x')])")
        assert [found.name for found in load_evals(str(path))] == [name]
    assert not list(tmp_path.glob("**/*.pyc"))


def test_two_files_of_one_name_do_not_meet(write, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = "def target(text): ...\ne = Eval(data=[{'input': 'x'}], target=target, gates=[checks.includes('x')])"
    first, second = (load_evals(str(tmp_path / write(text, name)))[0] for name in ("a/evals.py", "b/evals.py"))
    assert first.target.__module__ != second.target.__module__


def test_the_block_for_scripts_does_not_run(proctor, write):
    path = write("""
        e = Eval(data=[{"output": "x"}], gates=[checks.includes("x")])
        if __name__ == "__main__":
            raise RuntimeError
    """)
    assert proctor("run", path)[0] == 0


# ── hints, and what ends a program ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "hinted"),
    [
        ("data=[{'input': str(i)} for i in range(21)], target=str.title", True),
        ("data='rows.jsonl', target=str.title", True),
        ("data=[{'input': str(i)} for i in range(20)], target=str.title", False),
        ("data=[{'input': str(i)} for i in range(21)], target=str.title, concurrency=2", False),
        ("data=[{'output': str(i)} for i in range(21)]", False),
        ("data=({'input': str(i)} for i in range(21)), target=str.title", False),
    ],
)
def test_many_items_one_at_a_time_give_a_hint(proctor, write, tmp_path, options, hinted):
    (tmp_path / "rows.jsonl").write_text("\n".join(f'{{"input": "{i}"}}' for i in range(21)))
    err = proctor("run", write(f"e = Eval({options}, scorers=[checks.includes('1')])"))[2]
    assert ("Eval(..., concurrency=8)" in err) == hinted


def test_a_program_ended_by_its_own_code_is_no_success(proctor, write):
    path = write("""
        def rows():
            yield {"output": "x"}
            raise SystemExit(0)

        e = Eval(data=rows(), gates=[checks.includes("x")])
    """)
    code, _, err = proctor("run", path)
    assert code == 70
    assert "sys.exit(0)" in err


def test_the_bundled_example_shows_what_a_table_says(proctor):
    code, out, err = proctor("run", ROOT / "examples/refunds.py")
    assert (code, err) == (1, "")
    for part in ("planted mistakes: FAILED", "5 of 10", "5 declined", "MISSED", "met", "paid 90.00"):
        assert part in out
