"""A run in the store, and each time it is worked at: its sittings."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import uuid4

from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from proctor.data.result import EvalResult
from proctor.errors import ProctorError, UsageError
from proctor.running.kept import Beginning
from proctor.running.plan import Plan
from proctor.running.record import utc_now
from proctor.storage.differences import all_differences, untold
from proctor.storage.engine import writing
from proctor.storage.names import new_name
from proctor.storage.schema import ENDED, EVAL, ITEM, SITTING, of_run
from proctor.storage.session import Session, read_session, session_of
from proctor.storage.texts import Pen, from_json, plain_text, written_text

__all__ = ["PULSE_S", "Sitting", "begin_sitting", "is_alive"]

PULSE_S = 20.0
"""How often a run that is being worked at says so, at least."""
_DEAD_AFTER_S = 3 * PULSE_S
_HOST = socket.gethostname()
_TAKEN_OVER = "taken over"
_OTHERS = "gone on with by somebody else while this one gave no sign of life"
_MINE: set[tuple[str, int]] = set()
"""The sittings of this process: after a restart in a container another process may well have had its number."""


class Sitting:
    """A sitting under way. *run*: the run's number in the store; *sessions*: of this run's sittings, by number."""

    def __init__(
        self,
        *,
        run: int,
        eval_id: str,
        name: str,
        number: int,
        started_at: str,
        spent_ms: float = 0.0,
        sessions: dict[int, Session],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.run = run
        self.eval_id = eval_id
        self.name = name
        self.number = number
        self.started_at = started_at
        self.spent_ms = spent_ms
        self.sessions = sessions
        self.notes = notes
        self._began = perf_counter()
        self._ended: tuple[dict[str, Any], str, float] | None = None
        self._broke_off = False
        _MINE.add((eval_id, number))

    async def pulse(self, connection: AsyncConnection) -> None:
        """Say in a commit that the run is worked at, or how it ended. Raises when it was deleted or taken over."""
        status, elapsed = "stopped" if self._broke_off else "running", (perf_counter() - self._began) * 1000.0
        if self._ended is not None:
            values, status, elapsed = self._ended
            counts = {name: _count(self.run, *where) for name, where in _COUNTED.items()}
            await connection.execute(update(EVAL).where(EVAL.c.eval == self.run).values(**values, **counts))
        mine = (SITTING.c.eval == self.run, SITTING.c.number == self.number)
        beat = update(SITTING).where(*mine, SITTING.c.status != _TAKEN_OVER)
        done = await connection.execute(beat.values(pulse_at=utc_now(), elapsed_ms=elapsed, status=status))
        if done.rowcount == 0:
            there = (await connection.execute(select(SITTING.c.number).where(*mine))).first()
            what = "deleted from the store while it was running" if there is None else _OTHERS
            message = f"the run {self.name} was {what}: nothing more is kept of it"
            raise ProctorError(message if there is None else f"{message} from here", code="STORE_FAILED")

    def breaks_off(self) -> bool:
        """Have the next commits say that nobody works at the run any more; not, and False, once `ends_with` did."""
        self._broke_off = self._ended is None
        return self._broke_off

    def is_over(self) -> None:
        """Nothing will be written any more, even if it could not be said."""
        _MINE.discard((self.eval_id, self.number))

    def ends_with(self, result: EvalResult, pen: Pen) -> None:
        """What the next commits say of the run."""
        summary = result.summary
        values = {
            "status": result.status,
            "verdict": result.verdict,
            "sentence": pen.write(result.sentence),
            "ended_at": utc_now(),
            "items": summary.items,
            "errors": summary.errors,
            "failures": summary.failures,
            "result": pen.write(replace(result, items=())),
        }
        whole = summary.duration_ms or 0.0
        self._ended = values, result.status, max(whole - self.spent_ms, 0.0)


_COUNTED = {"rows": (), "finished": (ITEM.c.status.in_(ENDED),)}


def _count(run: int, *where: Any) -> Any:
    return select(func.count()).select_from(ITEM).where(*of_run(run), *where).scalar_subquery()


async def begin_sitting(engine: AsyncEngine, beginning: Beginning, *, plan: Plan, pen: Pen) -> Sitting:
    """The sitting that now begins, written down. Raises `UsageError` when the run may not be gone on with."""
    session = session_of(plan.evaluation)
    if beginning.resume is None:
        return await _new_run(engine, beginning, plan, session, pen)
    async with writing(engine) as connection:
        found = await connection.execute(select(EVAL).where(EVAL.c.eval_id == beginning.resume).with_for_update())
        row = found.mappings().one_or_none()
        if row is None:
            raise UsageError(f"the run {beginning.resume} is not in the store any more", code="NO_SUCH_RUN")
        earlier = (
            (await connection.execute(select(SITTING).where(SITTING.c.eval == row["eval"]).order_by(SITTING.c.number)))
            .mappings()
            .all()
        )
        _refuse_living(row, earlier)
        sessions = {int(each["number"]): read_session(from_json(each["session"])) for each in earlier}
        then = {} if row["provenance"] is None else from_json(row["provenance"])
        changed = all_differences(list(sessions.values()), session, then=then, provenance=plan.provenance)
        if changed and not beginning.allow_changes:
            raise UsageError(_changed(row["name"], changed), code="RUN_CHANGED")
        number = max(sessions, default=0) + 1
        taken = update(SITTING).where(SITTING.c.eval == row["eval"], SITTING.c.status == "running")
        await connection.execute(taken.values(status=_TAKEN_OVER))  # who was only asleep must not write any more
        await connection.execute(insert(SITTING).values(_sitting_row(row["eval"], number, session, pen)))
        now = {"status": "running", "provenance": pen.write(plan.provenance)}
        await connection.execute(update(EVAL).where(EVAL.c.eval == row["eval"]).values(**now))
    return Sitting(
        run=row["eval"],
        eval_id=row["eval_id"],
        name=row["name"],
        number=number,
        started_at=row["started_at"],
        spent_ms=sum(each["elapsed_ms"] for each in earlier),
        sessions=sessions | {number: session},
        notes=(*(f"gone on although {what}" for what in changed), *untold(session)),
    )


def _changed(name: str, changed: Sequence[str]) -> str:
    what = "".join(f"\n  {each}" for each in changed)
    return (
        f"what {name} would run is not what it ran:{what}\n"
        "to go on with it all the same: --allow-changes, in Python allow_changes=True"
    )


async def _new_run(engine: AsyncEngine, beginning: Beginning, plan: Plan, session: Session, pen: Pen) -> Sitting:
    evaluation, now, eval_id = plan.evaluation, utc_now(), str(uuid4())
    values = {
        "eval_id": eval_id,
        "eval_name": None if evaluation.name is None else pen.text(evaluation.name),
        "kind": "run" if beginning.parent is None else "rescore",
        "parent": beginning.parent,
        "source": None if beginning.source is None else pen.text(beginning.source),
        "options": None if beginning.options is None else pen.write(dict(beginning.options)),
        "status": "running",
        "started_at": now,
        "repeats": evaluation.repeats,
        "provenance": pen.write(plan.provenance),
    }
    for _ in range(50):
        name = new_name()
        try:
            async with writing(engine) as connection:
                made = await connection.execute(insert(EVAL).values(name=name, **values).returning(EVAL.c.eval))
                run = int(made.scalar_one())
                await connection.execute(insert(SITTING).values(_sitting_row(run, 1, session, pen)))
        except IntegrityError:
            continue  # another run has the name
        return Sitting(run=run, eval_id=eval_id, name=name, number=1, started_at=now, sessions={1: session})
    raise ProctorError("no name was found for the run that another does not have", code="STORE_FAILED")


def _sitting_row(run: int, number: int, session: Session, pen: Pen) -> dict[str, Any]:
    now = utc_now()
    return {
        "eval": run,
        "number": number,
        "status": "running",
        "started_at": now,
        "pulse_at": now,
        "elapsed_ms": 0.0,
        "host": written_text(_HOST),
        "pid": os.getpid(),
        "session": pen.write(session.to_json()),
    }


def _refuse_living(run: Any, sittings: Sequence[Any]) -> None:
    if sittings and is_alive(run["eval_id"], sittings[-1]):
        name, last = run["name"], sittings[-1]
        where = f"process {last['pid']}" + ("" if last["host"] == _HOST else f" on {plain_text(last['host'])}")
        message = f"{name} is being run by {where}: wait for its end, or stop it"
        raise UsageError(message, code="RUN_UNDER_WAY")


def is_alive(eval_id: str, sitting: Any) -> bool:
    """Whether somebody works at a sitting now: it has not ended, its process is there, and it gave a sign of life."""
    if sitting["status"] != "running":
        return False
    if sitting["host"] == written_text(_HOST):
        pid = int(sitting["pid"])
        if not _is_running(pid) or (pid == os.getpid() and (eval_id, int(sitting["number"])) not in _MINE):
            return False
    since = datetime.now(UTC) - datetime.fromisoformat(sitting["pulse_at"])
    return since.total_seconds() < _DEAD_AFTER_S


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return True  # os.kill would end it there; its sign of life tells
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
