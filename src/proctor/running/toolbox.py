"""The tools of one conversation, as the framework of a target calls them: through here.

A mock of the item answers, or the tool itself does; how long it took, and what it raised, is noted, and goes with the
call when the reply is read. A call that the mocks do not allow ends the item; no tool is called in its place.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Literal, NoReturn

from proctor.data.compare import Difference
from proctor.data.message import Part, ToolCall
from proctor.data.plain import canonical_json, plain
from proctor.data.read import read_messages
from proctor.data.tool_mock import ToolMock
from proctor.data.value import MISSING, Value
from proctor.errors import ToolMockError, UnreadableMessages, cut, safe_message

__all__ = ["MockedError", "Toolbox"]

_SHOWN = 60


class MockedError(Exception):
    """The failure that a mock stands for: a target turns it into a tool's failure, as its framework has them."""


class _Note:
    """What was seen of one call while it ran."""

    __slots__ = ("duration_ms", "error", "mock")

    def __init__(self) -> None:
        self.mock: int | None = None
        self.duration_ms: float | None = None
        self.error: str | None = None


class Toolbox:
    """Where the calls of a conversation's tools go through. *answered*: the mocks that earlier turns used up.

    *failure*: of the try that runs, the call that the mocks did not allow. *guards*: whether it keeps any call from its
    tool; when it does not, calls only pass.
    """

    def __init__(
        self,
        mocks: Sequence[ToolMock] = (),
        *,
        unmocked: Literal["allow", "deny"] = "allow",
        repeat: int = 0,
        answered: Collection[int] = (),
    ) -> None:
        self._mocks = [(at, mock) for at, mock in enumerate(mocks) if mock.repeat in (None, repeat)]
        self._deny = unmocked == "deny"
        self._before = frozenset(answered)
        self._answered: set[int] = set()
        self._notes: dict[str | None, list[_Note]] = {}
        self.failure: ToolMockError | None = None
        self.guards = bool(self._mocks) or self._deny

    async def call(
        self,
        name: str,
        args: Any,
        *,
        id: str | None = None,
        live: Callable[[], Awaitable[Any]] | None = None,
        timeout: float | None = None,
    ) -> Any:
        """What comes back of a call: the output of the next mock that answers it, else what *live* gives.

        *args*: as the model wrote them, a mapping as a rule. *id*: of the call, as the reply's messages will have it.
        *live*: calls the tool. *timeout*: the seconds after which the framework gives a tool up; it is *live*'s to keep
        them, and a mock that would take longer fails then.

        Raises what the tool raises; `MockedError` for the failure that a mock stands for; `ToolMockError` when nothing
        may answer: let that pass, so that the turn ends.
        """
        note = _Note()
        self._notes.setdefault(id, []).append(note)
        note.mock = at = self._mock_for(name, plain(args)) if self.guards else None
        began = perf_counter()
        try:
            if at is not None:
                mock = next(mock for place, mock in self._mocks if place == at)
                return await _answer(mock, note, timeout)
            if live is None:
                self._refuse("NOT_DECLARED", f"{name} has no mock, and there is no tool behind it")
            return await live()
        except MockedError:
            raise
        except Exception as error:
            note.error = f"{type(error).__name__}: {safe_message(error)}"
            raise
        except BaseException:
            note.error = note.error or "given up before it ended"  # by a tool's own deadline, or the turn's
            raise
        finally:
            note.duration_ms = (perf_counter() - began) * 1000.0

    def hidden_error(self, id: str | None, error: str) -> None:
        """Note what a tool raised that the framework made an ordinary result of."""
        for note in self._notes.get(id, ())[-1:]:
            note.error = error

    def refuse_unseen(self, names: Collection[str], *, why: str = "run at the provider of the model") -> None:
        """Refuse tools whose calls do not come by here, when only mocks may answer. *why*: what they do instead."""
        if names and self._deny:
            self._refuse("NOT_DECLARED", f"{', '.join(sorted(names))}: no mock can answer for tools that {why}")

    def came_past(self, name: str) -> None:
        """Refuse a call that did not come by here, of a tool that a mock should have answered for."""
        if self._deny or any(mock.name == name for _, mock in self._mocks):
            self._refuse("NOT_DECLARED", f"{name} was called past the mocks, by code that calls it directly")

    def begin(self) -> None:
        """Begin a turn, or a further try of it: what the try before it used up is there again."""
        self._answered.clear()
        self._notes.clear()
        self.failure = None

    def noted(self, output: Any) -> Any:
        """A turn's output, its calls with what was noted of them; the turn is over."""
        self._before |= self._answered
        if not self._notes or output is MISSING:
            return output
        try:
            messages = read_messages(output)
        except UnreadableMessages:
            return output
        notes = {id: list(these) for id, these in self._notes.items()}
        return [
            replace(message, parts=tuple(_with_note(part, notes) for part in message.parts)) for message in messages
        ]

    # ── which mock ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _mock_for(self, name: str, args: Any) -> int | None:
        """The place of the mock that answers; None when the tool itself may."""
        if self.failure is not None:
            raise self.failure  # the first one ends the turn, whatever the framework makes of it
        own = [(at, mock) for at, mock in self._mocks if mock.name == name]
        if not own:
            if self._deny:
                known = ", ".join(dict.fromkeys(mock.name for _, mock in self._mocks)) or "none"
                self._refuse("NOT_DECLARED", f"{name} has no mock, and unmocked='deny'; there are mocks of: {known}")
            return None
        apart = [(at, self._apart(at, mock, args)) for at, mock in own]
        fitting = [at for at, parts in apart if parts == []]
        if not fitting:
            self._refuse("MISMATCH", f"no mock of {name} is for {_shown(args)}{_nearest(apart)}")
        at = next((at for at in fitting if at not in self._before and at not in self._answered), None)
        if at is None:
            times = f"{len(fitting)} mock{'s' if len(fitting) != 1 else ''}"
            self._refuse("EXHAUSTED", f"{name} was called with {_shown(args)} once more than the {times} for it")
        self._answered.add(at)
        return at

    def _apart(self, at: int, mock: ToolMock, args: Any) -> list[Difference] | None:
        try:
            return mock.apart(args)
        except Exception as error:  # noqa: BLE001 - the function in match= is the user's
            told = f"{type(error).__name__}: {safe_message(error)}"
            self._refuse("MISMATCH", f"match= of tool_mocks[{at}] raised {told} for {_shown(args)}")

    def _refuse(self, word: str, message: str) -> NoReturn:
        self.failure = ToolMockError(message, code=f"TOOL_MOCK_{word}")
        raise self.failure


async def _answer(mock: ToolMock, note: _Note, timeout: float | None) -> Any:
    late = timeout is not None and mock.delay > timeout
    note.error = f"Timed out after {timeout} seconds." if late else mock.error
    if mock.delay:
        import asyncio

        await asyncio.sleep(timeout if late and timeout is not None else mock.delay)
    if late or mock.output is MISSING:
        raise MockedError(note.error)
    from copy import deepcopy

    return mock.output if isinstance(mock.output, str | Value) else deepcopy(mock.output)


def _with_note(part: Part, notes: dict[str | None, list[_Note]]) -> Part:
    if not isinstance(part, ToolCall) or not notes.get(part.id):
        return part
    note = notes[part.id].pop(0)
    part = replace(part, duration_ms=note.duration_ms, mock=note.mock)
    if note.error is None or part.error is not None:
        return part
    return replace(part, error=note.error, state="failed")


def _nearest(apart: Sequence[tuple[int, list[Difference] | None]]) -> str:
    """Where the mock that comes nearest parts from the call."""
    told = [(at, parts) for at, parts in apart if parts]
    if not told:
        return ""
    at, parts = min(told, key=lambda it: len(it[1]))
    first = parts[0]
    path = f" at {first.path}" if first.path else ""
    return f"; the nearest, tool_mocks[{at}], has{path} {_shown(first.expected)}, not {_shown(first.actual)}"


def _shown(value: Any) -> str:
    return "nothing" if value is MISSING else cut(canonical_json(value), _SHOWN)
