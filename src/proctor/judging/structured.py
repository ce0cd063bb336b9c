"""From the text of a reply to the value that was asked for, or a problem that can be told to the model.

A verdict is read, never guessed: half a reply, a value quoted from the material, one of two, or one that the model
only thought of, is none.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.data.value import MISSING, Value
from proctor.errors import ProctorError, cut, visible
from proctor.judging.mend import mended
from proctor.judging.pieces import IGNORED, Piece, Pieces, find_pieces, has_thinking, without_thinking
from proctor.judging.strict_json import JsonRefused, parse
from proctor.judging.unseen import squeezed

if TYPE_CHECKING:
    from proctor.judging.answer_schema import AnswerSchema

__all__ = ["Reading", "ReplyProblem", "read_reply", "read_text"]

_UNDEFINED = "STRUCTURED_OUTPUT_OBJECT_UNDEFINED"
_TRUNCATED = "STRUCTURED_OUTPUT_TRUNCATED"
_INVALID = "STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED"

_CUT_SHORT = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded", "incomplete"}
)
_WITHHELD = frozenset({"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content", "spii"})
_LONGEST = 600
_MOST_MENDS = 3


class ReplyProblem(ProctorError):
    """A reply is not the answer that was asked for. The message is for people, and to be quoted to the model.

    *code*: `STRUCTURED_OUTPUT_OBJECT_UNDEFINED` (there is no answer), `STRUCTURED_OUTPUT_TRUNCATED` (it is cut),
    `STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED` (it does not fit, or it is not clear which it is), `MODEL_REFUSED`.
    *came*: what the reply has in the wrong place, for people alone: the model is told in the schema's words.
    """

    code = _INVALID

    def __init__(self, message: str, *, code: str | None = None, came: str = "") -> None:
        super().__init__(cut(visible(message), _LONGEST), code=code)
        self.came = came

    def asked_twice(self) -> ReplyProblem:
        """The same as what ends a step, after the second reply."""
        told = f"{self.came}; asked twice" if self.came else "asked twice"
        return ReplyProblem(f"{cut(self.message, _LONGEST - 120)} ({told})", code=self.code)


@dataclass(frozen=True, slots=True)
class Reading(Value):
    """What a reply says. *plain*: the value as the reply's own JSON data. *repaired*: its syntax had to be mended."""

    value: Any
    plain: Any
    repaired: bool = False


def read_reply(
    text: str,
    schema: AnswerSchema,
    /,
    *,
    finish_reason: str | None = None,
    refusal: str | None = None,
    prompt: str = "",
) -> Reading:
    """The answer in a reply. Raises `ReplyProblem` where there is none, or not exactly one.

    *prompt*: what the model was sent. JSON that stands in it, however it is laid out, is a quotation, and no answer,
    unless it is all that the reply holds.

    >>> from proctor.judging.answer_schema import score_schema
    >>> read_reply('Here it is: {"score": 0.5}', score_schema(0, 1)).value
    0.5
    """
    _check_ending(text, finish_reason, refusal)
    try:
        data = parse(text.strip(IGNORED))
    except ValueError:
        pass
    else:
        return Reading(*schema.read(data))
    found = find_pieces(text)
    _check_found(text, found)
    if found.tag_after and has_thinking(prompt):  # as the material may want it
        raise ReplyProblem("the reply has a tag of thinking after an answer: give the answer alone")
    if not found.found:
        return _bare(text, found.rest, schema)
    return _chosen(found, schema, prompt)


def read_text(text: str, *, finish_reason: str | None = None, refusal: str | None = None) -> str:
    """The words of a reply without what the model thought. Raises `ReplyProblem` when there are none, or not all.

    >>> read_text("<think>Is it?</think> It is. ")
    'It is.'
    """
    _check_ending(text, finish_reason, refusal)
    said = without_thinking(text)
    if not said:
        raise ReplyProblem("the reply holds what the model thought, and no answer", code=_UNDEFINED)
    return said


def _check_ending(text: str, finish_reason: str | None, refusal: str | None) -> None:
    """Raise for a reply that is refused, cut or empty, whatever its text."""
    if refusal is not None and refusal.strip(IGNORED):
        raise ReplyProblem(f'the model refused to answer: "{cut(refusal.strip(IGNORED), 300)}"', code="MODEL_REFUSED")
    reason = (finish_reason or "").lower().replace("-", "_")
    if reason in _WITHHELD:
        raise ReplyProblem(f"the model's answer was withheld (finish reason {finish_reason!r})", code="MODEL_REFUSED")
    if reason in _CUT_SHORT:
        raise ReplyProblem(
            f"the reply is cut, it reached the limit of tokens (finish reason {finish_reason!r}): raise max_tokens",
            code=_TRUNCATED,
        )
    if not text:
        raise ReplyProblem("the reply is empty", code=_UNDEFINED)
    if not text.strip(IGNORED):
        raise ReplyProblem("the reply is nothing but white space", code=_UNDEFINED)


def _check_found(text: str, found: Pieces) -> None:
    if found.open:
        raise ReplyProblem("the reply ends within its JSON, or brackets in it do not match: give the whole answer")
    if found.too_many:
        raise ReplyProblem("the reply holds too many JSON values: give one, the answer")
    if not found.found and not found.rest:
        if not without_thinking(text):
            raise ReplyProblem("the reply holds what the model thought, and no answer", code=_UNDEFINED)
        raise ReplyProblem("the reply holds an empty block, and no answer", code=_UNDEFINED)


def _bare(text: str, rest: str, schema: AnswerSchema) -> Reading:
    """A number or a word in quotes, all alone in a fence or after the thinking."""
    try:
        data = parse(rest)
    except JsonRefused as problem:
        raise ReplyProblem(f"the reply cannot be used: {problem}") from None
    except ValueError:
        begins = cut(" ".join(without_thinking(text).split()), 80)
        raise ReplyProblem("there is no JSON in the reply", came=f'it begins: "{begins}"') from None
    return Reading(*schema.read(data))


def _chosen(found: Pieces, schema: AnswerSchema, prompt: str) -> Reading:
    """The one answer among the pieces."""
    whole = len(found.found) == 1 and not found.rest
    squeezed_prompt = "" if whole else squeezed(prompt)
    readings: dict[str, Reading] = {}  # by their plain data: an answer given twice is one
    problem = ReplyProblem("there is JSON in the reply, but not the answer")
    doubt: ReplyProblem | None = None
    quoted = mends = 0
    for place, piece in enumerate(found.found):
        if squeezed_prompt and squeezed(piece.source) in squeezed_prompt:
            quoted += 1
            continue
        mends += piece.value is MISSING and _may_be_mended(piece, schema)
        try:
            reading = _read_piece(piece, schema, mend=mends <= _MOST_MENDS)
            if place in found.nested:
                raise ReplyProblem("the answer stands within brackets that are no JSON: give the answer alone")
        except ReplyProblem as raised:
            if piece.source and _is_attempt(piece, schema):
                problem = doubt = raised
            elif doubt is None:
                problem = raised
            continue
        doubt = None
        same = readings.get(key := json.dumps(reading.plain, sort_keys=True))
        readings[key] = same if same and not same.repaired else reading
    if len(readings) > 1:
        raise ReplyProblem(f"the reply holds {len(readings)} different answers: give one, and nothing else")
    if doubt is not None or not readings:
        if quoted == len(found.found):
            raise ReplyProblem("the reply holds only JSON that is quoted from the prompt: give the answer alone")
        raise problem
    return next(iter(readings.values()))


def _read_piece(piece: Piece, schema: AnswerSchema, *, mend: bool) -> Reading:
    if piece.value is not MISSING:
        return Reading(*schema.read(piece.value))
    if piece.refused:
        raise ReplyProblem(f"the reply cannot be used: {piece.problem}")
    value = mended(piece.source) if mend and _may_be_mended(piece, schema) else MISSING
    if value is MISSING:
        raise ReplyProblem("the reply is no valid JSON: mind quotes, commas and numbers")
    if not schema.knows(value):
        raise ReplyProblem("the reply is no valid JSON, and holds keys that were not asked for")
    value, plain = schema.read(value)
    return Reading(value, plain, repaired=True)


def _may_be_mended(piece: Piece, schema: AnswerSchema) -> bool:
    return not piece.refused and (schema.is_wrapped or _is_attempt(piece, schema))


def _is_attempt(piece: Piece, schema: AnswerSchema) -> bool:
    """Whether this was meant as the answer: an object with a key that was asked for, or a list where that is it."""
    if piece.source.startswith("["):
        return schema.is_list
    keys = schema.keys
    if isinstance(piece.value, dict):
        return not keys.isdisjoint(piece.value)
    return not keys or any(key in piece.source for key in keys)
