"""Replays cases that were recorded from the reference, and counts how ours compare.

Each case is equal, or changed by a rule of `deviations.py` (told by the case's content, never by its id), or a quirk
(tagged `quirk:`) that we do not copy, or not yet possible. Anything else is unexplained and fails. Of the recorded
folder beside the checkout the counts are asserted; another one may be named by $PROCTOR_GOLDEN. The counts are printed
below the tests.
"""

import datetime as dt
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from proctor.data.value import MISSING
from proctor.errors import ProctorError
from tests.support import shared

RECORDED_AT = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
TOLERANCE = 1e-12

replayed: list[str] = []
"""What `conftest` prints below the tests: a line for each file of cases."""

Rules = Mapping[int, Callable[[dict[str, Any]], bool]]


class Regex(NamedTuple):
    """A regular expression as JavaScript has it."""

    source: str
    flags: str


class Raised(NamedTuple):
    """Stands for the value when there is none, since an error was raised."""

    error: str


def cases(name: str) -> Iterator[dict[str, Any]]:
    """The cases of a file, with their markers decoded. Skips when there is no such file."""
    with path_of(name).open(encoding="utf-8") as lines:
        for line in lines:
            yield decoded(json.loads(line))


def path_of(name: str) -> Path:
    given = os.environ.get("PROCTOR_GOLDEN")
    return Path(given) / name if given else shared(f"golden/{name}")


def recorded() -> bool:
    """Whether the cases are those of the recorded folder: then their counts are known."""
    return "PROCTOR_GOLDEN" not in os.environ


def decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$num" in value:
        return float(value["$num"].replace("Infinity", "inf"))
    if "$undefined" in value:
        return MISSING
    if "$regex" in value:
        return Regex(value["$regex"], value.get("flags", ""))
    if "$set" in value:
        return set(decoded(value["$set"]))
    if "$map" in value:
        return {key: decoded(item) for key, item in value["$map"]}
    if "$date" in value:
        return RECORDED_AT
    return {key: decoded(item) for key, item in value.items()}


def snake(name: str) -> str:
    """A name of the reference's in Python's spelling."""
    return re.sub(r"[A-Z]", lambda letter: "_" + letter[0].lower(), name)


def outcome(function: Callable[[], Any]) -> Any:
    """What the function gives, or which of our errors it raises; any other error is a fault of ours."""
    try:
        return function()
    except ProctorError as error:
        return Raised(f"{type(error).__name__}: {error}")


def same(ours: Any, theirs: Any) -> bool:
    """Equal, numbers within a tolerance; lists and tuples are the same thing, booleans and numbers are not."""
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int | float) and isinstance(theirs, int | float):
        if not (math.isfinite(ours) and math.isfinite(theirs)):
            return ours == theirs or (math.isnan(ours) and math.isnan(theirs))
        return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and not isinstance(ours, Raised):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


class Report:
    """Counts the cases of one file."""

    def __init__(self, name: str, rules: Rules) -> None:
        self.name = name
        self.rules = rules
        self.equal = 0
        self.deviations: Counter[int] = Counter()
        self.quirks: Counter[str] = Counter()
        self.not_yet: Counter[str] = Counter()
        self.unexplained: list[str] = []

    def compare(self, case: dict[str, Any], *, ours: Any, theirs: Any) -> None:
        """Counts one case. A case that several rules change counts under the lowest."""
        quirk = next((tag for tag in case.get("tags", ()) if tag.startswith("quirk:")), None)
        if same(ours, theirs):
            self.equal += 1
        elif quirk:
            self.quirks[quirk.removeprefix("quirk:")] += 1
        elif rule := next((rule for rule in sorted(self.rules) if self.rules[rule](case)), None):
            self.deviations[rule] += 1
        else:
            self.unexplained.append(f"{case['id']}\n    ours:   {ours!r}\n    theirs: {theirs!r}")

    def leave(self, why: str) -> None:
        """Counts one case that cannot be replayed yet."""
        self.not_yet[why] += 1

    def __str__(self) -> str:
        groups = {"by deviation": self.deviations, "quirks": self.quirks, "not yet": self.not_yet}
        counts = [f"{self.equal} equal"]
        for title, group in groups.items():
            named = ", ".join(f"{key}: {count}" for key, count in sorted(group.items()))
            counts.append(f"{group.total()} {title}" + (f" ({named})" if named else ""))
        return ", ".join(counts)

    def check(self, expected: str) -> None:
        """Fails on unexplained cases, and, of the recorded folder, when the counts are not the *expected*."""
        replayed.append(f"{self.name}: {self}")
        if self.unexplained:
            head = f"{self.name}: {len(self.unexplained)} cases differ and no rule says why"
            pytest.fail("\n".join([head, *self.unexplained]), pytrace=False)
        if recorded():
            assert str(self) == expected
