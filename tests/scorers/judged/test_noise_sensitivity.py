import pytest

from proctor import Item, run_evals
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.scorers.judged.noise_sensitivity import formula, noise_sensitivity
from proctor.testing import ScriptedModel
from tests.scorers.judged.asked import fenced, outcome_of

NAMES = ("accuracy", "completeness", "relevance", "consistency", "hallucination")
GIVEN = {"baseline_response": "At nine.", "noisy_query": "whn do u opn, banana"}
RUN = {"input": "When do you open?", "output": "At ten."}


def dimension(name, level="none"):
    return {"dimension": name, "specific_changes": f"c {name}", "noise_influence": "n", "impact_level": level}


def found(*levels, robustness=1.0, issues=(), names=NAMES):
    listed = [dimension(name, level) for name, level in zip(names, levels or ["none"] * len(names), strict=True)]
    return {"dimensions": listed, "major_issues": list(issues), "robustness_score": robustness}


def analysis(*levels, robustness, issues=()):
    levels = [{"impact_level": level} for level in levels]
    return {"dimensions": levels, "major_issues": list(issues), "robustness_score": robustness}


@pytest.mark.parametrize(
    ("said", "options", "score"),
    [
        pytest.param(analysis("moderate", robustness=0.7), {}, 0.7, id="near the mean, the judge's number counts"),
        pytest.param(analysis("moderate", robustness=0.9), {}, 0.6, id="far above the mean, the mean counts"),
        pytest.param(analysis("none", robustness=0.5), {}, 0.5, id="far below the mean, the judge's number counts"),
        pytest.param(analysis("moderate", robustness=0.9), {"discrepancy_threshold": 0.5}, 0.9, id="a threshold"),
        pytest.param(analysis("moderate", "significant", robustness=0.9, issues="a"), {}, 0.35, id="mean and issue"),
        pytest.param(analysis("none", robustness=1, issues="abcdef"), {}, 0.7, id="issues cost so much at most"),
        pytest.param(analysis("none", robustness=1, issues=["a", "a ", " "]), {}, 0.9, id="an issue counts once"),
        pytest.param(analysis("severe", robustness=0.1, issues="abc"), {}, 0.0, id="never below 0"),
        pytest.param(
            analysis("none", robustness=1, issues="ab"),
            {"major_issue_per_item": 0.25, "max_major_issue_penalty": 0.4},
            0.6,
            id="other penalties",
        ),
        pytest.param(analysis("minimal", robustness=1), {"impact_weights": {"minimal": 0.5}}, 0.5, id="one weight"),
        pytest.param(analysis(robustness=1.7), {}, 1.0, id="no dimensions, and above 1"),
        pytest.param(analysis(robustness=-1), {}, 0.0, id="no dimensions, and below 0"),
        pytest.param(analysis(" Moderate", robustness=1), {}, 0.6, id="capitals and spaces"),
        pytest.param(analysis("mild", robustness=1), {}, 0.1, id="an unknown level is the worst"),
    ],
)
def test_the_formula(said, options, score):
    assert formula(said, options) == score


async def test_the_judge_sees_both_questions_and_both_answers():
    outcome, model = await outcome_of(
        noise_sensitivity,
        [found("moderate", "none", "none", "none", "none", robustness=0.8, issues=["wrong hour"]), "why"],
        options={**GIVEN, "noise_type": "misspelling"},
        **RUN,
    )
    compare, explain = model.calls
    assert list(fenced(compare).items()) == [
        ("question", "When do you open?"),
        ("baseline", "At nine."),
        ("noisy_question", "whn do u opn, banana"),
        ("answer", "At ten."),
        ("noise_type", "misspelling"),
    ]
    assert (outcome.score, outcome.reason) == (0.7, "why")
    assert '"impact_level": "moderate"' in fenced(explain)["dimensions"].splitlines()[0]
    assert fenced(explain)["question"] == "When do you open?"
    assert fenced(explain)["issues"] == '{"id": 1, "text": "wrong hour"}'
    assert "0.7 of 1" in explain.messages[1].text


async def test_without_a_kind_of_noise_it_is_said_that_nobody_said():
    _, model = await outcome_of(noise_sensitivity, [found(), "why"], options=GIVEN, **RUN)
    assert "noise_type" not in fenced(model.calls[0])
    assert "not said of which kind" in model.calls[0].messages[1].text


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (NAMES[:4], "hallucination is missing"),
        ((*NAMES, "accuracy"), "accuracy is there more than once"),
        ((*NAMES[:4], "accuracy"), "hallucination is missing; accuracy is there more than once"),
    ],
)
async def test_each_dimension_must_be_there_once(names, why):
    wrong = found(names=names)
    with pytest.raises(ScorerRunError, match=why) as caught:
        await outcome_of(noise_sensitivity, [wrong, wrong], options=GIVEN, **RUN)
    assert caught.value.failed_step == "analyze"

    outcome, model = await outcome_of(noise_sensitivity, [wrong, found(), "why"], options=GIVEN, **RUN)
    assert outcome.score == 1.0
    assert why in model.calls[1].messages[-1].text


async def test_the_order_of_the_dimensions_does_not_matter():
    outcome, _ = await outcome_of(noise_sensitivity, [found(names=NAMES[::-1]), "why"], options=GIVEN, **RUN)
    assert outcome.score == 1.0


@pytest.mark.parametrize(
    "answer",
    [found(robustness=1.7), found(robustness=-0.1), found("mild", *["none"] * 4), found(names=(*NAMES[:4], "tone"))],
    ids=["above 1", "below 0", "an unknown level", "an unknown dimension"],
)
async def test_what_the_schema_does_not_allow_is_an_error(answer):
    with pytest.raises(ScorerRunError):
        await outcome_of(noise_sensitivity, [answer, answer], options=GIVEN, **RUN)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"input": "When?", "output": ""}, "there is no answer"),
        ({"output": "At ten."}, "there is no question"),
        ({"input": " ", "output": "At ten."}, "there is no question"),
    ],
)
async def test_it_declines_before_the_call(given, why):
    outcome, model = await outcome_of(noise_sensitivity, [found()], options=GIVEN, **given)
    assert (outcome.status, outcome.score, len(model.calls)) == ("not_scorable", None, 0)
    assert outcome.reason.startswith(why)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline_response": " "}, "baseline_response is a text that is not empty"),
        ({"noisy_query": None}, "noisy_query is a text that is not empty"),
        ({"noise_type": ""}, "noise_type is a text that is not empty"),
        ({"impact_weights": [1]}, "impact_weights is a mapping"),
        ({"impact_weights": {"severe": 2}}, r"impact_weights\['severe'\] is a number from 0 to 1"),
        ({"impact_weights": {"severe": -0.1}}, r"impact_weights\['severe'\] is a number from 0 to 1"),
        ({"impact_weights": {"sever": 0}}, "Did you mean 'severe'"),
        ({"major_issue_per_item": -1}, "noise_sensitivity: major_issue_per_item must be a number, 0 or more"),
        ({"max_major_issue_penalty": "a"}, "max_major_issue_penalty must be a number"),
        ({"discrepancy_threshold": True}, "discrepancy_threshold must be a number"),
        ({"prompts": {"analyze": "{answr} {baseline}"}}, "Did you mean 'answer'"),
        ({"prompts": {"analyze": "{answer}"}}, r"has no \{baseline\}"),
    ],
)
def test_options_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=message):
        noise_sensitivity(**{**GIVEN, **options})


def test_a_prompt_that_is_not_there_cannot_be_replaced():
    with pytest.raises(UnknownName, match="preprocess"):
        noise_sensitivity(**GIVEN, prompts={"preprocess": "x"})


async def test_prompts_and_language_are_the_user_s():
    options = {**GIVEN, "language": "German", "prompts": {"analyze": "Compare {baseline} with {answer}."}}
    _, model = await outcome_of(noise_sensitivity, [found(), "why"], options=options, **RUN)
    assert list(fenced(model.calls[0])) == ["baseline", "answer"]
    assert all("German" in call.messages[0].text for call in model.calls)


def test_what_it_was_built_with_makes_its_key_and_fingerprint():
    plain, same = noise_sensitivity(**GIVEN, model="test:m"), noise_sensitivity(**GIVEN, model="test:m")
    other = noise_sensitivity(**GIVEN, impact_weights={"none": 0.9}, model="test:m")
    assert plain.fingerprint == same.fingerprint != other.fingerprint
    assert plain.key != other.key
    assert (plain.range, plain.better, plain.type) == ((0.0, 1.0), "higher", "agent")


async def test_in_a_run_it_counts_what_it_could_judge():
    model = ScriptedModel({"At ten.": found(robustness=0.9), "*": "why"})
    result = await run_evals(
        data=[Item("When do you open?", output="At ten."), Item("When do you open?", output="")],
        scorers=[(noise_sensitivity(**GIVEN, model=model).named("noise"), 0.9)],
    )
    mean = result.scores["noise"]
    assert (result.verdict, mean.mean, mean.n, mean.of, mean.not_scorable) == ("passed", 0.9, 1, 2, 1)


async def test_a_scale_multiplies_the_score():
    outcome, model = await outcome_of(
        noise_sensitivity, [found(issues=["wrong hour"]), "why"], options={**GIVEN, "scale": 10}, **RUN
    )
    assert outcome.score == 9.0
    assert "9 of 10" in model.calls[1].messages[1].text


async def test_a_judge_s_own_id_does_not_replace_the_number_of_a_dimension():
    said = found()
    said["dimensions"][0]["id"] = 5
    _, model = await outcome_of(noise_sensitivity, [said, "why"], options=GIVEN, **RUN)
    assert fenced(model.calls[1])["dimensions"].startswith('{"id": 1, "dimension": "accuracy"')


async def test_a_baseline_that_nobody_awaited_is_an_error():
    async def later(run):
        return "At nine."

    options = {**GIVEN, "baseline_response": lambda run: later(run)}  # noqa: PLW0108 - an async def is refused
    with pytest.raises(ScorerRunError, match="noise_sensitivity: baseline_response gave a coroutine"):
        await outcome_of(noise_sensitivity, ["x"], options=options, **RUN)
