"""Which values a scorer compares: the answer as a value, and the value that was expected.

An answer that is messages is its text; anything else is itself. Text is taken for the number or the JSON it holds by
those scorers that say so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from proctor.data.message import Data, Message
from proctor.data.plain import plain
from proctor.data.value import MISSING
from proctor.errors import EncodingError
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import Declined, not_scorable

__all__ = ["NO_TRUTH", "answer_value", "as_json", "expected_value", "is_near"]

NO_TRUTH: Final = not_scorable("there is no ground truth to compare with")

_FENCED = re.compile(r"\s*```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL | re.IGNORECASE)
_SLACK = 1e-9  # so that a difference of 0.1 is within 0.1, however it is rounded


def answer_value(run: ScorerRun) -> Any:
    """What was answered: the output itself, or all the assistant said when it is messages. A view for `run.once`."""
    output = run.output
    if not isinstance(output, list | tuple | Mapping | Message):
        return output
    if isinstance(output, list | tuple) and all(isinstance(item, str) for item in output):
        return output
    if isinstance(output, Mapping) and "role" not in output and "messages" not in output:
        return output  # also {"choices": [...]}, which as messages would have to be unpacked
    messages = run.output_messages
    parts = messages[0].parts if len(messages) == 1 else ()
    is_value = len(parts) == 1 and isinstance(parts[0], Data) and parts[0].type is None
    return output if is_value else run.text


def expected_value(run: ScorerRun, given: Any) -> Any | Declined:
    """The value an answer should have: the one *given*, else the item's ground truth; None and "" are values."""
    if given is not MISSING:
        return given
    return NO_TRUTH if run.ground_truth is MISSING else run.ground_truth


def as_json(value: Any) -> Any:
    """The value that JSON text stands for, also in a fenced block; anything else, and NaN, as it is.

    >>> as_json('{"a": [1, 2]}'), as_json("not JSON"), as_json("NaN")
    ({'a': [1, 2]}, 'not JSON', 'NaN')
    """
    if not isinstance(value, str):
        return value
    import json

    fenced = _FENCED.fullmatch(value)
    try:
        return plain(json.loads(fenced[1] if fenced else value, parse_constant=_refuse))
    except (ValueError, RecursionError, EncodingError):  # no JSON, or deeper than data may be
        return value


def is_near(left: float, right: float, *, tolerance: float, relative: float) -> bool:
    """Whether two numbers differ by *tolerance* at most, or by the share *relative* of the larger one."""
    allowed = max(tolerance, relative * max(abs(left), abs(right)))
    return abs(left - right) <= allowed * (1 + _SLACK)


def _refuse(constant: str) -> Any:
    raise ValueError(constant)
