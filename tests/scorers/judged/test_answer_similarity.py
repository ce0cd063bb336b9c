from datetime import date

import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.answer_similarity import answer_similarity, formula
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

UNITS = {"output_units": ["It is sunny", "Bring a hat"], "ground_truth_units": ["The sun shines", "It is 20 degrees"]}
GIVEN = {"output": "Sunny. Bring a hat.", "ground_truth": "Sunshine, 20 degrees."}
REFERENCE = {"exact_match_bonus": 0.2, "semantic_weight": 0.8}


def against(output_unit=2, ground_truth_unit=2):
    return {"explanation": "not so", "output_unit": output_unit, "ground_truth_unit": ground_truth_unit}


def found(*kinds, contradictions=(), extras=()):
    """What the judge found; each unit of the truth is matched by the answer's first."""
    matches = [
        {"id": at, "explanation": f"e{at}", "output_unit": 0 if kind == "missing" else 1, "match_type": kind}
        for at, kind in enumerate(kinds, start=1)
    ]
    return {"matches": matches, "contradictions": list(contradictions), "extra_in_output": list(extras)}


# ── the arithmetic ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("analysis", "options", "score"),
    [
        (found("exact"), {}, 1.0),
        (found("semantic"), {}, 1.0),
        (found("partial"), {}, 0.4),
        (found("missing"), {}, 0.0),
        (found("exact", "missing"), {}, 0.43),
        (found("exact", "exact", contradictions=[against()]), {}, 0.0),
        (found("exact", extras=[2]), {}, 0.95),
        (found("exact", extras=range(10)), {}, 0.8),
        (found("exact", extras=[2, 3, 4]), {"extra_info_penalty": 0.1}, 0.8),
        (found("semantic", "semantic"), REFERENCE, 0.67),
        (found("exact", "missing", extras=[2]), REFERENCE, 0.39),
        (found("exact", "semantic", "partial", "missing"), REFERENCE, 0.47),
        (found("semantic"), {**REFERENCE, "semantic_weight": 1}, 0.83),
        (found("missing", "exact"), {**REFERENCE, "missing_penalty": 1}, 0.08),
        (found("exact", contradictions=[against()]), {"contradiction_penalty": 0.3}, 0.7),
        (found("partial"), {"partial_weight": 0.5, "scale": 10}, 5.0),
        (found(" EXACT ", "Missing"), {"scale": 100}, 42.5),
        (found("exact", "nearly"), {}, 0.5),
    ],
)
def test_the_formula_is_worth_over_what_exact_matches_would_be_less_penalties(analysis, options, score):
    assert formula(analysis, options) == score


def test_the_formula_gives_no_number_without_matches():
    assert formula(found(), {}).reason == "the ground truth says nothing that an answer could be compared with"


# ── the scorer ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_judge_sees_both_texts_then_both_lists_then_what_was_found():
    _, model = await outcome_of(
        answer_similarity,
        [UNITS, found("semantic", "missing", contradictions=[against()]), "why"],
        input="Weather?",
        output=[{"role": "assistant", "content": "Let me see."}, {"role": "assistant", "content": "Sunny."}],
        ground_truth={"sun": True, "degrees": 20},
    )
    split, compare, explain = model.calls
    assert list(fenced(split).items()) == [("answer", "Sunny."), ("ground_truth", '{"degrees":20,"sun":true}')]
    assert list(fenced(compare).items()) == [
        ("answer_units", '{"id": 1, "text": "It is sunny"}\n{"id": 2, "text": "Bring a hat"}'),
        ("ground_truth_units", '{"id": 1, "text": "The sun shines"}\n{"id": 2, "text": "It is 20 degrees"}'),
    ]
    first = (
        '{"id": 1, "text": "The sun shines", "explanation": "e1", "output_unit": "It is sunny", '
        '"match_type": "semantic"}'
    )
    second = '{"id": 2, "text": "It is 20 degrees", "explanation": "e2", "output_unit": null, "match_type": "missing"}'
    assert list(fenced(explain).items()) == [
        ("answer", "Sunny."),
        ("ground_truth", '{"degrees":20,"sun":true}'),
        ("matches", f"{first}\n{second}"),
        (
            "contradictions",
            '{"explanation": "not so", "output_unit": "Bring a hat", "ground_truth_unit": "It is 20 degrees"}',
        ),
        ("extras", ""),
    ]
    assert "0 of 1" in explain.messages[1].text


async def test_extras_are_shown_and_paid_for():
    outcome, model = await outcome_of(
        answer_similarity, [UNITS, found("semantic", "exact", extras=[2]), "why"], **GIVEN
    )
    assert (outcome.score, outcome.reason) == (0.95, "why")
    assert fenced(model.calls[2])["extras"] == '{"id": 1, "text": "Bring a hat"}'


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (found("semantic", "exact", extras=[2, 2, 2]), 0.95),
        (found("semantic", "exact", extras=[1, 2]), 0.95),
        (found("exact", "exact", contradictions=[against(), against()], extras=[2]), 0.7),
        (found("exact", "exact", contradictions=[against(2, 1), against(2, 2)]), 0.4),
    ],
    ids=["an extra listed three times", "a match that is no extra", "a contradiction listed twice", "two of them"],
)
async def test_each_thing_counts_once(said, score):
    options = {"contradiction_penalty": 0.3}
    outcome, _ = await outcome_of(answer_similarity, [UNITS, said, "why"], options=options, **GIVEN)
    assert outcome.score == score


async def test_words_in_capitals_are_those_words():
    outcome, model = await outcome_of(answer_similarity, [UNITS, found("EXACT", "Missing"), "why"], **GIVEN)
    assert (outcome.score, len(model.calls)) == (0.43, 3)
    assert '"output_unit": null' in fenced(model.calls[2])["matches"]


async def test_an_answer_without_units_misses_everything():
    outcome, model = await outcome_of(
        answer_similarity,
        [{"output_units": [" "], "ground_truth_units": ["The sun shines"]}, found("missing"), "why"],
        output="Hm.",
        ground_truth="Sunshine.",
    )
    assert outcome.score == 0.0
    assert fenced(model.calls[1])["answer_units"] == ""


async def test_a_unit_without_match_is_asked_for_and_then_an_error():
    with pytest.raises(
        ScorerRunError, match=r"matches must have each of the 2 ids, 1 to 2, .*: 2 is missing"
    ) as caught:
        await outcome_of(answer_similarity, [UNITS, found("exact"), found("exact")], **GIVEN)
    assert (caught.value.failed_step, caught.value.result.preprocess_step_result) == ("analyze", UNITS)

    outcome, model = await outcome_of(
        answer_similarity, [UNITS, found("exact"), found("exact", "missing"), "why"], **GIVEN
    )
    assert outcome.score == 0.43
    assert "2 is missing" in model.calls[2].messages[-1].text


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (found("exact", "exact", "exact"), "3 is no id that was given"),
        ({**found("exact", "exact"), "matches": [*found("exact")["matches"]] * 2}, "1 is there more than once"),
        (found("exact", "same"), "must be one of"),
        (found("exact", "exact", extras=[3]), "extra_in_output: an id is 3, and the ids are 1 to 2"),
        (found("exact", "exact", contradictions=[against(0, 1)]), "contradictions: an output_unit is 0"),
        (found("exact", "exact", contradictions=[against(1, 7)]), "contradictions: a ground_truth_unit is 7"),
        (
            {**found(), "matches": [{**match, "output_unit": 0} for match in found("exact", "partial")["matches"]]},
            "the output_unit of 1, which is exact, is 0, and the ids are 1 to 2",
        ),
    ],
    ids=["one more", "one twice", "another word", "no such extra", "no such unit", "no such truth", "matched by none"],
)
async def test_lists_that_do_not_fit_are_errors(said, problem):
    with pytest.raises(ScorerRunError, match=problem):
        await outcome_of(answer_similarity, [UNITS, said, said], **GIVEN)


async def test_an_answer_without_units_can_match_nothing():
    units = {"output_units": [], "ground_truth_units": ["The sun shines"]}
    with pytest.raises(ScorerRunError, match="which is exact, is 1, and there are no such units"):
        await outcome_of(answer_similarity, [units, found("exact"), found("exact")], **GIVEN)


@pytest.mark.parametrize(
    ("given", "why", "calls"),
    [
        ({"output": "Sunny."}, "there is no ground truth to compare", 0),
        ({"output": "Sunny.", "ground_truth": None}, "there is no ground truth to compare", 0),
        ({"output": "Sunny.", "ground_truth": " \n"}, "the ground truth is empty", 0),
        ({"output": "Sunny.", "ground_truth": b""}, "the ground truth is empty", 0),
        ({"output": " ", "ground_truth": "Sunshine."}, "there is no answer", 0),
        ({"output": "Sunny.", "ground_truth": "Well."}, "the ground truth says nothing", 1),
    ],
)
async def test_it_declines_with_nothing_to_compare(given, why, calls):
    units = {"output_units": ["It is sunny"], "ground_truth_units": []}
    outcome, model = await outcome_of(answer_similarity, [units], **given)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason.startswith(why)
    assert len(model.calls) == calls


@pytest.mark.parametrize(
    ("truth", "shown"),
    [
        (0, "0"),
        (False, "false"),
        ([], "[]"),
        ({"b": [1, 2.5], "a": None}, '{"a":null,"b":[1,2.5]}'),
        ('{"b": 1, "a": 2}', '{"b": 1, "a": 2}'),
        (date(2024, 2, 29), "2024-02-29"),
        (b"Krak\xc3\xb3w", "Kraków"),
    ],
)
async def test_any_value_is_a_truth_shown_in_one_form(truth, shown):
    outcome, model = await outcome_of(
        answer_similarity,
        [{"output_units": ["u"], "ground_truth_units": ["t"]}, found("exact"), "why"],
        output="x",
        ground_truth=truth,
    )
    assert outcome.score == 1.0
    assert fenced(model.calls[0])["ground_truth"] == shown


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_options_are_merged_over_the_defaults():
    options = {"partial_weight": 0.5, "scale": 10}
    outcome, model = await outcome_of(
        answer_similarity, [UNITS, found("semantic", "partial"), "why"], options=options, **GIVEN
    )
    assert outcome.score == 7.5
    assert "7.5 of 10" in model.calls[2].messages[1].text
    scorer = answer_similarity(**options)
    assert (scorer.range, scorer.better) == ((0.0, 10.0), "higher")
    assert scorer.arguments == {"partial_weight": 0.5, "scale": 10.0}
    assert answer_similarity(semantic_weight=1, missing_penalty=0.15).arguments == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("exact_match_bonus", -0.2),
        ("semantic_weight", 1.5),
        ("semantic_weight", -1),
        ("partial_weight", "0.4"),
        ("missing_penalty", float("inf")),
        ("contradiction_penalty", True),
        ("extra_info_penalty", None),
        ("scale", 0),
    ],
)
def test_an_option_that_is_no_such_number_is_refused(name, value):
    with pytest.raises(UsageError, match=f"answer_similarity: {name} "):
        answer_similarity(**{name: value})


async def test_prompts_and_language_are_the_user_s_to_change():
    with pytest.raises(UnknownName, match="Did you mean 'generate_reason'"):
        answer_similarity(prompts={"generate_reasons": "Why?"})
    with pytest.raises(UsageError, match=r"has no \{ground_truth_units\}"):
        answer_similarity(prompts={"analyze": "Compare {output_units}"})

    options = {"prompts": {"generate_reason": "Why {score}? {matches}"}, "language": "de"}
    _, model = await outcome_of(answer_similarity, [UNITS, found("exact", "exact"), "Weil."], options=options, **GIVEN)
    assert model.calls[2].messages[1].text.startswith("Why 1? <<< BEGIN matches")
    assert all("the language with the code de" in call.messages[0].text for call in model.calls)


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel(
        {
            "BEGIN matches": "why",
            '"text": "It rains"': found("missing", "exact"),
            '"text": "It is sunny"': found("exact", "exact"),
            "Rain.": {"output_units": ["It rains"], "ground_truth_units": ["The sun shines", "It is 20 degrees"]},
            "Sunny.": {"output_units": ["It is sunny"], "ground_truth_units": ["The sun shines", "It is 20 degrees"]},
        }
    )
    result = await run_evals(
        data=[
            Item("Weather?", output="Sunny.", ground_truth="Sunshine"),
            Item("Weather?", output="Rain.", ground_truth="Sunshine"),
            Item("Weather?", output="Sunny."),
        ],
        scorers=[(answer_similarity(model=model), 0.7)],
    )
    mean = result.scores["answer-similarity-scorer"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("passed", 0.715, 2, 3, 1)
