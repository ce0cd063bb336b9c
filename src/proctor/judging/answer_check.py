"""What no schema can know of an answer: the `check=` of a Prompt, for one item."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from proctor.bridge import in_thread
from proctor.data.value import shown
from proctor.errors import UsageError

__all__ = ["AnswerCheck"]


class AnswerCheck:
    """*function*: of *context* and the answer; it gives None, or what is wrong. *away*: it must not hold the loop."""

    __slots__ = ("_context", "away", "function")

    def __init__(self, function: Callable[[Any, Any], Any], context: Any, *, away: bool) -> None:
        self.function = function
        self.away = away
        self._context = context

    async def problem(self, answer: Any, *, whose: str) -> str | None:
        """What is wrong with an answer, None for nothing. Raises `UsageError` when the function gives anything else."""
        call = partial(self.function, self._context)
        said = await in_thread(call, answer) if self.away else call(answer)
        if said is None or (isinstance(said, str) and said.strip()):
            return said
        raise UsageError(f"{whose}: check= must give None or what is wrong, not {shown(said)}")
