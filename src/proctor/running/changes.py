"""What a command changes of an Eval of a file: kept with the run, so that it is gone on with as it began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from proctor.data.value import Value
from proctor.judging.budget import Budget, as_budget
from proctor.running.choice import choose, read_filters
from proctor.running.eval import Eval

__all__ = ["Changes", "changes_from"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Changes(Value):
    """*limit*, *filters*: which items, as `--limit` and `--filter` say it; *only*: those with exactly these ids.

    *concurrency*, *repeats*, *cache*, *budget*, *record_tools*, *replay_tools*: instead of the Eval's. None, and no
    filter: as the Eval has it.
    """

    limit: int | None = None
    filters: tuple[str, ...] = ()
    only: frozenset[str] | None = None
    concurrency: int | None = None
    repeats: int | None = None
    cache: bool | None = None
    budget: Budget | None = None
    record_tools: str | None = None
    replay_tools: str | None = None

    def made(self, evaluation: Eval) -> Eval:
        """The evaluation with them. Raises `UsageError` for a filter that cannot be read."""
        choice = replace(read_filters(self.filters, limit=self.limit), only=self.only)
        names = ("concurrency", "repeats", "cache", "budget", "record_tools", "replay_tools")
        options: dict[str, Any] = {name: value for name in names if (value := getattr(self, name)) is not None}
        return choose(replace(evaluation, **options), choice)

    def to_json(self) -> dict[str, Any]:
        """Those that there are, as plain data; `changes_from` reads it back."""
        only = None if self.only is None else sorted(self.only)
        whole = {
            "limit": self.limit,
            "filters": list(self.filters) or None,
            "only": only,
            "concurrency": self.concurrency,
            "repeats": self.repeats,
            "cache": self.cache,
            "budget": None if self.budget is None else self.budget.to_json(),
            "record_tools": self.record_tools,
            "replay_tools": self.replay_tools,
        }
        return {name: value for name, value in whole.items() if value is not None}


def changes_from(options: Mapping[str, Any] | None) -> Changes:
    """What `Changes.to_json` gave; whatever else stands there is left alone."""
    given = options or {}
    only = given.get("only")
    return Changes(
        limit=given.get("limit"),
        filters=tuple(given.get("filters") or ()),
        only=None if only is None else frozenset(only),
        concurrency=given.get("concurrency"),
        repeats=given.get("repeats"),
        cache=given.get("cache"),
        budget=as_budget(given.get("budget")),
        record_tools=given.get("record_tools"),
        replay_tools=given.get("replay_tools"),
    )
