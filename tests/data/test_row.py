import re

import pytest

from proctor import MISSING, Item, Message, Text, UsageError
from proctor.data.row import item_from_row
from proctor.errors import UnknownName

SYSTEM = {"role": "system", "content": "Be kind."}
USER = {"role": "user", "content": "Weather?"}
CALL = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "get_weather", "arguments": "{}"}}]}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "sunny"}
ANSWER = {"role": "assistant", "content": "It is sunny."}


# ── test cases ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_item_is_itself():
    item = Item("x")
    assert item_from_row(item) is item


@pytest.mark.parametrize(
    "row",
    [
        {"input": "x", "ground_truth": 1, "request_context": {"a": 1}, "stop_on_failure": True},
        {"input": "x", "groundTruth": 1, "requestContext": {"a": 1}, "stopOnFailure": True},
    ],
    ids=["snake_case", "camelCase"],
)
def test_a_mapping_of_fields_is_an_item(row):
    assert item_from_row(row) == Item("x", ground_truth=1, request_context={"a": 1}, stop_on_failure=True)


@pytest.mark.parametrize("value", [None, 0, False, ""], ids=repr)
def test_empty_values_are_values(value):
    item = item_from_row({"input": value, "output": value, "ground_truth": value})
    assert (item.input, item.output, item.ground_truth) == (value, value, value)
    assert item_from_row({"input": "x"}).output is MISSING


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param({"inptu": "x"}, "no field of an item 'inptu'. Did you mean 'input'?", id="misspelt"),
        pytest.param({"input": "x", "groundTruht": 1}, "Did you mean 'ground_truth'?", id="misspelt camelCase"),
        pytest.param({"input": "x", "zzz": 1}, "no field of an item 'zzz'.", id="nothing like it"),
        pytest.param({"input": "x", 5: 1}, "no field of an item '5'", id="key that is no text"),
        pytest.param({"input": "x", "ground_truth": 1, "requestContext": {}}, "mixes snake_case and", id="both styles"),
    ],
)
def test_a_key_that_an_item_does_not_have_is_an_error(row, message):
    with pytest.raises(UsageError) as caught:
        item_from_row(row)
    assert message in str(caught.value)
    assert caught.value.code == "INVALID_DATA_ITEM"


@pytest.mark.parametrize("row", [5, "x", None, ["x"]], ids=repr)
def test_what_is_no_mapping_is_no_item(row):
    with pytest.raises(UsageError, match="an item is an Item or a mapping such as") as caught:
        item_from_row(row)
    assert caught.value.code == "INVALID_DATA_ITEM"


def test_a_long_value_is_cut_in_the_message():
    with pytest.raises(UsageError) as caught:
        item_from_row("x" * 10_000)
    assert len(str(caught.value)) <= 200


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ("question", "Name it input (proctor score takes --input KEY)."),
        ("query", "Name it input (proctor score takes --input KEY)."),
        ("prompt", "Name it input (proctor score takes --input KEY)."),
        ("answer", "Name it output (proctor score takes --output KEY)."),
        ("response", "Name it output (proctor score takes --output KEY)."),
        ("expected", "Name it ground_truth (proctor score takes --truth KEY)."),
        ("expected_output", "Name it ground_truth (proctor score takes --truth KEY)."),
        ("expectedOutput", "Name it ground_truth (proctor score takes --truth KEY)."),
        ("target", "Name it ground_truth (proctor score takes --truth KEY)."),
    ],
)
def test_what_others_call_a_field_is_hinted_at(key, advice):
    for row in ({key: "x"}, {"input": "x", "output": "y", key: "x"}):
        with pytest.raises(UsageError, match=re.escape(f"no field of an item {key!r}. {advice}")) as caught:
            item_from_row(row)
        assert caught.value.code == "INVALID_DATA_ITEM"


@pytest.mark.parametrize("message", [USER, ANSWER, {"role": "tool", "content": ""}], ids=lambda it: it["role"])
def test_a_message_is_no_item(message):
    with pytest.raises(
        UsageError, match=r'is a message, not an item: wrap a conversation as \{"messages": \['
    ) as caught:
        item_from_row(message)
    assert caught.value.code == "INVALID_DATA_ITEM"


def test_what_others_call_a_field_is_metadata_of_a_conversation():
    item = item_from_row({"messages": [USER, ANSWER], "expected": "sunny", "target": 1, "role": "x", "content": "y"})
    assert item.metadata == {"expected": "sunny", "target": 1, "role": "x", "content": "y"}


# ── saved conversations ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("messages", "input", "output"),
    [
        pytest.param([SYSTEM, USER, ANSWER], [SYSTEM, USER], [ANSWER], id="question and answer"),
        pytest.param([USER, CALL, RESULT, ANSWER, USER], [USER], [CALL, RESULT, ANSWER, USER], id="several turns"),
        pytest.param([ANSWER], [], [ANSWER], id="the assistant began"),
        pytest.param([USER], [USER], MISSING, id="nobody answered"),
        pytest.param(
            [{"role": "developer", "content": "x"}, ANSWER], [{"role": "developer", "content": "x"}], [ANSWER], id="d"
        ),
    ],
)
def test_what_opens_a_conversation_is_its_input_and_the_rest_its_output(messages, input, output):
    item = item_from_row({"messages": messages})
    assert (item.input, item.output) == (input, output)


def test_messages_of_ours_may_be_a_conversation():
    question, answer = Message("user", (Text("?"),)), Message("assistant", (Text("!"),))
    item = item_from_row({"messages": [question, answer]})
    assert (item.input, item.output) == ([question], [answer])


def test_keys_that_an_item_does_not_have_are_its_metadata():
    item = item_from_row({"messages": [USER, ANSWER], "id": "t1", "reward": 1.0, "task": {"n": 2}})
    assert (item.id, item.metadata) == ("t1", {"reward": 1.0, "task": {"n": 2}})


def test_a_conversation_has_its_fields_in_either_style():
    item = item_from_row({"messages": [USER, ANSWER], "groundTruth": "y", "externalId": "7"})
    assert (item.ground_truth, item.external_id, item.metadata) == ("y", "7", None)


def test_every_field_of_a_conversation_may_be_in_camel_case():
    row = {
        "groundTruth": None,
        "expectedTrajectory": ["search"],
        "requestContext": {"user": 1},
        "tracingContext": {"id": 2},
        "startOptions": {"model": "m"},
        "toolMocks": [],
        "stopOnFailure": True,
        "externalId": "e",
        "id": "a",
    }
    item = item_from_row({"messages": [USER, ANSWER], "reward": 1, **row})
    assert (item.ground_truth, item.expected_trajectory, item.request_context) == (None, ["search"], {"user": 1})
    assert (item.tracing_context, item.start_options, item.tool_mocks) == ({"id": 2}, {"model": "m"}, ())
    assert (item.stop_on_failure, item.external_id, item.id, item.metadata) == (True, "e", "a", {"reward": 1})


def test_a_conversation_keeps_to_one_style():
    with pytest.raises(UsageError, match="an item mixes snake_case and camelCase"):
        item_from_row({"messages": [USER, ANSWER], "groundTruth": 1, "external_id": "e"})


def test_keys_of_its_metadata_may_be_in_any_style():
    item = item_from_row({"messages": [USER, ANSWER], "groundTruth": 1, "my_key": 2, "myOther": 3, 4: 5})
    assert item.metadata == {"my_key": 2, "myOther": 3, 4: 5}


def test_metadata_that_is_there_is_kept():
    item = item_from_row({"messages": [USER, ANSWER], "reward": 1.0, "metadata": {"reward": 0.5, "a": 1}})
    assert item.metadata == {"reward": 0.5, "a": 1}
    assert item_from_row({"messages": [USER, ANSWER]}).metadata is None


def test_fields_of_an_item_are_its_fields():
    item = item_from_row({"messages": [USER, ANSWER], "ground_truth": "sunny", "tags": ["a"], "label": True})
    assert (item.ground_truth, item.tags, item.label, item.metadata) == ("sunny", ("a",), True, None)


def test_the_row_is_not_changed():
    row = {"messages": [USER, ANSWER], "reward": 1.0}
    item_from_row(row)
    assert row == {"messages": [USER, ANSWER], "reward": 1.0}


@pytest.mark.parametrize("messages", [[], "Hi", None, 5, {}], ids=repr)
def test_messages_are_a_list_that_is_not_empty(messages):
    with pytest.raises(UsageError, match="messages must be a list of messages"):
        item_from_row({"messages": messages})


@pytest.mark.parametrize("name", ["input", "inputs", "turns", "output"])
def test_a_saved_conversation_has_only_messages(name):
    with pytest.raises(UsageError, match=f"messages and {name} are both there"):
        item_from_row({"messages": [USER, ANSWER], name: "x"})


# ── other names ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_fields_may_have_other_names():
    row = {"question": "q", "answer": "a", "gold": "g", "no": "7"}
    names = {"input": "question", "output": "answer", "ground_truth": "gold", "id": "no"}
    assert item_from_row(row, names=names) == Item("q", output="a", ground_truth="g", id="7")


def test_a_field_may_be_named_as_it_is():
    assert item_from_row({"input": "q"}, names={"input": "input"}) == Item("q")


def test_a_name_that_is_not_there_lists_the_keys():
    with pytest.raises(UsageError, match="no key 'qestion', which was named as the input; keys: question"):
        item_from_row({"question": "q"}, names={"input": "qestion"})


def test_a_name_beside_the_field_itself_is_refused():
    with pytest.raises(UsageError, match="both 'question'"):
        item_from_row({"question": "q", "input": "i"}, names={"input": "question"})


def test_other_keys_stay_errors():
    with pytest.raises(UnknownName, match="'extra'"):
        item_from_row({"question": "q", "extra": 1}, names={"input": "question"})
