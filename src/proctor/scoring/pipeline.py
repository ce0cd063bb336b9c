"""A scorer at work: the walk through its steps, and what drives it.

The walk is a generator. It calls what may be called at once, and yields what it cannot do itself: `Hop`, something that
must not hold the event loop, and `Wait`, something to await, such as a judge's answer. `drive` answers on the loop; a
scorer whose steps are all `def` goes to a thread whole, in one hop. Whatever happens, the walk ends in one `Outcome`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from proctor.bridge import in_thread, recordable
from proctor.data.column import Column
from proctor.data.opaque import describe
from proctor.data.outcome import NotRun, NotScorable, Origin, Outcome, RunSnapshot
from proctor.data.plain import plain
from proctor.data.value import MISSING, quick_maker
from proctor.errors import EncodingError, ProctorError
from proctor.plugins import import_object
from proctor.scoring.callables import is_async
from proctor.scoring.failure import failure_from
from proctor.scoring.judged import STOPPED, TOO_LONG
from proctor.scoring.number import as_score
from proctor.scoring.run import ScorerRun
from proctor.scoring.schema import validated
from proctor.scoring.steps import Declined, Hop, Score, StepContext, StepName, as_text

if TYPE_CHECKING:
    from proctor.data.judge import JudgeRecord
    from proctor.judging.asking import Asking
    from proctor.scoring.scorer import Scorer

__all__ = ["Request", "Wait", "Walk"]

_make_outcome = quick_maker(Outcome)
_make_snapshot = quick_maker(RunSnapshot)


class Wait:
    """Please await this."""

    __slots__ = ("awaitable",)

    def __init__(self, awaitable: Awaitable[Any]) -> None:
        self.awaitable = awaitable


Request: TypeAlias = Hop | Wait


class Walk(StepContext):
    """One scorer on its way through one run. It is also the context that the steps see.

    `start`, and when that gives no outcome, `drive`. *left*: what an earlier walk of this cell came to before it was
    broken off; the judges that it asked stay in the record. *raised*: the exception behind an error outcome. *parts*:
    the walks of what the scorer is made of, once they were begun.
    """

    __slots__ = (
        "_at", "_began", "_column", "_judged", "_label", "_left", "_origin", "_reason", "_run_id", "_steps", "parts",
        "raised", "scorer",
    )  # fmt: skip

    def __init__(
        self,
        scorer: Scorer,
        run: ScorerRun,
        *,
        column: Column,
        origin: Origin | None = None,
        run_id: str | None = None,
        left: Outcome | None = None,
    ) -> None:
        self.run = run
        self._fence = None
        self._judged: dict[str, Asking] | None = None
        self.preprocess = self.analyze = self.score = MISSING
        self.raised: BaseException | None = None
        self.parts: Sequence[Walk] = ()
        self.scorer = scorer
        self._column = column
        self._origin = origin
        self._run_id = run_id
        self._left = left
        self._label: str | None = None
        self._reason: str | None = None
        self._at = -1  # the place of the step at work, -1 before the first
        self._began = 0.0

    def start(self) -> Outcome | Request:
        """The outcome when the scorer never needs to wait, as built-in checks never do; else its first request."""
        self._began = perf_counter()
        self._steps = self._walk()
        try:
            return next(self._steps)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    async def drive(self, now: Outcome | Request) -> Outcome:
        """The outcome of a walk that `start` gave a request for."""
        self._began = perf_counter()  # what others did between the start and this is not this scorer's time
        one_hop = self.scorer.one_hop
        while type(now) is not Outcome:
            if type(now) is Hop:
                now = await (self._one_hop(now) if one_hop else self._hop(now))
            else:
                now = await self._wait(now)  # type: ignore[arg-type]
        return now

    def ended_by(self, error: BaseException) -> Outcome:
        """The outcome of a walk that an exception ended, with what the finished steps produced."""
        self.raised = error
        if getattr(error, "code", None) == STOPPED:
            return self._outcome("not_run", None, None, None, NotRun("stopped"))
        names = [name for name, _, _ in self.scorer.route]
        step = names[self._at] if self._at >= 0 else None
        message = import_object("proctor.scoring.misuse:misuse_of")(error, self)
        failure = failure_from(error, step=step, completed_steps=names[: max(self._at, 0)], message=message)
        return self._outcome("error", None, None, None, failure)

    # ── the steps ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _walk(self) -> Generator[Request, Any, Outcome]:
        scorer = self.scorer
        score: float | None = None
        try:
            if scorer.shapes_run:
                self.run = yield from self._shaped()
            for at, (name, function, where) in enumerate(scorer.route):
                self._at = at
                if where == "ours":
                    value = function(self)
                    if type(value) is Hop or type(value) is Wait:
                        value = yield value
                elif where == "judge":
                    value = yield from self._ask(name)
                else:
                    value = (yield Hop(function, self)) if where == "thread" else function(self)
                    if hasattr(type(value), "__await__"):
                        value = yield Wait(value)
                if type(value) is Declined:
                    if name != "generate_reason":
                        return self._outcome("not_scorable", None, None, value.reason, NotScorable(name, value.reason))
                elif name == "generate_score":
                    if type(value) is Score:
                        self._label, self._reason, value = value.label, value.reason, value.value
                    self.score = score = as_score(value, scorer.range, scorer_id=scorer.id)
                elif name == "generate_reason":
                    self._reason = as_text(value, "generate_reason") or self._reason
                elif name == "preprocess":
                    self.preprocess = value
                else:
                    self.analyze = value
        except BaseException as error:
            if not recordable(error):
                raise
            return self.ended_by(error)
        return self._outcome("scored", score, self._label, self._reason, None)

    def _outcome(self, status: str, score: float | None, label: str | None, reason: str | None, cause: Any) -> Outcome:
        spent = (perf_counter() - self._began) * 1000.0
        evidence = None
        kept = None if self.score is MISSING else self.score
        found, finding = self.preprocess, self.analyze
        judged = self._asked() if self.parts else self._judged
        prompts, records = _records(judged, self._left) if judged or self._left else (None, None)
        if found is not MISSING or finding is not MISSING or records or (kept is not None and score is None):
            if records or not self.scorer.builtin or self.scorer.replaced:
                found, finding = _settled(found), _settled(finding)
            evidence = _make_snapshot(kept, self._reason, found, finding, prompts, records)
        return _make_outcome(
            self._column, status, score, label, reason, cause, evidence, spent, self._origin, self._run_id
        )

    def _asked(self) -> dict[str, Asking]:
        """The judged steps of this walk, and those of its parts."""
        asked: dict[str, Asking] = {**(self._judged or {})}
        for at, part in enumerate(self.parts, start=1):
            asked |= {f"{at}.{name}": asking for name, asking in part._asked().items()}  # noqa: SLF001 - one of these
        return asked

    def _shaped(self) -> Generator[Request, Any, ScorerRun]:
        """The run as this scorer asked to see it: cut by its `prepare_run`, read into its `type`."""
        scorer, run = self.scorer, self.run
        if scorer.prepare_run is not None:
            made = (yield Hop(scorer.prepare_run, run)) if scorer.prepares_away else scorer.prepare_run(run)
            if hasattr(type(made), "__await__"):
                made = yield Wait(made)
            run = ScorerRun.of(made)
        if isinstance(scorer.type, tuple):
            run = validated(run, scorer.type, scorer_id=scorer.id)
        return run

    def _ask(self, name: StepName) -> Generator[Request, Any, Any]:
        """The judge's answer to a step."""
        scorer, run = self.scorer, self.run
        asking = scorer.questions[name].asking(run.calls, repeat=run.repeat)
        self._judged = {**(self._judged or {}), name: asking}
        self._fence = None  # each call has a boundary of its own
        step: Any = scorer.steps[name]
        create, check = step.create, step.check
        foreign = not (scorer.inline or scorer.is_own(name))
        away = (foreign and not is_async(create)) or getattr(create, "is_slow", False)
        given = (yield Hop(create, self)) if away else create(self)
        if hasattr(type(given), "__await__"):
            given = yield Wait(given)
        if type(given) is Declined:
            return given
        try:
            checked = check and import_object("proctor.judging.answer_check:AnswerCheck")(check, self, away=foreign)
            return (yield Wait(asking.answer(given, fence=self.fence, check=checked)))
        except ProctorError as problem:
            if problem.code != TOO_LONG:
                raise
            return Declined(str(problem))

    # ── answers to requests ────────────────────────────────────────────────────────────────────────────────────────

    def _on_thread(self, now: Outcome | Request) -> Outcome | Request:
        while type(now) is Hop:
            now = self._answer(now.function, now.argument)
        return now

    async def _one_hop(self, now: Hop) -> Outcome | Request:
        try:
            return await in_thread(self._on_thread, now)
        except BaseException as error:  # noqa: BLE001 - no thread could be had; what is not its doing is raised there
            return self._failed(error)

    async def _hop(self, hop: Hop) -> Outcome | Request:
        try:
            value = await in_thread(hop.function, hop.argument)
        except BaseException as error:  # noqa: BLE001 - what is not its doing is raised there
            return self._failed(error)
        return self._send(value)

    async def _wait(self, wait: Wait) -> Outcome | Request:
        try:
            value = await wait.awaitable
        except BaseException as error:  # noqa: BLE001 - what is not its doing is raised there
            return self._failed(error)
        return self._send(value)

    def _answer(self, function: Callable[[Any], Any], argument: Any) -> Outcome | Request:
        try:
            value = function(argument)
        except BaseException as error:  # noqa: BLE001 - what is not its doing is raised there
            return self._failed(error)
        return self._send(value)

    def _send(self, value: Any) -> Outcome | Request:
        try:
            return self._steps.send(value)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]

    def _failed(self, error: BaseException) -> Outcome | Request:
        """Back into the walk, which makes an outcome of it; raises what is not the scorer's doing."""
        if not recordable(error):
            raise error
        try:
            return self._steps.throw(error)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def _records(
    judged: Mapping[str, Asking] | None, left: Outcome | None
) -> tuple[dict[str, str] | None, dict[str, JudgeRecord] | None]:
    """The prompts of the judged steps that ended well; the records of all that asked a judge, earlier ones first."""
    now: dict[str, JudgeRecord] = {name: asking.record for name, asking in (judged or {}).items() if asking.asked}
    asked = [(name, execution) for name, record in now.items() for execution in record.executions]
    prompts = {name: execution.prompt for name, execution in asked if execution.status == "success"}
    records: dict[str, JudgeRecord] = {**(left.judge if left else {})}
    for name, record in now.items():
        earlier = records.get(name)
        records[name] = (
            record if earlier is None else replace(record, executions=earlier.executions + record.executions)
        )
    return prompts or None, records or None


def _settled(value: Any) -> Any:
    """A step's result as it is kept: in plain data; what has none, or no end, is described."""
    try:
        return plain(value)
    except EncodingError:
        return describe(value)
