import asyncio
import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from proctor import checks, create_scorer, run_evals, run_evals_sync
from proctor.data.codec import dumps, loads
from proctor.errors import TargetError
from proctor.scoring.failure import failure_from


def raised(error):
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001
        return caught


class Unreadable(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class Unprintable(Exception):
    __notes__ = 5  # what `traceback` cannot go through

    def __str__(self):
        raise RuntimeError("no words")


def test_it_says_what_and_where():
    failure = failure_from(raised(ValueError("bad")), step="analyze", completed_steps=["preprocess"])
    assert (failure.type, failure.message, failure.code) == ("ValueError", "bad", None)
    assert (failure.step, failure.completed_steps) == ("analyze", ("preprocess",))
    assert "ValueError: bad" in failure.traceback


HERE = Path(__file__).name


def raises_itself():
    raise ValueError


def calls_python():
    return json.loads("{")


def calls_a_package():
    return TypeAdapter(int).validate_python("x")


async def waits_too_long():
    async with asyncio.timeout(0):
        await asyncio.sleep(60)


async def gives_a_bad_callback():
    return sorted([1, 2], key=lambda value: raises_itself())


@pytest.mark.parametrize(
    ("function", "line"),
    [
        pytest.param(raises_itself, raises_itself.__code__.co_firstlineno + 1, id="its own line"),
        pytest.param(calls_python, calls_python.__code__.co_firstlineno + 1, id="in Python's library"),
        pytest.param(calls_a_package, calls_a_package.__code__.co_firstlineno + 1, id="in a package"),
        pytest.param(waits_too_long, waits_too_long.__code__.co_firstlineno + 1, id="in asyncio"),
        pytest.param(gives_a_bad_callback, raises_itself.__code__.co_firstlineno + 1, id="called back"),
    ],
)
async def test_its_place_is_the_users_own_line(function, line):
    async def decide(ctx):
        made = function()
        return await made if asyncio.iscoroutine(made) else made

    for step in (decide, lambda ctx: asyncio.run(decide(ctx))):
        outcome = (await run_evals(data=[{"output": 1}], scorers=[create_scorer(id="s").generate_score(step)])).items[0]
        assert outcome.scorers[0].error.place == f"{HERE}:{line}"


def test_an_error_that_never_left_our_own_code_has_no_place():
    result = run_evals_sync(data=[{"output": None}], scorers=[checks.includes("x")])
    assert result.items[0].scorers[0].error.place is None


def test_an_error_of_ours_keeps_its_code():
    assert failure_from(raised(TargetError("x")), code="OTHER").code == TargetError.code
    assert failure_from(raised(ValueError("x")), code="OTHER").code == "OTHER"


def test_an_error_without_a_message_is_called_by_its_type():
    assert failure_from(raised(KeyError())).message == "KeyError"


def test_an_error_whose_str_raises_is_still_recorded():
    failure = failure_from(raised(Unreadable()))
    assert failure.type == "Unreadable"
    assert "cannot be read" in failure.message
    assert loads(dumps(failure)) == failure


def test_an_error_that_cannot_even_be_printed_is_recorded():
    assert failure_from(raised(Unprintable())).type == "Unprintable"


def test_a_chain_of_causes_is_in_the_traceback():
    try:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise ValueError("outer") from inner
    except ValueError as error:
        failure = failure_from(error)
    assert "KeyError: 'inner'" in failure.traceback
    assert "direct cause" in failure.traceback


def test_a_deep_traceback_is_cut():
    def deeper(n):
        return deeper(n - 1) if n else 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        deeper(500)
    assert len(failure_from(caught.value).traceback) <= 6000


def test_a_message_with_lone_surrogates_can_be_written():
    failure = failure_from(raised(ValueError("\ud800")))
    assert loads(dumps(failure)) == failure
