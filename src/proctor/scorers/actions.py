"""What judges read of what an agent did: the whole request, and lists of things that have several parts.

As in `numbered`, each thing is a line of JSON with a number, and all of them stand within one fence.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from proctor.judging.readable import readable
from proctor.scorers.material import last_question, question_of
from proctor.scorers.numbered import by_id, json_line
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import StepContext

__all__ = ["has_request", "numbered_fields", "own_fields", "request_shown"]


def has_request(run: ScorerRun) -> bool:
    """Whether the user asked for anything."""
    return bool(run.user_text.strip() if len(run.turns) > 1 else run.once(_request))


def request_shown(ctx: StepContext, run: ScorerRun) -> str:
    """What was asked, fenced as `question`: of a conversation, whose calls are of all turns, all that the user said.

    *run*: where the messages are, which may be another than `ctx.run`.
    """
    if len(run.turns) > 1:
        return ctx.fence.transcript(run.messages, "question", roles=["user"])
    return ctx.fence(run.once(_request), "question")


def _request(run: ScorerRun) -> str:
    """What was answered, or what an agent worked on that has said nothing yet. A view for `run.once`."""
    if run.texts or (isinstance(run.input, Mapping) and "messages" not in run.input):
        return run.once(question_of)
    at = last_question(run.messages)
    return "" if at is None else run.messages[at].text.strip()


def numbered_fields(
    ctx: StepContext,
    entries: Sequence[Mapping[str, Any]],
    /,
    *,
    name: str,
    key: str = "id",
    verdicts: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The fenced lines `{"id": 1, ...}` of *entries*, counted from 1. *key*: what the number is called.

    *verdicts*: what the judge said of each, by its id; it stands behind the entry, and takes no field's place. A field
    of an entry that is called like a number is shown as `own_id`.
    """
    found = by_id(verdicts)
    lines = []
    for at, entry in enumerate(entries, start=1):
        shown = own_fields({str(field): _as_json(value) for field, value in entry.items()}, taken=("id", key))
        said = {field: value for field, value in found.get(at, {}).items() if field not in ("id", key, *shown)}
        lines.append(json_line({key: at, **shown, **said}))
    return ctx.fence("\n".join(lines), name)


def own_fields(fields: Mapping[str, Any], *, taken: Collection[str]) -> dict[str, Any]:
    """Fields that somebody else named, none of which has a name that is *taken*: `id` becomes `own_id`.

    >>> own_fields({"id": 7, "name": "pay"}, taken=("id",))
    {'own_id': 7, 'name': 'pay'}
    """
    made: dict[str, Any] = {}
    for name, value in fields.items():
        free = name
        while free in taken or (free != name and (free in fields or free in made)):
            free = f"own_{free}"
        made[free] = value
    return made


def _as_json(value: Any) -> Any:
    """*value* as JSON can say it: text as it is, what holds values as such, everything else as its text."""
    text = readable(value)
    if isinstance(value, str):
        return text
    try:
        return json.loads(text)
    except ValueError:  # a date, bytes, messages: no JSON
        return text
