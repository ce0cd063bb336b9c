"""What a scripted model says: replies by their turn, by the prompt, or from a function."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from inspect import isawaitable
from typing import Any

from proctor.data.plain import plain, to_json
from proctor.data.usage import Cost, Usage
from proctor.data.value import MISSING, Missing, Value, shown
from proctor.errors import UsageError

__all__ = ["USUAL", "Script", "ScriptedReply"]

USUAL = Usage(input_tokens=10, output_tokens=5, total_tokens=15)
"""What a reply used that does not say what it used."""


@dataclass(frozen=True, slots=True, repr=False)
class ScriptedReply(Value):
    """One reply of a model: *text* as it is, or *json*, any value, as JSON text.

    *refusal*: it says in these words that it will not answer. *usage*: 10 tokens in and 5 out when it is left out; None
    for a provider that says nothing. *delay*: seconds before it answers. *throw*: raised instead of an answer.
    *answered_by*: the model that the provider says has answered.
    """

    text: str | None = None
    _: KW_ONLY
    json: Any = MISSING
    finish_reason: str | None = "stop"
    refusal: str | None = None
    usage: Usage | Missing | None = MISSING
    cost: Cost | None = None
    delay: float = 0.0
    throw: BaseException | None = None
    answered_by: str | None = None

    def __post_init__(self) -> None:
        if self.text is not None and self.json is not MISSING:
            raise UsageError("ScriptedReply takes a text or json=, not both")
        if self.text is not None and not isinstance(self.text, str):
            raise UsageError(f"ScriptedReply(text) is a text, not {shown(self.text)}; json= takes any value")
        if self.throw is not None and not isinstance(self.throw, BaseException):
            raise UsageError(f"ScriptedReply(throw=...) is an exception, not {shown(self.throw)}")
        if self.cost is not None and not isinstance(self.cost, Cost):
            raise UsageError(f"ScriptedReply(cost=...) is a Cost, not {shown(self.cost)}")
        if self.delay < 0:
            raise UsageError(f"ScriptedReply(delay=...) is 0 or more seconds, not {shown(self.delay)}")

    @property
    def sent(self) -> str:
        """The text that is sent; empty where it is nothing but a refusal."""
        return self.text or "" if self.json is MISSING else json_text(self.json)

    @property
    def used(self) -> Usage | None:
        """What the answer says it used."""
        return USUAL if isinstance(self.usage, Missing) else self.usage


def json_text(value: Any) -> str:
    """The value as JSON text, in the order of its keys."""
    return json.dumps(to_json(plain(value)), ensure_ascii=False)


class Script:
    """The replies of *owner*, who is named when one is missing. *faults*: other kinds of values that it can give."""

    def __init__(self, replies: Any, *, owner: str, faults: tuple[type, ...] = ()) -> None:
        self.owner = owner
        self.faults = faults
        self.function: Callable[[Any], Any] | None = None
        self.by_prompt: Mapping[str, Any] = {}
        self.in_turn: Sequence[Any] = ()
        if isinstance(replies, Mapping | list | tuple) and not replies:
            raise UsageError(f"{owner} needs at least one reply")
        if isinstance(replies, Mapping):
            if wrong := [piece for piece in replies if not isinstance(piece, str)]:
                raise UsageError(f"{owner} takes replies by a piece of the prompt, a text, not {shown(wrong[0])}")
            self.by_prompt = {piece: self.read(given) for piece, given in replies.items()}
        elif isinstance(replies, list | tuple):
            self.in_turn = [self.read(given) for given in replies]
        elif callable(replies) and not isinstance(replies, type):
            self.function = replies
        else:
            self.in_turn = [self.read(replies)]

    async def reply(self, call: Any, *, number: int, prompts: Sequence[str]) -> Any:
        """The reply to the call of this *number*, counted from 0. *prompts*: its user messages, from last to first.

        A piece of the last one counts before a piece of an earlier one: whoever asks again gets the same reply.
        """
        if self.function is not None:
            given = self.function(call)
            return self.read(await given if isawaitable(given) else given)
        if self.in_turn:
            return self.in_turn[min(number, len(self.in_turn) - 1)]
        for prompt in prompts:
            for piece, reply in self.by_prompt.items():
                if piece != "*" and piece in prompt:
                    return reply
        if "*" in self.by_prompt:
            return self.by_prompt["*"]
        asked = shown(next(iter(prompts), ""))
        raise UsageError(
            f"{self.owner} has no reply to {asked}, and none for '*'. A mapping is by pieces of the prompt; "
            f"for one reply that is a mapping write [{{...}}]"
        )

    def read(self, given: Any) -> Any:
        """What was *given* as a `ScriptedReply`, or as the fault that it is."""
        if isinstance(given, (ScriptedReply, *self.faults)):
            return given
        if isinstance(given, BaseException):
            return ScriptedReply(throw=given)
        if isinstance(given, str):
            return ScriptedReply(given)
        if given is None or isinstance(given, type | Value) or callable(given):
            raise UsageError(
                f"{self.owner} replies with a text, a value for JSON or a ScriptedReply, not {shown(given)}"
            )
        json_text(given)  # what cannot be sent is said where it was written
        return ScriptedReply(json=given)
