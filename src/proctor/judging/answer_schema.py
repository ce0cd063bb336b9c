"""What an answer must be: a schema to send, and strict reading of what comes back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from proctor.data.value import Value, shown
from proctor.errors import UsageError, cut, safe_message
from proctor.judging.json_schemas import JsonSchema, hoisted, is_known, rooted
from proctor.judging.listed_words import as_listed
from proctor.judging.structured import ReplyProblem
from proctor.judging.written_schema import refuse_too_wide

__all__ = ["AnswerSchema", "score_schema"]

_MOST_PROBLEMS = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerSchema(Value):
    """What an answer must be.

    *name*: what a tool or a schema is called that asks for it. *json*: the JSON schema that is sent, always an object.
    *wrapper*: the key under which a value is sent that is no object itself; it is read without it, too.

    >>> AnswerSchema.of(list[str]).read({"answer": ["a"]})[0]
    ['a']
    """

    name: str
    json: Mapping[str, Any]
    wrapper: str | None
    _check: Callable[[Any], Any]
    _plain: Callable[[Any], Any]
    _restore: Callable[[Any], Any]
    _bare: bool = True

    @classmethod
    def of(cls, output: Any, /) -> AnswerSchema:
        """The schema of a pydantic model, a dataclass, a TypedDict, any type that pydantic knows, or a JSON schema.

        Of a JSON schema, words that it lists (`enum`) are read in capitals, too. Raises `UsageError` for what is no
        schema, or says nothing of the answer.
        """
        if isinstance(output, cls):
            return output
        if isinstance(output, Mapping):
            return _of_json_schema(output)
        if output is None or isinstance(output, (str, bytes, int, float, list, tuple, set)):
            raise UsageError(f"output={shown(output)} is no schema: give a type, a pydantic model or a JSON schema")
        if hasattr(type(output), "model_fields") or (
            hasattr(type(output), "__dataclass_fields__") and not isinstance(output, type)
        ):
            raise UsageError(f"output={shown(output)} is a value, no schema: give its class {type(output).__name__}")
        try:
            return _cached(output)
        except TypeError:  # it cannot be hashed
            return _of_type(output)

    @property
    def is_wrapped(self) -> bool:
        """Whether the answer is no object itself."""
        return self.wrapper is not None

    @property
    def is_list(self) -> bool:
        """Whether the answer is a list."""
        return self.wrapper is not None and self.json["properties"][self.wrapper].get("type") == "array"

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the object that is sent for, empty where any may stand."""
        return frozenset(self.json.get("properties", ()))

    def read(self, data: Any, /) -> tuple[Any, Any]:
        """The value of a reply's JSON data, and that data as `restored` takes it. Raises `ReplyProblem`."""
        if self.wrapper is not None and isinstance(data, dict) and self.wrapper in data:
            data = data[self.wrapper]
        elif not self._bare:
            raise ReplyProblem(f"the answer must be a JSON object with the key {self.wrapper!r}{_keys_of(data)}")
        value = self._checked(data)
        return value, data if self._bare else value

    def plain(self, value: Any) -> Any:
        """The value as plain JSON data."""
        return self._plain(value)

    def restored(self, plain: Any) -> Any:
        """The value of plain data. Raises `ReplyProblem` if it does not fit, or no more."""
        return self._guarded(self._restore, plain)

    def fits(self, plain: Any) -> bool:
        """Whether `restored` takes it: validators may have changed under a schema that did not."""
        try:
            self.restored(plain)
        except ReplyProblem:
            return False
        return True

    def knows(self, data: Any, /) -> bool:
        """Whether the schema names every key in *data*, or allows any where it stands."""
        if self.wrapper is not None and not (isinstance(data, dict) and self.wrapper in data):
            data = {self.wrapper: data}
        return is_known(data, self.json)

    def _checked(self, data: Any) -> Any:
        return self._guarded(self._check, data)

    def _guarded(self, read: Callable[[Any], Any], data: Any) -> Any:
        try:
            return read(data)
        except RecursionError:
            raise ReplyProblem("the answer is nested too deeply") from None


def score_schema(low: float, high: float) -> AnswerSchema:
    """An object with one number, `score`, within these bounds. The value is that number, as a float.

    >>> score_schema(0, 1).read({"score": 1})
    (1.0, 1.0)
    """
    for bound in (low, high):
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not math.isfinite(bound):
            raise UsageError(f"the bounds of a score are numbers, not {shown(bound)}")
    if low >= high:
        raise UsageError(f"the lower bound of a score, {low}, must be below the upper one, {high}")

    def check(data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            raise ReplyProblem(f"score: must be a number from {low:g} to {high:g}, not {_kind(data)}")
        if not low <= data <= high:
            raise ReplyProblem(f"score: must be from {low:g} to {high:g}, and is {cut(repr(data), 20)}")
        return float(data)

    number = {"type": "number", "minimum": low, "maximum": high}
    return AnswerSchema("score", hoisted(number, key="score"), "score", check, lambda value: value, check, _bare=False)


def _of_json_schema(given: Mapping[str, Any]) -> AnswerSchema:
    schema = JsonSchema.of(given)
    refuse_too_wide(given)

    def check(data: Any) -> Any:
        data = as_listed(data, schema.schema)
        problems = schema.problems(data, most=_MOST_PROBLEMS)
        if problems:
            raise _problem(problems, data)
        return data

    root = rooted(schema.schema)
    title = schema.schema.get("title")
    if root is None:
        return AnswerSchema("answer", hoisted(schema.schema), "answer", check, lambda value: value, check)
    return AnswerSchema(_name(title), root, None, check, lambda value: value, check)


@lru_cache(maxsize=256, typed=True)
def _cached(output: Any) -> AnswerSchema:
    return _of_type(output)


def _of_type(output: Any) -> AnswerSchema:
    from pydantic import TypeAdapter, ValidationError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(output)
        schema = adapter.json_schema()
    except Exception as problem:  # an annotation may raise anything
        said = safe_message(problem).splitlines()[0]
        raise UsageError(f"output={shown(output)} is no schema for an answer: {said}") from problem

    def checked(data: Any, **options: Any) -> Any:
        try:
            return adapter.validate_json(json.dumps(data), strict=True, **options)
        except ValidationError as problem:
            listed = problem.errors(include_url=False, include_context=False, include_input=False)
            told = [(tuple(error["loc"]), _said(error)) for error in listed[:_MOST_PROBLEMS]]
            raise _problem(told, data) from None

    def restore(data: Any) -> Any:
        return checked(data, by_alias=True, by_name=True)

    def plain(value: Any) -> Any:
        return adapter.dump_python(value, mode="json", by_alias=True)

    root = rooted(schema)
    if root is None:
        return AnswerSchema("answer", hoisted(schema), "answer", checked, plain, restore)
    return AnswerSchema(_name(getattr(output, "__name__", None)), root, None, checked, plain, restore)


def _name(given: Any) -> str:
    name = re.sub(r"[^a-zA-Z0-9_-]+", "_", given)[:64].strip("_") if isinstance(given, str) else ""
    return name or "answer"


def _said(error: Any) -> str:
    if error["type"] == "missing":
        return "is missing"
    said = str(error["msg"])
    return said.replace("Input should be", "must be", 1) if said.startswith("Input should be") else said


def _problem(problems: list[tuple[tuple[Any, ...], str]], data: Any) -> ReplyProblem:
    came = next((came for path, said in problems if said != "is missing" and (came := _came(path, data))), "")
    return ReplyProblem(_told(problems, data), came=came)


def _came(path: tuple[Any, ...], data: Any) -> str:
    """What stands at the place of a problem, if it is a text, a number or the like."""
    try:
        for step in path:
            data = data[step]
    except (LookupError, TypeError):
        return ""
    if isinstance(data, dict | list):
        return ""
    said = cut(repr(data), 40) if isinstance(data, str | float) else cut(json.dumps(data), 40)
    return f"{_place(path)} is {said}"


def _told(problems: list[tuple[tuple[Any, ...], str]], data: Any) -> str:
    parts = [f"{_place(path)}: {' '.join(said.split())[:120]}" for path, said in problems]
    missing = any(said == "is missing" and len(path) == 1 for path, said in problems)
    return f"the answer does not fit: {'; '.join(parts)}{_keys_of(data) if missing else ''}"


def _place(path: tuple[Any, ...]) -> str:
    steps = [f"[{step}]" if isinstance(step, int) else f".{str(step)[:40]}" for step in path[:8]]
    return "".join(steps).removeprefix(".") or "all of it"


def _keys_of(data: Any) -> str:
    """What the reply has instead, to see where a key is misspelt."""
    if not isinstance(data, dict):
        return f"; it is {_kind(data)}"
    keys = [repr(str(key)[:30]) for key in list(data)[:8]]
    return f" (it has the keys {', '.join(keys)})" if keys else " (it is an empty object)"


def _kind(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds: dict[type, str] = {str: "text", dict: "an object", list: "a list", int: "a number", float: "a number"}
    return kinds.get(type(value), type(value).__name__)
