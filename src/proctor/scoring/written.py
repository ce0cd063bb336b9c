"""Prompts that are written down: a text with the places where material goes, and what goes there.

A place is a name in braces, such as {answer}. Places are filled once: what is put in may hold braces of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from proctor.errors import UnknownName, UsageError
from proctor.scoring.steps import Declined, StepContext

__all__ = ["Template", "Written"]

_PLACE: Final = r"\{([a-z][a-z_]*)\}"


class Template:
    """A text with places.

    >>> Template("Is {answer} kind?").filled({"answer": "{score}"})
    'Is {score} kind?'
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its places, in order."""
        return tuple(re.findall(_PLACE, self.text))

    def require(self, *, known: Collection[str], needed: Collection[str], whose: str) -> None:
        """Raise a `UsageError` for a place that nobody fills, and for one that is needed and not there."""
        for place in self.places:
            if place not in known:
                raise UnknownName(f"place in {whose}", place, sorted(known))
        missing = [name for name in needed if name not in self.places]
        if missing:
            told = ", ".join(f"{{{name}}}" for name in missing)
            raise UsageError(f"{whose} has no {told}: without it the judge does not see what it is to judge")

    def filled(self, given: Mapping[str, str]) -> str:
        """The text with every place filled."""
        return re.sub(_PLACE, lambda found: given[found[1]], self.text)


class Written:
    """What makes the prompt of a step: *text*, its places filled with what *material* gives for an item.

    *material*: a function of the context; it gives a text for each place, or declines. *is_slow*: it calls what others
    wrote, and must not run on an event loop.
    """

    __slots__ = ("_template", "is_slow", "material")

    def __init__(
        self, text: str, *, material: Callable[[StepContext], Mapping[str, str] | Declined], is_slow: bool = False
    ) -> None:
        self._template = Template(text)
        self.material = material
        self.is_slow = is_slow

    @property
    def text(self) -> str:
        """The prompt as it is written, with its places in braces."""
        return self._template.text

    def __call__(self, ctx: StepContext) -> Any:
        """The prompt for an item."""
        given = self.material(ctx)
        return given if isinstance(given, Declined) else self._template.filled(given)

    def __repr__(self) -> str:
        return f"Written({self.text!r})"
