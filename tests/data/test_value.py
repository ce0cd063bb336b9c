"""What all values share."""

import copy
import pickle
from dataclasses import dataclass, field

import pytest

from proctor.data.item import Item
from proctor.data.message import Data, Text
from proctor.data.value import MISSING, Missing, Value, freeze, shown


@dataclass(frozen=True, slots=True, repr=False)
class Sample(Value):
    a: object
    b: object = None
    c: object = 0
    d: dict = field(default_factory=dict)


# ── MISSING ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_missing_is_one_object():
    assert Missing() is MISSING


def test_missing_is_false_and_equal_only_to_itself():
    assert not MISSING
    assert MISSING == MISSING
    assert all(other != MISSING for other in (None, False, 0, "", (), object()))
    assert repr(MISSING) == "MISSING"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_missing_survives_a_pickle(protocol):
    assert pickle.loads(pickle.dumps(MISSING, protocol)) is MISSING  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps(Item("q"), protocol)).output is MISSING  # noqa: S301 - our own


def test_missing_survives_a_copy():
    assert copy.copy(MISSING) is MISSING
    assert copy.deepcopy({"it": [MISSING]})["it"][0] is MISSING


def test_missing_can_be_a_key():
    assert {MISSING: 1}[MISSING] == 1


# ── repr ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_repr_shows_what_differs_from_the_defaults():
    assert repr(Sample(1)) == "Sample(a=1)"
    assert repr(Sample(None, b="x", d={"k": 1})) == "Sample(a=None, b='x', d={'k': 1})"
    assert repr(Item("q")) == "Item(input='q')"


def test_a_repr_shows_equal_values_of_another_type():
    """False is not 0: what was given is shown."""
    assert repr(Sample(1, c=False)) == "Sample(a=1, c=False)"
    assert repr(Sample(1, c=0)) == "Sample(a=1)"


def test_each_field_of_a_repr_is_cut():
    assert repr(Text("x" * 1000)) == f"Text(text='{'x' * 76}...)"
    assert len(repr(Text("x" * 1000))) == len("Text(text=)") + 80


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


def test_a_field_whose_repr_raises_is_named():
    assert repr(Sample(Rude())) == "Sample(a=<Rude whose repr raises RuntimeError>)"


def test_a_number_too_long_for_text_does_not_break_a_repr():
    assert repr(Data(10**5000)) == "Data(value=<int whose repr raises ValueError>)"


def test_lone_surrogates_are_shown_with_an_escape():
    assert repr(Text("\udc00")) == r"Text(text='\udc00')"
    assert repr(Text("\udc00")).encode()


def test_what_is_shown_can_be_longer():
    assert shown("x" * 10, 5) == "'x..."
    assert shown("x" * 10) == f"'{'x' * 10}'"


# ── freezing ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_freezing_turns_lists_into_tuples_and_leaves_the_rest():
    sample = Sample([1, [2]], b="ab", c={"k": []})
    freeze(sample, ("a", "b", "c"))
    assert sample == Sample((1, [2]), b="ab", c={"k": []})


def test_values_cannot_be_changed():
    with pytest.raises(AttributeError):
        Text("a").text = "b"
    with pytest.raises((AttributeError, TypeError)):
        Text("a").colour = "red"
