"""A model that says what it is told to: for tests of judges and of scorers that ask one, without a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from threading import Lock
from typing import Any, get_args
from uuid import uuid4

from proctor.data.message import Message
from proctor.errors import ModelError, UnknownName, UsageError
from proctor.judging.judge import OutputMode
from proctor.judging.model import ModelAnswer, ModelCall, Price
from proctor.testing.replies import Script, ScriptedReply

__all__ = ["ScriptedModel"]


class ScriptedModel:
    """A judge's model with set replies; it can be asked from several threads and loops.

    *replies*: a list, taken in the order of the calls, whose last one repeats; a mapping from a piece of a user
    message, of the last one first, to its reply, with `*` for all others; a function, `def` or `async def`, of the
    `ModelCall`; or one reply. A reply is a text, sent as it is; a value (a mapping, a list, a dataclass, a pydantic
    object), sent as JSON; a `ScriptedReply`; or an exception to raise, a `ModelError` as a rule.

    *modes*, *accepts*, *window* and *price* are what it says of itself. Each has an *address* of its own, so that none
    is given what a cache keeps of another; name one to share, as a run that goes on in another process must. A reply
    that is later than the call's `timeout` is a `ModelError` of the kind `timeout`.

    *calls*: what it was asked, in order. *most_in_flight*: how many calls it had at once.

    >>> import asyncio
    >>> from proctor import Message, Text
    >>> model = ScriptedModel({"refund": {"verdict": "pass"}, "*": "I cannot say."})
    >>> call = ModelCall(messages=(Message("user", (Text("Was the refund fair?"),)),))
    >>> asyncio.run(model.request(call)).text
    '{"verdict": "pass"}'
    """

    provider: str | None = "test"
    keeps_time = True

    def __init__(
        self,
        replies: Any,
        *,
        name: str = "scripted",
        modes: Iterable[OutputMode] = ("native", "tool", "prompted"),
        accepts: Iterable[str] = (),
        window: int | None = None,
        price: Price | None = None,
        address: str | None = None,
    ) -> None:
        self.id = f"test:{name}"
        self.address: str | None = address or f"script {uuid4().hex[:12]}"
        self.modes: tuple[OutputMode, ...] = tuple(modes)
        for mode in self.modes:
            if mode not in get_args(OutputMode):
                raise UnknownName("mode of an answer", mode, get_args(OutputMode))
        if not self.modes:
            raise UsageError("ScriptedModel(modes=...) needs at least one mode; `prompted` goes with any model")
        self.accepts = frozenset(accepts)
        self.window = window
        self.price = price
        self.calls: list[ModelCall] = []
        self.most_in_flight = 0
        self._script = Script(replies, owner="ScriptedModel")
        self._in_flight = 0
        self._lock = Lock()

    async def request(self, call: ModelCall, /) -> ModelAnswer:
        """The scripted answer to this call."""
        with self._lock:
            number = len(self.calls)
            self.calls.append(call)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            async with asyncio.timeout(call.timeout) as limit:
                return await self._answer(call, number)
        except TimeoutError:
            if limit.expired():
                raise ModelError(f"{self.id} did not answer within {call.timeout:g} s", kind="timeout") from None
            raise
        finally:
            with self._lock:
                self._in_flight -= 1

    async def _answer(self, call: ModelCall, number: int) -> ModelAnswer:
        reply: ScriptedReply = await self._script.reply(call, number=number, prompts=_prompts(call.messages))
        if reply.delay:
            await asyncio.sleep(reply.delay)
        if reply.throw is not None:
            raise reply.throw.with_traceback(None)  # else it would grow with each time that it is raised
        return ModelAnswer(
            text=reply.sent,
            finish_reason=reply.finish_reason,
            refusal=reply.refusal,
            usage=reply.used,
            cost=reply.cost,
            answered_by=reply.answered_by,
        )


def _prompts(messages: tuple[Message, ...]) -> list[str]:
    """The texts of the user messages, from last to first."""
    return [message.text for message in reversed(messages) if message.role == "user"]
