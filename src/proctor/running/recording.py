"""A run's recorder, or none, as the run speaks to it: what its code raises names it."""

from __future__ import annotations

from typing import Any

from proctor.bridge import in_thread, recordable
from proctor.data.item import Item
from proctor.data.outcome import Outcome
from proctor.data.reply import ItemResult, Reply
from proctor.data.result import EvalResult
from proctor.errors import ProctorError, safe_message
from proctor.running.plan import Plan
from proctor.running.provenance import provenance_of
from proctor.running.record import Event, Known, NoRecorder, Recorder, RowId

__all__ = ["Recording"]


class Recording:
    """Raises a `ProctorError` for what the recorder raises; our own errors and requests to stop pass as they are."""

    def __init__(self, recorder: Recorder | None) -> None:
        self._recorder = NoRecorder() if recorder is None else recorder
        self._keeps = recorder is not None

    async def start(self, plan: Plan) -> Known:
        """The rows that are there already. A recorder finds in the plan where the run comes from."""
        if self._keeps:
            plan.provenance.update(await in_thread(provenance_of, plan))
        known: Known = await self._ask("start", plan)
        return known

    async def find(self, row: RowId) -> ItemResult | None:
        """What is there of a row."""
        found: ItemResult | None = await self._ask("find", row)
        return found

    async def put(
        self,
        row: RowId,
        value: Reply | Outcome | ItemResult,
        *,
        turn: int | None = None,
        item: Item | None = None,
        index: int = 0,
    ) -> None:
        """Keep what has ended; the same as an `Event`."""
        if self._keeps:
            await self._ask("put", Event(row, value, turn, item, index))

    async def end(self, result: EvalResult) -> None:
        """Keep what the run came to."""
        await self._ask("end", result)

    async def flush(self) -> None:
        """Return when all of it is safe."""
        await self._ask("flush")

    async def _ask(self, method: str, *given: Any) -> Any:
        try:
            return await getattr(self._recorder, method)(*given)
        except BaseException as error:
            if isinstance(error, ProctorError) or not recordable(error):
                raise
            what, said = type(error).__name__, safe_message(error)
            raised = what if said == what else f"{what}: {said}"
            message = f"recorder {type(self._recorder).__name__}: its {method}() raised {raised}"
            raise ProctorError(message, code="RECORDER_FAILED") from error
