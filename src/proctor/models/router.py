"""From a model's name to the model: `provider:model`, `provider/model`, or `local:` and a file.

What can be said before the first call is said here: no such provider, no key, a package that is not installed.
"""

from __future__ import annotations

import os
import threading
from importlib.util import find_spec
from typing import Final

from proctor.data.secrets import redact_text
from proctor.errors import UnknownName, UsageError, did_you_mean
from proctor.judging.model import JudgeModel
from proctor.models.local import LocalModel
from proctor.models.providers import PROVIDERS, Provider
from proctor.models.pydantic_ai import ModelName, PydanticAIModel

__all__ = ["resolve"]

_MADE_BY: Final = {"claude": "anthropic", "gemini": "google", "gpt": "openai", "mistral": "mistral", "o3": "openai"}

_made: dict[tuple[object, ...], PydanticAIModel] = {}
_lock = threading.Lock()


def resolve(name: str, *, base_url: str | None = None) -> JudgeModel:
    """The model of this name. *base_url*: of a server that speaks OpenAI's API, for `openai` models.

    `openai:` is OpenAI's Responses API at OpenAI, and the chat API at any other address, OPENAI_BASE_URL included;
    `openai-chat:` and `openai-responses:` say which. The same name gives the same model, so that its connections are
    shared. Raises `UsageError` before anything is sent: for an unknown provider, a key or a package that is missing.
    """
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"a model is named provider:model, as in openai:gpt-5-mini, not {name!r}")
    name = name.strip()
    if name.startswith("local:"):
        if base_url is not None:
            raise UsageError(f"{name}: a local model is a file, and has no base_url")
        return LocalModel(name.removeprefix("local:"))
    provider, model = _split(name)
    known = PROVIDERS.get(provider)
    if base_url is None and provider in _OPENAI and _foreign(os.environ.get("OPENAI_BASE_URL")):
        base_url, said_by = os.environ["OPENAI_BASE_URL"], "OPENAI_BASE_URL"
    else:
        said_by = "base_url"
    if base_url is not None:
        base_url = _checked(base_url, said_by=said_by, provider=provider)
    if known is not None:
        _check_installed(provider, known)
        if base_url is None:
            _check_key(provider, known)
    elif find_spec("pydantic_ai") is None or not _is_known_to_pydantic_ai(provider):
        raise UnknownName("provider of models", provider, PROVIDERS)
    return _shared(ModelName(provider, model, base_url), known)


_OPENAI: Final = frozenset({"openai", "openai-chat", "openai-responses"})


def _split(name: str) -> tuple[str, str]:
    """The provider, and its name for the model, in which colons and slashes may follow."""
    at = next((i for i, char in enumerate(name) if char in ":/"), -1)
    provider, model = (name[:at], name[at + 1 :]) if at >= 0 else (name, "")
    if name.startswith("gateway/") and ":" in name:
        provider, _, model = name.partition(":")
    elif provider == "test":
        raise UsageError(f"{name}: no model that answers; for tests there is proctor.testing.ScriptedModel")
    elif at < 0 or (name[at] == "/" and provider not in PROVIDERS):
        if provider in PROVIDERS:
            raise UsageError(f"{name!r} is a provider: write {name}:NAME, with the name of a model")
        made_by = next((maker for start, maker in _MADE_BY.items() if name.startswith(start)), "openai")
        guess = did_you_mean(provider, PROVIDERS) if at >= 0 else ""
        raise UsageError(f"{name!r} names no provider: write provider:model, as in {made_by}:{model or name}.{guess}")
    if not model:
        raise UsageError(f"{name!r} names no model: write {provider}:NAME")
    return provider, model


def _foreign(url: str | None) -> bool:
    from urllib.parse import urlsplit

    return bool(url) and urlsplit(url or "").hostname != PROVIDERS["openai"].host


def _checked(url: str, *, said_by: str, provider: str) -> str:
    from urllib.parse import urlsplit

    if provider not in _OPENAI:
        raise UsageError(
            f"base_url is of a server that speaks OpenAI's API; it cannot be asked as {provider}: write openai:NAME"
        )
    try:
        parts = urlsplit(url)
        fine = (
            url.isprintable()
            and " " not in url
            and parts.scheme in {"http", "https"}
            and parts.hostname
            and (parts.port is None or parts.port)
        )
    except ValueError:  # a port that is no number, a bracket that is not closed
        fine = False
    if not fine:
        raise UsageError(f"{said_by} is an address such as http://localhost:8000/v1, not {redact_text(url)!r}")
    return url


def _check_installed(name: str, provider: Provider) -> None:
    try:
        missing = next((it for it in ("pydantic_ai", provider.package) if find_spec(it) is None), None)
    except ModuleNotFoundError:  # the parent of a package within a package
        missing = provider.package
    if missing:
        raise UsageError(
            f"{name} models need the package {missing.partition('.')[0]!r}: pip install 'proctor[{provider.extra}]'"
        )


def _check_key(name: str, provider: Provider) -> None:
    if provider.keys and not any(os.environ.get(key) for key in provider.keys):
        one = " or ".join(provider.keys)
        raise UsageError(f"{name} models need a key: set the environment variable {one}")


def _is_known_to_pydantic_ai(provider: str) -> bool:
    from pydantic_ai.providers import infer_provider_class

    try:
        infer_provider_class(provider.removeprefix("gateway/"))
    except ValueError:
        return False
    except ImportError:
        return True  # its package is missing, which is said when it is built
    return True


def _shared(name: ModelName, provider: Provider | None) -> PydanticAIModel:
    """One model for a name, a server and a key; a key that was changed gives another."""
    keys = (*provider.keys, *_ADDRESSES) if provider else _ADDRESSES
    asked = (name, *(hash(os.environ.get(key)) for key in keys))
    with _lock:
        found = _made.get(asked)
        if found is None:
            found = _made[asked] = PydanticAIModel(name)
        return found


_ADDRESSES: Final = ("AZURE_OPENAI_ENDPOINT", "LITELLM_BASE_URL", "OLLAMA_BASE_URL", "OPENAI_API_KEY", "VLLM_BASE_URL")
