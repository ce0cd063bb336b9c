"""What is asked of a model, and the key that this gives."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Final

from proctor.data.plain import canonical_json, plain
from proctor.data.value import MISSING, Value, shown
from proctor.errors import UsageError

__all__ = ["CallRequest"]

_FORM: Final = 1
"""The form of keys. Raised whenever the same request would get another key, or mean another thing."""

_HOW_LONG_ONE_WAITS: Final = frozenset({"timeout"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CallRequest(Value):
    """A model call: all that decides its answer.

    *model*: the name as asked for. *messages*: what is sent. *settings*: temperature, tools and the like, as far as
    they are set. *schema*: of the answer, None for text. *repeat*: which repeat of an item asks, so that repeats are
    calls of their own. *extra*: whatever else decides: the URL, how the schema is put to the model.
    """

    model: str
    messages: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
    schema: Any = None
    repeat: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model:
            raise UsageError(f"CallRequest(model=...) is the name of a model, not {shown(self.model)}")
        if not isinstance(self.repeat, int) or isinstance(self.repeat, bool) or self.repeat < 0:
            raise UsageError(f"CallRequest(repeat=...) is a whole number, 0 or more, not {shown(self.repeat)}")

    @property
    def key(self) -> str:
        """The form of keys, and SHA-256 in hex over the canonical JSON of all parts: the same in every process.

        `1`, `1.0` and `True` differ, and so do a setting of None and none. Not part of it: what is MISSING, the setting
        `timeout`, and the order of mappings, but for the properties of schemas: models write them in that order.
        Raises `EncodingError` for a part that has no plain form.
        """
        from hashlib import sha256

        settings = _given(self.settings, besides=_HOW_LONG_ONE_WAITS)
        parts = {
            "model": self.model,
            "messages": self.messages,
            "settings": settings,
            "schema": MISSING if self.schema is None else self.schema,
            "orders": _orders(plain([self.schema, settings])) or MISSING,
            "repeat": self.repeat,
            "extra": _given(self.extra),
        }
        return f"{_FORM}-{sha256(canonical_json(_given(parts)).encode()).hexdigest()}"


def _given(parts: Mapping[str, Any], *, besides: Set[str] = frozenset()) -> Any:
    return {name: part for name, part in parts.items() if part is not MISSING and name not in besides} or MISSING


def _orders(value: Any) -> list[list[Any]]:
    """The names of the properties of every schema in plain data, as they stand there."""
    if isinstance(value, list):
        return [order for item in value for order in _orders(item)]
    if not isinstance(value, dict):
        return []
    found = []
    for name in sorted(value, key=canonical_json):  # so that only the order of properties is told, not that of schemas
        inner = value[name]
        if name == "properties" and isinstance(inner, dict):
            found.append(list(inner))
        found += _orders(inner)
    return found
