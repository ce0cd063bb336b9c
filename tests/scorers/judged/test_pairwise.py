from threading import get_ident

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UsageError
from proctor.scorers.judged.pairwise import PairwiseCounts, formula, pairwise, pairwise_counts
from proctor.scoring.steps import not_scorable
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

RUN = {"input": "When?", "output": "At nine.", "ground_truth": "In the morning."}


def kinder(**options):
    return pairwise("Which answer is\nkinder?", **options)


def said(*winners):
    """What the judge says with the answer first, and then second."""
    return [{"reason": f"r{at}", "winner": winner} for at, winner in enumerate(winners, start=1)]


def both(first, second):
    return {"answer_first": {"winner": first}, "answer_second": {"winner": second}}


@pytest.mark.parametrize(
    ("first", "second", "strict", "lenient"),
    [
        ("first", "second", 1.0, 1.0),
        ("second", "first", 0.0, 0.0),
        ("tie", "tie", 0.5, 0.5),
        (" FIRST", "Second ", 1.0, 1.0),
        ("first", "first", None, None),
        ("second", "second", None, None),
        ("tie", "second", None, 1.0),
        ("first", "tie", None, 1.0),
        ("tie", "first", None, 0.0),
        ("second", "tie", None, 0.0),
        ("first", "neither", None, None),
        ("tie", "neither", None, None),
    ],
)
def test_the_formula_counts_what_both_orders_say(first, second, strict, lenient):
    for half, score in (("inconsistent", strict), ("win", lenient)):
        found = formula(both(first, second), {"scale": 2, "half": half})
        if score is None:
            assert found.reason.startswith("inconsistent: ")
        else:
            assert found == 2 * score


async def test_each_order_is_asked_once_with_the_answers_changed_over():
    outcome, model = await outcome_of(kinder, said("first", "second"), **RUN)
    one, other = model.calls
    assert list(fenced(one).items()) == [("question", "When?"), ("first", "At nine."), ("second", "In the morning.")]
    assert list(fenced(other).items()) == [("question", "When?"), ("first", "In the morning."), ("second", "At nine.")]
    for call in model.calls:
        assert call.messages[1].text.index("\n\nWhich answer is\nkinder?\n\n") < call.messages[1].text.index(
            "<<< BEGIN"
        )
        assert "baseline" not in call.messages[1].text
    assert outcome.score == 1.0
    assert outcome.reason == "the answer is better. Answer shown first: r1 Answer shown second: r2"


@pytest.mark.parametrize(
    ("winners", "begins"),
    [(("tie", "tie"), "neither is better. "), (("second", "first"), "the baseline is better. ")],
)
async def test_the_reason_says_which_is_better(winners, begins):
    outcome, _ = await outcome_of(kinder, said(*winners), **RUN)
    assert outcome.reason.startswith(begins)


@pytest.mark.parametrize(
    ("winners", "why"),
    [
        (("first", "first"), "inconsistent: the judge picked the one that was shown first in both orders"),
        (("second", "second"), "inconsistent: the judge picked the one that was shown second in both orders"),
        (
            ("tie", "first"),
            "inconsistent: a tie with the answer shown first, the baseline with the answer shown second",
        ),
    ],
)
async def test_what_changes_with_the_order_is_no_score(winners, why):
    outcome, model = await outcome_of(kinder, said(*winners), **RUN)
    assert (outcome.status, outcome.score, outcome.reason, len(model.calls)) == ("not_scorable", None, why, 2)
    assert outcome.evidence.analyze_step_result == {"reason": "r2", "winner": winners[1]}


async def test_a_half_may_count_as_a_win():
    outcome, _ = await outcome_of(kinder, said("tie", "second"), options={"half": "win"}, **RUN)
    assert outcome.score == 1.0
    assert outcome.reason.startswith("the answer is better. ")


async def test_without_ties_the_judge_must_choose():
    outcome, model = await outcome_of(kinder, said("first", "second"), options={"ties": False}, **RUN)
    assert outcome.score == 1.0
    assert "There is no tie" in model.calls[0].messages[1].text
    with pytest.raises(ScorerRunError) as caught:
        await outcome_of(kinder, said("tie"), options={"ties": False}, **RUN)
    assert caught.value.failed_step == "preprocess"


async def test_the_baseline_is_the_scorer_s_own_else_the_ground_truth():
    seen = []
    for baseline in ("own", lambda run: {"of": run.text}, None):
        options = {"baseline": baseline}
        _, model = await outcome_of(kinder, said("first", "second"), options=options, **RUN)
        seen.append([fenced(model.calls[0])["second"], fenced(model.calls[1])["first"]])
    assert seen == [["own"] * 2, ['{"of": "At nine."}'] * 2, ["In the morning."] * 2]


async def test_a_function_for_the_baseline_is_called_once_for_a_run_and_away_from_the_loop():
    threads = []

    def baseline(run):
        threads.append(get_ident())
        return "b"

    _, model = await outcome_of(kinder, said("first", "second"), options={"baseline": baseline}, **RUN)
    assert (len(threads), len(model.calls)) == (1, 2)
    assert threads != [get_ident()]


async def test_a_question_that_was_not_recorded_is_no_reason_to_decline():
    outcome, model = await outcome_of(kinder, said("first", "second"), output="a", ground_truth="b")
    assert (outcome.score, list(fenced(model.calls[0]))) == (1.0, ["first", "second"])
    assert "It was not recorded." in model.calls[0].messages[1].text


@pytest.mark.parametrize(
    ("given", "baseline", "why"),
    [
        ({"output": "", "ground_truth": "b"}, None, "there is no answer"),
        ({"output": "a"}, None, "there is no baseline"),
        ({"output": "a", "ground_truth": None}, None, "there is no baseline"),
        ({"output": "a", "ground_truth": "b"}, lambda run: " ", "there is no baseline"),
        ({"output": "a", "ground_truth": "b"}, lambda run: not_scorable("none yet"), "none yet"),
        ({"output": "a", "ground_truth": " a\n"}, None, "the answer and the baseline are the same text"),
    ],
)
async def test_it_declines_before_the_call(given, baseline, why):
    outcome, model = await outcome_of(kinder, said("first"), options={"baseline": baseline}, **given)
    assert (outcome.status, outcome.score, len(model.calls)) == ("not_scorable", None, 0)
    assert outcome.reason.startswith(why)


async def _later(run):
    return "b"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": " "}, "criterion is a text"),
        ({"criterion": 5}, "criterion is a text"),
        ({"baseline": ""}, "baseline is a text that is not empty, or a def"),
        ({"baseline": 5}, "baseline is a text that is not empty, or a def"),
        ({"baseline": lambda: "b"}, "baseline is a text that is not empty, or a def"),
        ({"baseline": _later}, "baseline is a text that is not empty, or a def"),
        ({"ties": "no"}, "ties must be True or False"),
        ({"half": "tie"}, "half is 'inconsistent' or 'win'"),
        ({"scale": 0}, "scale is a number above 0"),
        ({"prompts": {"analyze": "{first} {second}"}}, r"has no \{criterion\}"),
        ({"prompts": {"preprocess": "{criterion} {first} {secnd}"}}, "Did you mean 'second'"),
        ({"prompts": {"generate_reason": "x"}}, "generate_reason"),
    ],
)
def test_options_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=message):
        pairwise(options.pop("criterion", "kind?"), **options)


async def test_scale_language_and_prompts_are_the_user_s():
    options = {"scale": 10, "language": "Polish", "prompts": {"preprocess": "{criterion} {second} {first}"}}
    outcome, model = await outcome_of(kinder, said("tie", "tie"), options=options, **RUN)
    assert outcome.score == 5.0
    assert list(fenced(model.calls[0])) == ["second", "first"]
    assert list(fenced(model.calls[1])) == ["question", "first", "second"]
    assert all("Polish" in call.messages[0].text for call in model.calls)
    assert kinder(scale=10).range == (0.0, 10.0)


def test_the_criterion_stands_bare_in_the_key():
    assert pairwise("kinder", half="win").key == "pairwise-scorer[kinder,half=win]"
    assert pairwise("kinder", model="test:m").fingerprint != pairwise("ruder", model="test:m").fingerprint


async def test_an_error_in_one_order_is_no_verdict():
    model = ScriptedModel([*said("first"), "nothing of use"])
    result = await run_evals(data=[Item("When?", output="a", ground_truth="b")], scorers=[kinder(model=model)])
    (outcome,) = result.items[0].outcomes
    assert (outcome.status, outcome.score) == ("error", None)
    assert pairwise_counts([outcome]) == PairwiseCounts(other=1)


async def test_a_judge_that_always_picks_the_first_finds_no_winner():
    model = ScriptedModel(said("first"))
    result = await run_evals(
        data=[Item(id=str(at), output=f"a{at}", ground_truth="b") for at in range(4)],
        scorers=[kinder(model=model).named("kinder")],
    )
    counts = pairwise_counts(outcome for item in result.items for outcome in item.outcomes)
    assert counts == PairwiseCounts(inconsistent=4, first_picked=8, picks=8)
    assert (counts.position_bias, counts.consistency) == (1.0, 0.0)
    mean = result.scores["kinder"]
    assert (mean.mean, mean.n, mean.not_scorable) == (None, 0, 4)


async def test_outcomes_of_a_run_are_counted_by_how_they_ended():
    verdicts = {
        "win": ("first", "second"),
        "loss": ("second", "first"),
        "tie": ("tie", "tie"),
        "flip": ("second", "second"),
        "half": ("tie", "second"),
    }

    def judge(call):
        shown = fenced(call)
        name = shown["first"] if shown["second"] == "other" else shown["second"]
        return {"reason": "r", "winner": verdicts[name][shown["first"] == "other"]}

    data = [Item(id=name, output=name, ground_truth="other") for name in (*verdicts, "other")]
    seen = {}
    for half in ("inconsistent", "win"):
        result = await run_evals(data=data, scorers=[kinder(model=ScriptedModel(judge), half=half).named("kinder")])
        seen[half] = pairwise_counts(outcome for item in result.items for outcome in item.outcomes)
    common = {"losses": 1, "ties": 1, "other": 1, "first_picked": 2, "picks": 7}
    assert seen["inconsistent"] == PairwiseCounts(wins=1, inconsistent=2, **common)
    assert seen["win"] == PairwiseCounts(wins=2, inconsistent=1, halves=1, **common)
    assert seen["inconsistent"].consistency == seen["win"].consistency == 3 / 5
    assert seen["win"].position_bias == 2 / 7


def test_counts_say_what_they_are_out_of():
    counts = PairwiseCounts(wins=3, losses=1, ties=1, inconsistent=1, other=2, first_picked=6, picks=10)
    assert str(counts) == (
        "3 won, 1 lost, 1 tied, 1 inconsistent of 6 compared, 2 not compared; the same verdict in both orders: "
        "5 of 6 (83%); the first one picked: 6 of 10 (60%)"
    )


def test_without_a_comparison_there_are_no_shares():
    counts = pairwise_counts([])
    assert (counts, counts.consistency, counts.position_bias) == (PairwiseCounts(), None, None)
    assert str(counts).endswith("in both orders: 0 of 0; the first one picked: 0 of 0")


def test_without_ties_a_score_is_one_of_two():
    assert (pairwise("kind?", ties=False).kind, pairwise("kind?").kind) == ("binary", "graded")


def test_white_space_around_a_criterion_makes_no_other_scorer():
    assert pairwise(" kind?\n").key == pairwise("kind?").key == "pairwise-scorer[kind?]"


async def test_a_truth_that_is_no_text_is_a_baseline():
    _, model = await outcome_of(kinder, said("tie", "tie"), output="x", ground_truth=42)
    assert fenced(model.calls[0]) == {"first": "x", "second": "42"}
