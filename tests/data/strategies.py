"""Plain data and every value class over it, for property tests; and what it means that two of them are the same."""

import math
import re
from ast import literal_eval
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import fields
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from itertools import starmap
from typing import Any, Literal, get_args

from hypothesis import strategies as st

from proctor.data.agent_reply import AgentReply
from proctor.data.cached_call import CachedCall
from proctor.data.column import Column, ScorerRef
from proctor.data.compare import Difference
from proctor.data.failures import FailedRow, FailureKind, Shortfall
from proctor.data.item import Item, Turn
from proctor.data.judge import JudgeExecution, JudgeRecord, JudgeTotals
from proctor.data.mean import DecidedBy, Mean
from proctor.data.message import CallState, Data, File, Message, Reasoning, Text, ToolCall
from proctor.data.opaque import Opaque
from proctor.data.outcome import (
    Failure,
    NotRun,
    NotScorable,
    Origin,
    Outcome,
    Outcomes,
    RunSnapshot,
    Status,
    Why,
)
from proctor.data.reply import ItemResult, ItemStatus, Reply, TurnOutcomes
from proctor.data.result import EvalResult, NotScorableCounts, RunStatus, Summary, Verdict
from proctor.data.stored import Page, RowInfo, RunInfo, StoredStatus
from proctor.data.tags import TagMeans
from proctor.data.threshold import Threshold
from proctor.data.tool_mock import ToolMock, ToolReport
from proctor.data.trajectory import ExpectedStep, Ordering, Step, StepType, Trajectory, TrajectoryExpectation
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Value

# ── plain data ─────────────────────────────────────────────────────────────────────────────────────────────────────

huge = st.sampled_from("+-").map(lambda sign: int(f"{sign}1") << 20_000)  # more digits than Python turns into text
# Whole seconds, as every zone has: Python misreads the text of an offset below one second.
offsets = st.integers(-86_399, 86_399).map(lambda seconds: timedelta(seconds=seconds))
zones = st.one_of(st.none(), offsets.map(timezone))
texts = st.one_of(
    st.text(max_size=8),
    st.text(st.characters(exclude_categories=()), max_size=8),  # lone surrogates too
    st.sampled_from(["$", "\ud83d", "\ud83d\ude00", "a\x00b", "\U0001f600", "\u2028", "map", "bytes"]),
)
numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([2**64, -0.0, math.nan, math.inf]), huge)
moments = st.one_of(
    st.dates(),
    st.times(timezones=zones),
    st.datetimes(timezones=zones),
    st.timedeltas(),
)
scalars = st.one_of(
    st.none(), st.booleans(), numbers, texts, st.binary(max_size=8), moments, st.decimals(), st.just(MISSING)
)
single_keys = st.one_of(texts, st.integers(), st.floats(), st.none(), st.binary(max_size=8), moments, st.just(MISSING))
keys = st.one_of(texts, single_keys, st.tuples(single_keys, st.tuples(single_keys)))
written_tags = st.sampled_from([{"$": "bytes", "base64": "!"}, {"$": 1}, {"$": "Text", "text": "x"}, {"$": "map"}])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4))


plain_data = st.recursive(st.one_of(scalars, written_tags), containers, max_leaves=12)

# ── values over it ─────────────────────────────────────────────────────────────────────────────────────────────────

words = st.sampled_from(["a", "check-includes[x]", "ÄÖ", "\udc00", ""])
anything = st.recursive(scalars, containers, max_leaves=3)
mappings = st.dictionaries(texts, anything, max_size=2)


def of(cls: type) -> st.SearchStrategy[Any]:
    return value_of(cls)


@st.composite
def value_of(draw: Any, cls: type) -> Any:
    """With the required fields, and a few of the others."""
    if cls in CONSTRAINED:
        return draw(CONSTRAINED[cls])
    others = [it.name for it in fields(cls) if has_default(it)]
    chosen = draw(st.sets(st.sampled_from(others), max_size=4)) if others else set()
    names = [it for it in fields(cls) if not has_default(it) or it.name in chosen]
    return cls(**{it.name: draw(field_of(it)) for it in names})


def field_of(field: Any) -> st.SearchStrategy[Any]:
    if re.fullmatch(r"Literal\[[^]]*\]", field.type):
        return st.sampled_from(literal_eval(field.type.removeprefix("Literal")))
    return FIELDS[field.name if field.name in FIELDS else field.type]


def has_default(field: Any) -> bool:
    return field.default is not NO_DEFAULT or field.default_factory is not NO_DEFAULT


def some(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=2).map(tuple)


def one_of(alias: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(alias))


def maybe(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), inner)


def one_or_missing(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.just(MISSING), inner)


counts = st.integers(0, 5)
floats = st.floats(allow_nan=False)
PARTS = st.one_of(of(Text), of(ToolCall), of(Reasoning), of(File), of(Data))
CAUSES = st.one_of(of(NotScorable), of(Failure), of(NotRun))
BOUNDS = st.one_of(st.floats(0, 1), of(Threshold))
REFERENCES = st.one_of(of(ScorerRef), st.tuples(of(ScorerRef), BOUNDS))
THRESHOLDS = st.one_of(
    st.builds(Threshold, st.floats(0, 1), st.floats(1, 2), st.floats(0, 1), counts),
    st.builds(Threshold, max=st.integers(0, 3)),
)
TOOL_MOCKS = st.one_of(
    st.builds(
        ToolMock,
        st.just("pay"),
        mappings,
        output=anything.filter(lambda it: it is not MISSING),
        delay=st.floats(0, 9),
        match=one_of(Literal["strict", "ignore"]),
    ),
    st.builds(ToolMock, st.just("pay"), error=words, repeat=maybe(counts)),
)
CONSTRAINED = {Threshold: THRESHOLDS, ToolMock: TOOL_MOCKS}
OUTCOMES = st.lists(of(Outcome), max_size=2).map(Outcomes)

FIELDS = {
    "Any": anything,
    "str": words,
    "str | None": maybe(words),
    "int": counts,
    "int | None": maybe(counts),
    "float": floats,
    "float | None": maybe(floats),
    "str | float | None": st.one_of(words, floats),
    "bool": st.booleans(),
    "bool | None": maybe(st.booleans()),
    "Literal['USD'] | str": words,
    "Literal['all', 'failures', 'none']": st.sampled_from(["all", "failures", "none"]),
    "Literal['allow', 'deny'] | None": st.sampled_from(["allow", "deny", None]),
    "dict[str, Any] | None": maybe(mappings),
    "Mapping[str, Any]": mappings,
    "Mapping[str, Any] | None": maybe(mappings),
    "Mapping[str, Any] | Missing": one_or_missing(mappings),
    "Mapping[str, int]": st.dictionaries(words, counts, max_size=2),
    "Mapping[str, str] | None": maybe(st.dictionaries(words, words, max_size=2)),
    "Mapping[str, JudgeRecord] | None": maybe(st.dictionaries(words, of(JudgeRecord), max_size=2)),
    "Sequence[Any]": some(REFERENCES),  # gates and scorers
    "tool_mocks": some(of(ToolMock)),
    "tuple[ToolCall, ...]": some(of(ToolCall)),
    "tuple[ToolMock, ...]": some(of(ToolMock)),
    "amount": st.floats(0, 1e15),
    "duration_ms": maybe(st.floats(0, allow_infinity=False)),
    "Sequence[Any] | Missing": one_or_missing(some(anything)),
    "Sequence[Turn] | Missing": one_or_missing(some(of(Turn))),
    "Sequence[str]": some(words),
    "Sequence[Sequence[str]]": some(some(words)),
    "Sequence[ExpectedStep] | None": maybe(some(of(ExpectedStep))),
    "Sequence[ItemResult]": some(of(ItemResult)),
    "tuple[str, ...]": some(words),
    "tuple[str, ...] | None": maybe(some(words)),
    "tuple[float, float]": st.tuples(floats, floats),
    "tuple[tuple[str, int], ...]": st.lists(st.tuples(st.text(max_size=8), st.integers(0, 9)), max_size=2).map(tuple),
    "tuple[float, float] | None": maybe(st.tuples(floats, floats)),
    "tuple[Part, ...]": some(PARTS),
    "tuple[Step, ...]": some(of(Step)),
    "tuple[Mean, ...]": some(of(Mean)),
    "tuple[TagMeans, ...]": some(of(TagMeans)),
    "tuple[Shortfall, ...]": some(of(Shortfall)),
    "tuple[Reply, ...]": some(of(Reply)),
    "tuple[TurnOutcomes, ...]": some(of(TurnOutcomes)),
    "tuple[JudgeExecution, ...]": some(of(JudgeExecution)),
    "Outcomes": OUTCOMES,
    "Column": of(Column),
    "Item": of(Item),
    "ItemResult": of(ItemResult),
    "Outcome | None": maybe(of(Outcome)),
    "Summary": of(Summary),
    "NotScorableCounts": of(NotScorableCounts),
    "Usage | None": maybe(of(Usage)),
    "Cost | None": maybe(of(Cost)),
    "JudgeTotals | None": maybe(of(JudgeTotals)),
    "Failure | None": maybe(of(Failure)),
    "Origin | None": maybe(of(Origin)),
    "Threshold | None": maybe(of(Threshold)),
    "RunSnapshot | None": maybe(of(RunSnapshot)),
    "TrajectoryExpectation | None": maybe(of(TrajectoryExpectation)),
    "NotScorable | Failure | NotRun | None": maybe(CAUSES),
    "Status": one_of(Status),
    "Why": one_of(Why),
    "CallState": one_of(CallState),
    "ItemStatus": one_of(ItemStatus),
    "RunStatus": one_of(RunStatus),
    "Verdict | None": maybe(one_of(Verdict)),
    "FailureKind": one_of(FailureKind),
    "DecidedBy | None": maybe(one_of(DecidedBy)),
    "StoredStatus": one_of(StoredStatus),
    "tuple[RowInfo, ...]": some(of(RowInfo)),
    "tuple[float | int, ...] | None": maybe(some(st.one_of(floats, counts))),
    "StepType": one_of(StepType),
    "StepType | None": maybe(one_of(StepType)),
    "Ordering": one_of(Ordering),
}

VALUES: tuple[type, ...] = (
    Text, ToolCall, Reasoning, File, Data, Message, Turn, Item, Column, ScorerRef, Usage, Cost, JudgeExecution,
    JudgeRecord, JudgeTotals, NotScorable, Failure, NotRun, Origin, RunSnapshot, Outcome, Reply, TurnOutcomes,
    ItemResult, Mean, Threshold, NotScorableCounts, Summary, EvalResult, Step, Trajectory, ExpectedStep,
    TrajectoryExpectation, Opaque, AgentReply, Difference, TagMeans, Shortfall, FailedRow, CachedCall, RunInfo,
    RowInfo, Page, ToolMock, ToolReport,
)  # fmt: skip

# ── sameness ───────────────────────────────────────────────────────────────────────────────────────────────────────


def same(left: Any, right: Any) -> bool:
    """Equal, of equal types all the way down, dicts in the same order; NaN is the same as NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float | Decimal | date | time | timedelta):
        return repr(moment(left)) == repr(moment(right))
    if isinstance(left, dict):
        return same(list(left), list(right)) and same(list(left.values()), list(right.values()))
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(starmap(same, zip(left, right, strict=True)))
    if isinstance(left, Value):
        return all(same(getattr(left, it.name), getattr(right, it.name)) for it in fields(left))
    return bool(left == right)


def moment(value: Any) -> Any:
    """Without the fold, which says nothing once the offset is fixed."""
    return value.replace(fold=0) if isinstance(value, datetime | time) else value
