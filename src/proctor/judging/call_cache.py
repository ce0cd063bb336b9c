"""What keeps the answers of model calls, as whoever asks models sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from proctor.data.cached_call import CachedCall

__all__ = ["NO_CACHE", "CallCache", "NoCache"]


class CallCache(Protocol):
    """Where answers are kept. Either method may raise: `answered` goes on without the cache."""

    async def get(self, key: str, /) -> CachedCall | None:
        """What was kept under this key, None when nothing was."""

    async def put(self, key: str, call: CachedCall, /) -> None:
        """Keep it, in place of what was there."""


class NoCache:
    """Keeps nothing: every call is made."""

    async def get(self, key: str, /) -> CachedCall | None:
        """Nothing."""
        return None

    async def put(self, key: str, call: CachedCall, /) -> None:
        """Do nothing."""


NO_CACHE: Final = NoCache()
