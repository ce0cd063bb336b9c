"""A store with a run of many rows, made quickly: one real run, whose rows are written again under other numbers."""

import asyncio
import sqlite3

from engine import item, whole

SCORES = (1.0, 1.0, 0.75, 0.5, 0.25)


def make_store(path, rows):
    """A store at *path* whose one run has *rows* rows of three outcomes: one in 50 is low or an error."""
    asyncio.run(whole([item(0)], 1, store=str(path)))
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute("BEGIN IMMEDIATE")
        _multiply(connection, rows)
        connection.execute("UPDATE proctor_eval SET rows=?, finished=?, items=?", (rows, rows, rows))
        connection.execute("COMMIT")
    connection.close()


def _multiply(connection, rows):
    (items,), (replies,), outcomes = (
        connection.execute(f"SELECT * FROM proctor_{table}").fetchall()  # noqa: S608 - the names stand here
        for table in ("item", "reply", "outcome")
    )
    connection.executemany(_insert("item", len(items)), (_item(items, number) for number in range(1, rows)))
    connection.executemany(
        _insert("reply", len(replies)), ((replies[0], number, *replies[2:]) for number in range(1, rows))
    )
    connection.executemany(
        _insert("outcome", len(outcomes[0])),
        (_outcome(outcome, number) for number in range(1, rows) for outcome in outcomes),
    )


def _insert(table, columns):
    return f"INSERT INTO proctor_{table} VALUES ({', '.join('?' * columns)})"  # noqa: S608 - as above


def _item(of, number):
    run, _, _, repeat, _, _, _, _, _, _, body, error = of
    broke, low = number % 500 == 0, number % 50 == 0
    return (
        run,
        number,
        f"street-{number}",
        repeat,
        number,
        "error" if broke else "done",
        int(low and not broke),
        0,
        0 if low else 1,
        None if broke else _score(number),
        body.replace("street 0", f"street {number}").replace("street-0", f"street-{number}"),
        error,
    )


def _outcome(of, number):
    run, _, col, sitting, status, _, duration, body = of
    return (run, number, col, sitting, status, _score(number) if col == 0 else 1.0, duration, body)


def _score(number):
    return SCORES[number // 50 % len(SCORES)] if number % 50 == 0 else 1.0


def break_off(path):
    """Leave the run as one that was killed."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE proctor_eval SET status='running', result=NULL")
        connection.execute("UPDATE proctor_sitting SET status='running', pulse_at='2026-01-01T00:00:00.000000+00:00'")
    connection.close()
