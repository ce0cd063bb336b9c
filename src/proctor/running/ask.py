"""Asking the target: tries, waits, deadlines, and what failed as a reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any
from uuid import uuid4

from proctor.bridge import cancel_requests, recordable
from proctor.data.message import Message
from proctor.data.outcome import Failure, Origin
from proctor.data.plain import plain
from proctor.data.reply import Reply
from proctor.data.value import MISSING, quick_maker, shown
from proctor.errors import TargetError, safe_message
from proctor.running.eval import Eval
from proctor.running.limits import MOST_ABANDONED
from proctor.running.retry import as_retry
from proctor.running.rows import Row, TurnPlan, context_of
from proctor.running.target import Call, Target, keep_with, kept_with, without_place
from proctor.running.toolbox import Toolbox
from proctor.scoring.failure import failure_from

__all__ = ["Asker", "Conversation"]

_make_call = quick_maker(Call)
_make_reply = quick_maker(Reply)


class Conversation:
    """The thread of one row: fresh for a conversation, else the caller's; and how long its replies may take.

    *earlier*: replies of a conversation that broke off: it goes on on their thread, in what is left of its time.
    *failed*: what the last try ended in, while the next is waited for. *toolbox*: of a target that calls its tools
    through one.
    """

    __slots__ = ("failed", "left", "resource_id", "thread_id", "toolbox")

    def __init__(
        self, row: Row, evaluation: Eval, *, earlier: Sequence[Reply] = (), toolbox: Toolbox | None = None
    ) -> None:
        memory = (evaluation.target_options or {}).get("memory") or {}
        self.thread_id: str | None = str(uuid4()) if row.turns else memory.get("thread")
        self.resource_id: str | None = memory.get("resource") or self.thread_id
        self.left = evaluation.timeout
        self.failed: BaseException | None = None
        self.toolbox = toolbox
        if earlier:
            self._go_on(earlier)

    def _go_on(self, earlier: Sequence[Reply]) -> None:
        origin = earlier[-1].origin
        if origin is not None and origin.thread_id is not None:
            self.thread_id, self.resource_id = origin.thread_id, origin.resource_id
        if self.left is not None:
            self.left -= sum(reply.duration_ms or 0.0 for reply in earlier) / 1000.0


class Asker:
    """The target of a run, asked with its options."""

    def __init__(self, target: Target | None, evaluation: Eval) -> None:
        self._target = target
        self._retry = as_retry(evaluation.retries)
        self._timeout = evaluation.timeout
        self._options = without_place(evaluation.target_options)
        self._context = evaluation.request_context
        self._evaluation = evaluation
        self._mocks_tools = getattr(target, "mocks_tools", False)
        self._abandoned = 0

    def conversation(self, row: Row, *, earlier: Sequence[Reply] = ()) -> Conversation:
        """What a row's replies share. *earlier*: those that are there."""
        toolbox = _toolbox(row, self._evaluation, earlier) if self._mocks_tools else None
        return Conversation(row, self._evaluation, earlier=earlier, toolbox=toolbox)

    def forget(self, conversation: Conversation) -> None:
        """Tell the target that a conversation is over, where it asks to be told."""
        drop = getattr(self._target, "forget", None)
        if drop is not None and conversation.thread_id is not None:
            drop(conversation.thread_id, resource_id=conversation.resource_id)

    async def ask(self, row: Row, conversation: Conversation, *, turn: TurnPlan | None = None) -> Reply:
        """The reply to a row, or to one turn of it. A failure is a reply with an error."""
        if self._target is None:
            raise AssertionError("the plan refuses an item that has no output when there is no target")
        if self._abandoned >= MOST_ABANDONED:
            return Reply(error=_given_up(f"not asked: the target ran out of time {MOST_ABANDONED} times before"))
        call = self._call(row, conversation, turn)
        began = perf_counter()
        try:
            reply = await self._within(conversation, call)
        except BaseException as error:
            if not recordable(error):
                raise
            failure = _failure(error)
            # It would grow with each item where a target raises one and the same exception again and again.
            error.__traceback__ = None
            kept = self._read(kept_with(error), conversation.toolbox)
            return replace(kept, error=failure, duration_ms=_since(began), origin=_origin(conversation))
        duration = _since(began) if reply.duration_ms is None else reply.duration_ms
        origin = _origin(conversation, reply.origin)
        if type(reply) is not Reply:
            return replace(reply, duration_ms=duration, origin=origin)
        return _make_reply(
            reply.output, reply.usage, reply.cost, duration, reply.finish_reason, reply.structured, origin, reply.error
        )

    def _call(self, row: Row, conversation: Conversation, turn: TurnPlan | None) -> Call:
        item = row.given
        context = context_of(item, self._context)
        given, at = (item.input, None) if turn is None else (turn.given, turn.index)
        return _make_call(
            given, item, at, conversation.thread_id, conversation.resource_id, self._options, context,
            conversation.toolbox,
        )  # fmt: skip

    async def _within(self, conversation: Conversation, call: Call) -> Reply:
        """All tries, within what is left of the item's time."""
        left = conversation.left
        if left is None:
            return await self._tries(call, conversation)
        if left <= 0:
            raise self._too_long()
        import asyncio

        began = perf_counter()
        try:
            async with asyncio.timeout(left) as limit:
                return await self._tries(call, conversation)
        except Exception as error:
            if not limit.expired():
                raise  # the target's own
            failed = conversation.failed
            if failed is None:
                self._abandoned += self._target is not None and self._target.may_hang
            late = self._too_long(failed)
            keep_with(late, kept_with(error.__cause__ or error))  # what was cancelled had been doing something
            raise late from failed or error
        finally:
            conversation.left = left - (perf_counter() - began)

    def _too_long(self, failed: BaseException | None = None) -> TargetError:
        why = "" if failed is None else f"; the last try failed: {type(failed).__name__}: {safe_message(failed)}"
        return TargetError(f"the target took longer than the {self._timeout:g} s of timeout={why}", code="TIMEOUT")

    async def _tries(self, call: Call, conversation: Conversation) -> Reply:
        tried = 0
        toolbox = call.toolbox
        while True:
            tried += 1
            conversation.failed = None
            if toolbox is not None:
                toolbox.begin()
            try:
                reply = self._read(await self._target.reply(call), toolbox)  # type: ignore[union-attr]  # checked in `ask`
                if toolbox is not None and toolbox.failure is not None:
                    keep_with(toolbox.failure, reply)
                    raise toolbox.failure
                return reply
            except BaseException as error:
                if not recordable(error) or cancel_requests() > 0:  # whatever the target made of being stopped
                    raise
                if toolbox is not None and toolbox.failure is not None:
                    keep_with(toolbox.failure, kept_with(error))
                    raise toolbox.failure from (None if error is toolbox.failure else error)
                wait = self._retry.wait(error, tried=tried)
                if wait is None:
                    raise
                conversation.failed = error
            import asyncio

            await asyncio.sleep(wait)

    def _read(self, reply: Any, toolbox: Toolbox | None = None) -> Reply:
        """What a target gave becomes plain data once, here: scorers see the same now and when it is scored again."""
        if not isinstance(reply, Reply):
            raise TargetError(f"the target's reply() must give a Reply, not {shown(reply)}")
        if toolbox is None and type(reply.output) is str and reply.structured is MISSING:
            return reply
        output = plain(reply.output)
        return replace(
            reply, output=output if toolbox is None else toolbox.noted(output), structured=plain(reply.structured)
        )


def _toolbox(row: Row, evaluation: Eval, earlier: Sequence[Reply]) -> Toolbox:
    """The toolbox of a row: of its mocks, those that earlier replies name are used up."""
    outputs = [reply.output for reply in earlier if isinstance(reply.output, list | tuple)]
    said = [message for output in outputs for message in output if isinstance(message, Message)]
    answered = {call.mock for message in said for call in message.tool_calls if call.mock is not None}
    unmocked = row.item.unmocked or evaluation.unmocked
    return Toolbox(row.item.tool_mocks, unmocked=unmocked, repeat=row.id[1], answered=answered)


def _origin(conversation: Conversation, stated: Origin | None = None) -> Origin | None:
    """What the target says of where its reply came from; the thread that it was asked on, where it names none."""
    if conversation.thread_id is None and conversation.resource_id is None:
        return stated
    if stated is not None:
        if stated.thread_id is not None:
            return stated
        return replace(
            stated, thread_id=conversation.thread_id, resource_id=stated.resource_id or conversation.resource_id
        )
    return Origin(thread_id=conversation.thread_id, resource_id=conversation.resource_id)


def _failure(error: BaseException) -> Failure:
    return failure_from(error, code=TargetError.code)


def _given_up(message: str) -> Failure:
    return Failure(type="TimeoutError", message=message, code="TIMEOUT")


def _since(began: float) -> float:
    return (perf_counter() - began) * 1000.0
