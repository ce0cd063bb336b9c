"""How a judge is set up: the model that is asked, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from math import isfinite
from typing import Any, Final, Literal, TypeAlias, get_args

from proctor.data.value import Value, shown
from proctor.errors import UnknownName, UsageError
from proctor.judging.arguments import told_class

__all__ = ["DEFAULT_MODEL", "SETTINGS", "Judge", "OutputMode", "judges_own", "refuse_no_judge"]

DEFAULT_MODEL: Final = "PROCTOR_JUDGE_MODEL"
"""The environment variable that names the model of judges that name none."""

OutputMode: TypeAlias = Literal["native", "tool", "prompted"]
"""How the schema of an answer reaches the model: as its own parameter, as a tool that must be called, or in words."""

SETTINGS = (
    "extra_body", "extra_headers", "frequency_penalty", "logit_bias", "max_tokens", "presence_penalty", "seed",
    "service_tier", "stop_sequences", "temperature", "thinking", "top_k", "top_p",
)  # fmt: skip
"""What may be set of a model, by pydantic-ai's names; besides those that begin with the provider's name."""


def _setting(name: str, value: Any) -> str | None:
    if name in SETTINGS:
        return f"{name} is a setting of the model: Judge(settings={{{name!r}: {shown(value, 40)}}})"
    return None


@told_class(_setting, by_place="Judge takes the model alone without a name: Judge('openai:NAME', instructions='...')")
@dataclass(frozen=True, slots=True, repr=False)
class Judge(Value):
    """Settings of a model that judges. A step's own settings win over the scorer's, field by field.

    *model*: `provider:model` (also `provider/model`, or `local:/path/model.gguf`), a `proctor.testing.ScriptedModel`, a
    model of pydantic-ai, or any `JudgeModel`; the environment variable PROCTOR_JUDGE_MODEL when it is not given.
    *base_url*: of a server that speaks OpenAI's chat API. *instructions*: the system prompt. *settings*: temperature,
    max_tokens and the like; what is not set is not sent. *output_mode*: how a schema is sent; by default the best way
    that the model takes. *language*: reasons are asked for in it ("German"); keys stay as they are.

    *timeout*: seconds for one call. *retries*: further tries of a call that failed in passing; a rate limit is waited
    for besides. *concurrency*, *requests_per_minute*, *tokens_per_minute*: of all calls of this model in this process.
    *window*: tokens that the model can read and write, where the price list does not know. *on_overflow*: a prompt that
    is longer makes the item not scorable, or has its fenced texts shortened, which the judge is told.
    *on_step_finish*: called with each `ModelAnswer`; *on_finish*: with the `JudgeExecution` of each step that asked.
    What they raise is warned of, and changes nothing.

    >>> Judge("openai:gpt-5-mini", instructions="Be exact.").merged(Judge(settings={"temperature": 0})).instructions
    'Be exact.'
    """

    model: Any = None
    _: KW_ONLY
    instructions: str | None = None
    settings: Mapping[str, Any] | None = None
    base_url: str | None = None
    output_mode: OutputMode | None = None
    language: str | None = None
    timeout: float | None = None
    retries: int | None = None
    concurrency: int | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    window: int | None = None
    on_overflow: Literal["decline", "shorten"] | None = None
    on_step_finish: Callable[[Any], Any] | None = None
    on_finish: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        for name in ("instructions", "base_url", "language"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise UsageError(f"Judge({name}=...) is text, not {shown(value)}")
        _check_settings(self.settings)
        for name, known in (("output_mode", get_args(OutputMode)), ("on_overflow", ("decline", "shorten"))):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise UsageError(f"Judge({name}=...) is {' or '.join(map(repr, known))}, not {shown(value)}")
        for name, least in (("concurrency", 1), ("window", 1), ("retries", 0)):
            _check_number(name, getattr(self, name), kinds=(int,), least=least)
        for name in ("timeout", "requests_per_minute", "tokens_per_minute"):
            _check_number(name, getattr(self, name), kinds=(int, float), least=None)
        for name in ("on_step_finish", "on_finish"):
            value = getattr(self, name)
            if value is not None and not callable(value):
                raise UsageError(f"Judge({name}=...) is a function, not {shown(value)}")

    def merged(self, over: Judge | None) -> Judge:
        """These settings, with every field that *over* gives replaced; a mapping of settings is replaced whole."""
        if over is None:
            return self
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: getattr(over, name) for name in own if getattr(over, name) is not None}
        return Judge(**(own | given))


def judges_own(name: str, value: Any) -> str | None:
    """What to write for an argument that a judge takes, and not what has the judge."""
    if name in SETTINGS:
        return f"{name} is a setting of the model: judge=Judge(settings={{{name!r}: {shown(value, 40)}}})"
    if name in _FIELDS:
        return f"{name} belongs to the judge: judge=Judge({name}={shown(value, 40)})"
    return None


_FIELDS = frozenset(field.name for field in fields(Judge))


def refuse_no_judge(value: Any, *, said: str = "") -> None:
    """Raise a `UsageError` for what is neither a `Judge` nor None. *said*: the beginning of the sentence."""
    if value is None or isinstance(value, Judge):
        return
    model = shown(value) if isinstance(value, str) else "model"
    raise UsageError(f"{said}judge= takes a Judge, not {shown(value)}: write judge=Judge({model}, instructions='...')")


def _check_settings(settings: Any) -> None:
    if settings is None:
        return
    if not isinstance(settings, Mapping):
        raise UsageError(f"Judge(settings=...) is a mapping such as {{'temperature': 0}}, not {shown(settings)}")
    for name, value in settings.items():
        if name in {"timeout", "request_timeout", "max_retries"}:
            raise UsageError(
                f"Judge(settings={{{name!r}: ...}}): give Judge(timeout=...) or Judge(retries=...) instead"
            )
        provider, underscore, _ = str(name).partition("_")
        if name not in SETTINGS and not (underscore and provider in _PROVIDERS):
            raise UnknownName("setting of a model", str(name), SETTINGS)
        kind = _KINDS.get(name)
        if kind is not None and value is not None and not _is(kind, value):
            raise UsageError(f"Judge(settings={{{name!r}: ...}}) is {kind}, not {shown(value)}")


_KINDS = {
    **dict.fromkeys(("frequency_penalty", "presence_penalty", "temperature", "top_p"), "a number"),
    **dict.fromkeys(("max_tokens", "seed", "top_k"), "a whole number"),
    **dict.fromkeys(("extra_body", "extra_headers", "logit_bias"), "a mapping"),
    "stop_sequences": "a list of texts",
}


def _is(kind: str, value: Any) -> bool:
    if kind == "a mapping":
        return isinstance(value, Mapping)
    if kind == "a list of texts":
        return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return number and (kind == "a number" or isinstance(value, int))


_PROVIDERS = frozenset({"anthropic", "bedrock", "cohere", "google", "groq", "mistral", "openai", "openrouter", "xai"})


def _check_number(name: str, value: Any, *, kinds: tuple[type, ...], least: int | None) -> None:
    if value is None:
        return
    number = isinstance(value, int | float) and isinstance(value, kinds) and not isinstance(value, bool)
    number = number and isfinite(value)
    if not number or (value <= 0 if least is None else value < least):
        what = "a whole number" if kinds == (int,) else "a number"
        bound = "above 0" if least is None else f"{least} or more"
        raise UsageError(f"Judge({name}=...) is {what}, {bound}, not {shown(value)}")
