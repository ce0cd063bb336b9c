"""Scorers with a `type` of two schemas: what comes in and what comes out is read into them, or the scorer fails."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from proctor.data.value import MISSING
from proctor.errors import ProctorError, UsageError
from proctor.scoring.run import ScorerRun

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["SchemaMismatch", "check_schemas", "validated"]


class SchemaMismatch(ProctorError):
    """What the scorer was given is not what its `type` says."""

    code = "SCHEMA_MISMATCH"


def validated(run: ScorerRun, schemas: tuple[Any, Any], *, scorer_id: str) -> ScorerRun:
    """*run* with its input and output read into *schemas*: anything pydantic can validate, None to leave one as it is.

    A run without input is validated only for its output. Raises `SchemaMismatch` that lists every wrong field.
    """
    changes: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name, schema, value in (("input", schemas[0], run.input), ("output", schemas[1], run.output)):
        if schema is not None and value is not MISSING:
            changes[name], wrong[name] = _read(name, schema, value)
    problems = {name: problem for name, problem in wrong.items() if problem}
    if problems:
        code = f"{next(iter(problems)).upper()}_SCHEMA_MISMATCH"
        message = f"{scorer_id} takes another {' and '.join(problems)}: {'; '.join(problems.values())}"
        raise SchemaMismatch(message, code=code)
    return run.replace(**changes)


def check_schemas(schemas: tuple[Any, ...], scorer_id: str) -> None:
    """Refuse a `type` that pydantic cannot use, when it is written."""
    for schema in schemas:
        if schema is not None:
            try:
                _adapter(schema)
            except Exception as problem:
                raise UsageError(f"{scorer_id}: type={schema!r} is no schema: {problem}") from problem


def _read(name: str, schema: Any, value: Any) -> tuple[Any, str]:
    """The value as the schema has it, and what is wrong with it: nothing, or every field."""
    from pydantic import ValidationError

    try:
        return _adapter(schema).validate_python(value), ""
    except ValidationError as problem:
        return None, "; ".join(f"{'.'.join(map(str, [name, *e['loc']]))}: {e['msg']}" for e in problem.errors())


@lru_cache(maxsize=256)
def _adapter(schema: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(schema)
