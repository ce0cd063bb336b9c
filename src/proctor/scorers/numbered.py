"""Lists that a judge goes through: each thing has a number, and the answer must speak of each exactly once.

The numbers stand in JSON, a line for each thing, within one fence: no text among them can pretend to be two, or to have
another number.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from proctor.judging.readable import readable
from proctor.scoring.steps import StepContext

__all__ = ["by_id", "each_once", "json_line", "judged_lines", "list_of", "numbered", "without_blanks"]

_NAMED = 12
_LINE_ENDS: Final = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}  # that JSON leaves as they are


def numbered(ctx: StepContext, texts: Sequence[Any], /, *, name: str) -> str:
    """The fenced lines `{"id": 1, "text": ...}` of *texts*, counted from 1."""
    return _lines(ctx, [{"id": at, "text": readable(text)} for at, text in enumerate(texts, start=1)], name)


def judged_lines(
    ctx: StepContext, texts: Sequence[Any], /, *, verdicts: Sequence[Mapping[str, Any]], name: str = "verdicts"
) -> str:
    """The same with what the judge said of each, in the order of *texts*. Number and text stay ours."""
    found = by_id(verdicts)
    told = [{**found.get(at, {}), "id": at, "text": readable(text)} for at, text in enumerate(texts, start=1)]
    return _lines(ctx, [{"id": one["id"], "text": one["text"], **one} for one in told], name)


def list_of(**properties: Any) -> dict[str, Any]:
    """The JSON schema of a list of objects that have an id and all of these; a type's name stands for its schema."""
    made = {name: {"type": kind} if isinstance(kind, str) else kind for name, kind in properties.items()}
    each = {"type": "object", "properties": {"id": {"type": "integer"}, **made}, "required": ["id", *made]}
    return {"type": "array", "items": each}


def each_once(
    key: str, ids: Callable[[StepContext], Sequence[Any]], /
) -> Callable[[StepContext, Mapping[str, Any]], str | None]:
    """A check of the answer's list *key*: it must have each of these ids once, and no other. It names what is wrong.

    *ids*: of the things that were shown.
    """

    def check(ctx: StepContext, answer: Mapping[str, Any]) -> str | None:
        wanted = list(ids(ctx))
        known = set(wanted)
        found = Counter(entry["id"] for entry in answer[key])
        missing = [str(one) for one in wanted if one not in found]
        twice = [str(one) for one, times in found.items() if times > 1]
        strange = [str(one) for one in found if one not in known]
        if not wanted:
            return f"{key} must be empty: no id was given" if found else None
        wrong = (
            _told(missing, "is missing", "are missing"),
            _told(twice, "is there more than once", "are there more than once"),
            _told(strange, "is no id that was given", "are no ids that were given"),
        )
        told = "; ".join(filter(None, wrong))
        whole = f"each of the {len(wanted)} ids, {wanted[0]} to {wanted[-1]},"
        return (
            f"{key} must have {whole if len(wanted) > 1 else f'the id {wanted[0]}'} exactly once: {told}"
            if told
            else None
        )

    return check


def by_id(entries: Sequence[Mapping[str, Any]], /) -> dict[Any, Mapping[str, Any]]:
    """The entries of a judge's list by their id."""
    return {entry["id"]: entry for entry in entries}


def json_line(entry: Any, /) -> str:
    """An entry as JSON on one line, whatever a line end may be to who reads it."""
    return json.dumps(entry, ensure_ascii=False).translate(_LINE_ENDS)


def without_blanks(texts: Sequence[str], /) -> list[str]:
    """What a judge listed, without what says nothing, and each text once.

    >>> without_blanks(["a", " ", "b", "a "])
    ['a', 'b']
    """
    return list(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _lines(ctx: StepContext, entries: Sequence[Mapping[str, Any]], name: str) -> str:
    return ctx.fence("\n".join(json_line(entry) for entry in entries), name)


def _told(ids: Sequence[str], one: str, several: str) -> str:
    named = ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else "")
    return f"{named} {one if len(ids) == 1 else several}" if ids else ""
