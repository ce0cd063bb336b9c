"""What holds of every recorder: rows to be kept, and the places that keep them."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

from pydantic import BaseModel

from proctor import (
    MISSING,
    AgentReply,
    Item,
    ItemResult,
    JsonlRecorder,
    MemoryRecorder,
    Message,
    Outcome,
    Reply,
    Score,
    Store,
    Text,
    Threshold,
    Turn,
    checks,
    create_scorer,
    not_scorable,
    scorer,
)
from proctor.data.column import Column
from proctor.data.judge import JudgeExecution, JudgeRecord
from proctor.data.outcome import Failure, NotRun, NotScorable, Origin, Outcomes, RunSnapshot
from proctor.data.reply import TurnOutcomes
from proctor.data.usage import Cost, Usage
from proctor.running.kept import Beginning
from proctor.running.record import Event
from tests.running.plans import plan_of

# ── places ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Place:
    """Somewhere that one run is kept. `sit` begins a sitting: the recorder, and what it knows."""

    def __init__(self, make):
        self._make = make
        self._known = None
        self.recorder = None

    async def sit(self, plan=None, **options):
        self.recorder = self._make(self._known, options)
        self._known = await self.recorder.start(plan or plan_of())
        return self.recorder, self._known


def in_memory():
    recorder = MemoryRecorder()
    return Place(lambda known, options: recorder)


def in_lines(path):
    return Place(lambda known, options: JsonlRecorder(path, other_target="accept"))


def in_store(where):
    def make(known, options):
        beginning = Beginning() if known is None else Beginning(resume=known.eval_id, allow_changes=True, **options)
        return Store(where).recorder(beginning)

    return Place(make)


async def put_row(recorder, row, *, ends=True):
    """Put a row as a run does: each reply, the outcomes as they came, and the row itself when it *ends*."""
    name = (row.item_id, row.repeat)
    alone = not row.turns and len(row.replies) == 1
    for turn, reply in enumerate(row.replies):
        await recorder.put(Event(name, reply, None if alone else turn, row.item, row.index))
    for outcome in row.outcomes:
        await recorder.put(Event(name, outcome))
    if ends:
        await recorder.put(Event(name, row))


# ── rows ───────────────────────────────────────────────────────────────────────────────────────────────────────────

ORIGIN = Origin(thread_id="thread\0", resource_id="r", trace_id="t", span_id="s", source="TEST")
FAILURE = Failure(
    type="ValueError",
    message="no \ud800 such\0thing",
    code="SCORER_FAILED",
    step="analyze",
    completed_steps=("preprocess",),
    traceback="Traceback\n ...",
    place="refunds.py:14",
)
ASKED = JudgeExecution(
    status="success",
    prompt="Is it \0 right? \ud83d",
    judge_model_id="judge\0one",
    answered_by="judge-one-\ud83d",
    attempt_count=2,
    duration_ms=12.5,
    usage=Usage(input_tokens=3, output_tokens=4),
    cost=Cost(amount=0.125),
    output={"right": True, "why": ["a", None]},
    raw_output='{"right": true}',
    finish_reason="stop",
)
FAILED = JudgeExecution(status="failed", prompt="?", error={"type": "Timeout", "n": 2**80}, cached=True)
JUDGED = RunSnapshot(
    score=0.5,
    reason="because",
    preprocess_step_result={"claims": ["a", "b"]},
    analyze_step_result=[1, float("nan"), float("-inf"), 2**80],
    prompts={"analyze": "Is it right?"},
    judge={
        "analyze": JudgeRecord((ASKED, FAILED)),
        "generate_reason": JudgeRecord((ASKED,)),
        "odd\0step": JudgeRecord(),
    },
)


def column(key, position="scorer", turn=None):
    return Column(position, turn, key, f"id of {key}")


GATE = Outcome(column("g", "gate"), "scored", 1.0, duration_ms=0.25, origin=ORIGIN, run_id="run-1")
JUDGED_OUTCOME = Outcome(
    column("judged"), "scored", 0.5, label="so so", reason="because", evidence=JUDGED, duration_ms=20.0, run_id="run-2"
)
BROKEN = Outcome(column("broken"), "error", cause=FAILURE, evidence=RunSnapshot(score=0.75), duration_ms=1.5)
DECLINED = Outcome(column("declined"), "not_scorable", cause=NotScorable(step="analyze", reason="nothing \ud800 there"))
SKIPPED = Outcome(column("skipped"), "not_run", cause=NotRun("gate_failed"))
NONE_FOUND = Outcome(column("none found"), "scored", 0.0, evidence=RunSnapshot(score=0.0, preprocess_step_result=None))

PAID = Reply(
    {"answer": "yes", "when": datetime(2026, 11, 30, 12, tzinfo=UTC)},
    usage=Usage(input_tokens=10, output_tokens=1),
    cost=Cost(amount=0.25, unit="EUR"),
    duration_ms=12.5,
    finish_reason="stop",
    structured={"yes": True},
    origin=ORIGIN,
)


def at_turn(turn, *, gates=(), scorers=()):
    def made(key, position, score):
        return Outcome(column(key, position, turn), "scored", score, duration_ms=1.0, origin=ORIGIN)

    return TurnOutcomes(
        turn,
        Outcomes(made(key, "gate", 1.0) for key in gates),
        Outcomes(made(key, "scorer", turn / 4) for key in scorers),
    )


ROWS = {
    "single": ItemResult(
        item=Item("x", id="single", ground_truth={"a": [1, 2.5, None]}, tags=["t"], metadata={"m": [True]}),
        item_id="single",
        replies=(PAID,),
        gates=Outcomes([GATE]),
        scorers=Outcomes([JUDGED_OUTCOME, BROKEN, DECLINED, SKIPPED, NONE_FOUND]),
    ),
    "repeated": ItemResult(
        item=Item("x", id="single"), item_id="single", repeat=3, replies=(PAID,), gates=Outcomes([GATE])
    ),
    "error": ItemResult(
        item=Item("x", id="error"),
        item_id="error",
        index=1,
        status="error",
        replies=(Reply(error=FAILURE, duration_ms=3.0),),
        gates=Outcomes([Outcome(column("g", "gate"), "not_run", cause=NotRun("target_failed"))]),
        error=FAILURE,
    ),
    "conversation": ItemResult(
        item=Item(
            id="talk",
            turns=(Turn("one"), Turn("two"), Turn(Message("user", (Text("3"),)))),
        ),
        item_id="talk",
        index=2,
        replies=(PAID, Reply("two", duration_ms=0.01, origin=ORIGIN), PAID),
        gates=Outcomes([GATE]),
        scorers=Outcomes([JUDGED_OUTCOME]),
        turns=(
            at_turn(0, gates=["g"], scorers=["own", "other"]),
            at_turn(1),
            at_turn(2, scorers=["other"]),
        ),
    ),
    "inputs": ItemResult(
        item=Item(id="inputs", inputs=("one", "two")),
        item_id="inputs",
        index=3,
        replies=(Reply("one"), Reply("two")),
        scorers=Outcomes([NONE_FOUND]),
        turns=(at_turn(0), at_turn(1)),
    ),
    "no output": ItemResult(
        item=Item("x", id="none"), item_id="none", index=4, replies=(Reply(None),), scorers=Outcomes([NONE_FOUND])
    ),
    "odd id": ItemResult(
        item=Item("x", id="a\0b\ud83d\x1b ünï 日本"), item_id="a\0b\ud83d\x1b ünï 日本", index=5, replies=(Reply("x"),)
    ),
    "escaped id": ItemResult(item=Item("x", id="\x1b[0m"), item_id="\x1b[0m", index=6, replies=(Reply("x"),)),
}  # fmt: skip


# ── values ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class Refund(BaseModel):
    amount: float
    when: date


@dataclass
class Point:
    x: int
    y: tuple[int, ...]


def nested(depth):
    made = "the bottom"
    for _ in range(depth):
        made = [made]
    return made


VALUES = {
    "NaN and infinity": [float("nan"), float("inf"), -float("inf"), -0.0],
    "lone surrogate": "\ud83d",
    "NUL": "a\0b",
    "escape": "\x1b\x1b",
    "1,000 keys": {f"key {n}\0": n for n in range(1000)},
    "150 levels": nested(150),
    "huge": [2**70, -(10**400)],
    "datetimes": [
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        datetime(2026, 1, 2),  # noqa: DTZ001 - one without a zone
        date(2026, 1, 2),
        time(1, 2, tzinfo=UTC),
        timedelta(days=1, microseconds=1),
    ],
    "decimal": Decimal("0.10"),
    "bytes": b"\0\xff",
    "set": {1, "a", None},
    "keys that are no texts": {1: "a", (1, "b"): {None: MISSING}, "$": 1},
    "pydantic": Refund(amount=1.5, when=date(2026, 1, 2)),
    "dataclass": Point(1, (2, 3)),
    "html": "<script>alert('x')</script> & \"quoted\"; DROP TABLE proctor_item; --",
    "nothing": None,
    "object": object,
}


# ── an evaluation with everything in it ────────────────────────────────────────────────────────────────────────────


class Agent:
    """Answers what it is asked, and counts; fails for `fail`."""

    def __init__(self):
        self.asked = []

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        await asyncio.sleep(0)
        text = messages[-1].text
        self.asked.append(text)
        if text == "fail":
            raise ConnectionError("no answer")
        return AgentReply(f"re: {text}", Usage(input_tokens=len(text), output_tokens=1), Cost(amount=0.25))


def everything(agent=None, **options):
    """Single questions and conversations, and outcomes of every kind, some of which end in another order."""

    async def slow(run):
        await asyncio.sleep(0.002)
        return len(run.text) % 5 / 4

    async def quick(run):
        return Score(len(run.text) % 3 / 2, reason=f"it has {len(run.text)} characters")

    def declines(run):
        return not_scorable("nothing to see") if len(run.text) % 2 else 1.0

    def breaks(run):
        if len(run.text) % 3 == 0:
            raise ValueError(f"broke over {run.text}")
        return 1.0

    worst = create_scorer(id="worst", range=(1, 5), better="lower").generate_score(
        lambda ctx: 1 + len(ctx.run.text) % 4
    )
    stepped = (
        create_scorer(id="stepped")
        .preprocess(lambda ctx: {"length": len(ctx.run.text)})
        .analyze(lambda ctx: [ctx.results["preprocess"]])
        .generate_score(lambda ctx: 0.5)
        .generate_reason(lambda ctx: "in the middle")
    )
    own = scorer(id="own", version="1")(quick)
    data = [
        Item("one", id="a", tags=["x"], ground_truth={"a": 1}, metadata={"n": 1}),
        Item("fail", id="b", tags=["x", "y"]),
        Item(id="c", inputs=["one", "three"]),
        Item(id="d", turns=[Turn("one", gates=[checks.includes("re")], scorers=[own]), Turn("two", scorers=[own])]),
        Item(id="e", turns=[Turn("one", gates=[checks.includes("zzz")]), Turn("two")], stop_on_failure=True),
        Item(id="f", inputs=["one", "fail", "three"]),
        Item("four", id="g", scorers=[own]),
        *[Item(f"ask {n}" * n, id=f"h{n}") for n in range(6)],
    ]
    return {
        "name": "everything",
        "target": agent or Agent(),
        "data": data,
        "gates": [checks.includes("re"), checks.excludes("ask 3")],
        "scorers": [
            scorer(id="slow", version="1")(slow),
            (scorer(id="quick", version="1")(quick), 0.5),
            (worst, Threshold(max=3)),
            stepped,
            scorer(id="declines", version="1")(declines),
            scorer(id="breaks", version="1")(breaks),
        ],
        "skip_scorers_after_gate_failure": True,
        "repeats": 2,
        "concurrency": 4,
    } | options
