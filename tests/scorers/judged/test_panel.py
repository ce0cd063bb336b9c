import itertools

import pytest

from proctor import Item, Judge, Prompt, Threshold, checks, create_scorer, not_scorable, run_evals, scorer
from proctor.errors import ModelError, ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.multi_turn_judge import multi_turn_judge
from proctor.scorers.judged.panel import panel
from proctor.testing import ScriptedModel


def says(vote, *, name="j", **options):
    """A judge with a model of its own that scores so, declines (None), or fails."""
    model = ScriptedModel([vote if isinstance(vote, Exception) else {"score": vote}], name=name)

    def create(ctx):
        return not_scorable("no policy") if vote is None else f"Judge {ctx.fence(ctx.run.text, 'answer')}"

    judge = Judge(model, instructions="Judge.", retries=0)
    return (
        create_scorer(id=name, judge=judge, **options)
        .generate_score(Prompt("Judges", create=create))
        .generate_reason(lambda ctx: f"{name} has its reasons")
    )


def jury(*votes, **options):
    return panel([says(vote, name=f"j{at}") for at, vote in enumerate(votes, start=1)], **options)


BROKEN = ModelError("gone", kind="rejected")


@pytest.mark.parametrize(
    ("rule", "votes", "score"),
    [
        ("majority", (1, 1, 0), 1.0),
        ("majority", (0, 1, 0), 0.0),
        ("majority", (1, 1, None), 1.0),
        ("majority", (1, 1, BROKEN), 1.0),
        ("majority", (0.5, 0.5, 1), 0.5),
        ("unanimous", (1, 1, 1), 1.0),
        ("unanimous", (1, 1, 0), 0.0),
        ("unanimous", (1, 0, None), 0.0),
        ("unanimous", (0.5, 0.8, 1), 0.5),
        ("mean", (1, 0.5, 0), 0.5),
        ("mean", (1, 0.5, None), 0.75),
    ],
)
async def test_what_votes_come_to_whatever_their_order(rule, votes, score):
    for order in itertools.permutations(votes):
        outcome = await jury(*order, rule=rule).run(output="x")
        assert outcome.score == score


@pytest.mark.parametrize(
    ("rule", "votes", "why"),
    [
        ("majority", (1, 0), "there is no majority: 1 for 1, 1 for 0"),
        ("majority", (1, 0.5, 0), "there is no majority: 1 for 1, 1 for 0.5, 1 for 0"),
        ("majority", (1, None), "1 of 2 judges voted, which is not more than half: no policy"),
        ("mean", (1, 1, None, None), "2 of 4 judges voted, which is not more than half: no policy"),
        ("unanimous", (1, 1, None), "2 of 3 judges voted, which is not all: no policy"),
        ("majority", (None, None), "0 of 2 judges voted, which is not more than half: no policy"),
    ],
)
async def test_what_is_not_decided_is_not_scorable(rule, votes, why):
    for order in itertools.permutations(votes):
        outcome = await jury(*order, rule=rule).run(output="x")
        assert (outcome.status, outcome.reason) == ("not_scorable", why)


@pytest.mark.parametrize(
    ("rule", "votes"),
    [
        ("majority", (1, 0, BROKEN)),
        ("mean", (1, BROKEN)),
        ("unanimous", (1, BROKEN)),
        ("unanimous", (1, None, BROKEN)),  # the one that failed could have had the worst vote
    ],
)
async def test_a_judge_that_failed_and_could_have_decided_makes_it_an_error(rule, votes):
    for order in itertools.permutations(votes):
        with pytest.raises(ScorerRunError, match=r"1 judge failed: j\d: .*gone"):
            await jury(*order, rule=rule).run(output="x")


async def test_a_judge_that_failed_and_could_not_have_decided_leaves_it_not_scorable():
    assert (await jury(None, None, BROKEN).run(output="x")).status == "not_scorable"


async def test_every_vote_and_the_disagreement_are_kept_and_shown():
    outcome = await jury(1, 1, 0, None).run(output="x")
    found = outcome.evidence.analyze_step_result
    assert [(vote["judge"], vote["model"], vote["status"], vote["score"]) for vote in found["votes"]] == [
        ("j1", "test:j1", "scored", 1.0),
        ("j2", "test:j2", "scored", 1.0),
        ("j3", "test:j3", "scored", 0.0),
        ("j4", None, "not_scorable", None),
    ]
    assert (found["agreeing"], found["voted"], found["judges"], outcome.label) == (2, 3, 4, "2 of 3")
    assert found["agreement"] == pytest.approx(2 / 3)
    assert outcome.reason.splitlines() == [
        "2 of 3 votes for 1",
        "j1 (test:j1): 1: j1 has its reasons",
        "j2 (test:j2): 1: j2 has its reasons",
        "j3 (test:j3): 0: j3 has its reasons",
        "j4: no vote, no policy",
    ]
    assert sorted(outcome.judge) == ["1.generate_score", "2.generate_score", "3.generate_score"]


async def test_lower_is_better_turns_the_worst_around():
    lower = [says(vote, name=f"j{at}", better="lower") for at, vote in enumerate((0, 1))]
    jury = panel(lower, rule="unanimous")
    assert (jury.better, (await jury.run(output="x")).score) == ("lower", 1.0)


async def test_in_a_run_its_calls_are_counted_and_its_judges_checked_before():
    counted = await run_evals(
        data=[Item("?", output="x"), Item("?", output="y")], scorers=[(jury(1, 1, 0), Threshold(min=1))]
    )
    mean = counted.scores["panel-scorer"]
    assert (counted.verdict, mean.n, mean.judge.executions, mean.judge.calls) == ("passed", 2, 6, 6)
    assert mean.judge.usage.total_tokens == 6 * 15
    with pytest.raises(UsageError, match=r"j\.generate_score: no model"):
        await run_evals(
            data=[Item("?", output="x")],
            scorers=[panel([says(1), says(1).replace(judge=None)])],
        )


async def test_in_a_run_that_stopped_it_is_not_run():
    wrong_key = ModelError("no such key", kind="unauthorized")
    result = await run_evals(data=[Item("?", output="x")], scorers=[jury(1, wrong_key, 1)])
    assert result.status == "stopped"
    assert result.items[0].scorers["panel-scorer"].status in {"not_run", "error"}


async def test_judges_are_asked_at_the_same_time():
    import asyncio

    met = asyncio.Barrier(3)

    async def meets(call):
        async with asyncio.timeout(5):
            await met.wait()
        return {"score": 1}

    judges = [
        create_scorer(id=f"j{at}", judge=Judge(ScriptedModel(meets), instructions="x")).generate_score(
            Prompt("Judges", create=lambda ctx: "Judge.")
        )
        for at in range(3)
    ]
    assert (await panel(judges).run(output="x")).score == 1.0


def test_scorers_that_need_no_judge_may_vote_too():
    @scorer
    def short(run):
        return len(run.text) < 9

    assert panel([checks.includes("a"), short]).run_sync(output="abc").score == 1.0


@pytest.mark.parametrize(
    ("judges", "options", "why"),
    [
        ([], {}, "2 judges or more, not 0"),
        ([says(1)], {}, "2 judges or more, not 1"),
        (says(1), {}, "takes a list of scorers"),
        (["faithfulness", "bias"], {}, "judges are scorers"),
        ([says(1), says(1, scale=5)], {}, "votes must be comparable"),
        ([says(1), says(1, better="lower")], {}, "votes must be comparable"),
    ],
)
def test_judges_that_cannot_vote_together_are_refused(judges, options, why):
    with pytest.raises(UsageError, match=why):
        panel(judges, **options)


def test_an_unknown_rule_is_refused_with_what_may_be_meant():
    with pytest.raises(UnknownName, match="Did you mean 'majority'"):
        panel([says(1), says(0)], rule="majorty")


def test_key_and_fingerprint_tell_panels_apart():
    two = panel([checks.includes("a"), checks.includes("b")])
    assert two.key == 'panel-scorer["check-includes[a]","check-includes[b]"]'
    assert panel([checks.includes("a"), checks.includes("b")], rule="mean").key != two.key
    assert two.fingerprint != panel([checks.includes("a"), checks.includes("c")]).fingerprint != "unknown"


@pytest.mark.parametrize("votes", [(1, 0), (1, None), (1, 0, BROKEN)], ids=["tie", "half declined", "outage"])
async def test_the_votes_are_kept_when_nothing_is_decided(votes):
    result = await run_evals(data=[Item("?", output="x")], scorers=[jury(*votes)])
    (outcome,) = result.items[0].scorers
    assert outcome.status in {"not_scorable", "error"}
    found = outcome.evidence.analyze_step_result
    assert [vote["score"] for vote in found["votes"]] == [vote if isinstance(vote, int) else None for vote in votes]
    assert (found["score"], found["agreement"]) == (None, None)


async def test_a_judge_that_sits_on_it_three_times_is_asked_three_times():
    model = ScriptedModel([{"score": 1}, {"score": 0}, {"score": 0}])
    judge = create_scorer(id="j", judge=Judge(model, instructions="x")).generate_score(
        Prompt("Judges", create=lambda ctx: "Judge.")
    )
    result = await run_evals(data=[Item("?", output="x")], scorers=[panel([judge, judge, judge])])
    (outcome,) = result.items[0].scorers
    assert (outcome.score, outcome.label, len(model.calls)) == (0.0, "2 of 3", 3)
    assert not any(record.executions[0].cached for record in outcome.judge.values())


async def test_judges_that_are_built_alike_are_asked_once_each_too():
    model = ScriptedModel([{"reasoning": "r", "satisfied": True}])
    alike = panel([multi_turn_judge("kind", model=Judge(model)) for _ in range(3)])
    await run_evals(data=[Item("?", output="x")], scorers=[alike])
    assert len(model.calls) == 3


async def test_votes_that_differ_by_less_than_scores_can_are_for_the_same():
    assert (await jury(0.1 + 0.2, 0.3, 0.9).run(output="x")).label == "2 of 3"


async def test_a_mean_is_no_agreement():
    outcome = await jury(0.1, 0.3, 0.9, rule="mean").run(output="x")
    assert outcome.evidence.analyze_step_result["agreement"] is None
    assert outcome.label is None
