"""A model that judges, as whoever asks it sees it: what is sent, what comes back, and what can be known before.

Adapters in `proctor.models` and the fakes in `proctor.testing` are such models; any object with these parts is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from proctor.data.message import Message
from proctor.data.usage import Cost, Usage
from proctor.data.value import Value
from proctor.judging.judge import OutputMode

__all__ = ["JudgeModel", "ModelAnswer", "ModelCall", "Price"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelCall(Value):
    """One request, as it is sent.

    *messages*: system, user and assistant, in order; user messages may hold `File` parts. *settings*: temperature and
    the like, only what the user set, by pydantic-ai's names. *schema*: JSON schema of the answer, an object; None for
    plain text. *mode*: how the schema is sent; in `prompted` it stands in the messages already. *name*: what a tool or
    schema is called. *timeout*: seconds until the call is given up, connection and all.
    """

    messages: tuple[Message, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] | None = None
    mode: OutputMode = "prompted"
    name: str = "answer"
    timeout: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ModelAnswer(Value):
    """What came back. *text*: the answer's text, or the arguments of the tool that was called, as JSON text.

    *finish_reason*: by the provider's word, None when it said nothing; `length` means that the text is cut.
    *refusal*: the model said that it will not answer, in these words. *cost*: None when the price is not known.
    """

    text: str
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    answered_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Price(Value):
    """US dollars for one token. *source*: the price list and its version."""

    input_token: float
    output_token: float
    source: str


@runtime_checkable
class JudgeModel(Protocol):
    """What judges ask.

    *id*: `provider:model`. *address*: part of the key of cached answers and of limits. *modes*: never empty. *accepts*:
    of `image`, `audio`, `video` and `document`. A model may have four attributes more: `keeps_time`, when its
    `request` gives up after the call's `timeout` by itself; `at_once`, the most calls that it takes at the same time;
    `in_process`, when it works here, where what took too long would do so again; and `own_settings`, what decides its
    answers besides, which is part of the key of cached answers, too.
    """

    @property
    def id(self) -> str:
        """What records and messages call it."""

    @property
    def provider(self) -> str | None:
        """Whose it is; None for nobody's."""

    @property
    def address(self) -> str | None:
        """Where it is asked, when the id does not say that."""

    @property
    def modes(self) -> tuple[OutputMode, ...]:
        """How a schema can be sent, the best way first."""

    @property
    def accepts(self) -> frozenset[str]:
        """The kinds of files that it takes."""

    @property
    def window(self) -> int | None:
        """Tokens that it reads and writes in all; None when not known."""

    @property
    def price(self) -> Price | None:
        """Of a token; None when not known."""

    async def request(self, call: ModelCall, /) -> ModelAnswer:
        """The answer to one request, made once. Raises `ModelError`; what else is raised is a defect of the model's."""
