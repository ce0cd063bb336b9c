"""Where a store is: what `store=` may say, as the address of a database."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from proctor.data.value import shown
from proctor.errors import UnknownName, UsageError

__all__ = ["DEFAULT_PATH", "Address", "address_of"]

DEFAULT_PATH = Path(".proctor") / "proctor.db"

_DRIVERS = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
_OPTIONS = {"ssl": "ssl", "sslmode": "ssl"}  # of PostgreSQL, as its driver calls them
_UNUSABLE = "STORE_UNUSABLE"


@dataclass(frozen=True, slots=True)
class Address:
    """A database. *url*: for SQLAlchemy; *shown*: for people, without a password; *path*: of a file, else None."""

    url: URL
    shown: str
    path: Path | None = None


def address_of(where: Any) -> Address:
    """The database that `store=` means: True, the path of a file, or the URL of a database.

    Raises `UsageError` for what is none of these. Nothing is opened.
    """
    if where is True:
        return _file(Path(DEFAULT_PATH))
    if isinstance(where, str) and "://" in where:
        return _database(where)
    if isinstance(where, str | os.PathLike) and os.fspath(where):
        path = os.fspath(where)
        return _file(Path(path if isinstance(path, str) else os.fsdecode(path)))
    kinds = "True (the file .proctor/proctor.db), the path of a file, or postgresql://user@host/database"
    raise UsageError(f"store is {kinds}, not {shown(where)}", code=_UNUSABLE)


def _file(path: Path) -> Address:
    if str(path) == ":memory:":
        raise UsageError("store: a database in memory ends with its connection; give the path of a file, or None")
    try:
        path.lstat()
        is_folder = path.is_dir()
    except FileNotFoundError:
        is_folder = False
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise UsageError(f"the store {shown(str(path))} cannot be opened: {why}", code=_UNUSABLE) from problem
    if is_folder:
        raise UsageError(f"store: {path} is a folder; give the path of a file in it, {path / 'proctor.db'}")
    whole = path.absolute()  # the run may change folders
    return Address(URL.create("sqlite+aiosqlite", database=str(whole)), str(path), whole)


def _database(text: str) -> Address:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise UsageError("store: the URL cannot be read; write postgresql://user:password@host:5432/database") from None
    kind = url.drivername.partition("+")[0]
    if kind not in _DRIVERS:
        raise UnknownName("kind of database for store", kind, ["sqlite", "postgresql"])
    if url.host is not None and "@" in url.host:
        raise UsageError("store: the URL has several @; in a password write %40 for it")
    if kind == "sqlite":
        _check_options(url.query)
        if not url.database:
            raise UsageError("store: sqlite:// names no file; write sqlite:///runs.db, or the path alone")
        return _file(Path(url.database))
    try:
        import asyncpg  # noqa: F401 - only whether it is there
    except ImportError:
        message = "store: PostgreSQL needs the package asyncpg; install proctor with its extra: 'proctor[postgres]'"
        raise UsageError(message, code=_UNUSABLE) from None
    _check_options(url.query, known=_OPTIONS)
    options = {_OPTIONS[name]: value for name, value in url.query.items()}
    url = url.set(drivername=_DRIVERS[kind], query=options)
    return Address(url, url.set(drivername="postgresql").render_as_string(hide_password=True))


def _check_options(given: Mapping[str, Any], *, known: Iterable[str] = ()) -> None:
    """What stands behind the ? of a URL. The values are not shown: one may be a password."""
    for name in given:
        if name not in known:
            raise UnknownName("option in the URL of store", name, list(known))
