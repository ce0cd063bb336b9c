"""From names to models, and what is said before the first call."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pydantic_ai.models.openai  # noqa: F401 - here, so that no test is slow for loading it
import pytest

from proctor.data.secrets import redact_text
from proctor.errors import UnknownName, UsageError
from proctor.judging.model import JudgeModel
from proctor.models import router
from proctor.models.providers import PROVIDERS
from proctor.models.router import resolve

HERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for key in {key for provider in PROVIDERS.values() for key in provider.keys}:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("name", "id", "kind"),
    [
        ("openai:gpt-5-mini", "openai:gpt-5-mini", "OpenAIResponsesModel"),
        ("openai/gpt-5-mini", "openai:gpt-5-mini", "OpenAIResponsesModel"),
        (" openai:gpt-5-mini ", "openai:gpt-5-mini", "OpenAIResponsesModel"),
        ("openai-chat:gpt-5-mini", "openai-chat:gpt-5-mini", "OpenAIChatModel"),
        ("openai-responses:gpt-5-mini", "openai-responses:gpt-5-mini", "OpenAIResponsesModel"),
        ("openai:ft:gpt-4o-mini:org", "openai:ft:gpt-4o-mini:org", "OpenAIResponsesModel"),
    ],
)
def test_a_name_is_a_provider_and_a_model(name, id, kind):
    model = resolve(name)
    assert (model.id, model.provider, model.address) == (id, "openai", None)
    assert type(model._model).__name__ == kind
    assert isinstance(model, JudgeModel)


def test_the_name_of_the_model_may_hold_colons_and_slashes(monkeypatch):
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or")
    assert resolve("openrouter:meta/llama").id == "openrouter:meta/llama"
    assert resolve("openrouter/meta/llama:free").id == "openrouter:meta/llama:free"
    assert resolve("openrouter:meta/llama").address is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-5-mini", "write provider:model, as in openai:gpt-5-mini"),
        ("claude-haiku", "as in anthropic:claude-haiku"),
        ("openai", "is a provider: write openai:NAME"),
        ("openai:", "names no model"),
        ("opnai/gpt-5", "Did you mean 'openai'?"),
        ("opnai:gpt-5", "Did you mean 'openai'?"),
        ("meta-llama/Llama", "names no provider"),
        ("test:model", "ScriptedModel"),
        ("", "provider:model"),
    ],
)
def test_what_names_no_model_is_said_to_be_none(name, said):
    with pytest.raises(UsageError, match=r"provider|model") as raised:
        resolve(name)
    assert said in raised.value.message


def test_an_unknown_provider_is_an_unknown_name():
    with pytest.raises(UnknownName) as raised:
        resolve("anthropc:claude")
    assert raised.value.name == "anthropc"
    assert "Did you mean 'anthropic'?" in raised.value.message


def test_a_missing_key_is_named(monkeypatch):
    for name in ("openai:gpt-5", "openai-chat:gpt-5", "openai/gpt-5"):
        with pytest.raises(UsageError, match="set the environment variable OPENAI_API_KEY") as raised:
            resolve(name)
        assert redact_text(raised.value.message) == raised.value.message  # as the command line shows it
    monkeypatch.setenv("OPENAI_API_KEY", "")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        resolve("openai:gpt-5")
    with pytest.raises(UsageError, match="OPENROUTER_API_KEY"):
        resolve("openrouter:meta/llama")


def test_what_only_pydantic_ai_knows_to_be_missing_is_a_usage_error():
    with pytest.raises(UsageError, match=r"ollama:llama3 cannot be used: set OLLAMA_BASE_URL, or .*:11434/v1'"):
        resolve("ollama:llama3")


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("anthropic:claude", "anthropic", "anthropic"),
        ("google:gemini", "google", "google"),
        ("openai:x", "pydantic_ai", "openai"),
    ],
)
def test_a_missing_package_is_named_with_its_extra(monkeypatch, name, package, extra):
    found = router.find_spec
    monkeypatch.setattr(router, "find_spec", lambda it: None if it.partition(".")[0] == package else found(it))
    with pytest.raises(UsageError, match=rf"'{package}': pip install 'proctor\[{extra}\]'"):
        resolve(name)


@pytest.mark.parametrize("name", ["openai:m", "openai-chat:m"])
def test_a_server_of_ones_own_is_asked_in_chats_and_needs_no_key(name):
    model = resolve(name, base_url=HERE)
    assert type(model._model).__name__ == "OpenAIChatModel"
    assert (model.address, model.window, model.price) == (HERE, None, None)
    assert type(resolve("openai-responses:m", base_url=HERE)._model).__name__ == "OpenAIResponsesModel"


def test_the_address_of_the_environment_is_one_too(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", HERE)
    model = resolve("openai:gpt-5-mini")
    assert (type(model._model).__name__, model.address) == ("OpenAIChatModel", HERE)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    assert type(resolve("openai:gpt-5-mini")._model).__name__ == "OpenAIResponsesModel"
    monkeypatch.setenv("OPENAI_BASE_URL", "localhost:80")
    with pytest.raises(UsageError, match="OPENAI_BASE_URL is an address such as"):
        resolve("openai:gpt-5-mini")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost",
        "localhost:8000/v1",
        "ftp://h/v1",
        "http://",
        "http://h:port/v1",
        "http://[::1/v1",
        "http://h\n/v1",
        " http://h/v1",
    ],
)
def test_an_address_is_checked(url):
    with pytest.raises(UsageError, match="base_url is an address such as"):
        resolve("openai:m", base_url=url)


def test_only_openai_has_a_server_of_ones_own():
    with pytest.raises(UsageError, match="write openai:NAME"):
        resolve("anthropic:claude", base_url=HERE)
    with pytest.raises(UsageError, match="has no base_url"):
        resolve("local:/m.gguf", base_url=HERE)


def test_a_password_is_no_part_of_the_address():
    assert resolve("openai:m", base_url="http://ann:secret@127.0.0.1:9/v1/?key=abc").address == HERE


def test_the_address_of_a_server_by_its_number_keeps_its_brackets():
    assert resolve("openai:m", base_url="http://[::1]:9/v1").address == "http://[::1]:9/v1"


def test_a_password_is_not_repeated():
    with pytest.raises(UsageError) as raised:
        resolve("openai:m", base_url="http://ann:secret-word@h:port/v1")
    assert "secret-word" not in str(raised.value)


def test_the_same_name_is_the_same_model_until_the_key_changes(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-one")
    first = resolve("openai:gpt-5")
    assert resolve("openai/gpt-5") is first
    monkeypatch.setenv("OPENAI_API_KEY", "sk-two")
    assert resolve("openai:gpt-5") is not first


@pytest.mark.usefixtures("key")
def test_twenty_threads_at_once_get_one_model():
    together = Barrier(20)

    def first(_):
        together.wait()
        return resolve("openai:of-twenty")

    with ThreadPoolExecutor(20) as threads:
        assert len({id(model) for model in threads.map(first, range(20))}) == 1


@pytest.mark.usefixtures("key")
def test_what_the_price_list_knows():
    model = resolve("openai:gpt-5-mini")
    assert model.window == 400_000
    assert 0 < model.price.input_token < model.price.output_token < 1e-3
    assert model.price.source.startswith("genai-prices ")
    assert (resolve("openai:no-such").window, resolve("openai:no-such").price) == (None, None)


def test_nothing_is_loaded_for_a_mistake():
    code = """
import sys
from proctor.models.router import resolve
for name in ("gpt", "openai:gpt-5", "local:/none.gguf", "anthropic:x"):
    try: resolve(name)
    except ValueError: pass
    else: raise SystemExit(name)
heavy = {"pydantic_ai", "openai", "pydantic", "httpx2", "xllamacpp", "genai_prices", "asyncio"} & set(sys.modules)
raise SystemExit(f"loaded {heavy}" if heavy else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
