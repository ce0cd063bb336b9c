"""`proctor run` and `proctor score` on some of the items, with other options, and into a JSON file."""

import json
import os
import signal
import textwrap

import pytest

from proctor.data.codec import loads
from tests.support import ROOT

TWO = """
    from pathlib import Path
    from proctor import Eval, checks

    def paid(text):
        with Path("asked").open("a") as file:
            file.write(text)
        return text

    first = Eval(data=[{"id": i, "input": i, "tags": [t]} for i, t in ("ax", "bx", "cy")], target=paid,
                 gates=[checks.includes("b")])
    second = Eval(data=[{"id": "d", "input": "d", "tags": ["z"]}], target=paid, gates=[checks.includes("d")])
"""
ROWS = """\
{"id": "a", "output": "x", "tags": ["s"]}
{"id": "b", "output": "y"}
{"id": "c", "output": "y", "tags": ["s"]}
"""


@pytest.fixture(autouse=True)
def files(tmp_path):
    (tmp_path / "two.py").write_text(textwrap.dedent(TWO))
    (tmp_path / "rows.jsonl").write_text(ROWS)


@pytest.fixture
def asked(tmp_path):
    """What the target was asked, in order."""
    return lambda: (tmp_path / "asked").read_text() if (tmp_path / "asked").exists() else ""


# ── which items, and how ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "items"),
    [
        (["--limit", "1"], "ad"),
        (["--limit", "9"], "abcd"),
        (["--filter", "id=[bd]"], "bd"),
        (["--filter", "id=b"], "b"),
        (["--filter", "tag=x", "--filter", "tag=z"], "abd"),
        (["--filter", "tag=x", "--filter", "id=[b-d]"], "b"),
        (["--filter", "tag=x", "--limit", "1"], "a"),
        (["--limit", "1", "--repeats", "3"], "aaaddd"),
    ],
    ids=str,
)
def test_some_items_of_every_eval(proctor, asked, options, items):
    assert proctor("run", "two.py", *options)[0] in {0, 1}
    assert asked() == items


def test_an_eval_of_which_nothing_is_left_is_left_out_and_told(proctor):
    code, out, err = proctor("run", "two.py", "--filter", "tag=z")
    assert code == 0
    assert out.startswith("second: PASSED")
    assert err == "Left out: two.py::first: data: no item has tag=z (of 3). Tags: x, y.\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--filter", "tag=n"], "Error: two.py::first: data: no item has tag=n (of 3). Tags: x, y.\n"),
        (["--filter", "tag=n"], "\ntwo.py::second: data: no item has tag=n (of 1). Tags: z.\n"),
        (["--filter", "tags=x"], "Error: no filter key 'tags'. Did you mean 'tag'?"),
        (["--filter", "x"], "Error: a filter is written id=GLOB or tag=NAME"),
        (["--limit", "0"], "'--limit'"),
        (["--limit", "-1"], "'--limit'"),
        (["--limit", "many"], "'--limit'"),
        (["--concurrency", "0"], "'--concurrency'"),
        (["--repeats", "0"], "'--repeats'"),
        (["--env-file", "none.env"], "Error: there is no file 'none.env'"),
        (["--json", "."], "Error: '.' is a folder"),
        (["--json", "no/out.json"], "Error: 'no/out.json' cannot be written: there is no folder"),
        (["--json", "two.py"], "Error: 'two.py' is read by this run"),
        (["--env-file", "asked.env", "--json", "asked.env"], "Error: 'asked.env' is read by this run"),
        (["--json", ""], "Error: "),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_told_before_anything_runs(proctor, asked, tmp_path, options, said):
    (tmp_path / "asked.env").touch()
    code, out, err = proctor("run", "two.py", *options)
    assert (code, out) == (2, "")
    assert said in err
    assert asked() == ""


def test_options_of_the_command_come_before_those_of_the_file(proctor, tmp_path):
    text = """
        import asyncio
        from proctor import Eval, checks

        together = asyncio.Barrier(3)

        async def meet(text):
            await asyncio.wait_for(together.wait(), 20)
            return text

        e = Eval(data=[{"input": "x"}], target=meet, gates=[checks.includes("x")], repeats=9, concurrency=1)
    """
    (tmp_path / "meet.py").write_text(textwrap.dedent(text))
    assert proctor("run", "meet.py", "--repeats", "3", "--concurrency", "3")[0] == 0


JUDGED = """
    from pathlib import Path
    from proctor import Eval, scorer
    from proctor.data.cached_call import CachedCall
    from proctor.judging.cache import answered
    from proctor.judging.request import CallRequest

    async def judge():
        with Path("asked").open("a") as file:
            file.write("j")
        return CachedCall(output=1.0)

    @scorer(inline=True, version="1", id="fair")
    async def fair(run):
        request = CallRequest(model="scripted:judge", messages=run.text, repeat=run.repeat)
        return (await answered(run.calls, request, call=judge)).call.output

    e = Eval(data=[{"input": "x"}], target=str.upper, scorers=[fair], repeats=2, store="runs.db")
"""


def test_no_cache_asks_judges_anew(proctor, tmp_path, asked):
    (tmp_path / "judged.py").write_text(textwrap.dedent(JUDGED))
    counts = []
    for options in ([], [], ["--no-cache"], ["--no-cache"], []):
        assert proctor("run", "judged.py", *options)[0] == 0
        counts.append(len(asked()))
    assert counts == [2, 2, 4, 6, 6]


@pytest.mark.parametrize(
    ("options", "code", "count"),
    [
        (["--limit", "1"], 0, "1 item,"),
        (["--filter", "id=[bc]"], 1, "2 items,"),
        (["--filter", "tag=s"], 1, "2 items,"),
        (["--filter", "tag=none"], 2, ""),
    ],
    ids=str,
)
def test_score_takes_some_items_too(proctor, options, code, count):
    got, out, err = proctor("score", "rows.jsonl", "--gate", 'includes("x")', *options)
    assert got == code
    assert count in out
    assert ("rows.jsonl: no item has tag=none (of 3). Tags: s." in err) == (code == 2)


# ── the environment ────────────────────────────────────────────────────────────────────────────────────────────────

ENV = """
    import os
    from proctor import Eval, checks

    e = Eval(data=[{"output": os.environ["PROCTOR_TEST_SETTING"]}], gates=[checks.equals("from the file")])
"""


@pytest.mark.parametrize(("before", "code"), [(None, 0), ("from before", 1), ("", 1)])
def test_settings_are_there_when_the_file_is_loaded_and_do_not_replace_any(
    proctor, tmp_path, monkeypatch, before, code
):
    monkeypatch.setenv("PROCTOR_TEST_SETTING", before or "")
    if before is None:
        monkeypatch.delenv("PROCTOR_TEST_SETTING")
    (tmp_path / "env.py").write_text(textwrap.dedent(ENV))
    (tmp_path / ".env").write_text("# for tests\nexport PROCTOR_TEST_SETTING='from the file'\n")
    assert proctor("run", "env.py", "--env-file", ".env")[0] == code


def test_every_bad_line_of_settings_is_told(proctor, tmp_path):
    (tmp_path / ".env").write_text("A=1\nsecret\n2=secret\n")
    code, _, err = proctor("run", "two.py", "--env-file", ".env")
    assert code == 2
    assert "2 problems in .env:\n  line 2: " in err
    assert "secret" not in err


# ── the JSON document ──────────────────────────────────────────────────────────────────────────────────────────────


def written(path):
    return loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("place", ["two.py::first", "two.py::second"])
def test_the_result_of_one_eval_is_the_document(proctor, tmp_path, place):
    code, out, err = proctor("run", place, "--json", "out.json")
    result = written(tmp_path / "out.json")
    assert err == ""
    assert out.rstrip("\n") == str(result)
    assert result.exit_code() == code
    assert result.items


def test_of_several_it_is_a_list(proctor, tmp_path):
    proctor("run", "two.py", "--json", "out.json")
    assert [result.name for result in written(tmp_path / "out.json")] == ["first", "second"]
    proctor("run", "two.py", "--json", "out.json", "--filter", "tag=z")  # however many have something left
    assert [result.name for result in written(tmp_path / "out.json")] == ["second"]


def test_score_writes_one_too(proctor, tmp_path):
    assert proctor("score", "rows.jsonl", "--gate", 'includes("x")', "--json", "out.json")[0] == 1
    assert written(tmp_path / "out.json").verdict == "failed"
    code, out, err = proctor("score", "rows.jsonl", "--gate", 'includes("x")', "--json", "rows.jsonl")
    assert (code, out) == (2, "")
    assert "is read by this run" in err
    assert (tmp_path / "rows.jsonl").read_text() == ROWS


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_on_standard_output_it_is_alone(start_proctor, tmp_path, encoding):
    text = """
        from proctor import Eval, checks

        def loud(text):
            print("printed by the target")
            return text

        print("printed by the file")
        e = Eval(data=[{"input": "\u6771\u4eac \\ud83d"}], target=loud, gates=[checks.includes("\u4eac")])
    """
    (tmp_path / "loud.py").write_text(textwrap.dedent(text), encoding="utf-8")
    process = start_proctor("run", "loud.py", "--json", "-", env=os.environ | {"PYTHONIOENCODING": encoding})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert loads(out.decode()).items[0].output == "\u6771\u4eac \ud83d"
    for part in (b"printed by the file\n", b"printed by the target\n", b"e: PASSED\n"):
        assert part in err


@pytest.mark.slow
def test_a_reader_that_has_gone_costs_nothing(start_proctor):
    process = start_proctor("run", ROOT / "examples/refunds.py", "--json", "-")
    process.stdout.close()
    assert process.wait(60) == 1
    assert b"planted mistakes: FAILED" in process.stderr.read()


def test_an_old_document_stays_until_there_is_a_new_one(proctor, tmp_path):
    (tmp_path / "out.json").write_text("old")
    assert proctor("run", "nowhere.py", "--json", "out.json")[0] == 2
    assert (tmp_path / "out.json").read_text() == "old"
    assert not list(tmp_path.glob(".*"))


def test_what_has_ended_is_written_when_a_later_one_breaks(proctor, tmp_path):
    text = """
        third = Eval(data=[{"input": "x"}], target=lambda text: 1 / 0, gates=[checks.includes("x")], on_error="raise")
    """
    with (tmp_path / "two.py").open("a") as file:
        file.write(textwrap.dedent(text))
    code, _, err = proctor("run", "two.py", "--json", "out.json")
    assert code == 4
    assert "ZeroDivisionError" in err
    assert [result.name for result in written(tmp_path / "out.json")] == ["first", "second"]


def test_a_document_that_cannot_be_written_at_the_end_is_an_error_below_the_table(proctor, tmp_path):
    text = """
        import os
        from proctor import Eval, checks

        os.mkdir("sub") if not os.path.exists("sub") else None
        e = Eval(data=[{"input": "x"}], target=lambda text: os.rmdir("sub") or text, gates=[checks.includes("x")])
    """
    (tmp_path / "gone.py").write_text(textwrap.dedent(text))
    (tmp_path / "sub").mkdir()
    code, out, err = proctor("run", "gone.py", "--json", "sub/out.json")
    assert code == 4
    assert out.startswith("e: PASSED")
    assert err == "Error: 'sub/out.json' could not be written: No such file or directory\n"


@pytest.mark.slow
def test_ctrl_c_ends_all_evals_and_what_was_done_is_written(start_proctor, tmp_path):
    text = """
        import asyncio
        from proctor import Eval, checks

        async def slow(text):
            if text == "b":
                print("began", flush=True)
                await asyncio.sleep(60)
            return text

        first = Eval(data=[{"id": i, "input": i} for i in "ab"], target=slow, gates=[checks.includes("a")])
        second = Eval(data=[{"input": "c"}], target=slow, gates=[checks.includes("c")])
        third = second
    """
    (tmp_path / "slow.py").write_text(textwrap.dedent(text))
    process = start_proctor("run", "slow.py", "--json", "out.json")
    assert process.stdout.readline() == b"began\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"second" not in out
    assert err == b"Not run: second\nStopped.\n"
    (result,) = written(tmp_path / "out.json")
    assert (result.name, result.status, len(result.items)) == ("first", "cancelled", 1)


def test_the_document_is_plain_json(proctor, tmp_path):
    proctor("run", "two.py::second", "--json", "out.json")
    document = json.loads((tmp_path / "out.json").read_bytes())
    assert document["schema"] == 1
    assert document["value"]["name"] == "second"
