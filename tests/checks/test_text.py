import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from proctor import ScorerRun, ScorerRunError, UsageError, checks
from proctor.stats.dice import dice

TWO_PARTS = [
    {
        "role": "assistant",
        "content": {
            "format": 2,
            "parts": [
                {"type": "text", "text": "the secret"},
                {
                    "type": "tool-invocation",
                    "toolInvocation": {"toolCallId": "1", "toolName": "t", "args": {}, "result": 1, "state": "result"},
                },
                {"type": "text", "text": "done"},
            ],
        },
    }
]
TWO_MESSAGES = [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}]
U03 = pytest.mark.parametrize(
    "text",
    [
        pytest.param("สวัสดีครับ วันนี้อากาศดี", id="Thai"),
        pytest.param("布鲁克林今天天气晴朗。", id="Chinese"),
        pytest.param("الطقس مشمس اليوم في بروكلين", id="Arabic"),
        pytest.param("נעים מאוד", id="Hebrew"),
        pytest.param("👩‍👩‍👧‍👦 é ﬁ", id="combining"),
        pytest.param("a\udc00b", id="lone surrogate"),
        pytest.param("STRASSE ß İ ı", id="letters that change when lowered"),
    ],
)


def scored(check, output):
    return check.run_sync(output=output).score


def found(check, output):
    return check.run_sync(output=output).preprocess_step_result


# ── what each looks for ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("check", "output", "score"),
    [
        pytest.param(checks.includes("sunny"), "It is sunny.", 1, id="includes"),
        pytest.param(checks.includes("SUNNY"), "It is sunny.", 1, id="includes, other case"),
        pytest.param(checks.includes("SUNNY", ignore_case=False), "It is sunny.", 0, id="includes, case counts"),
        pytest.param(checks.includes("sunny"), "", 0, id="includes, empty answer"),
        pytest.param(checks.includes("a b"), TWO_MESSAGES, 1, id="includes, messages are joined by a space"),
        pytest.param(checks.includes("ab"), TWO_MESSAGES, 0, id="includes, and by nothing else"),
        pytest.param(checks.includes("Hi"), [{"role": "user", "content": "Hi"}], 0, id="includes, the user said it"),
        pytest.param(checks.excludes("rain"), "It is sunny.", 1, id="excludes"),
        pytest.param(checks.excludes("SUNNY"), "It is sunny.", 0, id="excludes, other case"),
        pytest.param(checks.excludes("SUNNY", ignore_case=False), "It is sunny.", 1, id="excludes, case counts"),
        pytest.param(checks.excludes("rain"), "", 1, id="excludes, empty answer"),
        pytest.param(checks.excludes("rain"), [], 1, id="excludes, no messages"),
        pytest.param(checks.equals("Paris"), "paris", 1, id="equals"),
        pytest.param(checks.equals("Paris", ignore_case=False), "paris", 0, id="equals, case counts"),
        pytest.param(checks.equals("Paris"), "Paris ", 0, id="equals, white space counts"),
        pytest.param(checks.equals("ab"), TWO_MESSAGES, 1, id="equals, messages are joined by nothing"),
        pytest.param(checks.equals(""), [], 1, id="equals, silence"),
        pytest.param(checks.matches(r"\d+ degrees"), "21 degrees", 1, id="matches"),
        pytest.param(checks.matches(r"Degrees"), "21 degrees", 0, id="matches, case counts"),
        pytest.param(checks.matches("ab"), TWO_MESSAGES, 1, id="matches, messages are joined by nothing"),
        pytest.param(checks.matches("a|b", exact=True), "a", 1, id="matches, all of it"),
        pytest.param(checks.matches("a|b", exact=True), "xb", 0, id="matches, all of it and not an end"),
        pytest.param(checks.matches("a|ab", exact=True), "ab", 1, id="matches, all of it by another branch"),
        pytest.param(checks.similarity("healed"), "sealed", 0.8, id="similarity"),
        pytest.param(checks.similarity("HEALED"), "sealed", 0.8, id="similarity, other case"),
        pytest.param(checks.similarity("HEALED", ignore_case=False), "healed", 0, id="similarity, case counts"),
        pytest.param(checks.similarity("healed", threshold=0.8), "sealed", 1, id="similarity, threshold reached"),
        pytest.param(checks.similarity("healed", threshold=0.81), "sealed", 0, id="similarity, threshold missed"),
        pytest.param(checks.similarity("ab"), TWO_MESSAGES, 1, id="similarity, white space is left out"),
        pytest.param(checks.similarity(""), "", 1, id="similarity, silence"),
    ],
)
def test_scores(check, output, score):
    assert scored(check, output) == score


@pytest.mark.parametrize(
    ("check", "score"),
    [
        pytest.param(checks.includes("the secret"), 1, id="includes"),
        pytest.param(checks.excludes("secret"), 0, id="excludes"),
        pytest.param(checks.equals("the secretdone"), 1, id="equals"),
        pytest.param(checks.matches("secret.*done"), 1, id="matches"),
        pytest.param(checks.similarity("the secretdone"), 1, id="similarity"),
    ],
)
def test_every_text_part_of_a_message_is_read(check, score):
    assert scored(check, TWO_PARTS) == score


class Answer(BaseModel):
    city: str


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("in Brooklyn", id="text"),
        pytest.param(["in", "Brooklyn"], id="list of texts"),
        pytest.param({"role": "assistant", "content": "in Brooklyn"}, id="message"),
        pytest.param([{"role": "assistant", "content": [{"type": "text", "text": "in Brooklyn"}]}], id="message parts"),
        pytest.param({"city": "Brooklyn"}, id="mapping"),
        pytest.param(Answer(city="Brooklyn"), id="pydantic model"),
        pytest.param([1, {"deep": ["Brooklyn"]}], id="any value"),
    ],
)
def test_k02_a_check_reads_every_shape_of_output(output):
    assert scored(checks.includes("Brooklyn"), output) == 1


@pytest.mark.parametrize(
    "check",
    [
        checks.includes("x"),
        checks.excludes("x"),
        checks.equals("x"),
        checks.matches("x"),
        checks.similarity("x"),
    ],
    ids=lambda check: check.id,
)
def test_none_is_an_error_and_no_empty_answer(check):
    with pytest.raises(ScorerRunError, match="nothing to read") as caught:
        check.run_sync(output=None)
    assert caught.value.failed_step == "preprocess"
    assert caught.value.__cause__.code == "UNREADABLE_OUTPUT"


# ── what they found ────────────────────────────────────────────────────────────────────────────────────────────────


def test_findings_are_verdicts_and_numbers_and_not_the_output_again():
    assert found(checks.includes("Sunny"), "It is sunny.") == {"target": "sunny", "found": True}
    assert found(checks.excludes("Sunny"), "It is sunny.") == {"target": "sunny", "excluded": False}
    assert found(checks.equals("Paris", ignore_case=False), "paris") == {"target": "Paris", "is_equal": False}
    assert found(checks.similarity("healed"), "sealed") == {"target": "healed", "score": 0.8, "threshold": None}
    matched = found(checks.matches("b"), "abc")
    assert (matched["pattern"], matched["matched"]) == ("b", True)


@pytest.mark.parametrize(
    ("check", "output", "pieces"),
    [
        pytest.param(checks.includes("72°F"), "It is 72°f now", ['"72°F"', "It is 72°f now"], id="includes, found"),
        pytest.param(checks.includes("rain"), "It is sunny.", ['"rain"', '"It is sunny."'], id="includes, not found"),
        pytest.param(checks.excludes("sun"), "It is sunny.", ['"sun"', "It is sunny."], id="excludes, found"),
        pytest.param(checks.equals("Paris"), "paris", ['"Paris"'], id="equals"),
        pytest.param(checks.equals("Paris"), "Pisa", ['"Pisa"', '"Paris"', "character 2"], id="equals, not"),
        pytest.param(checks.matches(r"\d+"), "It is 21.", [r"\d+", '"21"'], id="matches"),
        pytest.param(checks.matches(r"\d+"), "It is hot.", [r"\d+", '"It is hot."'], id="matches, not"),
        pytest.param(
            checks.matches("hot", exact=True), "It is hot.", ["all of", '"It is hot."'], id="matches, not all"
        ),
        pytest.param(checks.similarity("healed"), "sealed", ["0.800", '"sealed"', '"healed"'], id="similarity"),
        pytest.param(checks.similarity("healed", threshold=0.9), "sealed", ["0.800", "0.9"], id="similarity, bound"),
    ],
)
def test_the_reason_quotes_what_it_saw(check, output, pieces):
    reason = check.run_sync(output=output).reason
    assert [piece for piece in pieces if piece not in reason] == []


def test_the_reason_shows_the_place_in_a_long_answer():
    reason = checks.excludes("needle").run_sync(output="hay " * 500 + "needle" + " hay" * 500).reason
    assert reason.count("needle") == 2
    assert len(reason) < 200


def test_the_reason_of_silence_says_so():
    assert '""' in checks.includes("x").run_sync(output="").reason


# ── texts of the world ─────────────────────────────────────────────────────────────────────────────────────────────


@U03
@pytest.mark.parametrize(
    "check", [checks.includes, checks.equals, checks.similarity, checks.excludes], ids=lambda check: check.__name__
)
@pytest.mark.parametrize("ignore_case", [True, False])
def test_u01_u03_a_text_is_found_in_itself(check, ignore_case, text):
    outcome = check(text, ignore_case=ignore_case).run_sync(output=text)
    assert outcome.score == (0 if check is checks.excludes else 1)
    assert outcome.reason


@given(st.text(min_size=1))
def test_d04_every_text_is_like_itself(text):
    run = ScorerRun(output=text)
    for check in (checks.includes(text), checks.equals(text), checks.similarity(text)):
        assert check.run_sync(run).score == 1


@given(st.text(), st.text())
def test_similarity_is_the_measure_of_the_lowered_texts(output, expected):
    assert scored(checks.similarity(expected), output) == dice(output.lower(), expected.lower())


@pytest.mark.slow
def test_d05_five_megabytes_take_no_longer_than_reading_them():
    text = "สวัสดี abc " * 450_000
    run = ScorerRun(output=text)
    for check in (
        checks.includes("needle"),
        checks.excludes("needle"),
        checks.equals("x"),
        checks.similarity("needle"),
    ):
        assert check.run_sync(run).status == "scored"


# ── needles and options ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("needle", ["a.c", "(", "[", "a+", "\\", "$", "^", "*", "?", "{1}", "|"])
def test_d06_a_needle_is_taken_literally(needle):
    assert scored(checks.includes(needle), f"x{needle}y") == 1
    assert scored(checks.includes(needle), "abc aac") == 0
    assert scored(checks.excludes(needle), "abc aac") == 1


@pytest.mark.parametrize("check", [checks.includes, checks.excludes], ids=lambda check: check.__name__)
def test_d06_an_empty_needle_is_refused(check):
    with pytest.raises(UsageError, match="is empty, which every answer contains"):
        check("")


@pytest.mark.parametrize("value", [5, None, b"x", ["x"]], ids=repr)
@pytest.mark.parametrize(
    "check", [checks.includes, checks.excludes, checks.equals, checks.similarity], ids=lambda check: check.__name__
)
def test_what_is_looked_for_is_text(check, value):
    with pytest.raises(UsageError, match=f"{check.__name__}: .* must be text, not"):
        check(value)


@pytest.mark.parametrize("value", ["yes", 1, None], ids=repr)
@pytest.mark.parametrize(
    "check", [checks.includes, checks.excludes, checks.equals, checks.similarity], ids=lambda check: check.__name__
)
def test_ignore_case_is_true_or_false(check, value):
    with pytest.raises(UsageError, match=f"{check.__name__}: ignore_case must be True or False"):
        check("x", ignore_case=value)


@pytest.mark.parametrize("threshold", [1.01, -0.1, True, "0.5", float("nan")], ids=repr)
def test_a_threshold_is_a_number_from_0_to_1(threshold):
    with pytest.raises(UsageError, match="similarity: threshold must be a number from 0 to 1"):
        checks.similarity("x", threshold=threshold)


def test_a_threshold_within_rounding_noise_is_reached():
    assert scored(checks.similarity("healed", threshold=0.8 + 1e-12), "sealed") == 1


@pytest.mark.parametrize(
    "check",
    [checks.includes, checks.excludes, checks.equals, checks.similarity, checks.matches],
    ids=lambda check: check.__name__,
)
def test_options_are_written_by_name_and_misspelt_ones_refused(check):
    with pytest.raises(TypeError):
        check("x", True)
    with pytest.raises(TypeError):
        check("x", ignore_cases=True)


def test_similarity_is_graded_unless_a_threshold_makes_it_yes_or_no():
    kinds = [checks.similarity("x").kind, checks.similarity("x", threshold=0.5).kind, checks.includes("x").kind]
    assert kinds == ["graded", "binary", "binary"]
