"""Criteria that an answer is held against: as they are written, and as a judge goes through them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from proctor.data.value import Value, shown
from proctor.errors import UnknownName, UsageError
from proctor.scorers.build_judged import object_of
from proctor.scorers.numbered import json_line

__all__ = ["VERDICTS", "Criterion", "as_written", "criteria_from", "criteria_lines", "named", "report"]

VERDICTS: Final = object_of(
    criteria={"type": "array", "items": object_of(id="string", reasoning="string", satisfied="boolean")}
)
"""What a judge says of criteria: of each by its id, the evidence first."""

_MARKER: Final = re.compile(r"(?:(?:[-*+•‣–—]|\(?\d{1,3}[.)])(?:\s+|$)|\d{1,3}[、．)]\s*)?(?:\[[ xX]?\](?:\s+|$))?")

_NO_CRITERION: Final = re.compile(
    r"#{1,6}(?:\s.*)?|([-*_=])(?:\s*\1){2,}|\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?|\|\s*:?-+:?\s*\|"
)
"""A heading, a ruler, the ruler of a table."""

_INTRODUCES: Final = (":", "\uff1a")


@dataclass(frozen=True, slots=True, repr=False)
class Criterion(Value):
    """One thing that an answer must do. *id*: how the judge and the reports call it."""

    id: str
    description: str
    required: bool = True


def criteria_from(given: Any, *, whose: str, optional: bool = True) -> tuple[Criterion, ...]:
    r"""The criteria in a checklist, a line for each, or in a list of texts and mappings.

    List markers and boxes before a line are no part of it; a line that is indented right below one goes on with it.
    Left out are headings with #, rulers, the rulers of tables, and where some lines have list markers those without one
    that end in a colon. A mapping has a `description`, and may have an `id` and, if they may be *optional*,
    `required`; what has no id is c1, c2 ... by its place. Raises `UsageError`, which names *whose* criteria they are,
    for what is neither, for none at all, and for ids that stand twice.

    >>> [criterion.description for criterion in criteria_from("- Names the price\n2. Is polite", whose="rubric")]
    ['Names the price', 'Is polite']
    """
    if isinstance(given, str):
        found = [Criterion(f"c{at}", line) for at, line in enumerate(_lines_of(given), start=1)]
    elif isinstance(given, Sequence) and not isinstance(given, bytes):
        found = [_criterion(one, at, whose=whose, optional=optional) for at, one in enumerate(given, start=1)]
    else:
        raise UsageError(f"{whose} are a checklist with a line for each, or a list of texts, not {shown(given)}")
    if not found:
        raise UsageError(f"{whose} are empty: write at least one")
    times = Counter(criterion.id for criterion in found)
    twice = next((id for id in times if times[id] > 1), None)
    if twice is not None:
        raise UsageError(f"{whose}: the id {twice!r} stands twice; give each an id of its own")
    return tuple(found)


def as_written(criteria: Sequence[Criterion]) -> list[Any]:
    """The shortest list that `criteria_from` makes these of: the arguments of a scorer, from which its key is made.

    >>> as_written((Criterion("c1", "Names the price"), Criterion("kind", "Is kind")))
    ['Names the price', {'description': 'Is kind', 'id': 'kind'}]
    """
    return [_shortest(criterion, at) for at, criterion in enumerate(criteria, start=1)]


def criteria_lines(criteria: Sequence[Criterion]) -> str:
    """The lines `{"id": "c1", "criterion": ...}` that a judge reads; which are required is none of its business."""
    return "\n".join(json_line({"id": one.id, "criterion": one.description}) for one in criteria)


def report(criteria: Sequence[Criterion], verdicts: Sequence[Mapping[str, Any]]) -> str:
    """A line for each criterion: met or not, its id, its words, and what the judge said of it."""
    said = {entry["id"]: entry for entry in verdicts}
    return "\n".join(_line(one, said[one.id]) for one in criteria)


def named(criterion: Criterion) -> str:
    """The id and the words of a criterion, on one line."""
    return f"{criterion.id}: {' '.join(criterion.description.split())}"


def _lines_of(checklist: str) -> list[str]:
    """What a checklist lists, without markers, and without what Markdown has besides."""
    found: list[tuple[bool, str]] = []
    indent = -1  # of the last line with a marker, while lines may go on with it
    for line in checklist.splitlines():
        text = line.strip()
        if not text or _NO_CRITERION.fullmatch(text):
            indent = -1
            continue
        marker = _MARKER.match(text)
        is_marked = bool(marker and marker[0])
        if not is_marked and 0 <= indent < len(line) - len(line.lstrip()):
            found[-1] = (True, f"{found[-1][1]} {text}".strip())
            continue
        indent = len(line) - len(line.lstrip()) if is_marked else -1
        found.append((is_marked, text[len(marker[0]) :].strip() if marker else text))
    is_list = any(is_marked and text for is_marked, text in found)
    return [text for is_marked, text in found if text and (is_marked or not (is_list and text.endswith(_INTRODUCES)))]


def _criterion(given: Any, at: int, *, whose: str, optional: bool) -> Criterion:
    place = f"{whose}[{at - 1}]"
    if isinstance(given, str) and given.strip():
        return Criterion(f"c{at}", given.strip())
    if not isinstance(given, Mapping):
        raise UsageError(f"{place} is a text that is not empty, or a mapping with a description, not {shown(given)}")
    known = ("id", "description", "required") if optional else ("id", "description")
    for name in given:
        if name not in known:
            raise UnknownName(f"part of {place}", str(name), known)
    description, id, required = given.get("description"), given.get("id"), given.get("required", True)
    if not isinstance(description, str) or not description.strip():
        raise UsageError(f"{place} needs a description, a text that is not empty, not {shown(description)}")
    if id is not None and (not isinstance(id, str) or not id.strip()):
        raise UsageError(f"{place}: id is a text that is not empty, or left out, not {shown(id)}")
    if not isinstance(required, bool):
        raise UsageError(f"{place}: required is True or False, not {shown(required)}")
    return Criterion(id.strip() if id else f"c{at}", description.strip(), required)


def _shortest(criterion: Criterion, at: int) -> Any:
    beside: dict[str, Any] = {} if criterion.id == f"c{at}" else {"id": criterion.id}
    if not criterion.required:
        beside["required"] = False
    return {"description": criterion.description, **beside} if beside else criterion.description


def _line(criterion: Criterion, verdict: Mapping[str, Any]) -> str:
    box = "x" if verdict["satisfied"] is True else " "
    said = " ".join(str(verdict["reasoning"]).split())
    return f"[{box}] {named(criterion)}{'' if criterion.required else ' (optional)'}{said and f' - {said}'}"
