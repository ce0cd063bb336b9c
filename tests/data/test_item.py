"""Items, their ids, and the rows they are read from."""

import subprocess
import sys
from dataclasses import replace

import pytest
from pydantic import BaseModel

from proctor.data.codec import dumps, loads
from proctor.data.item import Item, Turn, derived_id, item_from_mapping
from proctor.data.message import Message, Text
from proctor.data.plain import plain
from proctor.data.tool_mock import ToolMock
from proctor.data.value import MISSING
from proctor.errors import EncodingError, UnknownName, UsageError

PAY = ToolMock("pay", output=None)


def test_what_was_not_given_is_missing():
    item = Item()
    assert (item.input, item.inputs, item.turns, item.output, item.ground_truth) == (MISSING,) * 5


@pytest.mark.parametrize("label", [None, 0, False, "", [], {}], ids=repr)
def test_every_label_is_a_label(label):
    assert Item("q", ground_truth=label).ground_truth is label
    assert derived_id(Item("q", ground_truth=label)) != derived_id(Item("q"))


def test_lists_become_tuples():
    item = Item(turns=[Turn("a", gates=[1], scorers=[2])], gates=[1], scorers=[2], tags=["x"], tool_mocks=[PAY])
    assert item.turns == (Turn("a", gates=(1,), scorers=(2,)),)
    assert (item.gates, item.scorers, item.tags, item.tool_mocks) == ((1,), (2,), ("x",), (PAY,))
    assert Item(inputs=["a", ["b"]]).inputs == ("a", ["b"])


# ── derived ids ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_derived_id_is_twelve_hex_digits_and_the_same_everywhere():
    """Written down, since runs are compared by it: if this changes, old runs match no more."""
    assert derived_id(Item("What is 2 + 2?", ground_truth=4)) == "4bcc63cbd300"
    code = "from proctor.data.item import *; print(derived_id(Item({'b': {'y', 'x', 'z'}, 'a': 1})))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == derived_id(Item({"a": 1, "b": ["x", "y", "z"]}))


CONTENT = {
    "input": "p",
    "inputs": ["a"],
    "turns": [Turn("a")],
    "output": "x",
    "context": ["c"],
    "ground_truth": 1,
}
NO_CONTENT = {
    "id": "i",
    "expected_trajectory": {},
    "request_context": {},
    "gates": [1],
    "scorers": [1],
    "label": 1,
    "cluster": "c",
    "severity": 1,
    "external_id": "e",
    "metadata": {"a": 1},
    "tags": ["t"],
    "stop_on_failure": True,
}


@pytest.mark.parametrize("name", CONTENT)
def test_a_derived_id_covers(name):
    item = Item("q")
    assert derived_id(replace(item, **{name: CONTENT[name]})) != derived_id(item)


@pytest.mark.parametrize("name", NO_CONTENT)
def test_a_derived_id_does_not_cover(name):
    item = Item("q")
    assert derived_id(replace(item, **{name: NO_CONTENT[name]})) == derived_id(item)


def test_a_derived_id_tells_where_the_content_stands():
    assert len({derived_id(Item(**{name: ["a"]})) for name in ("input", "inputs", "output", "context")}) == 4


def test_a_derived_id_covers_the_words_and_labels_of_turns_only():
    plain_turn = Item(turns=[Turn("a")])
    assert derived_id(Item(turns=[Turn("a", gates=[object()])])) == derived_id(plain_turn)
    assert derived_id(Item(turns=[Turn("a", ground_truth=None)])) != derived_id(plain_turn)
    assert derived_id(Item(turns=({"input": "a"},))) == derived_id(plain_turn)


class Question(BaseModel):
    text: str


def test_a_derived_id_is_that_of_the_plain_form():
    assert derived_id(Item(Question(text="q"))) == derived_id(Item({"text": "q"}))
    item = Item({"when": (1, 2), "who": {1, 2}, "\udc00": b"x", 3: None})
    assert derived_id(loads(dumps(item))) == derived_id(Item(plain(item.input))) == derived_id(item)


def test_messages_have_a_derived_id():
    asked = Item([Message("user", (Text("hi"),))])
    assert derived_id(loads(dumps(asked))) == derived_id(asked)


def test_what_has_no_plain_form_has_no_derived_id():
    with pytest.raises(EncodingError, match=r"input\.user: a builtins\.object has no plain form"):
        derived_id(Item({"user": object()}))


# ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rows_are_read_in_both_styles():
    snake = item_from_mapping({"input": "q", "ground_truth": 1, "stop_on_failure": True, "external_id": "e"})
    camel = item_from_mapping({"input": "q", "groundTruth": 1, "stopOnFailure": True, "externalId": "e"})
    assert snake == camel == Item("q", ground_truth=1, stop_on_failure=True, external_id="e")


def test_turns_of_rows_are_read_in_both_styles():
    turns = [{"input": "a", "groundTruth": 1}, Turn("b"), {"input": "c", "ground_truth": 2}]
    assert item_from_mapping({"turns": turns}).turns == (
        Turn("a", ground_truth=1),
        Turn("b"),
        Turn("c", ground_truth=2),
    )


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input": "q", "groundtruth": 1}, "no field of an item 'groundtruth'. Did you mean 'ground_truth'?"),
        ({"input": "q", "grond_truth": 1}, "no field of an item 'grond_truth'. Did you mean 'ground_truth'?"),
        ({"Input": "q"}, "no field of an item 'Input'. Did you mean 'input'?"),
        ({"input": "q", 3: 1}, "no field of an item '3'."),
        ({"turns": [{"inputt": "q"}]}, "no field of turns[0] 'inputt'. Did you mean 'input'?"),
    ],
)
def test_unknown_keys_are_refused_with_the_nearest_name(row, message):
    with pytest.raises(UnknownName) as caught:
        item_from_mapping(row)
    assert str(caught.value).startswith(message)
    assert caught.value.code == "INVALID_DATA_ITEM"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"ground_truth": 1, "stopOnFailure": True}, "an item mixes snake_case and camelCase keys: keep to one"),
        ({"ground_truth": 1, "groundTruth": 1}, "an item has ground_truth twice, in both styles"),
        ({"turns": [{"input": "a"}, {"ground_truth": 1}]}, "turns[1] has no input"),
        ({"turns": ["a"]}, "turns[0] must be a Turn or a mapping with input, not 'a'"),
    ],
)
def test_rows_that_cannot_be_used_are_refused(row, message):
    with pytest.raises(UsageError) as caught:
        item_from_mapping(row)
    assert str(caught.value) == message
    assert caught.value.code == "INVALID_DATA_ITEM"
