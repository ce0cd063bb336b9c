"""The tables of a store, the same for SQLite and PostgreSQL.

A run is a row of `proctor_eval`; each time it was gone on with is a sitting. Its items (one for each repeat), replies
and outcomes are numbered within it: `no` is the item's number in the order of its beginning, `col` the column's. What
is asked for in queries stands in columns of its own, all the rest in `body`, as JSON text of `data/codec.py`. Times
are ISO 8601 in UTC. Nothing refers by foreign keys: a run is deleted as a whole, table by table.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ColumnElement, Float, Index, Integer, MetaData, Table, Text

__all__ = [
    "CACHED_CALL", "ENDED", "EVAL", "EVAL_COLUMN", "ITEM", "JUDGE_EXECUTION", "MESSAGE", "METADATA", "MOST",
    "OF_A_RUN", "OUTCOME", "REPLY", "SCHEMA_VERSION", "SITTING", "THREAD", "of_run",
]  # fmt: skip

METADATA = MetaData()
_WHOLE = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself only where it says INTEGER


def _table(name: str, *columns: Column[object] | Index, clustered: bool = True, once: bool = False) -> Table:
    """*clustered*: in SQLite the rows lie in the order of their key, without a second index for it.

    *once*: no number is given twice, also not that of a row that was deleted.
    """
    return Table(f"proctor_{name}", METADATA, *columns, sqlite_with_rowid=not clustered, sqlite_autoincrement=once)


def _key(name: str) -> Column[object]:
    return Column(name, _WHOLE, primary_key=True, autoincrement=False)


SCHEMA_VERSION = _table(
    "schema",
    _key("version"),
    Column("began_at", Text, nullable=False),
    Column("done_at", Text),
)
"""A row for each migration; one without `done_at` broke off and is done again."""

EVAL = _table(
    "eval",
    Column("eval", _WHOLE, primary_key=True, autoincrement=True),
    Column("eval_id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False, unique=True),
    Column("eval_name", Text),
    Column("kind", Text, nullable=False),
    Column("parent", Text),
    Column("source", Text),
    Column("options", Text),
    Column("status", Text, nullable=False),
    Column("verdict", Text),
    Column("sentence", Text),
    Column("started_at", Text, nullable=False),
    Column("ended_at", Text),
    Column("rows", _WHOLE),
    Column("finished", _WHOLE),
    Column("items", _WHOLE),
    Column("errors", _WHOLE),
    Column("failures", _WHOLE),
    Column("repeats", _WHOLE, nullable=False),
    Column("provenance", Text),
    Column("result", Text),
    Index("proctor_eval_started", "started_at"),
    clustered=False,
    once=True,
)
"""*options*: what the command line changed of the Eval that stands at *source*. *result*: the EvalResult without its
items, once a sitting has ended. *rows*, *finished*: how many there were then; while it is `running` they are counted.
Numbers are not given twice: whoever writes a run that was deleted hits none."""

SITTING = _table(
    "sitting",
    _key("eval"),
    _key("number"),
    Column("status", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("pulse_at", Text, nullable=False),
    Column("elapsed_ms", Float, nullable=False),
    Column("host", Text),
    Column("pid", _WHOLE),
    Column("session", Text, nullable=False),
)
"""*pulse_at*, *elapsed_ms*: as of the last commit. *status*: `taken over` when the next one
began without its end. *session*: the fingerprints of what was run."""

EVAL_COLUMN = _table(
    "column",
    _key("eval"),
    _key("col"),
    Column("position", Text, nullable=False),
    Column("turn", _WHOLE),
    Column("key", Text, nullable=False),
    Column("scorer_id", Text, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("better", Text, nullable=False),
    Column("threshold", Text),
)

ITEM = _table(
    "item",
    _key("eval"),
    _key("no"),
    Column("item_id", Text, nullable=False),
    Column("repeat", _WHOLE, nullable=False),
    Column("place", _WHOLE, nullable=False),
    Column("status", Text, nullable=False),
    Column("failed", _WHOLE, nullable=False),
    Column("errors", _WHOLE, nullable=False),
    Column("broke", _WHOLE, nullable=False),
    Column("worst", Float),
    Column("body", Text, nullable=False),
    Column("error", Text),
    Index("proctor_item_id", "eval", "item_id", "repeat", unique=True),
    Index("proctor_item_place", "eval", "place", "repeat", "worst"),
    Index("proctor_item_failures", "eval", "broke", "place", "repeat", "status", "worst"),
    Index("proctor_item_worst", "eval", "worst", "place", "repeat", "status", "broke"),
    Index("proctor_item_status", "eval", "status", "place", "repeat", "worst"),
    clustered=False,
)
"""*place*: the item's in the data; below 0 when it is there no more. *failed*: outcomes that fell short; *errors*:
those that broke; *broke*: 0 when there is either or the target failed, else 1, so that failures come first. *worst*:
the lowest score, each on 0 to 1 with 1 as its good end; NULL when there is none. *status*: `begun` until the row ends.
The last columns of the indexes are what pages in their order are filtered by: see `pages.py`."""

MOST = 2**31 - 1
"""The greatest number that is looked for: no database takes one of any size, and behind this one there is nothing."""


def of_run(run: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """The rows of a run, without those that were put aside: their items are not in its data any more."""
    return ITEM.c.eval == run, ITEM.c.place + 0 >= 0  # so written that no database looks for an index on it


ENDED = ("done", "error")
"""The statuses of rows that ended."""

REPLY = _table(
    "reply",
    _key("eval"),
    _key("no"),
    _key("turn"),
    Column("sitting", _WHOLE, nullable=False),
    Column("duration_ms", Float),
    Column("body", Text, nullable=False),
    clustered=False,
)
"""*turn*: -1 for the reply to a single question."""

OUTCOME = _table(
    "outcome",
    _key("eval"),
    _key("no"),
    _key("col"),
    Column("sitting", _WHOLE, nullable=False),
    Column("status", Text, nullable=False),
    Column("score", Float),
    Column("duration_ms", Float),
    Column("body", Text),
    Index("proctor_outcome_score", "eval", "col", "score", "no"),
)

JUDGE_EXECUTION = _table(
    "judge_execution",
    _key("eval"),
    _key("no"),
    _key("col"),
    Column("step", Text, primary_key=True),
    _key("number"),
    Column("status", Text, nullable=False),
    Column("model", Text),
    Column("answered_by", Text),
    Column("duration_ms", Float),
    Column("body", Text, nullable=False),
)

THREAD = _table(
    "thread",
    Column("thread_id", Text, primary_key=True),
    Column("resource_id", Text),
    Column("said_at", Text, nullable=False),
)
"""*said_at*: when something was last said in it."""

MESSAGE = _table(
    "message",
    Column("thread_id", Text, primary_key=True),
    _key("number"),
    Column("message_id", Text),
    Column("body", Text, nullable=False),
)
"""*message_id*: the message's own; for one without, one that its append made."""

CACHED_CALL = _table(
    "cached_call",
    Column("key", Text, primary_key=True),
    Column("model", Text),
    Column("kept_at", Text, nullable=False),
    Column("body", Text, nullable=False),
    Index("proctor_cached_call_kept", "kept_at"),
)
"""*model*: the one that answered, by the provider's word. *kept_at*: when the answer was put there."""

OF_A_RUN = (EVAL, SITTING, EVAL_COLUMN, ITEM, REPLY, OUTCOME, JUDGE_EXECUTION)
"""Every table that holds rows of a run, in the order they are deleted in: that in which a run is written, so that in
PostgreSQL the one waits for the other, and what is written meanwhile goes too."""
