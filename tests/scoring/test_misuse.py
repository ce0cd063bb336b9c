"""Errors of Python's in a step, in words of what the step has."""

from dataclasses import dataclass

import pytest

from proctor import create_scorer, scorer
from proctor.errors import ScorerRunError


@dataclass
class Finding:
    verdict: str = "pass"


def said(step, *, analyze=None, **given):
    made = create_scorer(id="s")
    made = made if analyze is None else made.analyze(lambda ctx: analyze)
    with pytest.raises(ScorerRunError) as raised:
        made.generate_score(step).run_sync(output="x", **given)
    return str(raised.value)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        pytest.param(
            lambda ctx: ctx.output, "ctx has no 'output'. Did you mean ctx.run.output? It has run, pre", id="run"
        ),
        pytest.param(lambda ctx: ctx.text, "Did you mean ctx.run.text?", id="text"),
        pytest.param(lambda ctx: ctx.answer, "Did you mean ctx.run.text?", id="answer"),
        pytest.param(lambda ctx: ctx.policy, "Did you mean ctx.run.extra['policy']?", id="extra"),
        pytest.param(lambda ctx: ctx.analyse, "Did you mean 'analyze'?", id="analyse"),
        pytest.param(lambda ctx: ctx["run"], "ctx is no mapping: write ctx.run", id="subscript"),
        pytest.param(lambda ctx: ctx.run["output"], "the run is no mapping", id="subscript of the run"),
        pytest.param(lambda ctx: ctx.run.metadata, "the run has no 'metadata'. Did you mean run.extra?", id="metadata"),
        pytest.param(lambda ctx: ctx.run.tool_call, "Did you mean 'tool_calls'?", id="tool_call"),
        pytest.param(lambda ctx: ctx.run.policy, "Did you mean run.extra['policy']?", id="extra of the run"),
        pytest.param(lambda ctx: ctx.preprocess["x"], "the scorer has no preprocess step before", id="no step"),
        pytest.param(lambda ctx: ctx.analyze.x, "the scorer has no analyze step before this one", id="no analyze"),
        pytest.param(lambda ctx: ctx.run.ground_truth["x"], "and the item has no ground_truth", id="no ground truth"),
    ],
)
def test_what_is_not_in_the_context_is_said_with_what_is(step, says):
    assert says in said(step, policy="30 days")


@pytest.mark.parametrize(
    ("analyze", "step", "says"),
    [
        (Finding(), lambda ctx: ctx.analyze["verdict"], "ctx.analyze is a Finding: write ctx.analyze.verdict, not"),
        ({"verdict": 1}, lambda ctx: ctx.analyze.verdict, "ctx.analyze is a dict: write ctx.analyze['verdict']"),
    ],
    ids=["an object", "a dict"],
)
def test_an_answer_is_read_as_what_it_is(analyze, step, says):
    assert says in said(step, analyze=analyze)


def test_other_errors_are_told_as_they_are():
    assert (
        said(lambda ctx: ctx.run.text.nothing) == "s failed in generate_score: 'str' object has no attribute 'nothing'"
    )
    number = 3
    assert said(lambda ctx: number["x"]) == "s failed in generate_score: 'int' object is not subscriptable"


def test_a_function_of_the_run_is_told_too():
    with pytest.raises(ScorerRunError, match=r"the run has no 'answer'\. Did you mean run\.text"):
        scorer(id="s")(lambda run: run.answer).run_sync(output="x")
