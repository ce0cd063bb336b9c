import pytest

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
