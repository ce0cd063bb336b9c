"""What can be put under test, as the run sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from proctor.data.item import Item
from proctor.data.reply import Reply
from proctor.data.value import Value
from proctor.errors import UsageError
from proctor.plugins import find, import_object
from proctor.scoring.callables import is_async

__all__ = ["Call", "Target", "as_target"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Call(Value):
    """What a target is asked. *input*: as the item gave it; *item*: all the rest of it."""

    input: Any
    item: Item


class Target(Protocol):
    """Something that answers. A failure of the thing under test is a `Reply` with an error, never raised."""

    async def reply(self, call: Call) -> Reply:
        """The answer to one call."""
        ...


def as_target(thing: Any) -> Target:
    """The target that *thing* stands for: itself, what an import path names, or a wrapper around a callable."""
    if isinstance(thing, str):
        thing = import_object(thing)
    if not isinstance(thing, type) and is_async(getattr(thing, "reply", None)):
        target: Target = thing
        return target
    if callable(thing):
        return find("target", "callable")(thing)  # type: ignore[no-any-return]  # the table says what it is
    kinds = "a callable, an object with `async def reply(call)`, or 'package.module:name'"
    raise UsageError(f"target must be {kinds}, not {type(thing).__name__}")
