"""What no schema can know of an answer: the check of a Prompt."""

import asyncio
import threading
import time

import pytest

from proctor import Item, Judge, Prompt, create_scorer, run_evals
from proctor.errors import ScorerRunError, UsageError
from proctor.judging.cache import CacheNotes, MemoryCache
from proctor.judging.run_calls import RunCalls
from proctor.scoring.run import ScorerRun
from proctor.testing import ScriptedModel, ScriptedReply

IDS = {"type": "object", "properties": {"ids": {"type": "array"}}, "required": ["ids"]}


def scorer_of(replies, check):
    model = ScriptedModel(replies)
    made = (
        create_scorer(id="s", judge=Judge(model, instructions="Judge."))
        .preprocess(lambda ctx: len(ctx.run.text))
        .analyze(Prompt("Lists", output=IDS, create=lambda ctx: f"List {ctx.run.text}", check=check))
        .generate_score(lambda ctx: 1)
    )
    return made, model


def as_many(ctx, answer):
    return None if len(answer["ids"]) == ctx.preprocess else f"give {ctx.preprocess} ids, not {len(answer['ids'])}"


async def test_the_model_is_told_what_is_wrong_and_asked_again():
    scorer, model = scorer_of([{"ids": [1]}, {"ids": [1, 2]}], as_many)
    outcome = await scorer.run(output="ab")
    assert outcome.evidence.analyze_step_result == {"ids": [1, 2]}
    assert "give 2 ids, not 1" in model.calls[1].messages[-1].text
    assert outcome.judge["analyze"].executions[0].attempt_count == 2


async def test_what_is_wrong_twice_is_an_error_and_keeps_the_reply():
    scorer, _ = scorer_of([{"ids": []}], as_many)
    with pytest.raises(ScorerRunError, match=r"give 2 ids, not 0 \(asked twice\)") as caught:
        await scorer.run(output="ab")
    execution = caught.value.result.judge["analyze"].executions[0]
    assert (execution.status, execution.raw_output) == ("failed", '{"ids": []}')


async def test_a_kept_answer_that_fails_the_check_is_asked_for_again():
    calls = RunCalls(MemoryCache(), CacheNotes())
    lenient, model = scorer_of([{"ids": []}, {"ids": [1, 2]}], None)
    run = ScorerRun(output="ab", calls=calls)
    await lenient.run(run)
    await lenient.run(run)
    assert len(model.calls) == 1
    strict = lenient.replace(
        analyze=Prompt("Lists", output=IDS, create=lambda ctx: f"List {ctx.run.text}", check=as_many)
    )
    assert (await strict.run(run)).evidence.analyze_step_result == {"ids": [1, 2]}


async def test_a_check_gives_none_or_a_sentence():
    scorer, _ = scorer_of([{"ids": []}], lambda ctx, answer: False)
    with pytest.raises(ScorerRunError, match=r"check= must give None or what is wrong, not False"):
        await scorer.run(output="ab")
    blank, _ = scorer_of([{"ids": []}], lambda ctx, answer: " ")
    with pytest.raises(ScorerRunError, match=r"check= must give None or what is wrong, not ' '"):
        await blank.run(output="ab")


async def late(ctx, answer):
    return None


@pytest.mark.parametrize("check", [lambda ctx: None, late, "x"], ids=["one argument", "async", "no function"])
def test_what_cannot_be_a_check_is_refused_when_it_is_written(check):
    with pytest.raises(UsageError, match="a def of two arguments"):
        Prompt("Lists", output=IDS, create=str, check=check)


@pytest.mark.parametrize("order", [1, -1])
async def test_scorers_that_check_differently_share_no_answer_in_flight_that_one_refuses(order):
    model = ScriptedModel([ScriptedReply(json={"ids": []}, delay=0.05)])

    def asks(id, check):
        prompt = Prompt("Lists", output=IDS, create=lambda ctx: "List them.", check=check)
        made = create_scorer(id=id, judge=Judge(model, instructions="Judge."))
        return made.analyze(prompt).generate_score(lambda ctx: 1)

    scorers = [asks("lenient", None), asks("strict", lambda ctx, answer: "none is too few")][::order]
    result = await run_evals(data=[Item("?", output="x")], scorers=scorers)
    ended = {key: result.items[0].scorers[key].status for key in ("lenient", "strict")}
    assert ended == {"lenient": "scored", "strict": "error"}


async def test_an_answer_that_another_item_waits_for_is_checked_for_that_item():
    model = ScriptedModel([ScriptedReply(json={"ids": ["a"]}, delay=0.05)])
    prompt = Prompt("Lists", output=IDS, create=lambda ctx: "List them.",
                    check=lambda ctx, answer: None if ctx.run.input in answer["ids"] else "another item")  # fmt: skip
    made = create_scorer(id="s", judge=Judge(model, instructions="Judge.")).analyze(prompt)
    result = await run_evals(
        data=[Item("a", output="x"), Item("b", output="x")],
        scorers=[made.generate_score(lambda ctx: 1)],
        concurrency=2,
    )
    assert [item.scorers[0].status for item in result.items] == ["scored", "error"]


async def test_a_check_of_the_user_s_holds_no_loop():
    seen = []

    def slow(ctx, answer):
        seen.append(threading.current_thread() is threading.main_thread())
        time.sleep(0.1)

    async def tick():
        for _ in range(20):
            began = time.monotonic()
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - began)

    gaps = []
    scorer, _ = scorer_of([{"ids": [1, 2]}], slow)
    await asyncio.gather(scorer.run(output="ab"), tick())
    assert seen == [False]
    assert max(gaps) < 0.09


def test_a_check_is_part_of_the_fingerprint():
    plain, checked = (scorer_of([{"ids": []}], check)[0].fingerprint for check in (None, as_many))
    other, _ = scorer_of([{"ids": []}], lambda ctx, answer: None)
    assert len({plain, checked, other.fingerprint}) == 3
