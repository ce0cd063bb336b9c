"""Prompts that are longer than what a model reads."""

import pytest

from proctor.errors import ModelError
from proctor.judging.fence import Fence
from proctor.judging.shorten import CUT_NOTE
from proctor.judging.window import TooLong
from proctor.testing import ScriptedModel
from tests.judging.asked import PASS, calls, failed, memory, put

LONG = "The customer asked again, and again. " * 2000


def reads(characters, **options):
    """A model that takes so many characters, and says so when it is sent more."""

    def reply(call):
        if sum(len(message.text) for message in call.messages) > characters:
            return ModelError("maximum context length is smaller", kind="context")
        return '{"verdict": "pass"}'

    return ScriptedModel(reply, **options)


async def test_what_surely_does_not_fit_is_not_sent():
    model = ScriptedModel([PASS], window=1000)
    error, execution = await failed(model, LONG)
    assert isinstance(error, TooLong)
    assert "judge context exceeded" in str(error)
    assert "test:scripted can read and write 1,000" in str(error)
    assert model.calls == []
    assert execution.attempt_count == 0


async def test_a_window_of_the_judge_counts_for_a_model_that_does_not_say():
    model = ScriptedModel([PASS])
    error, _ = await failed(model, LONG, window=1000)
    assert isinstance(error, TooLong)
    assert model.calls == []


async def test_what_the_model_finds_too_long_is_declined_with_its_words():
    error, execution = await failed(reads(1000), LONG)
    assert isinstance(error, TooLong)
    assert "maximum context length is smaller" in str(error)
    assert (execution.attempt_count, execution.model_call_count) == (1, 0)


async def test_c02_a_prompt_is_shortened_when_that_was_asked_for_and_the_judge_is_told():
    model, fence = reads(20_000), Fence()
    prompt = f"Is it kind?\n{fence(LONG, 'answer')}\nAnswer."
    value, execution = await put(model, prompt, fence=fence, on_overflow="shorten")
    assert value == PASS
    assert execution.truncated
    assert execution.prompt == prompt
    system, user = (message.text for message in model.calls[-1].messages)
    assert system.endswith(CUT_NOTE)
    assert user.startswith("Is it kind?\n<<< BEGIN answer")
    assert user.endswith(f"END answer {fence.boundary} >>>\nAnswer.")
    assert "left out by the evaluation" in user


async def test_with_a_known_window_it_is_shortened_at_once():
    fence = Fence()
    model = reads(9000)
    value, execution = await put(model, fence(LONG, "answer"), fence=fence, window=4000, on_overflow="shorten")
    assert (value, execution.truncated) == (PASS, True)
    assert len(model.calls) == 1


async def test_a_prompt_that_fits_is_left_alone():
    model, fence = reads(10**9), Fence()
    _, execution = await put(model, fence(LONG, "answer"), fence=fence, on_overflow="shorten")
    assert not execution.truncated


async def test_what_is_not_fenced_is_never_cut():
    error, _ = await failed(reads(1000), LONG, on_overflow="shorten")
    assert isinstance(error, TooLong)
    assert "what is fenced cannot be cut enough" in str(error)


async def test_an_answer_on_a_shortened_prompt_is_marked_in_the_cache_too():
    model, through = reads(20_000), calls(memory())
    records = []
    for _ in range(2):
        fence = Fence()
        prompt = fence(LONG, "answer")
        records.append((await put(model, prompt, fence=fence, through=through, on_overflow="shorten"))[1])
    assert [(record.cached, record.truncated) for record in records] == [(False, True), (True, True)]


@pytest.mark.parametrize("policy", ["decline", None])
async def test_nothing_is_cut_without_being_asked_for(policy):
    fence = Fence()
    error, _ = await failed(reads(1000), fence(LONG, "answer"), fence=fence, on_overflow=policy)
    assert isinstance(error, TooLong)
