"""That the judge of killed runs finds out what it is there to find."""

from dataclasses import replace

import pytest

from tests.storage.kills import calls_of, judge_calls, run_and_kill, serving, uninterrupted

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return uninterrupted(tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A run of which something was done before a kill, and something after."""
    folder = tmp_path_factory.mktemp("killed")
    with serving() as server:
        run = run_and_kill(server, f"jsonl:{folder / 'run.jsonl'}", folder, seed=0)
    assert {line[0] for line in run.lines if line[1] == "done"} == {0, 1}
    return run


def beginning_of(run, call):
    return next(line for line in run.lines if line[1:3] == ["begin", call])


def test_an_honest_run_passes(killed, whole):
    judge_calls(whole, whole)
    judge_calls(killed, whole)


def test_a_call_that_was_made_again_for_a_row_that_had_ended(killed, whole):
    done = next(line[2] for line in killed.lines if line[:2] == [0, "done"])
    call = next(line for line in killed.lines if line[1] == "begin" and line[3] == done)
    lines = [*killed.lines, [0, "begin", "0.1000", *call[3:]]]
    with pytest.raises(AssertionError, match="a row that had ended was done again"):
        judge_calls(replace(killed, lines=lines), whole)


def test_a_call_that_was_made_again_for_nothing_after_the_last_kill(killed, whole):
    lines = [*killed.lines, [1, "begin", "1.1000", "1.1000", "ask", "i0/0"]]
    with pytest.raises(AssertionError, match="the last sitting wasted"):
        judge_calls(replace(killed, lines=lines), whole)


def test_a_result_without_one_of_the_rows(killed, whole):
    result = replace(killed.result, items=killed.result.items[1:])
    with pytest.raises(AssertionError):
        judge_calls(replace(killed, result=result), whole)


def test_a_score_of_a_reply_that_is_not_the_rows(killed, whole):
    one, other, *rest = killed.result.items
    result = replace(killed.result, items=[replace(one, replies=other.replies), other, *rest])
    with pytest.raises(AssertionError):
        judge_calls(replace(killed, result=result), whole)


def test_a_result_of_calls_that_nobody_made(killed, whole):
    call = next(calls_of(killed.result.items[0]))
    lines = [line for line in killed.lines if line != beginning_of(killed, call)]
    with pytest.raises(AssertionError, match="no call made"):
        judge_calls(replace(killed, lines=lines), whole)
