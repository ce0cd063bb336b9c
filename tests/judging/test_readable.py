"""What a model reads of a value."""

import enum
import itertools
import json
import math
import threading
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, SecretStr

from proctor.data.message import File, Message, Reasoning, Text, ToolCall
from proctor.data.opaque import Opaque
from proctor.data.value import MISSING
from proctor.errors import EncodingError, UsageError
from proctor.judging.readable import readable


@dataclass
class Order:
    id: str
    paid: bool = True


class Refund(BaseModel):
    amount: Decimal
    when: date


class Point(NamedTuple):
    x: int
    y: int


class Colour(enum.Enum):
    red = "rot"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("ต้นฉบับ {x} \\u0e15", "ต้นฉบับ {x} \\u0e15"),
        ("", ""),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        (1.5, "1.5"),
        (math.nan, "NaN"),
        (10**5000, hex(10**5000)),
        (Decimal("1.50"), "1.50"),
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1, 12), "2026-03-01T12:00:00"),  # noqa: DTZ001 - without a zone, as it comes in data
        (time(12, 30), "12:30:00"),
        (timedelta(hours=2), "2:00:00"),
        (Colour.red, "rot"),
        (Path("a/b"), "a/b"),
        ({"ชื่อ": "José"}, '{"ชื่อ": "José"}'),
        ({1: "a", "1": "b"}, '[\n  [\n    1,\n    "a"\n  ],\n  [\n    "1",\n    "b"\n  ]\n]'),
        ({(1, 2): None, None: 1}, '{"[1, 2]": null, "null": 1}'),
        ({"a": MISSING, "b": 1}, '{"b": 1}'),
        ([MISSING], '["<nothing was given>"]'),
        ({"a": {"b": 1}}, '{\n  "a": {\n    "b": 1\n  }\n}'),
        ({"a": [], "b": {}}, '{"a": [], "b": {}}'),
        ({"b", "a"}, '["a", "b"]'),
        (Order("Ö1"), '{"id": "Ö1", "paid": true}'),
        (Refund(amount=Decimal("9.90"), when=date(2026, 1, 2)), '{"amount": "9.90", "when": "2026-01-02"}'),
        (Point(1, 2), '{"x": 1, "y": 2}'),
        (Text("x"), '{"text": "x"}'),
        (b"caf\xc3\xa9\n", "café\n"),
        (bytearray(b"a"), "a"),
        (b"\x89PNG\r\n\x1a\n" + bytes(2000), "<bytes: 2,008, image/png, begins with 89 50 4e 47 0d 0a 1a 0a>"),
        (b"\x00\x01", "<bytes: 2, begins with 00 01>"),
        ({"data": b"\xff"}, '{"data": "<bytes: 1, begins with ff>"}'),
        (Opaque("a.B", "B()"), "<no plain form, a.B: B()>"),
        (SecretStr("key"), "<no plain form, pydantic.types.SecretStr: SecretStr('**********')>"),
    ],
    ids=itertools.count(),
)
def test_what_a_value_is_shown_as(value, text):
    assert readable(value) == text


def test_long_values_get_a_line_for_each_part():
    assert readable(["x" * 50, "y" * 50]) == f'[\n  "{"x" * 50}",\n  "{"y" * 50}"\n]'


def test_objects_without_a_plain_form_are_marked_and_hold_no_address():
    assert (
        readable({"lock": threading.Event()})
        == '{"lock": "<no plain form, threading.Event: <threading.Event: unset>>"}'
    )
    assert " at 0x" not in readable(object())


def test_lone_surrogates_become_escapes_and_nothing_else_does():
    assert readable("a\ud800😀") == "a\\ud800😀"
    assert readable({"k\udfff": "\ud800"}) == '{"k\\udfff": "\\ud800"}'
    assert readable([Message("user", (Text("\ud800"),))]) == "user: \\ud800"


def test_nothing_is_not_empty_text():
    with pytest.raises(UsageError, match="nothing was given for expected"):
        readable(MISSING, name="expected")


def test_messages_are_a_transcript():
    messages = [
        Message("user", (Text("Hello"), File(media_type="image/png"))),
        Message(
            "assistant", (Reasoning("hm"), ToolCall("now", {"zone": "UTC"}, result=12, state="done"), Text("Noon."))
        ),
    ]
    assert readable(messages) == (
        'user: Hello\nuser, file: image/png\nassistant, tool call: name: now\narguments: {"zone": "UTC"}\n'
        "assistant, tool result: 12\nassistant: Noon."
    )
    assert readable(messages[0]) == "user: Hello\nuser, file: image/png"


def test_values_that_hold_themselves():
    loop = []
    loop.append(loop)
    with pytest.raises(EncodingError, match="refers to itself"):
        readable(loop)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec=None)), inner),
    max_leaves=10,
)


@given(VALUES)
def test_everything_can_be_sent(value):
    readable(value).encode()


@given(VALUES.filter(lambda value: isinstance(value, dict | list)))
def test_json_reads_back_as_what_it_was(value):
    read = json.loads(readable(value))
    assert repr(read) == repr(json.loads(json.dumps(value)))
