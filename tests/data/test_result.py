from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from proctor import EvalResult, Item, ScorerEntry, Threshold, checks, run_evals_sync, scorer
from proctor.data.codec import dumps, loads
from proctor.data.column import Column, ScorerRef
from proctor.data.mean import Mean
from proctor.data.result import NotScorableCounts, Summary
from proctor.data.usage import Usage
from proctor.errors import ProctorError, UnknownName, UsageError


def mean(position="scorer", turn=None, key="s[x]", id="s", **fields):
    return Mean(column=Column(position, turn, key, id), **{"mean": 0.5, "n": 1, "of": 1} | fields)


GATE = mean("gate", key="g", id="g", passed=True, decided_by="scores")
BOUND = mean(key="b[1]", id="b", threshold=Threshold(0.5), passed=True, decided_by="scores")
BARE = mean()
TURN_GATE, TURN_BOUND = mean("gate", 0, key="g", id="g", passed=True), mean(turn=1, threshold=Threshold(0.5))
RESULT = EvalResult(
    eval_id="e",
    name="weather",
    means=(GATE, BOUND, BARE, TURN_GATE, TURN_BOUND),
    verdict="passed",
    summary=Summary(items=3),
)


def test_gates_and_thresholds_of_the_whole_item_and_turns_are_told_apart():
    assert RESULT.gate_results == (GATE,)
    assert RESULT.threshold_results == (BOUND,)
    assert RESULT.turn_results == {0: (TURN_GATE,), 1: (TURN_BOUND,)}


def test_scores_are_found_by_key_and_by_an_id_that_one_has():
    assert RESULT.scores["b[1]"] is BOUND
    assert RESULT.scores["b"] is BOUND
    with pytest.raises(UnknownName, match="turn 0 gate g"):
        RESULT.scores["g"]


def test_its_repr_is_one_line_of_any_size():
    assert repr(RESULT) == "EvalResult('weather', verdict='passed', 3 items, 5 columns)"
    assert "\n" not in repr(EvalResult(eval_id="e"))


def test_a_result_cannot_be_changed():
    with pytest.raises(AttributeError):
        RESULT.verdict = "failed"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        pytest.param({}, 0, id="passed"),
        pytest.param({"status": "cancelled"}, 130, id="cancelled"),
        pytest.param({"status": "stopped"}, 4, id="stopped"),
        pytest.param({"summary": Summary(items=0)}, 4, id="nothing ran"),
        pytest.param({"means": (mean("gate", passed=False, decided_by="scores"),)}, 1, id="gate missed"),
        pytest.param({"means": (mean("gate", passed=False, decided_by="errors"),)}, 4, id="gate not measured"),
        pytest.param({"means": (mean(threshold=Threshold(1), passed=False, decided_by="scores"),)}, 3, id="threshold"),
    ],
)
def test_the_exit_code_follows_from_the_means(fields, code):
    assert EvalResult(**{"eval_id": "e", "summary": Summary(items=1)} | fields).exit_code() == code


@pytest.mark.parametrize("word", ["failed", "scored", "error", "not-scorable", "none"])
def test_one_word_of_what_counts_needs_no_list(word):
    result = EvalResult(eval_id="e", means=(mean("gate", passed=False, decided_by="scores"),), summary=Summary(items=1))
    assert result.exit_code(word) == result.exit_code([word])
    assert result.exit_code("none") == 0


def test_another_word_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"no fail_on word 'fail'\. Did you mean 'failed'\?"):
        RESULT.exit_code("fail")
    with pytest.raises(UnknownName, match=r"'nonne'\. Did you mean 'none'"):
        RESULT.exit_code(["failed", "nonne"])


def test_a_result_is_neither_true_nor_false():
    with pytest.raises(UsageError, match=r'ask result\.verdict == "passed", or result\.exit_code\(\)'):
        bool(RESULT)
    with pytest.raises(UsageError):
        assert RESULT


def test_a_scorer_that_is_a_gate_too_is_found_by_its_place():
    check = checks.includes("sunny")
    result = run_evals_sync(data=[{"output": "sunny"}], gates=[check], scorers=[(check, 0.5)])
    for name in (check.key, check.id):
        with pytest.raises(UnknownName, match=r"Several answer to it: gate check-includes\[sunny\], check-incl"):
            result.scores[name]
        assert result.scores.gates[name].column.position == "gate"
        assert result.scores.agent[name].threshold == Threshold(0.5)
    assert result.scores["gate check-includes[sunny]"] is result.gate_results[0]


def test_declined_outcomes_are_counted_by_column_and_add_up_by_id():
    counts = NotScorableCounts({"gate s": 1, "s": 2}, {"s": 3})
    assert (counts.total, len(counts), list(counts)) == (3, 2, ["gate s", "s"])
    assert (counts["gate s"], counts["s"], counts.by_id["s"]) == (1, 2, 3)
    with pytest.raises(KeyError):
        counts["other"]


def test_the_summary_has_the_documents_names():
    assert Summary(items=3).total_items == 3
    assert (Summary().tokens, Summary(usage=Usage(input_tokens=1, output_tokens=2)).tokens) == (None, 3)


def test_r12_a_result_is_written_and_read_back_equal():
    def target(given):
        if given == "fail":
            raise ConnectionError("lost \ud83d")
        return {"text": given, "n": float("nan")} if given == "nan" else given

    result = run_evals_sync(
        name="天気",
        target=target,
        data=[
            {"input": given, "metadata": {"a": (1, None)}} for given in ("It is sunny.", "fail", "nan", None, "\ud83d")
        ],
        gates=[checks.includes("sunny"), checks.tool_order(["a"])],
        scorers=[(checks.similarity("sunny"), Threshold(0.5, max_errors=0.5)), checks.matches("s(?=u)")],
    )
    text = dumps(result)
    back = loads(text)
    assert dumps(back) == text
    assert (back.verdict, back.sentence, back.means) == (result.verdict, result.sentence, result.means)
    assert str(back) == str(result)
    assert back.items[0] == result.items[0]


def test_r12_a_result_whose_items_bring_scorers_is_written_and_read_back():
    """Code does not travel: the scorers come back as their references, and all else as it was."""
    own, pair, entry = checks.includes("x"), checks.similarity("x"), scorer(id="mine")(lambda run: 1)
    data = [
        Item(id="a", output="x", gates=[own], scorers=[(pair, 0.5), ScorerEntry(entry, Threshold(max=1))]),
        Item(id="b", output="x", scorers=[entry.named("again"), {"scorer": own.named("as a mapping")}]),
    ]
    result = run_evals_sync(data=data, gates=[checks.excludes("z")])
    text = dumps(result)
    back = loads(text)
    assert dumps(back) == text
    first, second = (row.item for row in back.items)
    assert first.gates == (own.to_ref(),)
    assert first.scorers == ((pair.to_ref(), 0.5), (entry.to_ref(), Threshold(max=1)))
    assert second.scorers[0] == ScorerRef("mine", "again", entry.fingerprint)
    assert (back.means, back.verdict, str(back)) == (result.means, result.verdict, str(result))
    assert [row.scorers for row in back.items] == [row.scorers for row in result.items]


def test_r12_foreign_values_of_an_item_come_back_in_their_plain_form():
    @dataclass
    class Step:
        tool: str
        args: tuple[int, ...]

    class Options(BaseModel):
        temperature: float = 0.5

    item = Item(
        "x",
        id="a",
        output="x",
        expected_trajectory=[Step("search", (1, 2))],
        start_options={"model": Options()},
        request_context={"user": Options()},
        metadata={"when": Options()},
        label=Options(),
    )
    result = run_evals_sync(data=[item], scorers=[checks.includes("x")])
    text = dumps(result)
    back = loads(text)
    assert dumps(back) == text
    kept = result.items[0].item
    assert list(kept.expected_trajectory[0]["args"]) == [1, 2]
    assert kept.expected_trajectory[0]["tool"] == "search"
    assert kept.start_options == {"model": {"temperature": 0.5}}
    assert (kept.request_context, kept.metadata, kept.label) == (
        {"user": {"temperature": 0.5}},
        {"when": {"temperature": 0.5}},
        {"temperature": 0.5},
    )
    assert back.items[0] == result.items[0]


# ── to JSON and back ───────────────────────────────────────────────────────────────────────────────────────────────


def whole_run():
    @scorer
    def picky(run):
        if "rain" in run.text:
            raise ValueError("no umbrella")
        return 1.0

    items = [
        Item("a", output="sunny", tags=["x", "y"], metadata={"n": 10**30, "when": float("inf")}),
        Item("b", output="rain \ud83d"),
        Item("c", output=None, tags=["x"]),
    ]
    return run_evals_sync(data=items, gates=[picky], scorers=[(checks.includes("sun"), 0.4)], repeats=2)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_result_comes_back_equal_from_its_json(indent):
    result = whole_run()
    back = EvalResult.from_json(result.to_json(indent=indent))
    assert back == result
    assert (str(back), str(back.failures()), back.to_records()) == (
        str(result),
        str(result.failures()),
        result.to_records(),
    )
    assert back._repr_html_() == result._repr_html_()
    assert back.to_json() == result.to_json()
    assert EvalResult.from_json(result.to_json().encode()) == result


WRITTEN = EvalResult(eval_id="e", name="weather").to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(" ", "not JSON: .*: it is empty", id="empty"),
        pytest.param(WRITTEN[:-1], "cut off at its end", id="cut after a value"),
        pytest.param(WRITTEN[:-6], "cut off at its end", id="cut in a string"),
        pytest.param("result.json", "not JSON: Expecting value: line 1 column 1", id="a path"),
        pytest.param('{"verdict": "passed"}', "not written by Proctor", id="other JSON"),
        pytest.param("[1]", "not written by Proctor", id="a list"),
        pytest.param(dumps(Item("x")), "the text holds Item, not EvalResult", id="another value"),
        pytest.param(dumps({}), "the text holds dict, not EvalResult", id="plain data"),
        pytest.param('{"schema": 1, "value": {"$": "EvalResult"}}', "cannot be read as something", id="no id"),
        pytest.param(WRITTEN.replace('"$":"EvalResult"', '"$":"Evil"'), "unknown kind 'Evil'", id="unknown kind"),
        pytest.param(b"\xff", "not JSON: 'utf-8' codec", id="not UTF-8"),
    ],
)
def test_text_that_holds_no_result_says_what_is_wrong(text, message):
    with pytest.raises(ProctorError, match=message) as refused:
        EvalResult.from_json(text)
    assert refused.value.code == "UNREADABLE_DATA"


def test_a_text_that_is_cut_off_anywhere_says_so():
    text = whole_run().to_json()
    for length in range(1, len(text), 17):
        with pytest.raises(ProctorError, match=r"the text is cut off at its end$"):
            EvalResult.from_json(text[:length])


def test_a_result_of_a_newer_proctor_is_refused():
    with pytest.raises(ProctorError, match=r"written in form 99 by a newer Proctor.*upgrade proctor") as refused:
        EvalResult.from_json(WRITTEN.replace('"schema":1', '"schema":99'))
    assert refused.value.code == "SCHEMA_TOO_NEW"


def test_what_is_no_text_is_a_usage_error():
    with pytest.raises(UsageError, match="from_json takes the text of a result, not a dict"):
        EvalResult.from_json({"schema": 1})
