"""A call on its way to a model: its turn, its deadline, its further tries, and what it took.

The one layer that tries again. A rate limit is waited for, up to ten minutes in all; what else passes is tried again
`retries` times; what would be the same for every call ends the calls of the run, and so does a rate limit that is to be
waited for longer.
"""

from __future__ import annotations

import random
from typing import Any, Final

from proctor.data.usage import Cost, Usage
from proctor.data.value import shown
from proctor.errors import ModelError
from proctor.judging.judge import Judge
from proctor.judging.limiter import Limits, limiter_for
from proctor.judging.model import JudgeModel, ModelAnswer, ModelCall
from proctor.judging.run_calls import RunCalls
from proctor.judging.tokens import estimated_tokens
from proctor.judging.waiting import not_counted

__all__ = ["RETRIES", "TIMEOUT", "Sender"]

TIMEOUT: Final = 120.0
"""Seconds for one call, where the judge says nothing."""

RETRIES: Final = 3
"""Further tries, where the judge says nothing."""

_PATIENCE = 600.0  # seconds that one call waits for rate limits in all, and that a server is obeyed at a time
_MOST_WAIT = 30.0
_ANSWER_TOKENS = 500  # what an answer is taken to have, until it is there


class Sender:
    """Sends the calls of one judged step, and adds up what they take.

    *attempts*: requests that the step made of the judge; *retries*: how often one was made again; *completed*: calls
    that a model answered. *cost*: None when a price is not known.
    """

    def __init__(self, model: JudgeModel, judge: Judge, calls: RunCalls) -> None:
        self.key = model.id if model.address is None else f"{model.id} {model.address}"
        self.timeout = TIMEOUT if judge.timeout is None else judge.timeout
        self.attempts = self.retries = self.completed = 0
        self.waited_ms = 0.0
        self.usage: Usage | None = None
        self.cost: Cost | None = None
        self._model = model
        self._calls = calls
        self._tries = RETRIES if judge.retries is None else judge.retries
        self._limiter = limiter_for(self.key)
        self._limits = Limits(
            concurrency=_least(judge.concurrency, getattr(model, "at_once", None)),
            requests_per_minute=judge.requests_per_minute,
            tokens_per_minute=judge.tokens_per_minute,
        )

    async def send(self, call: ModelCall) -> ModelAnswer:
        """The answer to a call. Raises the `ModelError` that it failed with in the end."""
        import asyncio

        is_sent = False
        tokens = _ANSWER_TOKENS + sum(estimated_tokens(message.text) for message in call.messages)
        failed, waited_for_limits = 0, 0.0
        while True:
            self._calls.check()
            with not_counted():
                turn = await self._calls.unless_stopped(self._limiter.turn(self._limits, tokens=tokens))
            async with turn:
                self.waited_ms += turn.waited_ms
                self._calls.check()
                self.attempts += not is_sent
                is_sent = True
                try:
                    answer = _whole(await self._in_time(call), self._model)
                except ModelError as error:
                    if error.is_final:
                        self._calls.stop(_named(self._model.id, str(error)))
                    if not error.passes or (error.kind == "timeout" and getattr(self._model, "in_process", False)):
                        raise  # the same work, on the same machine, would take as long again
                    busy, asked = error.kind == "busy", error.retry_after or 0.0
                    if busy:
                        turn.busy(min(asked, _PATIENCE) or None)
                        waited_for_limits += max(self._limiter.paused_for, 1.0)  # nobody goes until then
                        if asked > _PATIENCE:
                            self._calls.stop(f"{self._model.id}: it asks to wait for {asked:,.0f} s: {error}")
                    else:
                        failed += 1
                    if failed > self._tries or max(waited_for_limits, asked) > _PATIENCE:
                        raise _tried(error, failed) from error.__cause__
                else:
                    turn.done(answer.usage.total if answer.usage else None)
                    self._count(answer)
                    return answer
            self.retries += 1
            if not busy:
                with not_counted():
                    await self._calls.unless_stopped(asyncio.sleep(max(asked, _wait(failed))))

    async def _in_time(self, call: ModelCall) -> ModelAnswer:
        """The answer within the call's deadline, which our own models keep themselves."""
        import asyncio

        if getattr(self._model, "keeps_time", False):
            return await self._model.request(call)
        try:
            async with asyncio.timeout(call.timeout) as limit:
                return await self._model.request(call)
        except TimeoutError as error:
            if not limit.expired():
                raise
            message = f"{self._model.id} took longer than the {call.timeout:g} s of Judge(timeout=...)"
            raise ModelError(message, kind="timeout") from error

    def _count(self, answer: ModelAnswer) -> None:
        if answer.usage is not None:
            self.usage = answer.usage if self.usage is None else self.usage + answer.usage
        self.completed += 1
        if self.completed == 1:
            self.cost = answer.cost
        else:
            self.cost = _sum(self.cost, answer.cost)
        self._calls.spend(answer.usage, answer.cost)


def _tried(error: ModelError, times: int) -> ModelError:
    """The same error, which says how often it was met; one of a user's own kind stays as it is."""
    if times < 2 or type(error) is not ModelError:
        return error
    return ModelError(
        f"{error.message} (tried {times} times)",
        kind=error.kind,
        retry_after=error.retry_after,
        parameter=error.parameter,
        status=error.status,
    )


def _named(model: str, said: str) -> str:
    """What was said, with the model that it is about, which most messages begin with."""
    return said if said.startswith(model) else f"{model}: {said}"


def _whole(answer: Any, model: JudgeModel) -> ModelAnswer:
    """The answer of a model, which anybody may have written. Raises `TypeError` for what is none, or only half."""
    if not isinstance(answer, ModelAnswer):
        raise TypeError(f"{model.id}: its request() must give a ModelAnswer, not {shown(answer)}")
    for name, kind in _PARTS.items():
        value = getattr(answer, name)
        if not isinstance(value, kind) and (value is not None or name == "text"):
            raise TypeError(f"{model.id}: its ModelAnswer({name}=...) must be {kind.__name__}, not {shown(value)}")
    return answer


_PARTS: Final = {"text": str, "finish_reason": str, "refusal": str, "usage": Usage, "cost": Cost, "answered_by": str}


def _least(*counts: int | None) -> int | None:
    return min((count for count in counts if count is not None), default=None)


def _sum(left: Cost | None, right: Cost | None) -> Cost | None:
    """Of two calls; not known when one is not."""
    if left is None or right is None or left.unit != right.unit:
        return None
    source = left.source if left.source == right.source else f"{left.source}, {right.source}"
    return Cost(amount=left.amount + right.amount, unit=left.unit, source=source)


def _wait(failed: int) -> float:
    """Seconds before the next try: 1, 2, 4, ... and up to a fifth more or less."""
    seconds = min(2.0 ** (failed - 1), _MOST_WAIT)
    return seconds * random.uniform(0.8, 1.2)  # noqa: S311 - spreads tries, guards nothing
