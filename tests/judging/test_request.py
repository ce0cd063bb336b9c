"""The key of a model call: the same for the same request, another for any other."""

import math
import os
import re
import subprocess
import sys
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from proctor.data.message import Message, Text
from proctor.data.value import MISSING
from proctor.errors import EncodingError, UsageError
from proctor.judging.request import CallRequest
from tests.data.strategies import mappings, moment, plain_data, same

MESSAGES = [{"role": "user", "content": "Was it fair?"}]


def key(**parts):
    return CallRequest(**({"model": "openai:gpt-5-mini", "messages": MESSAGES} | parts)).key


def test_it_is_the_form_and_a_sha256():
    assert re.fullmatch(r"1-[0-9a-f]{64}", key())


def test_it_stays_what_it_was():
    """Entries of earlier versions are found. When this fails, raise the form of keys."""
    parts = {"settings": {"temperature": 0.5, "tools": ["a"]}, "schema": {"type": "object"}, "repeat": 2}
    assert key() == "1-21aee3d8702d3cd260a9fc70c35edaa28473dd375fa3a343a05b6fcedd1aa24f"
    assert (
        key(**parts, extra={"url": "http://127.0.0.1"})
        == "1-7af6ea6fe69670ee3a38363927409ef222ed6a3dff0428b9d6a38151756e0818"
    )


OTHERS = {
    "model": {"model": "openai:gpt-5"},
    "a version of the model": {"model": "openai:gpt-5-mini-2026-01-01"},
    "messages": {"messages": [{"role": "user", "content": "Was it polite?"}]},
    "a role": {"messages": [{"role": "system", "content": "Was it fair?"}]},
    "one more message": {"messages": [*MESSAGES, *MESSAGES]},
    "temperature": {"settings": {"temperature": 0.5}},
    "another temperature": {"settings": {"temperature": 0.7}},
    "a whole float": {"settings": {"temperature": 1.0}},
    "an int": {"settings": {"temperature": 1}},
    "a bool": {"settings": {"temperature": True}},
    "a text": {"settings": {"temperature": "1"}},
    "none": {"settings": {"temperature": None}},
    "tools": {"settings": {"tools": [{"name": "look_up"}]}},
    "the order of tools": {"settings": {"tools": [{"name": "look_up"}, {"name": "ask"}]}},
    "the other order of tools": {"settings": {"tools": [{"name": "ask"}, {"name": "look_up"}]}},
    "schema": {"schema": {"type": "object"}},
    "an empty schema": {"schema": {}},
    "repeat": {"repeat": 1},
    "extra": {"extra": {"url": "http://127.0.0.1"}},
    "extra is no setting": {"extra": {"temperature": 0.5}},
}


def test_every_part_decides():
    """N02"""
    keys = {"as it is": key(), **{name: key(**parts) for name, parts in OTHERS.items()}}
    assert len(set(keys.values())) == len(keys)


@pytest.mark.parametrize(
    "parts",
    [
        {"settings": {}},
        {"settings": {"temperature": MISSING}},
        {"settings": MappingProxyType({})},
        {"schema": None},
        {"extra": {}},
        {"extra": {"url": MISSING}},
        {"repeat": 0},
        {"messages": tuple(MESSAGES)},
        {"messages": [OrderedDict(content="Was it fair?", role="user")]},
        {"settings": {"timeout": 30}},
        {"settings": {"timeout": 600.0}},
    ],
    ids=str,
)
def test_what_does_not_decide(parts):
    assert key(**parts) == key()


def test_the_order_of_a_schemas_properties_decides():
    """A model gives its reason before the score, or makes one up after it."""
    reason, score = ("reason", {"type": "string"}), ("score", {"type": "number"})
    first = {"type": "object", "properties": dict([reason, score])}
    second = {"type": "object", "properties": dict([score, reason])}
    assert key(schema=first) == key(schema=dict(reversed(first.items())))
    assert key(schema=first) != key(schema=second)
    assert key(schema={"$defs": {"A": first}}) != key(schema={"$defs": {"A": second}})
    assert key(settings={"tools": [{"parameters": first}]}) != key(settings={"tools": [{"parameters": second}]})


class Tool(BaseModel):
    name: str
    limits: dict[str, float] = {}


def test_foreign_objects_count_as_their_plain_form():
    tool = Tool(name="look_up", limits={"b": 1.5, "a": math.nan})
    as_plain = {"limits": {"a": math.nan, "b": 1.5}, "name": "look_up"}
    assert key(settings={"tools": [tool]}) == key(settings={"tools": [as_plain]})
    assert key(settings={"stop": {"b", "a"}}) == key(settings={"stop": ["a", "b"]})
    rome = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Rome"))
    fixed = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert (
        key(extra={"at": rome}) == key(extra={"at": fixed}) != key(extra={"at": datetime(2026, 7, 1, 10, tzinfo=UTC)})
    )
    assert key(extra={"at": date(2026, 7, 1)}) != key(extra={"at": datetime(2026, 7, 1)})  # noqa: DTZ001
    assert key(messages=[Message("user", (Text("hi"),))]) != key(messages=[Message("system", (Text("hi"),))])


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        ({"schema": Tool}, "schema"),
        ({"settings": {"tools": [{"run": print}]}}, "settings.tools[0].run"),
        ({"messages": [{"content": object()}]}, "messages[0].content"),
    ],
    ids=["class", "function", "object"],
)
def test_a_part_without_plain_form_is_named(parts, path):
    with pytest.raises(EncodingError, match=f"^{re.escape(path)}: "):
        key(**parts)


def test_a_request_that_holds_itself_has_no_key():
    messages = []
    messages.append(messages)
    with pytest.raises(EncodingError):
        key(messages=messages)


@pytest.mark.parametrize("model", [None, "", 5, Tool])
def test_a_model_is_a_name(model):
    with pytest.raises(UsageError, match=r"CallRequest\(model=...\) is the name of a model, not "):
        CallRequest(model=model, messages=[])


@pytest.mark.parametrize("repeat", [-1, True, 1.0, None])
def test_a_repeat_is_counted(repeat):
    with pytest.raises(UsageError, match=r"CallRequest\(repeat=...\) is a whole number"):
        CallRequest(model="m", messages=[], repeat=repeat)


def shuffled(value, random):
    """The same, with every mapping in another order."""
    if isinstance(value, list):
        return [shuffled(item, random) for item in value]
    if not isinstance(value, dict):
        return value
    pairs = [(name, shuffled(item, random)) for name, item in value.items()]
    random.shuffle(pairs)
    return dict(pairs)


@given(messages=plain_data, settings=mappings, extra=mappings, random=st.randoms(use_true_random=False))
def test_the_order_of_mappings_does_not_matter(messages, settings, extra, random):
    parts = {"messages": messages, "settings": settings, "extra": extra}
    assert key(**{name: shuffled(part, random) for name, part in parts.items()}) == key(**parts)


@given(left=plain_data, right=plain_data, part=st.sampled_from(["messages", "schema"]))
def test_other_data_has_another_key(left, right, part):
    one, other = key(**{part: left}), key(**{part: right})
    if same(left, right):
        assert one == other
    elif part == "messages" or None not in (left, right):
        assert (one == other) == (in_order(left) == in_order(right))


def in_order(value):
    """A text that only the same data has, whatever the order of its mappings."""
    if isinstance(value, dict):
        return f"{{{sorted((in_order(name), in_order(item)) for name, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{[in_order(item) for item in value]}]"
    return f"{type(value).__name__} {hex(value) if type(value) is int else repr(moment(value))}"


SCRIPT = """
from proctor.judging.request import CallRequest
tools = {"look_up", "ask", "\\ud83d", "ü"}
print(CallRequest(model="m", messages=[{"content": "é\\n"}], settings={"tools": tools, "top_p": float("nan")}).key)
"""


@pytest.mark.slow
def test_two_processes_make_the_same_key():
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    here = CallRequest(
        model="m",
        messages=[{"content": "é\n"}],
        settings={"top_p": math.nan, "tools": {"\ud83d", "ü", "ask", "look_up"}},
    )
    assert [run.stdout.strip() for run in runs] == [here.key, here.key]
