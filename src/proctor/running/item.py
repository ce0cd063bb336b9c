"""One row from beginning to end: the replies, turn by turn, and one outcome for each of its columns.

A single question is one reply, then gates, then scorers. In a conversation each turn's gates and scorers come before
the next turn is sent; those of the whole item look at everything that was said. When a reply fails, what was said
before it is scored; the turn, those after it and the whole item are not run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proctor.data.item import Item
from proctor.data.outcome import Failure, NotRun, Outcomes, Why
from proctor.data.read import read_messages
from proctor.data.reply import ItemResult, ItemStatus, Reply, TurnOutcomes
from proctor.data.usage import Cost, Usage
from proctor.data.value import quick_maker
from proctor.errors import ProctorError, ScorerRunError, TargetError, UnreadableMessages
from proctor.judging.cache import CacheNotes
from proctor.judging.call_cache import NO_CACHE
from proctor.judging.run_calls import RunCalls
from proctor.running.ask import Asker, Conversation
from proctor.running.calls import calls_of
from proctor.running.columns import Cell
from proctor.running.eval import Eval
from proctor.running.holds import Have, Redacted, what_holds, what_to_go_on_from
from proctor.running.ids import ID_TAKEN
from proctor.running.record import Known
from proctor.running.recording import Recording
from proctor.running.rows import Row, RowMaker, TurnPlan, context_of
from proctor.running.score import RowScorer, any_failed, not_run
from proctor.running.target import Target
from proctor.scoring.failure import failure_from
from proctor.scoring.run import ScorerRun, TurnRun

__all__ = ["RowRunner", "bad_row", "broken_row", "raise_first_error", "stopped_row"]

_NONE = Outcomes()
_make_result = quick_maker(ItemResult)


class RowRunner:
    """What the rows of a run share: the target and its options, the recorder, and the scorers' limits.

    *changed*: how many rows were there and are of another item now. *calls*: of models, until `begin` has others.
    """

    def __init__(
        self, target: Target | None, evaluation: Eval, recording: Recording, *, calls: RunCalls | None = None
    ) -> None:
        self._target = target
        self._asker = Asker(target, evaluation)
        self._scorer = RowScorer(recording, evaluation.scorer_timeout)
        self._recording = recording
        self._skips = evaluation.skip_scorers_after_gate_failure
        self._context = evaluation.request_context
        self._evaluation = evaluation
        self._redacted: Redacted | None = None
        self.changed = 0
        self._calls = calls or RunCalls(NO_CACHE, CacheNotes())

    def begin(self, known: Known, *, notes: CacheNotes, on_stop: Callable[[str], None]) -> None:
        """Take in what the recorder says of the run. *notes*: of what goes wrong with its cache of model calls.

        *on_stop*: told why no more calls of models are to be made, and so no more rows to be begun.
        """
        self._redacted = known.redacted
        self._calls = calls_of(self._evaluation, known, notes=notes, on_stop=on_stop)

    async def run(self, row: Row, found: ItemResult | None = None) -> ItemResult:
        """The row's result. Replies and outcomes go to the recorder as they come; the result is the caller's to put.

        *found*: what an earlier run left of the row; only what is missing is done. A conversation that broke off goes
        on at its next turn, or is begun anew when the thread it was held on is gone.
        """
        replies, have = ((), {}) if found is None else what_to_go_on_from(found, row, target=self._target)
        return await (self._conversation if row.turns else self._single)(row, replies, have)

    def look(self, found: ItemResult, row: Row) -> tuple[ItemResult | None, bool]:
        """What still holds of a row that was recorded, and whether nothing of it is missing."""
        left = what_holds(found, row, redacted=self._redacted)
        self.changed += left is not found
        return left, left is not None and _is_whole(left, row, skips=self._skips)

    async def _single(self, row: Row, replies: Sequence[Reply], have: Have) -> ItemResult:
        reply = replies[0] if replies else await self._new_reply(row, self._asker.conversation(row))
        if reply.error is not None:
            return _unfinished(row, (reply,), why="target_failed", error=reply.error)
        run = self._scorer_run(row, (reply,), output=reply.output, input=row.item.input, truth=row.item.ground_truth)
        gates, scorers = await self._gates_then_scorers(row, row.gates, row.scorers, run=run, reply=reply, have=have)
        item_id, repeat = row.id
        return _make_result(
            row.item, item_id, row.index, repeat, "done", (reply,), gates, scorers, _NONE, _NONE, (), None
        )

    async def _conversation(self, row: Row, earlier: Sequence[Reply], have: Have) -> ItemResult:
        conversation = self._asker.conversation(row, earlier=earlier)
        try:
            return await self._turns(row, conversation, earlier, have)
        finally:
            self._asker.forget(conversation)

    async def _turns(self, row: Row, conversation: Conversation, earlier: Sequence[Reply], have: Have) -> ItemResult:
        replies: list[Reply] = []
        turns: list[TurnOutcomes] = []
        why: Why | None = None
        error: Failure | None = None
        for turn in row.turns:
            if why is None:
                is_there = turn.index < len(earlier)
                reply = earlier[turn.index] if is_there else await self._new_reply(row, conversation, turn=turn)
                replies.append(reply)
                if reply.error is not None:
                    why, error = "target_failed", reply.error
            if why is not None:
                turns.append(_unasked(turn, why))
                continue
            run = self._scorer_run(row, (reply,), output=reply.output, input=turn.input, truth=turn.ground_truth)
            gates, scorers = await self._gates_then_scorers(
                row, turn.gates, turn.scorers, run=run, reply=reply, have=have
            )
            turns.append(TurnOutcomes(turn.index, gates, scorers))
            if row.item.stop_on_failure and turn is not row.turns[-1] and any_failed(turn.gates, gates):
                why = "earlier_turn_failed"
        if why is not None:
            return _unfinished(row, tuple(replies), why=why, error=error, turns=tuple(turns))
        said = [TurnRun(turn.input, reply.output) for turn, reply in zip(row.turns, replies, strict=True)]
        run = self._scorer_run(
            row, replies, output=_joined(replies), input=row.turns[0].input, truth=row.item.ground_truth, turns=said
        )
        gates, scorers = await self._gates_then_scorers(
            row, row.gates, row.scorers, run=run, reply=replies[-1], have=have
        )
        return ItemResult(
            item=row.item,
            item_id=row.id[0],
            index=row.index,
            repeat=row.id[1],
            replies=tuple(replies),
            gates=gates,
            scorers=scorers,
            turns=tuple(turns),
        )

    async def _new_reply(self, row: Row, conversation: Conversation, *, turn: TurnPlan | None = None) -> Reply:
        if row.reply is None:
            reply = await self._asker.ask(row, conversation, turn=turn)
            self._calls.spend(reply.usage, reply.cost)
        else:
            reply = row.reply
        turn_index = None if turn is None else turn.index
        await self._recording.put(row.id, reply, turn=turn_index, item=row.item, index=row.index)
        return reply

    async def _gates_then_scorers(
        self, row: Row, gates: Sequence[Cell], scorers: Sequence[Cell], *, run: ScorerRun, reply: Reply, have: Have
    ) -> tuple[Outcomes, Outcomes]:
        passed = await self._scorer.score(gates, run, row=row.id, origin=reply.origin, have=have)
        if self._skips and any_failed(gates, passed):
            return passed, not_run(scorers, "gate_failed")
        return passed, await self._scorer.score(scorers, run, row=row.id, origin=reply.origin, have=have)

    def _scorer_run(
        self, row: Row, replies: Sequence[Reply], *, output: Any, input: Any, truth: Any, turns: Sequence[TurnRun] = ()
    ) -> ScorerRun:
        item = row.item
        single = len(replies) == 1
        return ScorerRun(
            output=output,
            input=input,
            ground_truth=truth,
            context=item.context,
            turns=turns,
            expected_trajectory=item.expected_trajectory,
            request_context=context_of(item, self._context),
            usage=replies[0].usage if single else _usage(replies),
            cost=replies[0].cost if single else _cost(replies),
            duration_ms=replies[0].duration_ms if single else _duration(replies),
            extra={"metadata": item.metadata} if item.metadata else None,
            calls=self._calls,
            repeat=row.id[1],
        )


def _joined(replies: Sequence[Reply]) -> Any:
    """All that came back, as one list of messages (or of texts, when every reply was a text); None if one has none."""
    outputs = [reply.output for reply in replies]
    if all(type(output) is str for output in outputs):
        return outputs
    try:
        return [message for output in outputs for message in read_messages(output)]
    except UnreadableMessages:
        return None  # whoever reads it finds that it cannot be read; each output stands in its turn


def _is_whole(found: ItemResult, row: Row, *, skips: bool) -> bool:
    """Whether nothing of the row is missing, and nothing is there that it does not ask for.

    What a run that was stopped did not come to is missing.

    *skips*: whether scorers behind a gate that failed are to be left out; else they are missing.
    """
    undone = {"stopped"} if skips else {"stopped", "gate_failed"}
    if any(isinstance(outcome.cause, NotRun) and outcome.cause.why in undone for outcome in found.outcomes):
        return False
    return found.status in {"done", "error"} and {outcome.column for outcome in found.outcomes} == {
        cell.column for cell in row.cells
    }


def _unfinished(
    row: Row,
    replies: tuple[Reply, ...] = (),
    *,
    why: Why,
    error: Failure | None = None,
    turns: tuple[TurnOutcomes, ...] = (),
) -> ItemResult:
    """A row without all its replies: the whole-item columns say that they were not run, and why."""
    ended: ItemStatus = "not_run" if why == "stopped" else "done"
    return ItemResult(
        item=row.item,
        item_id=row.id[0],
        index=row.index,
        repeat=row.id[1],
        status=ended if error is None else "error",
        replies=replies,
        gates=not_run(row.gates, why),
        scorers=not_run(row.scorers, why),
        turns=turns or tuple(_unasked(turn, why) for turn in row.turns),
        error=error,
    )


def _unasked(turn: TurnPlan, why: Why) -> TurnOutcomes:
    return TurnOutcomes(turn.index, not_run(turn.gates, why), not_run(turn.scorers, why))


def broken_row(row: Row, error: Failure) -> ItemResult:
    """The result of a row that something outside of it broke off."""
    return _unfinished(row, why="target_failed", error=error)


def bad_row(maker: RowMaker, index: int, *, given: Item | ProctorError, error: Exception) -> ItemResult:
    """The result of an item of a stream that cannot be run: an error of its own, and the run goes on."""
    item_id = given.id if isinstance(given, Item) and isinstance(given.id, str) and given.id else f"item {index}"
    if getattr(error, "code", None) == ID_TAKEN:
        item_id = f"{item_id} (item {index})"  # rows are found by their ids
    return ItemResult(
        item=given if isinstance(given, Item) else Item(id=item_id),
        item_id=item_id,
        index=index,
        status="error",
        gates=not_run(maker.gates, "target_failed"),
        scorers=not_run(maker.scorers, "target_failed"),
        error=failure_from(error, code=TargetError.code),
    )


def stopped_row(row: Row) -> ItemResult:
    """The result of a row that the run stopped before."""
    return _unfinished(row, why="stopped")


def raise_first_error(result: ItemResult) -> None:
    """Raise what failed in a row, if anything did: for a run that should end at the first failure."""
    if result.error is not None:
        raise TargetError(f"item {result.item_id}: the target failed: {result.error}")
    for outcome in result.outcomes:
        failure = outcome.error
        if failure is not None:
            raise ScorerRunError(
                f"item {result.item_id}: {outcome.column.label} failed: {failure}",
                failed_step=failure.step,
                completed_steps=failure.completed_steps,
                result=outcome.evidence,
                code="RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT",
            )


def _usage(replies: Sequence[Reply]) -> Usage | None:
    known = [reply.usage for reply in replies if reply.usage is not None]
    return sum(known[1:], start=known[0]) if known else None


def _cost(replies: Sequence[Reply]) -> Cost | None:
    """The sum of what the replies state; None when one states nothing, or they differ in unit."""
    costs = [reply.cost for reply in replies]
    stated = [cost for cost in costs if cost is not None]
    if len(stated) < len(costs) or len({cost.unit for cost in stated}) != 1:
        return None
    sources = ", ".join(sorted({cost.source for cost in stated}))
    return Cost(amount=sum(cost.amount for cost in stated), unit=stated[0].unit, source=sources)


def _duration(replies: Sequence[Reply]) -> float | None:
    known = [reply.duration_ms for reply in replies if reply.duration_ms is not None]
    return sum(known) if known else None
