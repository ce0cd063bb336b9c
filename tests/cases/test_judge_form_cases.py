"""Cases J07 to J09, J14 and J15 with judges of one's own: letters in words, verdicts for a list, and a total.

A grade in words is not read, since what it means is a guess: it is asked for once more, and then it is an error.
"""

from typing import Literal

import pytest
from pydantic import BaseModel, Field, model_validator

from proctor import Judge, Prompt, create_scorer, run_evals
from proctor.testing import ModelServer, ScriptedModel
from tests.cases.judging import execution, only, over_http, saved


class Letter(BaseModel):
    grade: Literal["C", "I"]


def graded(judge):
    return (
        create_scorer(id="graded", judge=judge)
        .analyze(Prompt("Grades it", output=Letter, create=lambda ctx: ctx.fence(ctx.run.text, "answer")))
        .generate_score(lambda ctx: ctx.analyze.grade == "C")
    )


WORDS = {
    "j07": "GRADE: C. No reason to downgrade: insufficient grounds.",
    "j08 a space of no width": "GRADE:\u200b C",
    "j08 in small letters": "grade: c",
    "j09": "GRADE: CI",
}


@pytest.mark.parametrize("said", WORDS.values(), ids=WORDS)
async def test_j07_j08_j09_a_grade_in_words_is_asked_for_once_more(said):
    with ModelServer([said, {"grade": "C"}]) as server:
        outcome = only(await run_evals(data=saved("Paris"), scorers=[graded(over_http(server))]))
    assert outcome.score == 1.0
    assert execution(outcome).attempt_count == 2
    assert "no JSON in the reply" in server.requests[1].prompt


@pytest.mark.parametrize("said", [*WORDS.values(), {"grade": "CI"}], ids=[*WORDS, "j09 as JSON"])
async def test_j07_j08_j09_and_is_unscored_when_it_stays_so(said):
    with ModelServer([said]) as server:
        outcome = only(await run_evals(data=saved("Paris"), scorers=[graded(over_http(server))]))
    assert (outcome.status, outcome.score) == ("error", None)
    assert execution(outcome).raw_output
    assert len(server.requests) == 2


class Verdict(BaseModel):
    id: int
    holds: bool


class Verdicts(BaseModel):
    """One verdict for each of five claims."""

    verdicts: list[Verdict]

    @model_validator(mode="after")
    def each_once(self):
        found = [verdict.id for verdict in self.verdicts]
        if missing := [number for number in range(1, 6) if found.count(number) != 1]:
            raise ValueError(f"each of 1 to 5 must stand there once; look at {missing}")
        return self


def verdicts(*ids):
    return {"verdicts": [{"id": number, "holds": number != 3} for number in ids]}


def claims(model):
    def share(ctx):
        by_id = {verdict.id: verdict.holds for verdict in ctx.analyze.verdicts}
        return sum(by_id[number] for number in range(1, 6)) / 5

    judge = Judge(model, instructions="Which of the five claims hold?")
    ask = Prompt("Judges each claim", output=Verdicts, create=lambda ctx: ctx.fence(ctx.run.text, "claims"))
    return create_scorer(id="claims", judge=judge).analyze(ask).generate_score(share)


SHORT = {"one is missing": (5, 4, 2, 1), "one stands there twice": (1, 2, 3, 3, 4, 5)}


@pytest.mark.parametrize("ids", SHORT.values(), ids=SHORT)
async def test_j14_what_is_missing_is_named_in_the_second_request(ids):
    model = ScriptedModel([verdicts(*ids), verdicts(3, 5, 1, 2, 4)])
    outcome = only(await run_evals(data=saved("1 a 2 b 3 c 4 d 5 e"), scorers=[claims(model)]))
    assert outcome.score == 0.8  # by the ids: the order is another one
    assert "look at [3]" in model.calls[1].messages[-1].text


@pytest.mark.parametrize("ids", SHORT.values(), ids=SHORT)
async def test_j14_and_only_that_item_is_unscored_when_it_stays_so(ids):
    model = ScriptedModel(
        {"lacking": verdicts(*ids), "could not be used": verdicts(*ids), "*": verdicts(1, 2, 3, 4, 5)}
    )
    result = await run_evals(data=saved("whole", "lacking"), scorers=[claims(model)])
    assert [row.outcomes[0].status for row in result.items] == ["scored", "error"]
    assert (result.means[0].mean, result.means[0].n, result.means[0].of) == (0.8, 1, 2)
    assert len(model.calls) == 3


class Rubric(BaseModel):
    clear: float = Field(ge=0, le=1)
    kind: float = Field(ge=0, le=1)
    total: float


async def test_j15_a_total_is_added_up_and_not_taken_from_the_judge():
    judge = Judge(ScriptedModel([{"clear": 0.5, "kind": 1.0, "total": 3.85}]), instructions="Grade it.")
    scorer = (
        create_scorer(id="rubric", judge=judge)
        .analyze(Prompt("Grades it", output=Rubric, create=lambda ctx: ctx.run.text))
        .generate_score(lambda ctx: (ctx.analyze.clear + ctx.analyze.kind) / 2)
    )
    outcome = only(await run_evals(data=saved("Good day."), scorers=[scorer]))
    assert outcome.score == 0.75
    trusting = scorer.replace(generate_score=lambda ctx: ctx.analyze.total)
    outcome = only(await run_evals(data=saved("Good day."), scorers=[trusting]))
    assert (outcome.status, outcome.score) == ("error", None)
