"""How a judge is set up: the model that is asked, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from proctor.data.value import Value

__all__ = ["Judge"]


@dataclass(frozen=True, slots=True, repr=False)
class Judge(Value):
    """Settings of a model that judges. A step's own settings win over the scorer's, field by field.

    *model*: `provider:model`. *instructions*: the system prompt. *settings*: temperature, token limits, timeout.
    """

    model: Any = None
    instructions: str | None = None
    settings: Mapping[str, Any] | None = None

    def merged(self, over: Judge | None) -> Judge:
        """These settings, with every field that *over* gives replaced."""
        if over is None:
            return self
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: getattr(over, name) for name in own if getattr(over, name) is not None}
        return Judge(**(own | given))
