"""The second request of a judged step, that quotes the reply to the first."""

from proctor import Judge, Prompt, create_scorer, run_evals
from proctor.errors import ModelError
from proctor.testing import ScriptedModel


def judged(model, **settings):
    judge = Judge(model, instructions="Judge it.", **settings)
    return create_scorer(id="judged", judge=judge).generate_score(Prompt("Scores", create=lambda ctx: ctx.run.text))


async def test_a_reply_too_long_to_be_quoted_back_is_told_as_what_it_was():
    model = ScriptedModel(["word " * 5000, ModelError("the request is too long", kind="context")])
    result = await run_evals(data=[{"input": "a", "output": "b"}], scorers=[judged(model)])
    (outcome,) = result.items[0].outcomes
    assert (outcome.status, outcome.error.code) == ("error", "STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED")
    assert outcome.judge["generate_score"].executions[0].attempt_count == 2


async def test_a_prompt_too_long_is_not_scorable():
    model = ScriptedModel(ModelError("the request is too long", kind="context"))
    result = await run_evals(data=[{"input": "a", "output": "b"}], scorers=[judged(model)])
    (outcome,) = result.items[0].outcomes
    assert outcome.status == "not_scorable"
    assert outcome.reason.startswith("judge context exceeded: the request is too long")
