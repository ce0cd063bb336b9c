"""`--budget`: a run ends when its models took so much, and goes on from there."""

import pytest

from tests.cli.judged_file import JUDGED


@pytest.fixture
def asked(tmp_path):
    """How often anybody was asked so far."""
    path = tmp_path / "calls"
    return lambda: len(path.read_text().split()) if path.exists() else 0


def test_a_run_ends_at_its_budget_and_goes_on(keeping, write, asked):
    code, out, err = keeping("run", write(JUDGED) + "::desk", "--budget", "1")
    assert (code, asked()) == (4, 2)
    assert "desk: NO VERDICT, stopped by budget: $1.00 are spent ($1.0000)" in out
    assert "2 of 4" in out
    assert "To go on with it: proctor resume " in err
    assert "broke" not in err
    code, out, _ = keeping("resume")
    assert (code, asked(), "desk: PASSED" in out) == (0, 4, True)


def test_going_on_keeps_to_the_budget_unless_another_is_given(keeping, write, asked):
    keeping("run", write(JUDGED) + "::desk", "--budget", "0.50usd")
    assert (keeping("resume")[0], asked()) == (4, 2)
    assert (keeping("resume", "--budget", "100")[0], asked()) == (0, 4)


def test_a_retry_has_it_too(keeping, write, asked):
    keeping("run", write(JUDGED) + "::desk", "--budget", "0.50")
    assert (keeping("retry", "--budget", "1")[0], asked()) == (4, 3)


def test_tokens(keeping, write, asked):
    code, out, _ = keeping("run", write(JUDGED) + "::desk", "--budget", "45tokens")
    assert (code, asked()) == (4, 3)
    assert "budget: 45 tokens are spent (45)" in out


def test_scoring_again_has_a_budget(keeping, write, asked):
    path = write(JUDGED)
    keeping("run", path + "::desk", "--limit", "1")
    assert asked() == 1
    keeping("run", path + "::live", "--limit", "2", "--no-cache", "--budget", "100")
    before = asked()
    other = write(JUDGED.replace("Be exact.", "Be kind."), name="other.py")
    code = keeping("rescore", "latest", "--scorers", other + "::live", "--budget", "0.50")[0]
    assert (code, asked() - before) == (4, 1)


@pytest.mark.parametrize("command", ["run evals.py", "resume", "retry", "rescore latest --scorers evals.py"])
def test_a_budget_that_cannot_be_read_is_told(keeping, write, asked, command):
    write(JUDGED)
    code, _, err = keeping(*command.split(), "--budget", "200k tokens")
    assert (code, asked()) == (2, 0)
    assert "'200k tokens' is no amount; write 5 or 0.50 (US dollars), 5usd, 200000tokens" in err


def test_saved_items_that_wait_for_a_judge_are_hinted_at(keeping, write):
    many = 'data=[{"id": str(n), "output": str(n)} for n in range(21)]'
    file = write(JUDGED.replace('data=[{"id": name, "output": name} for name in "abcd"]', many))
    err = keeping("run", f"{file}::desk", "--budget", "0.50")[2]
    assert "Hint: desk: 21 items, one at a time; --concurrency 8" in err
    assert "Hint" not in keeping("run", f"{file}::desk", "--concurrency", "2", "--budget", "0.50")[2]
