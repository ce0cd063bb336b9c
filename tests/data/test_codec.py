"""What is written comes back; what cannot come back is said to be something else, and stays that."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings

import proctor.data
from proctor import ScorerEntry, checks
from proctor.data.codec import SCHEMA, decode, dumps, encode, loads
from proctor.data.column import Column, ScorerRef
from proctor.data.item import Item, Turn
from proctor.data.mean import Mean
from proctor.data.message import Data, Message, Text
from proctor.data.opaque import Opaque
from proctor.data.outcome import Origin, Outcome, Outcomes
from proctor.data.plain import DEEPEST, plain, to_json
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import EvalResult, NotScorableCounts, Summary
from proctor.data.threshold import Threshold
from proctor.data.trajectory import TrajectoryExpectation
from proctor.data.value import MISSING, Value
from proctor.errors import EncodingError, ProctorError
from tests.data.strategies import OUTCOMES, VALUES, of, plain_data, same

FEW = settings(max_examples=20, suppress_health_check=list(HealthCheck))


def in_json(value):
    """Through JSON text, as another program would read and write it."""
    text = json.dumps(value, allow_nan=False)
    assert text.isascii()
    return json.loads(text)


def holds_the_law(value):
    written = encode(value)
    assert encode(decode(written)) == written
    assert encode(decode(in_json(written))) == written
    return decode(written)


# ── the law ────────────────────────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=150)
@given(plain_data)
@example("x" * 5_000_000)
@example("\u00e9" * 5_000_000)
@example({f"key {n}": n for n in range(1000)})
@example({(1, (2, ("$", None))): {None: MISSING}})
def test_plain_data_comes_back_the_same(value):
    assert same(holds_the_law(value), value)
    assert same(loads(dumps(value)), value)


@pytest.mark.slow
@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
def test_values_over_plain_data_come_back_the_same(cls):
    @FEW
    @given(of(cls))
    def check(value):
        assert same(holds_the_law(value), value)
        assert same(loads(dumps(value)), value)

    check()


@FEW
@given(OUTCOMES)
def test_outcomes_come_back_as_outcomes(outcomes):
    assert same(loads(dumps(outcomes)), outcomes)


def test_the_codec_knows_every_value_of_this_floor():
    for path in Path(proctor.data.__file__).parent.glob("*.py"):
        import_module(f"proctor.data.{path.stem}")
    known = {cls.__name__ for cls in VALUES}
    assert {cls.__name__ for cls in Value.__subclasses__() if cls.__module__.startswith("proctor.data")} <= known


@pytest.mark.parametrize(
    ("foreign", "expected"),
    [
        ((1, 2), [1, 2]),
        ({1, "a", 2.5, None}, [1, 2.5, "a", None]),
        (np.float64(0.5), 0.5),
        (np.array([[1, 2]]), [[1, 2]]),
        (Path("a/b"), "a/b"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")), "2026-10-25T02:30:00+01:00"),
        (bytearray(b"ab"), b"ab"),
    ],
    ids=["tuple", "set", "numpy number", "numpy array", "path", "uuid", "datetime", "bytearray"],
)
def test_foreign_objects_come_back_in_their_plain_form(foreign, expected):
    back = holds_the_law({"it": foreign})["it"]
    assert same(back, plain(foreign))
    assert same(back.isoformat() if isinstance(back, datetime) else back, expected)


class Point(NamedTuple):
    x: int


@dataclass(frozen=True)
class Spot:
    x: int


def test_foreign_keys_come_back_in_their_plain_form():
    value = {Point(1): "a", Spot(2): "b", (1, (2, 3)): "c", frozenset({1}): "d", object(): "e"}
    back = holds_the_law(value)
    assert back == plain(value)
    assert list(back) == [(("x", 1),), (("x", 2),), (1, (2, 3)), (1,), Opaque("builtins.object", "<object object>")]


def test_keys_that_are_one_in_plain_form_are_written_once():
    berlin = ZoneInfo("Europe/Berlin")
    value = {datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=berlin): 1, datetime(2026, 10, 25, 1, 30, tzinfo=UTC): 2}
    assert len(holds_the_law(value)) == 1
    assert len(holds_the_law({object(): 1, object(): 2})) == 1


# ── objects without a plain form ───────────────────────────────────────────────────────────────────────────────────


class Rude:
    def __repr__(self):
        raise RuntimeError("no")


def test_an_object_without_a_plain_form_comes_back_as_what_it_showed():
    back = holds_the_law(Reply(output=[object(), (n for n in ()), 1j, Rude()])).output
    assert [it.type for it in back] == ["builtins.object", "builtins.generator", "builtins.complex", f"{__name__}.Rude"]
    assert back[0].shown == "<object object>"  # without the address, which would differ from run to run
    assert back[2].shown == "1j"
    assert back[3].shown == "<Rude whose repr raises RuntimeError>"


def test_what_an_object_shows_is_cut():
    class Long:
        def __repr__(self):
            return "\udc00" * 5000

    assert len(holds_the_law(Long()).shown) == 1000


# ── scorers ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class FakeScorer:
    key: str

    def to_ref(self):
        return ScorerRef("includes", self.key, "f1")


@dataclass
class FakeEntry:
    bound: float

    def to_ref(self):
        return (ScorerRef("includes", "includes"), self.bound)


class BrokenRef:
    def to_ref(self):
        raise RuntimeError("no")


def test_a_scorer_loads_as_its_reference():
    item = Item("q", gates=[FakeScorer("a")], scorers=[(FakeScorer("b"), 0.8), (FakeScorer("c"), Threshold(max=0))])
    back = holds_the_law(item)
    assert back.gates == (ScorerRef("includes", "a", "f1"),)
    assert back.scorers == (
        (ScorerRef("includes", "b", "f1"), 0.8),
        (ScorerRef("includes", "c", "f1"), Threshold(max=0)),
    )


def test_a_scorer_of_a_turn_loads_as_its_reference():
    back = holds_the_law(Item(turns=[Turn("hi", gates=[FakeScorer("a")], scorers=(FakeEntry(0.5),))]))
    assert back.turns[0].gates == (ScorerRef("includes", "a", "f1"),)
    assert back.turns[0].scorers == ((ScorerRef("includes", "includes"), 0.5),)


def test_a_real_scorer_and_its_entry_load_as_their_references():
    check, bound = checks.includes("x"), Threshold(0.5)
    item = Item("q", gates=[check], scorers=[ScorerEntry(check), ScorerEntry(check, 0.5), (check, 0.5), (check, bound)])
    back = holds_the_law(item)
    reference = ScorerRef("check-includes", "check-includes[x]", check.fingerprint)
    assert back.gates == (reference,)
    assert back.scorers == (reference, (reference, bound), (reference, 0.5), (reference, bound))


def test_an_object_whose_reference_raises_is_described():
    assert holds_the_law(Item("q", driver=BrokenRef())).driver.type == f"{__name__}.BrokenRef"


# ── form ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_fields_that_equal_their_defaults_are_left_out():
    assert encode(Item(None)) == {"$": "Item", "input": None}
    assert encode(Item("q", tags=[], metadata=None)) == {"$": "Item", "input": "q"}
    assert encode(Summary(not_scorable=NotScorableCounts(), provenance={})) == {"$": "Summary"}
    assert encode(Message("user", parts=[])) == {"$": "Message", "role": "user"}


def test_a_result_written_before_it_knew_its_start_is_read():
    text = '{"schema":1,"value":{"$":"EvalResult","eval_id":"e","summary":{"$":"Summary","items":1,"duration_ms":2.5}}}'
    assert EvalResult.from_json(text).summary == Summary(items=1, duration_ms=2.5, started_at=None)


def test_a_false_that_is_no_default_is_written():
    assert encode(Item(0, ground_truth=False, context="")) == {
        "$": "Item",
        "input": 0,
        "ground_truth": False,
        "context": "",
    }


def test_lists_given_for_sequences_come_back_as_tuples():
    expectation = TrajectoryExpectation(steps=[], blacklisted_tools=["a"], blacklisted_sequences=[["a", "b"]])
    assert holds_the_law(expectation) == expectation
    assert expectation.blacklisted_sequences == (("a", "b"),)
    assert holds_the_law(EvalResult(eval_id="e", items=[ItemResult(item=Item(1), item_id="1")])).items[0].item_id == "1"


def test_equal_columns_are_one_object_after_reading():
    def outcome(origin):
        return Outcome(Column("scorer", None, "k", "id"), "scored", 1.0, origin=origin)

    rows = tuple(
        ItemResult(item=Item(n), item_id=str(n), scorers=Outcomes([outcome(Origin(trace_id="t"))])) for n in (1, 2)
    )
    mean = Mean(column=Column("scorer", None, "k", "id"), mean=1.0, n=2, of=2)
    back = loads(dumps(EvalResult(eval_id="e", items=rows, means=(mean,))))
    first, second = (row.scorers[0] for row in back.items)
    assert first.column is second.column is back.means[0].column
    assert first.origin is second.origin


def test_what_was_read_shares_nothing_with_what_was_written():
    metadata = {"tags": ["a"]}
    written = encode(Item("q", metadata=metadata))
    metadata["tags"].append("b")
    back = decode(written)
    written["metadata"]["tags"].append("c")
    assert back.metadata == {"tags": ["a"]}


@pytest.mark.parametrize("look_alike", [{"$": "bytes"}, {"$": "Text", "text": "x"}, {"$": None}, {"$": {"$": "map"}}])
def test_data_that_looks_like_our_tags_survives(look_alike):
    assert same(holds_the_law(look_alike), look_alike)
    assert same(holds_the_law(Message("user", (Data(look_alike),))), Message("user", (Data(look_alike),)))


STRANGE = {
    "nan": float("nan"),
    "inf": float("inf"),
    "decimal": Decimal("NaN"),
    "huge": 10**5000,
    "surrogate": "\udc00",
}


@pytest.mark.parametrize("value", STRANGE.values(), ids=STRANGE)
def test_other_programs_can_read_the_text(value):
    text = dumps({"it": value})
    assert text.encode()
    assert json.loads(text, parse_constant=pytest.fail)["schema"] == SCHEMA
    assert same(loads(text), {"it": value})


def test_text_can_be_indented():
    assert dumps([1], indent=2).splitlines()[0] == "{"
    assert loads(dumps([1], indent=2)) == [1]


# ── what is refused ────────────────────────────────────────────────────────────────────────────────────────────────


def refusal(text):
    with pytest.raises(ProctorError) as caught:
        loads(text)
    return caught.value


def test_a_newer_form_is_refused():
    refused = refusal(json.dumps({"schema": SCHEMA + 1, "value": 1}))
    assert refused.code == "SCHEMA_TOO_NEW"
    assert f"written in form {SCHEMA + 1} by a newer Proctor" in str(refused)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "1" * 5000,
        '{"value": 1}',
        '{"schema": 1}',
        '{"schema": true, "value": 1}',
        '{"schema": 1, "value": {"$": "Nope"}}',
        '{"schema": 1, "value": {"$": ["Text"]}}',
        '{"schema": 1, "value": {"$": "int", "hex": "z"}}',
        '{"schema": 1, "value": {"$": "decimal", "value": "z"}}',
        '{"schema": 1, "value": {"$": "Text"}}',
        '{"schema": 1, "value": {"$": "Text", "text": "x", "colour": "red"}}',
    ],
)
def test_text_that_is_not_ours_is_refused(text):
    assert refusal(text).code == "UNREADABLE_DATA"


def test_an_unknown_kind_is_named():
    assert "unknown kind 'Verse'" in str(refusal('{"schema": 1, "value": {"$": "Verse"}}'))


def nested(levels, wrap):
    value = "x"
    for _ in range(levels):
        value = wrap(value)
    return value


WRAPS = {
    "list": lambda it: [it],
    "dict": lambda it: {"a": it},
    "map": lambda it: {1: it},
    "tuple": lambda it: (it,),
    "value": Data,
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
@pytest.mark.parametrize("levels", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_what_is_nested_too_deeply_is_refused_and_crashes_nothing(wrap, levels):
    for write in (encode, dumps, to_json):
        with pytest.raises(EncodingError, match="nested"):
            write(nested(levels, wrap))


@pytest.mark.parametrize("wrap", list(WRAPS.values())[:4], ids=list(WRAPS)[:4])
def test_what_enters_a_run_can_be_written_after_it(wrap):
    value = plain(nested(DEEPEST, wrap))
    assert loads(dumps(Reply(output=value), indent=1)).output == value


def test_what_refers_to_itself_is_refused():
    loop = {}
    loop["it"] = loop
    with pytest.raises(EncodingError, match="refers to itself"):
        encode(Item(loop))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"schema":1,"value":' + "[" * 900 + "]" * 900 + "}"], ids=["open", "closed"]
)
def test_text_that_is_nested_too_deeply_is_refused(text):
    assert isinstance(refusal(text), ProctorError)


def test_deep_text_is_refused_by_a_deep_caller_too():
    def deep(levels):
        return deep(levels - 1) if levels else refusal('{"schema":1,"value":' + "[" * 150 + "]" * 150 + "}")

    assert isinstance(deep(sys.getrecursionlimit() - 250), EncodingError)


def test_a_broken_object_does_not_keep_the_rest_from_being_written():
    class Broken:
        __attrs_attrs__ = property(lambda _: None)

        def model_dump(self):
            raise ValueError("cannot be dumped")

    back = holds_the_law(Reply(output={"text": Text("ok"), "broken": Broken()}))
    assert back.output["text"] == Text("ok")
    assert isinstance(back.output["broken"], Opaque)
