"""How much of an expected object the answer has, field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, Final

from proctor.data.compare import differences, item_at
from proctor.data.plain import plain
from proctor.data.shown import count_of
from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.scorers.options import as_number, margin_option
from proctor.scorers.values import answer_value, as_json, expected_value, is_near
from proctor.scoring.build import Findings, build_check
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext

__all__ = ["json_diff"]

_SHOWN: Final = 5
_IGNORED: Final = object()


def json_diff(
    expected: Any = MISSING, *, ignore: Sequence[str] = (), tolerance: float = 0.0, relative: float = 0.0
) -> Scorer:
    """The share of *expected*, or without it of the item's ground truth, that the answer has right, 0 to 1. Symmetric.

    The fields of an object weigh the same, and so do the places of a list; a field that only one side has is wrong. A
    single value is right when it is equal (1 is 1.0, True is not 1, "1" is not 1), or a number within *tolerance* or
    the share *relative* of the larger one. Text that is JSON, also in a fenced block, is what it says, on both sides;
    of messages that are none together, the last one is read. *ignore*: paths to leave out, as reasons write
    them, `[*]` for any place: `"items[*].id"`.

    >>> right = {"city": "Paris", "days": [1, 2]}
    >>> outcome = json_diff(right).run_sync(output='{"city": "Paris", "days": [1, 3]}')
    >>> outcome.score, outcome.reason
    (0.75, '2 of 3 fields are right; days[1] is 3, not 2')
    """
    given = expected if expected is MISSING else plain(expected)
    left_out = _paths(ignore)
    near = margin_option(tolerance, name="tolerance", scorer="json_diff")
    share = margin_option(relative, name="relative", scorer="json_diff")

    def look(ctx: StepContext) -> Findings | Declined:
        wanted = expected_value(ctx.run, given)
        if isinstance(wanted, Declined):
            return wanted
        diff = _Diff(left_out, tolerance=near, relative=share)
        score = diff.compare(as_json(wanted), ctx.run.once(_answer), "", "")
        return _Found(1.0 if score is _IGNORED else score, diff)

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        wrong = found["fields"] - found["right"]
        more = f" and {wrong - _SHOWN} more" if wrong > _SHOWN else ""
        first = "".join(f"; {sentence}" for sentence in found.sentences)
        are = "is" if found["fields"] == 1 else "are"
        return f"{count_of(found['right'], found['fields'], what='field')} {are} right{first}{more}"

    return build_check(
        id="json-diff-scorer",
        name="JSON Diff Scorer",
        description="The answer has the fields of the expected object",
        arguments={"expected": given, "ignore": left_out, "tolerance": near, "relative": share},
        defaults={"expected": MISSING, "ignore": (), "tolerance": 0.0, "relative": 0.0},
        positional="expected",
        look=look,
        score=lambda ctx: ctx.preprocess["score"],
        reason=reason,
        kind="graded",
    )


class _Found(Findings):
    """What was found; *sentences* quote the answer, so they are for the reason alone."""

    __slots__ = ("sentences",)

    def __init__(self, score: float, diff: _Diff) -> None:
        differing = tuple(path for path, _ in diff.wrong)
        super().__init__(score=score, fields=diff.fields, right=diff.right, differing=differing)
        self.sentences = [sentence for _, sentence in diff.wrong]


class _Diff:
    """One comparison: what it has counted so far, and the first fields that are wrong."""

    def __init__(self, ignore: tuple[str, ...], *, tolerance: float, relative: float) -> None:
        self._ignore = frozenset(ignore)
        self._tolerance = tolerance
        self._relative = relative
        self.fields = self.right = 0
        self.wrong: list[tuple[str, str]] = []

    def compare(self, wanted: Any, answer: Any, path: str, pattern: str) -> Any:
        """The share that is right at *path* and below, or `_IGNORED`. *pattern*: the path with `[*]` for each place."""
        if path in self._ignore or pattern in self._ignore:
            return _IGNORED
        if isinstance(wanted, Mapping) and isinstance(answer, Mapping) and (wanted or answer):
            shares = [
                self.compare(wanted.get(key, MISSING), answer.get(key, MISSING), *_below(path, pattern, key))
                for key in {**wanted, **answer}
            ]
            return _mean(shares)
        if isinstance(wanted, list) and isinstance(answer, list) and (wanted or answer):
            shares = [
                self.compare(item_at(wanted, place), item_at(answer, place), f"{path}[{place}]", f"{pattern}[*]")
                for place in range(max(len(wanted), len(answer)))
            ]
            return _mean(shares)
        self.fields += 1
        if self._equal(wanted, answer):
            self.right += 1
            return 1.0
        if len(self.wrong) < _SHOWN:
            self.wrong.append((path, _told(path or "the answer", wanted, answer)))
        return 0.0

    def _equal(self, wanted: Any, answer: Any) -> bool:
        left, right = as_number(wanted), as_number(answer)
        if left is not None and right is not None and (self._tolerance or self._relative):
            return is_near(left, right, tolerance=self._tolerance, relative=self._relative)
        return not differences(wanted, answer)


def _mean(shares: list[Any]) -> Any:
    counted = [share for share in shares if share is not _IGNORED]
    return fsum(counted) / len(counted) if counted else _IGNORED


def _below(path: str, pattern: str, key: Any) -> tuple[str, str]:
    return (f"{path}.{key}", f"{pattern}.{key}") if path else (str(key), str(key))


def _told(path: str, wanted: Any, answer: Any) -> str:
    if answer is MISSING:
        return f"{path} is missing"
    if wanted is MISSING:
        return f"{path} was not expected"
    return f"{path} is {shown(answer, 40)}, not {shown(wanted, 40)}"


def _paths(ignore: Any) -> tuple[str, ...]:
    if isinstance(ignore, str) or not isinstance(ignore, Sequence):
        raise UsageError(f"json_diff: ignore must be a list of paths, not {ignore!r}")
    for path in ignore:
        if not isinstance(path, str) or not path or re.search(r"^[.$]|\.$|\.\.", path):
            raise UsageError(f"json_diff: a path to ignore looks like user.tags[*].id, not {path!r}")
    return tuple(ignore)


def _answer(run: ScorerRun) -> Any:
    value = as_json(run.once(answer_value))
    if isinstance(value, str) and not isinstance(run.output, str) and run.texts:
        last = as_json(run.texts[-1])
        return value if isinstance(last, str) else last
    return value
