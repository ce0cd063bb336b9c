"""Cases J10, J12, J17 to J20, J23, J24 and U04: whole runs whose judge is asked over HTTP."""

import logging
from typing import Literal

import pytest
from pydantic import BaseModel

from proctor import Judge, Prompt, create_scorer, run_evals
from proctor.testing import ModelServer, ScriptedModel, ScriptedReply
from tests.cases.judging import by_answer, execution, only, over_http, saved, says, verdict_scorer


class Letter(BaseModel):
    grade: Literal["C", "I"]


class Claims(BaseModel):
    claims: list[str]


async def test_j10_a_reply_in_another_form_is_unscored_and_kept_and_counted():
    with ModelServer(by_answer({"three": "**Answer: C**", "*": {"grade": "C"}})) as server:
        graded = (
            create_scorer(id="graded", judge=over_http(server))
            .analyze(Prompt("Grades it", output=Letter, create=lambda ctx: ctx.run.text))
            .generate_score(lambda ctx: ctx.analyze.grade == "C")
        )
        result = await run_evals(data=saved("one", "two", "three", "four"), scorers=[graded])
    outcome = result.items[2].outcomes[0]
    assert (outcome.status, outcome.score) == ("error", None)
    assert execution(outcome).raw_output == "**Answer: C**"
    assert [row.outcomes[0].score for row in result.items if row.item_id != "item-3"] == [1.0] * 3
    assert (result.means[0].mean, result.means[0].n, result.means[0].of) == (1.0, 3, 4)
    assert "4 judged, of them 1 failed" in str(result)


@pytest.mark.parametrize(("said", "score", "share"), [(1, 1.0, 0.0), (3, 3.0, 0.5), (5, 5.0, 1.0)])
async def test_j12_a_scale_is_in_its_own_units_and_as_a_share_where_that_is_asked_for(said, score, share):
    judge = Judge(ScriptedModel([{"score": said}]), instructions="1 to 5.")
    stars = create_scorer(id="stars", judge=judge, range=(1, 5))
    ask = Prompt("Gives stars", create=lambda ctx: ctx.run.text)
    assert (await stars.generate_score(ask).run(output="x")).score == score
    given = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
    as_share = (
        create_scorer(id="share", judge=judge)
        .analyze(Prompt("Gives stars", output=given, create=ask.create))
        .generate_score(lambda ctx: (ctx.analyze["score"] - 1) / 4)
    )
    assert (await as_share.run(output="x")).score == share


@pytest.mark.parametrize("said", [0, 6, "3", True])
async def test_j12_what_is_not_on_the_scale_is_no_score(said):
    judge = Judge(ScriptedModel([{"score": said}]), instructions="1 to 5.")
    stars = create_scorer(id="stars", judge=judge, range=(1, 5)).generate_score(
        Prompt("Gives stars", create=lambda ctx: ctx.run.text)
    )
    outcome = only(await run_evals(data=saved("x"), scorers=[stars]))
    assert (outcome.status, outcome.score) == ("error", None)


async def test_j17_garbage_for_one_item_leaves_nine_scores_and_says_so():
    texts = [f"answer number {n}." for n in range(1, 11)]
    replies = {"number 4.": "Hmm {{", "number 7.": says("fail"), "*": says("pass")}
    with ModelServer(by_answer(replies)) as server:
        result = await run_evals(data=saved(*texts), scorers=[verdict_scorer(over_http(server))], concurrency=5)
    statuses = [row.outcomes[0].status for row in result.items]
    assert statuses == ["scored"] * 3 + ["error"] + ["scored"] * 6
    assert (result.means[0].mean, result.means[0].n, result.means[0].errors) == (8 / 9, 9, 1)
    assert "9 of 10" in str(result)
    assert len(server.requests) == 11


async def test_j18_a_way_that_is_rejected_costs_one_call_and_one_line(caplog):
    texts = [f"answer {n}" for n in range(10)]
    with ModelServer([says("pass")], rejects=["native"]) as server, caplog.at_level(logging.WARNING, "proctor"):
        polite = verdict_scorer(over_http(server))
        other = verdict_scorer(over_http(server), id="other", create=lambda ctx: f"Again: {ctx.run.text}")
        result = await run_evals(data=saved(*texts), scorers=[polite, other], concurrency=10)
    assert {outcome.score for row in result.items for outcome in row.outcomes} == {1.0}
    assert [request.mode for request in server.requests].count("native") == 1
    assert len(server.requests) == 21
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("proctor")]
    assert "it is sent as tool" in line


async def test_j18_words_are_left_when_both_are_rejected():
    with ModelServer([says("pass")], rejects=["native", "tool"]) as server:
        outcome = only(await run_evals(data=saved("Hi"), scorers=[verdict_scorer(over_http(server))]))
    assert outcome.score == 1.0
    assert [request.mode for request in server.requests] == ["native", "tool", "prompted"]
    assert "JSON schema" in server.requests[-1].prompt


@pytest.mark.parametrize("reply", [{}, {"statements": ["a"]}], ids=["nothing", "another key"])
async def test_j19_an_object_without_the_list_names_the_step_and_keeps_what_was_found(reply):
    with ModelServer([reply]) as server:
        scorer = verdict_scorer(over_http(server), output=Claims)
        outcome = only(await run_evals(data=saved("Good day."), scorers=[scorer]))
    assert (outcome.error.step, outcome.error.completed_steps) == ("analyze", ("preprocess",))
    assert "claims: is missing" in outcome.error.message
    assert outcome.evidence.preprocess_step_result == {"length": 9}


RUBRIC = "Was it polite? Answer only with the word PASS or FAIL."


async def test_j20_a_rubric_that_asks_for_a_word_is_put_right_by_the_second_request():
    def obeys(request):
        return says("pass") if "could not be used" in request.prompt else "PASS"

    with ModelServer(obeys) as server:
        scorer = verdict_scorer(over_http(server, instructions=RUBRIC))
        result = await run_evals(data=saved("a", "b", "c"), scorers=[scorer])
    assert [row.outcomes[0].score for row in result.items] == [1.0] * 3
    assert {execution(row.outcomes[0]).attempt_count for row in result.items} == {2}


async def test_j20_or_is_the_same_clear_error_for_every_item():
    with ModelServer("PASS") as server:
        scorer = verdict_scorer(over_http(server, instructions=RUBRIC))
        result = await run_evals(data=saved("a", "b", "c"), scorers=[scorer])
    errors = {(row.outcomes[0].error.code, row.outcomes[0].error.message) for row in result.items}
    ((code, message),) = errors
    assert code.startswith("STRUCTURED_OUTPUT_")
    assert "JSON" in message
    assert execution(result.items[0].outcomes[0]).raw_output == "PASS"


async def test_j23_a_temperature_that_was_not_set_is_not_sent():
    with ModelServer([says("pass")], rejects_parameters=["temperature"]) as server:
        outcome = only(await run_evals(data=saved("Hi"), scorers=[verdict_scorer(over_http(server))]))
    assert outcome.score == 1.0
    assert not {"temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"} & set(server.requests[0].body)


async def test_j23_one_that_was_set_and_is_rejected_is_named():
    with ModelServer([says("pass")], rejects_parameters=["temperature"]) as server:
        scorer = verdict_scorer(over_http(server, settings={"temperature": 0.3}))
        outcome = only(await run_evals(data=saved("Hi"), scorers=[scorer]))
    assert server.requests[0].body["temperature"] == 0.3
    assert len(server.requests) == 1
    assert (outcome.status, outcome.error.code) == ("error", "MODEL_REJECTED")
    assert "temperature" in outcome.error.message


async def test_j24_each_way_to_say_nothing_is_told_apart():
    replies = {
        "answer-1": "",
        "answer-2": " \n\t",
        "answer-3": ScriptedReply(refusal="I cannot help with that."),
        "answer-4": "I cannot help with that.",
        "answer-5": "<think>It may be kind.</think>",
    }
    with ModelServer(by_answer(replies)) as server:
        result = await run_evals(data=saved(*replies), scorers=[verdict_scorer(over_http(server, retries=0))])
    outcomes = [row.outcomes[0] for row in result.items]
    assert {(outcome.status, outcome.score) for outcome in outcomes} == {("error", None)}
    assert len({outcome.error.message for outcome in outcomes}) == 4  # of thoughts alone the client leaves nothing
    assert outcomes[2].error.code == "MODEL_REFUSED"
    assert "I cannot help with that." in outcomes[2].error.message


async def test_j24_no_words_beside_the_call_of_a_tool_that_was_asked_for_are_an_answer():
    with ModelServer([says("fail")], rejects=["native"]) as server:
        outcome = only(await run_evals(data=saved("Hi"), scorers=[verdict_scorer(over_http(server))]))
    assert outcome.score == 0.0


@pytest.mark.parametrize(("language", "named"), [("German", "in German"), ("de", "the code de")])
async def test_u04_reasons_are_asked_for_in_a_language_and_keys_stay(language, named):
    with ModelServer([says("pass", "Sie ist höflich.")]) as server:
        outcome = only(
            await run_evals(data=saved("Guten Tag."), scorers=[verdict_scorer(over_http(server, language=language))])
        )
    system = server.requests[0].body["messages"][0]
    assert system["role"] == "system"
    assert named in system["content"]
    schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]) == {"reason", "verdict"}
    assert outcome.reason == "Sie ist höflich."
