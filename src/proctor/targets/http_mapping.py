"""Any other endpoint of JSON: what is sent by a template of it, and where in the answer the reply stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from proctor.data.plain import canonical_json, plain
from proctor.data.reply import Reply
from proctor.data.usage import Cost
from proctor.data.value import MISSING, shown
from proctor.errors import TargetError, UnknownName, UsageError, cut
from proctor.targets.http_chat import usage_of

__all__ = ["Reading", "Template"]

_NAMES: Final = ("input", "messages", "request_context", "resource_id", "thread_id", "turn")
_PLACE: Final = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w.-]*)\}")
_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_FIELDS: Final = ("cost", "finish_reason", "output", "structured", "usage")


class Template:
    """The body of a request: texts in it may hold `{input}`, `{thread_id}` and the like.

    A text that is one placeholder and nothing else becomes the value itself; `{{` and `}}` are braces. *names*: of the
    placeholders. Raises `UnknownName` for one that nothing stands for.
    """

    def __init__(self, body: Any) -> None:
        self._body = plain(body)
        self.names: frozenset[str] = frozenset(self._named(self._body))

    def _named(self, value: Any) -> set[str]:
        if isinstance(value, Mapping):
            return {name for item in value.values() for name in self._named(item)}
        if isinstance(value, list):
            return {name for item in value for name in self._named(item)}
        found = (
            {match[1].partition(".")[0] for match in _PLACE.finditer(value) if match[1]} if _is_text(value) else set()
        )
        for name in found:
            if name not in _NAMES:
                raise UnknownName("placeholder of request=", name, _NAMES, hint="Write {{ and }} for braces.")
        return found

    def filled(self, values: Mapping[str, Any]) -> Any:
        """The body for these values."""
        return self._filled(self._body, values)

    def _filled(self, value: Any, values: Mapping[str, Any]) -> Any:
        if isinstance(value, Mapping):
            return {key: self._filled(item, values) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, values) for item in value]
        if not _is_text(value):
            return value
        whole = _PLACE.fullmatch(value)
        if whole is not None and whole[1]:
            return _of(values, whole[1])
        return _PLACE.sub(lambda match: _as_text(_of(values, match[1])) if match[1] else match[0][0], value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _of(values: Mapping[str, Any], name: str) -> Any:
    first, _, rest = name.partition(".")
    value = values[first]
    for key in rest.split(".") if rest else ():
        if not isinstance(value, Mapping) or key not in value:
            raise UsageError(f"request= asks for {{{name}}}, which the item has not")
        value = value[key]
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


class Reading:
    """What is made of an answer: by a function, the path of the output, or paths by fields of a `Reply`.

    Without any, the answer as a whole is the output.
    """

    def __init__(self, response: str | Mapping[str, str] | Callable[[Any], Any] | None) -> None:
        self._function = response if callable(response) else None
        if response is None or callable(response):
            paths: Mapping[str, str] = {}
        elif isinstance(response, str):
            paths = {"output": response}
        elif isinstance(response, Mapping):
            paths = response
        else:
            raise UsageError(f"response is a path, a mapping of them, or a function, not {shown(response)}")
        for name, path in paths.items():
            if name not in _FIELDS:
                raise UnknownName("field of response=", name, _FIELDS)
            if not isinstance(path, str) or not _steps(path):
                raise UsageError(f"response: {shown(path)} is no path; write one as in choices[0].message")
        self._paths = {name: (path, _steps(path)) for name, path in paths.items()}
        if paths and "output" not in paths:
            raise UsageError("response= has no path of the output")

    def reply(self, body: Any) -> Reply:
        """The reply. Raises a `TargetError` for an answer that has nothing at a path of the output."""
        if self._function is not None:
            made = self._function(body)
            return made if isinstance(made, Reply) else Reply(output=made)
        if not self._paths:
            return Reply(output=body)
        found = {name: self._at(body, name) for name in self._paths}
        reason, amount = found.get("finish_reason", MISSING), found.get("cost", MISSING)
        is_amount = isinstance(amount, int | float) and not isinstance(amount, bool) and amount >= 0
        return Reply(
            output=found["output"],
            usage=usage_of(found.get("usage")),
            cost=Cost(amount=float(amount), source="the server") if is_amount else None,
            finish_reason=reason if isinstance(reason, str) else None,
            structured=found.get("structured", MISSING),
        )

    def _at(self, body: Any, name: str) -> Any:
        path, steps = self._paths[name]
        value = body
        for at, step in enumerate(steps):
            has = isinstance(value, Mapping) and step in value
            if not has and not (isinstance(value, list) and isinstance(step, int) and step < len(value)):
                if name != "output":
                    return MISSING
                raise TargetError(f"the answer has no {path}: {_where(steps[:at], value)}", code="UNREADABLE_ANSWER")
            value = value[step]
        return value


def _steps(path: str) -> list[Any]:
    found = [(match[1] or int(match[2])) for match in _STEP.finditer(path)]
    again = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found).removeprefix(".")
    return found if again == path else []


def _where(before: list[Any], value: Any) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in before).removeprefix(".") or "it"
    if isinstance(value, Mapping):
        return f"{place} has {cut(', '.join(map(str, value)) or 'nothing', 100)}"
    return f"{place} is {cut(canonical_json(value), 100)}"
