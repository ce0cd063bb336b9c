"""Prompts that are longer than what the model can read: declined, or shortened by the policy that was asked for.

Whether a prompt fits is known for certain only to the model. What surely does not fit is not sent; what may is sent,
and the model's own word counts. Only fenced texts are ever cut, in the middle, and the judge is told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from proctor.data.cached_call import CachedCall
from proctor.data.message import Text
from proctor.errors import ModelError, ProctorError
from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.fence import Fence
from proctor.judging.judge import Judge
from proctor.judging.model import JudgeModel
from proctor.judging.shorten import CUT_NOTE, shortened
from proctor.judging.tokens import estimated_tokens, least_tokens
from proctor.judging.wording import schema_in_words

__all__ = ["TooLong", "Window"]

_ANSWER_TOKENS = 1000  # room for the answer, where max_tokens does not say
_TRIES = 5
_SMALLER = 0.6


class TooLong(ProctorError):
    """The prompt is longer than the model can read. The item is not scorable by this judge."""

    code = "MODEL_CONTEXT"


class Window:
    """What a judge's model can read, and what is done about prompts that are longer."""

    def __init__(self, judge: Judge, model: JudgeModel, fence: Fence, *, schema: AnswerSchema | None) -> None:
        self._judge = judge
        self._model = model
        self._fence = fence
        self._schema = schema
        self._tokens = judge.window if judge.window is not None else model.window
        self._answer = (judge.settings or {}).get("max_tokens") or _ANSWER_TOKENS

    @property
    def _overhead(self) -> str:
        return "" if self._schema is None else schema_in_words(self._schema.json)

    async def fitting(
        self, parts: Sequence[Any], system: str, *, ask: Callable[[Sequence[Any], str], Awaitable[CachedCall]]
    ) -> CachedCall:
        """What *ask* gives for the prompt, or for as much of it as the model takes. Raises `TooLong`."""
        if not self._surely_longer(parts, system):
            try:
                return await ask(parts, system)
            except ModelError as error:
                if error.kind != "context":
                    raise
                said = str(error)
        else:
            about = f"{self._estimate(parts, system):,}"
            said = f"the prompt has about {about} tokens, {self._model.id} can read and write {self._tokens:,}"
        if self._judge.on_overflow != "shorten":
            raise TooLong(f"judge context exceeded: {said}; Judge(on_overflow='shorten') cuts fenced texts")
        return await self._shortened(parts, system, ask, said)

    async def _shortened(
        self, parts: Sequence[Any], system: str, ask: Callable[[Sequence[Any], str], Awaitable[CachedCall]], said: str
    ) -> CachedCall:
        told = f"{system}\n\n{CUT_NOTE}"
        room = self._room(parts, told)
        for _ in range(_TRIES):
            cut = self._cut(parts, room)
            if cut is None:
                break
            try:
                return replace(await ask(cut, told), truncated=True)
            except ModelError as error:
                if error.kind != "context":
                    raise
                said = str(error)
            room = int(room * _SMALLER)
        raise TooLong(f"judge context exceeded, and what is fenced cannot be cut enough: {said}")

    def _cut(self, parts: Sequence[Any], room: int) -> list[Any] | None:
        """The parts in *room* characters: the longest text is the one that is cut."""
        texts = [part for part in parts if isinstance(part, Text)]
        longest = max(texts, key=lambda part: len(part.text), default=None)
        if longest is None:
            return None
        others = sum(len(part.text) for part in texts) - len(longest.text)
        cut = shortened(longest.text, self._fence, characters=max(room - others, 0))
        if cut is None:
            return None
        return [Text(cut.text) if part is longest else part for part in parts]

    def _room(self, parts: Sequence[Any], system: str) -> int:
        """How many characters the prompt may have: by its own ratio of characters to tokens, estimated high."""
        text = "".join(part.text for part in parts if isinstance(part, Text))
        tokens = max(estimated_tokens(text), 1)
        if self._tokens is None:
            return int(len(text) * _SMALLER)
        left = self._tokens - self._answer - estimated_tokens(system) - estimated_tokens(self._overhead)
        return int(min(left / tokens, _SMALLER if left >= tokens else 1.0) * len(text))

    def _surely_longer(self, parts: Sequence[Any], system: str) -> bool:
        """Of a window that the user gave, by the high estimate: some servers cut what is too long without a word."""
        if self._tokens is None:
            return False
        if self._judge.window is not None:
            return self._estimate(parts, system) + self._answer > self._tokens
        texts = [system, self._overhead, *(part.text for part in parts if isinstance(part, Text))]
        if sum(map(len, texts)) <= 8 * self._tokens:
            return False  # known without counting: no token is taken to be shorter
        return sum(map(least_tokens, texts)) > self._tokens

    def _estimate(self, parts: Sequence[Any], system: str) -> int:
        texts = [system, self._overhead, *(part.text for part in parts if isinstance(part, Text))]
        return sum(map(estimated_tokens, texts))
