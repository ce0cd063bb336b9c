"""Which model a judge asks."""

import threading

import pytest

from proctor.errors import UsageError
from proctor.judging.judge import Judge
from proctor.judging.resolve import model_for, require_askable
from proctor.testing import ScriptedModel


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("PROCTOR_JUDGE_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_model_object_is_itself():
    model = ScriptedModel("ok")
    assert model_for(Judge(model)) is model


def test_a_model_of_pydantic_ai_is_asked_through_one_adapter():
    from pydantic_ai.models.test import TestModel

    model = TestModel()
    assert model_for(Judge(model)).id == "test:test"
    assert model_for(Judge(model)) is model_for(Judge(model))


def test_a_name_is_one_model_whoever_asks_first():
    found = []
    judge = Judge("openai:m", base_url="http://127.0.0.1:9/v1")
    threads = [threading.Thread(target=lambda: found.append(model_for(judge))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert len({id(model) for model in found}) == 1
    assert found[0].address == "http://127.0.0.1:9/v1"


def test_the_environment_names_the_model_of_judges_that_name_none(monkeypatch):
    with pytest.raises(UsageError, match="set PROCTOR_JUDGE_MODEL") as caught:
        model_for(Judge())
    assert caught.value.code == "SCORER_FAILED_TO_RUN_MISSING_MODEL_OR_INSTRUCTIONS"
    monkeypatch.setenv("PROCTOR_JUDGE_MODEL", "openai:m")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert model_for(Judge()).id == "openai:m"


def test_another_key_is_another_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "one")
    first = model_for(Judge("openai:m"))
    assert model_for(Judge("openai:m")) is first
    monkeypatch.setenv("OPENAI_API_KEY", "two")
    assert model_for(Judge("openai:m")) is not first


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        (Judge("openai:m"), "OPENAI_API_KEY"),
        (Judge("openia:m"), "Did you mean 'openai'"),
        (Judge("gpt-5-mini"), "write provider:model"),
        (Judge("local:/no/such.gguf"), "no such file"),
        (Judge(object()), "is 'provider:model', a ScriptedModel"),
        (Judge(ScriptedModel("ok"), base_url="http://127.0.0.1/v1"), "goes with the name of a model"),
        (Judge("anthropic:m", base_url="http://127.0.0.1/v1"), "openai:NAME"),
    ],
    ids=["no key", "misspelt", "no provider", "no file", "no model", "object with url", "provider with url"],
)
def test_what_cannot_be_asked_is_said_before_it_is(judge, said):
    with pytest.raises(UsageError, match=said):
        model_for(judge)


def test_a_judge_needs_instructions():
    with pytest.raises(UsageError, match=r"^s\.analyze: the judge has no instructions"):
        require_askable(Judge(ScriptedModel("ok")), whose="s.analyze")
