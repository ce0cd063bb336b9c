"""`proctor run --dry-run`: what would be asked, and nothing done."""

import json

from tests.cli.judged_file import JUDGED


def test_it_says_what_would_be_asked_and_leaves_nothing_behind(keeping, write, tmp_path):
    code, out, err = keeping("run", write(JUDGED), "--dry-run")
    assert (code, err) == (0, "")
    desk, live = out.split("\n\n")
    assert desk.startswith(
        "desk: 4 items; dry run, nothing was asked\n"
        "  target: not asked: 4 of 4 items carry their output\n"
        "  fair, generate_score, test:judge: 4 calls, at most 8; about "
    )
    assert "(prices 1)" in desk
    assert "Rests on: tokens are estimated" in desk
    assert live.startswith(
        "live: 2 items, each run 2 times; dry run, nothing was asked\n"
        "  target: 4 calls; tokens and cost not known before\n"
    )
    assert "4 of the prompts assumed" in live
    assert "budget: 9,000 tokens" in live
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == ["evals.py"]


def test_the_options_of_a_run_count(keeping, write):
    options = ["--limit", "2", "--repeats", "3", "--budget", "2usd", "--dry-run"]
    code, out, _ = keeping("run", write(JUDGED) + "::desk", *options)
    assert (code, out.splitlines()[0]) == (0, "desk: 2 items, each run 3 times; dry run, nothing was asked")
    assert "fair, generate_score, test:judge: 6 calls, at most 12" in out
    assert "budget: $2.00" in out


def test_as_json_it_is_the_same(keeping, write, tmp_path):
    code, out, err = keeping("run", write(JUDGED) + "::desk", "--dry-run", "--json", "-")
    assert (code, "desk: 4 items" in err) == (0, True)
    estimate = json.loads(out)["value"]
    assert (estimate["name"], estimate["target_calls"], estimate["most"]["calls"]) == ("desk", 0, 8)
    assert estimate["judges"][0]["model"] == "test:judge"
    assert keeping("run", "evals.py", "--dry-run", "--json", "out.json")[0] == 0
    assert [each["name"] for each in json.loads((tmp_path / "out.json").read_text())["value"]] == ["desk", "live"]


def test_what_the_store_has_is_not_asked_again(keeping, write, tmp_path):
    path = write(JUDGED) + "::desk"
    assert keeping("run", path, "--limit", "3")[0] == 0
    out = keeping("run", path, "--dry-run")[1]
    assert "1 call, at most 2" in out
    assert "3 more are in the cache" in out
    assert "4 calls, at most 8" in keeping("run", path, "--dry-run", "--no-cache")[1]
    assert len((tmp_path / "calls").read_text().split()) == 3
    assert keeping("runs")[1].count("desk") == 1


def test_a_price_that_is_not_known_is_said_so(keeping, write):
    out = keeping("run", write(JUDGED.replace("price=PRICE, ", "")) + "::desk", "--dry-run")[1]
    assert "price not known" in " ".join(out.split())
    assert "$" not in out


def test_without_judges_there_is_little_to_say(keeping, write):
    path = write("desk = Eval(name='desk', data=[{'output': 'x'}], scorers=[checks.includes('x')])")
    code, out, _ = keeping("run", path, "--dry-run")
    assert (code, out.splitlines()[2:]) == (0, ["  judges: none"])


def test_a_mistake_is_told_as_by_a_run(keeping, write, monkeypatch):
    monkeypatch.delenv("PROCTOR_JUDGE_MODEL", raising=False)
    path = write(JUDGED.replace('Judge(model, instructions="Be exact.")', 'Judge(instructions="Be exact.")'))
    code, out, err = keeping("run", path, "--dry-run")
    assert (code, out) == (2, "")
    assert "no model" in err
    code, _, err = keeping("run", write(JUDGED) + "::desk", "--dry-run", "--filter", "id=x")
    assert (code, "no item has id=x" in err) == (2, True)


def test_a_store_that_cannot_be_read_is_told(keeping, write, tmp_path):
    (tmp_path / "notes.db").write_text("no database at all, only words " * 50)
    code, out, err = keeping("run", write(JUDGED) + "::desk", "--dry-run", "--store", "notes.db")
    assert (out, "notes.db" in err) == ("", True)
    assert code == keeping("run", "evals.py::desk", "--store", "notes.db")[0]


def test_of_a_model_that_the_price_list_does_not_know_a_guess_is_made(keeping, write, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    path = write(
        "from proctor import Judge, Prompt, create_scorer\n"
        "judge = Judge('openai:gpt-5-mnii', instructions='Judge.')\n"
        "s = create_scorer(id='s', judge=judge).generate_score(Prompt('p', create=lambda ctx: ctx.run.text))\n"
        "e = Eval(data=[{'output': 'x'}], scorers=[s])",
    )
    out = " ".join(keeping("run", path, "--dry-run")[1].split())
    assert "price not known (Did you mean 'gpt-5-mini'?)" in out
