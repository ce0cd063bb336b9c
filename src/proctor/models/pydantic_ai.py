"""Models of pydantic-ai as judges: one request, as it is, with its deadline and without the provider's own retries."""

from __future__ import annotations

import os
import re
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import uuid4

from proctor.data.usage import Cost, Usage
from proctor.data.value import Value, shown
from proctor.errors import ModelError, UsageError, safe_message
from proctor.judging.judge import OutputMode
from proctor.judging.model import ModelAnswer, ModelCall, Price
from proctor.models.answers import refusal_of, stated_cost, text_of, usage_of
from proctor.models.failures import Asked, failed
from proctor.models.first_step import FirstStep
from proctor.models.prices import cost_of, like, price_of, window_of
from proctor.models.providers import PROVIDERS
from proctor.models.requests import messages_of, parameters_of
from proctor.running.per_loop import PerLoop

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider
    from pydantic_ai.settings import ModelSettings

__all__ = ["ModelName", "PydanticAIModel"]

_FILES: Final = {
    "image": "supports_image_input",
    "audio": "supports_audio_file_input",
    "video": "supports_video_input",
    "document": "supports_document_input",
}
_CLIENT_SECONDS: Final = 600.0  # after which pydantic-ai's clients give up reading


@dataclass(frozen=True, slots=True, repr=False)
class ModelName(Value):
    """*base_url*: None for the provider's own; only `openai` models have one."""

    provider: str
    model: str
    base_url: str | None = None

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


class PydanticAIModel:
    """A judge of a model of pydantic-ai. *given*: a name that the router read, or a model object that the user made.

    A model object is used as it is, on one event loop at a time; of a name, every loop gets a model of its own.
    """

    keeps_time = True
    own_settings: dict[str, Any] | None

    def __init__(self, given: ModelName | Model) -> None:
        if isinstance(given, ModelName):
            self._model = _built(given)
            first: list[Model] = [self._model]
            self._per_loop = PerLoop(lambda: first.pop() if first else _built(given))
            self.id = str(given)
            self.own_settings = None
        else:
            _check_is_model(given)
            self._model = given
            self._per_loop = PerLoop(lambda: given)
            self.id = given.model_id
            self.own_settings = _own_settings(given)
        self.provider: str | None = self._model.system
        self.address = _address(self._model, provider=given.provider if isinstance(given, ModelName) else given.system)
        profile = _profile(self._model)
        self.modes = _modes(profile)
        self.accepts = frozenset(kind for kind, flag in _FILES.items() if profile.get(flag, True))
        self._where = {"provider": None if self.address else self.provider, "url": _url(self._model)}
        known = PROVIDERS.get(given.provider) if isinstance(given, ModelName) else None
        self._asked = Asked(
            _without_secrets(_url(self._model)), self.address is not None, known.keys if known else None
        )
        self._settings_tried: set[frozenset[str]] = set()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    @property
    def window(self) -> int | None:
        """Of the price list, or as the model's profile says; not known of a model elsewhere that is called the same."""
        found = window_of(self._model.model_name, **self._where)
        return found if found or self.address else self._model.context_window

    @property
    def price(self) -> Price | None:
        """Of the price list."""
        return price_of(self._model.model_name, **self._where)

    @property
    def guess(self) -> str:
        """A sentence with the model that may be meant, where the price list does not know this one; or nothing."""
        return "" if self.address else like(self._model.model_name, provider=self.provider)

    async def request(self, call: ModelCall, /) -> ModelAnswer:
        """The answer to one request, made once."""
        from pydantic_ai.direct import model_request

        try:
            model = await self._per_loop.get()
            work = model_request(
                model,
                messages_of(call),
                model_settings=self._settings(call, model),
                model_request_parameters=parameters_of(call),
                instrument=False,
            )
            response = await self._checked_once(work, call)
        except ModelError:
            raise
        except Exception as error:
            said = failed(error, call, model=self.id, asked=self._asked)
            if said is None:
                raise
            if said.kind == "not_found" and (guess := self.guess):
                said = ModelError(f"{said.message}.{guess}", kind=said.kind, status=said.status)
            raise said from error
        text = text_of(response, tool=call.name)
        usage = usage_of(response.usage)
        return ModelAnswer(
            text=text,
            finish_reason=response.finish_reason,
            refusal=refusal_of(response, text),
            usage=usage,
            cost=stated_cost(response) or self._cost(response, usage),
            answered_by=response.model_name,
        )

    def _settings(self, call: ModelCall, model: Model) -> ModelSettings:
        """What the call has, the deadline, and no retries of the provider's own."""
        ignored = model.unsupported_settings
        for name in call.settings:
            if name in ignored:
                raise ModelError(f"{self.id} does not take {name}", kind="rejected", parameter=name)
        settings: dict[str, Any] = {**call.settings, "request_timeout": call.timeout}
        if "max_retries" not in ignored and not _is_without_retries(model):
            settings["max_retries"] = 0
        if call.timeout > _CLIENT_SECONDS and "timeout" not in ignored:
            settings["timeout"] = call.timeout
        return cast("ModelSettings", settings)

    async def _checked_once(self, work: Coroutine[Any, Any, ModelResponse], call: ModelCall) -> ModelResponse:
        """Settings that pydantic-ai would drop are an error; looked for once, as filters of warnings are global."""
        names = frozenset(call.settings)
        if not names or names in self._settings_tried:
            return await work
        return await FirstStep(work, passed=lambda: self._settings_tried.add(names))

    def _cost(self, response: ModelResponse, usage: Usage | None) -> Cost | None:
        if usage is None:
            return None
        names = dict.fromkeys((response.model_name or self._model.model_name, self._model.model_name))
        return next((cost for name in names if (cost := cost_of(response.usage, name, **self._where))), None)


def _built(name: ModelName) -> Model:
    """The model of a name, with a client of its own. Raises `UsageError` for what the provider says is missing."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider

    kind = "openai-chat" if name.base_url and name.provider == "openai" else name.provider
    try:
        if name.base_url:
            from pydantic_ai.providers.openai import OpenAIProvider

            key = os.environ.get("OPENAI_API_KEY") or _NO_KEY
            provider: Provider[Any] = OpenAIProvider(base_url=name.base_url, api_key=key)
        else:
            provider = infer_provider(kind)
        if kind in {"openai", "openai-responses"}:
            from pydantic_ai.models.openai import OpenAIResponsesModel
            from pydantic_ai.profiles.openai import OpenAIModelProfile

            alone = OpenAIModelProfile(openai_supports_encrypted_reasoning_content=False)  # no call follows on this one
            model: Model = OpenAIResponsesModel(name.model, provider=provider, profile=alone)
        else:
            model = infer_model(f"{kind}:{name.model}", provider_factory=lambda _: provider)
    except (UserError, ImportError, ValueError) as error:
        hint = _on_this_machine(name) or safe_message(error).partition(" For a keyless")[0]
        raise UsageError(f"{name} cannot be used: {hint}") from error
    client: Any = getattr(model.provider, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0  # said once here; said with each request, the client would be copied each time
    return model


def _on_this_machine(name: ModelName) -> str | None:
    """What to write for a server that is mostly one's own, when nothing says where it is."""
    variable, port = _OWN_SERVERS.get(name.provider, ("", 0))
    if not variable or os.environ.get(variable):
        return None
    return f"set {variable}, or write Judge('openai:{name.model}', base_url='http://localhost:{port}/v1')"


_OWN_SERVERS: Final = {"ollama": ("OLLAMA_BASE_URL", 11434), "vllm": ("VLLM_BASE_URL", 8000)}
_NO_KEY: Final = "none"  # the client must have one; a server of one's own asks for none


def _is_without_retries(model: Model) -> bool:
    return getattr(getattr(model.provider, "client", None), "max_retries", None) == 0


def _check_is_model(given: Any) -> None:
    from pydantic_ai.models import Model

    if not isinstance(given, Model):
        raise UsageError(f"a model of pydantic-ai is asked, not {shown(given)}")


def _own_settings(model: Model) -> dict[str, Any] | None:
    """What a model object decides by itself. Functions are told apart by nothing but which they are."""
    others = [_own_settings(one) for one in getattr(model, "models", ())]
    is_any = model.system in {"function", "test"}
    own = {
        "settings": model.settings,
        "models": others if any(others) else None,
        "object": uuid4().hex if is_any else None,
    }
    return {name: value for name, value in own.items() if value} or None


def _profile(model: Model) -> Mapping[str, Any]:
    try:
        return model.profile
    except NotImplementedError:  # one that asks others, each with a profile of its own
        return {}


def _modes(profile: Mapping[str, Any]) -> tuple[OutputMode, ...]:
    modes: list[OutputMode] = ["native"] if profile.get("supports_json_schema_output", False) else []
    if profile.get("supports_tools", True):
        modes.append("tool")
    return (*modes, "prompted")


_OF_NOBODY: Final = re.compile(r"\b(?:function|test)\b")  # also within a fallback to one


def _url(model: Model) -> str | None:
    from pydantic_ai.exceptions import UserError

    try:
        return model.base_url
    except (UserError, AttributeError):  # some know it only when they are asked
        return None


def _address(model: Model, *, provider: str) -> str | None:
    """Where it is asked, if that is not the provider's own. What may hold a key or a password is left out.

    Models of functions and of tests are called the same, whatever they answer: each has an address of its own, so that
    none is given what a cache keeps of another.
    """
    from urllib.parse import urlsplit

    url = _url(model)
    known = PROVIDERS.get(provider)
    if not url:
        return f"object {uuid4().hex[:12]}" if _OF_NOBODY.search(model.system) else None
    parts = urlsplit(url)
    if known is not None and known.host == parts.hostname:
        return None
    return _without_secrets(url)


def _without_secrets(url: str | None) -> str | None:
    from urllib.parse import urlsplit

    if not url:
        return None
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")
