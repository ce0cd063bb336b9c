"""The providers that a model's name may begin with: which key each needs, and which package speaks to it.

The models are pydantic-ai's; this table says what is missing before any of it is imported. A provider that pydantic-ai
learned since is found by its name too, only later and with less to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from proctor.data.value import Value

__all__ = ["PROVIDERS", "Provider"]


@dataclass(frozen=True, slots=True, repr=False)
class Provider(Value):
    """*keys*: environment variables, one of which must be set; none where it is not that simple. *package*: the
    module that is imported, and *extra*: ours that installs it. *host*: of its own API; a model there has no address.
    """

    keys: tuple[str, ...] = ()
    package: str = "openai"
    extra: str = "openai"
    host: str | None = None


_OPENAI = Provider(("OPENAI_API_KEY",), host="api.openai.com")
_GOOGLE_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")

PROVIDERS: Final[dict[str, Provider]] = {
    "alibaba": Provider(("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), "anthropic", "anthropic", "api.anthropic.com"),
    "azure": Provider(("AZURE_OPENAI_API_KEY",)),
    "azure-responses": Provider(("AZURE_OPENAI_API_KEY",)),
    "bedrock": Provider((), "boto3", "bedrock"),
    "cerebras": Provider(("CEREBRAS_API_KEY",), host="api.cerebras.ai"),
    "cohere": Provider(("CO_API_KEY",), "cohere", "cohere", "api.cohere.com"),
    "deepseek": Provider(("DEEPSEEK_API_KEY",), host="api.deepseek.com"),
    "fireworks": Provider(("FIREWORKS_API_KEY",), host="api.fireworks.ai"),
    "google": Provider(_GOOGLE_KEYS, "google.genai", "google", "generativelanguage.googleapis.com"),
    "google-cloud": Provider((), "google.genai", "google"),
    "groq": Provider(("GROQ_API_KEY",), "groq", "groq", "api.groq.com"),
    "huggingface": Provider(("HF_TOKEN",), "huggingface_hub", "huggingface"),
    "litellm": Provider(),
    "mistral": Provider(("MISTRAL_API_KEY",), "mistralai", "mistral", "api.mistral.ai"),
    "moonshotai": Provider(("MOONSHOTAI_API_KEY",), host="api.moonshot.ai"),
    "nebius": Provider(("NEBIUS_API_KEY",)),
    "ollama": Provider(),
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _OPENAI,
    "openrouter": Provider(("OPENROUTER_API_KEY",), host="openrouter.ai"),
    "ovhcloud": Provider(("OVHCLOUD_API_KEY",)),
    "sambanova": Provider(("SAMBANOVA_API_KEY",), host="api.sambanova.ai"),
    "together": Provider(("TOGETHER_API_KEY",), host="api.together.xyz"),
    "vercel": Provider(("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"), host="ai-gateway.vercel.sh"),
    "vllm": Provider(),
    "xai": Provider(("XAI_API_KEY",), "xai_sdk", "xai", "api.x.ai"),
    "zai": Provider(("ZAI_API_KEY",), host="api.z.ai"),
}
