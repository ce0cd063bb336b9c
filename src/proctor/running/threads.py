"""Where agents keep what was said in a thread, so that the thread can outlive the call, the run or the process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from proctor.data.message import Message

__all__ = ["MemoryThreads", "ThreadMemory"]


@runtime_checkable
class ThreadMemory(Protocol):
    """The messages of threads, in the order in which they were appended. *durable*: whether they outlive the process.

    A thread is known by its id alone. *resource_id* says whose it is: a memory may keep it, and needs none.
    """

    durable: bool

    async def load(self, thread_id: str, *, resource_id: str | None = None) -> list[Message]:
        """What was said in a thread so far; of one that is not there, nothing."""
        ...

    async def append(self, thread_id: str, messages: Sequence[Message], *, resource_id: str | None = None) -> None:
        """Add what was said, all of it or none.

        A message whose `id` the thread has already is not added again, so that an append of messages with ids may be
        repeated by whoever cannot tell whether it was done.
        """
        ...

    async def clear(self, thread_id: str) -> None:
        """Forget a thread. One that is not there is forgotten already."""
        ...


class MemoryThreads:
    """Threads in this process. *threads*: their messages, by thread."""

    durable = False

    def __init__(self) -> None:
        self.threads: dict[str, list[Message]] = {}

    async def load(self, thread_id: str, *, resource_id: str | None = None) -> list[Message]:
        """A copy of what was said."""
        return list(self.threads.get(thread_id, ()))

    async def append(self, thread_id: str, messages: Sequence[Message], *, resource_id: str | None = None) -> None:
        """Add what was said and is not there."""
        thread = self.threads.setdefault(thread_id, [])
        known = {message.id for message in thread}
        for message in messages:
            if message.id is None or message.id not in known:
                thread.append(message)
                known.add(message.id)

    async def clear(self, thread_id: str) -> None:
        """Forget a thread."""
        self.threads.pop(thread_id, None)
