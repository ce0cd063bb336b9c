"""What other people's objects become when they enter a run."""

import array
import json
import timeit
from collections import ChainMap, Counter, OrderedDict, UserDict, UserString, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from pydantic import BaseModel, RootModel, SecretStr, computed_field

from proctor.data.message import Data, Message, Text
from proctor.data.opaque import Opaque, describe
from proctor.data.plain import DEEPEST, canonical_json, plain, to_json
from proctor.data.value import MISSING
from proctor.errors import EncodingError
from tests.data.strategies import plain_data, same


@settings(max_examples=100)
@given(plain_data)
def test_plain_data_stays_as_it_is(value):
    assert same(plain(value), value)


@settings(max_examples=50)
@given(plain_data)
def test_equal_data_has_equal_canonical_text(value):
    assert canonical_json(value) == canonical_json(turned_around(value))


def turned_around(value):
    """The same with dicts in the opposite order."""
    if isinstance(value, dict):
        return {key: turned_around(value[key]) for key in reversed(value)}
    return [turned_around(item) for item in value] if isinstance(value, list) else value


# ── each kind of object ────────────────────────────────────────────────────────────────────────────────────────────


class Address(BaseModel):
    city: str
    tags: set[str] = set()


class Person(BaseModel):
    name: str
    born: date
    address: Address | None = None

    @computed_field
    @property
    def initial(self) -> str:
        return self.name[0]


@dataclass
class Order:
    number: int
    lines: list = field(default_factory=list)
    buyer: object = None


class Attrs:
    """What attrs makes of a class, as far as it can be seen."""

    __attrs_attrs__ = (SimpleNamespace(name="x"), SimpleNamespace(name="y"))

    def __init__(self):
        self.x, self.y = 1, (2,)


class Point(NamedTuple):
    x: int
    y: int


class Colour(Enum):
    RED = ("r", 1)


class Level(IntEnum):
    HIGH = 3


class Word(StrEnum):
    YES = "yes"


class Text2(str):
    __slots__ = ()


class Stamp(datetime):
    pass


class Price(Decimal):
    pass


BERLIN = ZoneInfo("Europe/Berlin")
Old = namedtuple("Old", "a b")  # noqa: PYI024 - people have them

BECOMES = {
    "pydantic": (
        Person(name="Ada", born=date(1815, 12, 10), address=Address(city="London", tags={"b", "a"})),
        {
            "name": "Ada",
            "born": date(1815, 12, 10),
            "address": {"city": "London", "tags": ["a", "b"]},
            "initial": "A",
        },
    ),
    "pydantic root": (RootModel[list[Address]]([Address(city="x")]), [{"city": "x", "tags": []}]),
    "dataclass": (
        Order(1, [(2, 3)], Order(4)),
        {"number": 1, "lines": [[2, 3]], "buyer": {"number": 4, "lines": [], "buyer": None}},
    ),
    "dataclass of models": (Order(1, buyer=Address(city="x")).buyer, {"city": "x", "tags": []}),
    "attrs": (Attrs(), {"x": 1, "y": [2]}),
    "named tuple": (Point(1, 2), {"x": 1, "y": 2}),
    "old named tuple": (Old(1, Point(2, 3)), {"a": 1, "b": {"x": 2, "y": 3}}),
    "enum": (Colour.RED, ["r", 1]),
    "int enum": (Level.HIGH, 3),
    "str enum": (Word.YES, "yes"),
    "str subclass": (Text2("a"), "a"),
    "user string": (UserString("ab"), "ab"),
    "tuple": ((1, (2,)), [1, [2]]),
    "set of numbers": ({10, 9, 2.5, -1}, [-1, 2.5, 9, 10]),
    "set of mixed types": ({"b", 3, None, (1, 2), "a", b"x"}, [3, "a", "b", [1, 2], None, b"x"]),
    "frozen sets": (frozenset({frozenset({2, 1}), frozenset()}), [[1, 2], []]),
    "deque": (deque([1, (2,)]), [1, [2]]),
    "range": (range(3), [0, 1, 2]),
    "array": (array.array("i", [1, 2]), [1, 2]),
    "dict views": ([{"b": 1, "a": 2}.keys(), {"a": [1]}.items(), {"a": 1}.values()], [["b", "a"], [["a", [1]]], [1]]),
    "ordered": (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
    "default dict": (defaultdict(list, a=[1]), {"a": [1]}),
    "counter": (Counter("aab"), {"a": 2, "b": 1}),
    "proxy": (MappingProxyType({"a": (1,)}), {"a": [1]}),
    "chain": (ChainMap({"a": 1}, {"b": 2}), {"b": 2, "a": 1}),
    "user dict": (UserDict(a=UserDict(b=1)), {"a": {"b": 1}}),
    "bytearray": (bytearray(b"a"), b"a"),
    "memory": (memoryview(b"a"), b"a"),
    "fraction": (Fraction(1, 2), 0.5),
    "decimal": (Decimal("0.10"), Decimal("0.10")),
    "decimal subclass": (Price("0.10"), Decimal("0.10")),
    "path": (Path("a") / "b", "a/b"),
    "pure path": (PurePosixPath("/x"), "/x"),
    "uuid": (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    "numpy float": (np.float32(0.5), 0.5),
    "numpy float64": (np.float64("nan"), float("nan")),
    "numpy int": (np.int64(7), 7),
    "numpy bool": (np.bool_(True), True),
    "numpy str": (np.str_("a"), "a"),
    "numpy long double": (np.longdouble(0.5), 0.5),
    "numpy array": (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
    "numpy scalar array": (np.array(1.5), 1.5),
    "numpy objects": (np.array([Point(1, 2), None], dtype=object)[1:], [None]),
    "numpy time": (np.datetime64("2026-01-02T03:04:05"), datetime.fromisoformat("2026-01-02T03:04:05")),
    "zone": (datetime(2026, 7, 1, 12, tzinfo=BERLIN), datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=2)))),
    "fold": (
        datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=BERLIN),
        datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=1))),
    ),
    "utc": (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=timezone(timedelta(0)))),
    "time of a zone": (time(1, 2, tzinfo=BERLIN), time(1, 2)),
    "datetime subclass": (Stamp(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=timezone(timedelta(0)))),
}


@pytest.mark.parametrize("name", BECOMES)
def test_foreign_objects_become_plain_data(name):
    value, expected = BECOMES[name]
    assert same(plain(value), expected)
    assert same(plain(plain(value)), expected)
    assert same(plain({"deep": [value]}), {"deep": [expected]})


def test_keys_become_plain_and_stay_keys():
    made = plain(
        {Point(1, 2): 1, Colour.RED: 2, (1, (2, [].__len__())): 3, Word.YES: 4, np.int64(5): 5, UUID(int=0): 6}
    )
    assert list(made) == [
        (("x", 1), ("y", 2)),
        ("r", 1),
        (1, (2, 0)),
        "yes",
        5,
        "00000000-0000-0000-0000-000000000000",
    ]
    assert [type(key) for key in made][3:] == [str, int, str]


def test_values_of_ours_stay_as_they_are():
    message = Message("user", (Text("hi"),))
    assert plain([message])[0] is message


class Broken(BaseModel):
    x: int

    def model_dump(self, **_):
        raise ValueError("cannot be dumped")


class BrokenProperty:
    __attrs_attrs__ = (SimpleNamespace(name="gone"),)


@pytest.mark.parametrize(
    "thing",
    [object(), (n for n in ()), len, int, Person, 1j, SecretStr("s"), Broken(x=1), BrokenProperty(), ValueError("x")],
    ids=lambda thing: type(thing).__name__ + getattr(thing, "__name__", ""),
)
def test_what_has_no_plain_form_stays_as_it_is(thing):
    assert plain({"it": thing})["it"] is thing


def test_an_item_that_changes_later_does_not_change_the_copy():
    lines = [1]
    order = {"lines": lines, "order": Order(1, lines), "array": np.zeros(1)}
    made = plain(order)
    lines.append(2)
    order["array"][0] = 5
    order["new"] = 1
    assert made == {"lines": [1], "order": {"number": 1, "lines": [1], "buyer": None}, "array": [0.0]}


def test_long_texts_are_not_copied():
    text, raw = "x" * 5_000_000, b"x" * 5_000_000
    made = plain({"text": [text], "raw": raw})
    assert made["text"][0] is text
    assert made["raw"] is raw
    assert to_json(made["text"])[0] is text


def test_a_conversation_costs_little():
    """Less than 100 microseconds on a quiet machine: five times that here, and only for the best of many."""
    conversation = [{"role": "user", "content": "hello " * 20, "id": str(n)} for n in range(30)]
    assert min(timeit.repeat(lambda: plain(conversation), number=20, repeat=20)) / 20 < 500e-6


# ── depth ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def nested(levels, value="x"):
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


def test_deep_data_is_refused_with_an_error_that_says_so():
    with pytest.raises(EncodingError, match=f"nested deeper than {DEEPEST} levels"):
        plain(nested(1000))
    with pytest.raises(EncodingError, match="nested deeper"):
        canonical_json(nested(1000))


@pytest.mark.parametrize("levels", [1, DEEPEST, pytest.param(100_000, marks=pytest.mark.slow)])
def test_what_is_accepted_does_not_depend_on_the_caller(levels):
    """So that data which enters a run can be written after it."""

    def accepted(frames):
        if frames:
            return accepted(frames - 1)
        try:
            return plain(nested(levels)) is not None
        except EncodingError:
            return False

    assert accepted(0) is accepted(200) is (levels <= DEEPEST)


def test_data_that_refers_to_itself_is_refused():
    loop = []
    loop.append({"again": loop})
    with pytest.raises(EncodingError, match="refers to itself"):
        plain(loop)


# ── JSON ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"user": {"age": object()}}, "input.user.age"),
        ([1, [2, object()]], "input[1][1]"),
        ({"a": (object(),)}, "input.a[0]"),
        ({1: object()}, "input.1"),
        (Message("user", (Data({"x": object()}),)), "input.parts[0].value.x"),
        (Order(1, buyer=object()), "input.buyer"),
        ({"at": datetime(2020, 1, 1, tzinfo=UTC), "user": object()}, "input.user"),
        (object(), "input"),
    ],
)
def test_what_cannot_be_written_is_named_by_its_path(value, path):
    with pytest.raises(EncodingError) as caught:
        to_json(value, path="input")
    assert caught.value.path == path
    assert str(caught.value) == (
        f"{path}: a builtins.object has no plain form; give a dict, a dataclass or a pydantic model"
    )


def test_a_path_without_a_root_has_no_leading_dot():
    with pytest.raises(EncodingError) as caught:
        to_json({"user": {"age": object()}})
    assert caught.value.path == "user.age"


def test_what_has_no_plain_form_can_be_written_by_others():
    assert to_json([1j], other=str) == ["1j"]


def test_canonical_text_does_not_depend_on_order():
    assert canonical_json({"b": 1, "a": {2, 1}}) == canonical_json({"a": [1, 2], "b": 1}) == '{"a":[1,2],"b":1}'
    assert canonical_json({1: "a", None: [{3: 1, 2: 0}]}) == canonical_json({None: [{2: 0, 3: 1}], 1: "a"})


def test_canonical_text_tells_different_data_apart():
    different = [
        {"1": 0},
        {1: 0},
        {"$": 0},
        [["$", 0]],
        None,
        MISSING,
        1,
        1.0,
        True,
        "1",
        b"1",
        date(1, 1, 1),
        Decimal(1),
    ]
    assert len({canonical_json(value) for value in different}) == len(different)


def test_canonical_text_of_values_of_ours():
    assert json.loads(canonical_json([Text("é")])) == [{"$": "Text", "text": "é"}]
    assert "é" in canonical_json("é")


def test_canonical_text_needs_a_plain_form():
    with pytest.raises(EncodingError, match=r"input: a builtins\.object has no plain form"):
        canonical_json({"input": object()})


def test_a_description_does_not_hold_the_address():
    assert describe(object()) == Opaque("builtins.object", "<object object>")
    assert describe(lambda: 0).shown.endswith("<lambda>>")
