"""Prompts that are written down: a text with the places where material goes, and what goes there.

A place is a name in braces, such as {answer}; one in two pairs of braces, {{answer}}, stands for itself, in one pair.
Places are filled once: what is put in may hold braces of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from proctor.errors import UnknownName, UsageError
from proctor.scoring.steps import Declined, StepContext

__all__ = ["Template", "Written"]

_PLACE: Final = re.compile(r"\{\{(?P<literal>[A-Za-z_]\w*)\}\}|\{(?P<place>[a-z][a-z_]*)\}")
_FIELD: Final = re.compile(  # what other templates know: {Name}, { name }, {name1}, {name!r}, {name:>10}, {name.part}
    r"\{[ \t]*(?P<name>[A-Za-z_][\w-]*)(?:\.\w+|\[\w*\])*(?:![a-z])?(?::[^\s{}\"']*)?[ \t]*\}"
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLOSE: Final = 0.8
_LITERAL: Final = "A word in braces that is no place is written {{word}}."


class Template:
    """A text with places.

    >>> Template("Is {answer} kind? Not {{answer}}.").filled({"answer": "{score}"})
    'Is {score} kind? Not {answer}.'
    """

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def places(self) -> tuple[str, ...]:
        """The names of its places, in order."""
        return tuple(found["place"] for found in _PLACE.finditer(self.text) if found["place"])

    def require(self, *, known: Collection[str], needed: Collection[str], whose: str) -> None:
        """Raise a `UsageError` for a place that nobody fills, and for one that is needed and not there.

        Also for what is nearly a place, such as { answer } or {answer!r}, which would be shown to the judge as it is.
        """
        for place in self.places:
            if place not in known:
                raise UnknownName(f"place in {whose}", place, sorted(known), hint=_LITERAL)
        for written, place in self.meant(known):
            if written != f"{{{place}}}":
                raise UsageError(f"{whose} has {written}, which is no place. Did you mean {{{place}}}? {_LITERAL}")
        missing = [name for name in needed if name not in self.places]
        if missing:
            told = ", ".join(f"{{{name}}}" for name in missing)
            raise UsageError(f"{whose} has no {told}: without it the judge does not see what it is to judge")

    def meant(self, known: Collection[str]) -> Iterator[tuple[str, str]]:
        """What in its text is one of the *known* places, or nearly one: as it is written, and the place's name.

        >>> list(Template("{answer}, { Answer }, {{answer}}, {a: 1}").meant(["answer"]))
        [('{answer}', 'answer'), ('{ Answer }', 'answer')]
        """
        from difflib import get_close_matches

        text = _PLACE.sub(lambda found: found[0] if found["place"] else " ", self.text)
        for found in _FIELD.finditer(text):
            name = _HUMP.sub("_", found["name"]).replace("-", "_").lower().strip("_0123456789")
            near = [name] if name in known else get_close_matches(name, known, n=1, cutoff=_CLOSE)
            if near:
                yield found[0], near[0]

    def filled(self, given: Mapping[str, str]) -> str:
        """The text with every place filled."""
        return _PLACE.sub(
            lambda found: f"{{{found['literal']}}}" if found["literal"] else given[found["place"]], self.text
        )


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
