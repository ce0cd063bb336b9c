from dataclasses import replace
from pathlib import Path

import pytest
from wcwidth import wcswidth

from proctor import (
    EvalResult,
    Item,
    ItemResult,
    Outcome,
    Score,
    Threshold,
    checks,
    create_scorer,
    not_scorable,
    run_evals_sync,
    scorer,
)
from proctor.data.outcome import Failure
from proctor.data.result import Summary
from proctor.data.table import result_table
from proctor.data.usage import Usage
from proctor.data.width import printable

WIDE = "布鲁克林今天天气晴朗"
FAMILY = "👩‍👩‍👧‍👦"
RED = "\x1b[31mred\x1b[0m"


def weather(*outputs, **options):
    """A run in which everything that can happen happens."""
    defaults = {
        "gates": [checks.includes("sunny"), checks.no_tool_errors()],
        "scorers": [(checks.similarity("It is sunny."), 0.9), checks.excludes("rain")],
    }
    data = [{"id": f"case {n} {WIDE}", "output": output} for n, output in enumerate(outputs)]
    return run_evals_sync(**{"name": "weather", "data": data} | defaults | options)


RESULT = weather("It is sunny.", f"It rains in {WIDE} {FAMILY}. " * 10, None, RED, "a\ud83db\x00\r\n\u202ec")


def lines(result, width=100):
    return result_table(result, width=width).splitlines()


# ── what it says ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_result_prints_as_its_table():
    assert str(RESULT) == result_table(RESULT)


def test_it_begins_with_the_verdict_and_the_sentence_that_decided_it():
    head = lines(weather("It rains."))
    assert head[0] == "weather: FAILED"
    assert head[1].startswith("gate check-includes[sunny] missed: item case 0")
    assert lines(weather("It is sunny."))[:2] == ["weather: PASSED", "2 gates and 1 threshold met"]
    assert lines(weather("x", gates=[], scorers=[checks.includes("x")]))[0] == "weather: NO VERDICT"
    assert lines(weather("It is sunny.", name=None))[0] == "PASSED"


def test_every_column_has_a_line_with_its_n_of_n():
    rows = {line.split("  ")[0]: line for line in lines(RESULT)}
    for mean in RESULT.means:
        place = "scorer " if mean.column.position == "scorer" else ""
        assert f"{mean.n} of {mean.of}" in rows[f"{place}{mean.column.label}"]


def test_a_line_says_what_was_needed_and_whether_it_was_met():
    rows = lines(weather("It is sunny."))
    assert next(row for row in rows if row.startswith("gate check-includes")).split()[-2:] == ["all", "met"]
    assert next(row for row in rows if row.startswith("scorer check-similarity")).endswith(">= 0.9  met")
    missed = lines(weather("It rains.", gates=[]))
    assert next(row for row in missed if row.startswith("scorer check-similarity")).endswith("MISSED")


def test_a_mean_stands_beside_its_interval_at_every_width():
    result = weather(*["It is sunny."] * 8, *["It rains."] * 2, gates=[], scorers=[checks.includes("sunny")])
    assert lines(result)[3].split()[:2] == ["mean", "95%"]
    assert lines(result)[4].split()[-5:] == ["0.80", "0.49-0.94", "10", "of", "10"]
    for width in (40, 50, 60, 80):
        text = result_table(result, width=width)
        assert "0.49-0.94" in text
        assert max(map(len, text.splitlines())) <= width
    assert "10 of 10" in result_table(result, width=50)


def test_where_a_line_is_too_short_for_columns_the_interval_stands_below_the_name():
    gates = [checks.includes(text) for text in ("sunny", "a long name that is cut")]
    result = weather(*["It is sunny."] * 8, *["It rains."] * 2, gates=gates)
    assert "mean 0.80, 95% 0.49-0.94, scored 10 of 10" in " ".join(result_table(result, width=44).split())


def test_nothing_scored_has_no_interval():
    assert "95%" not in str(weather(None, gates=[], scorers=[checks.includes("sunny")]))


def test_an_item_that_several_scorers_declined_is_one_that_was_declined():
    def declining(key):
        return create_scorer(id=key).generate_score(lambda ctx: not_scorable("no policy"))

    result = weather("x", "y", gates=[declining("clear")], scorers=[declining("kind"), checks.includes("x")])
    assert result.summary.not_scorable.total == 4
    assert lines(result)[-1].startswith("2 items, 2 declined, ")


def test_what_failed_is_listed_with_item_place_and_reason():
    text = " ".join(str(weather("It is sunny.", "It rains.", None)).split())
    failed = text[text.index("What failed") :]
    assert "case 1" in failed
    assert '"sunny" is not in the answer "It rains."' in failed
    assert "UnreadableMessages in preprocess" in failed
    assert "case 0" not in failed


def test_a_target_that_failed_is_listed_once():
    def fail(given):
        raise ConnectionError("lost")

    text = str(weather(data=[{"id": "a", "input": "x"}], target=fail))
    assert text.count("ConnectionError: lost") == 1
    assert "1 with no reply" in text


def test_nothing_failed_nothing_is_listed():
    assert "What failed" not in str(weather("It is sunny."))


def test_many_failures_are_cut_and_counted():
    text = str(weather(*["It rains."] * 30, scorers=[]))
    assert "What failed (20 of 30 shown; all are in result.failures()):" in text


def test_errors_that_say_the_same_are_one_line():
    @scorer(id="s")
    def fails_on_x(run):
        if run.text == "x":
            raise ConnectionError("lost")
        return 1

    text = str(weather("x", "x", "y", "x", gates=[], scorers=[fails_on_x]))
    assert text.count("ConnectionError: lost") == 1
    assert "(the same on 2 more)" in " ".join(text.split())
    text = str(weather(*["x"] * 30, gates=[], scorers=[fails_on_x]))
    assert "(the same on at least 19 more)" in " ".join(text.split())


def test_where_all_failures_are_is_told_by_the_name_of_a_kept_run():
    text = str(replace(weather(*["It rains."] * 30, scorers=[]), run="calm-otter-42"))
    told = "all are in result.failures(), or proctor show calm-otter-42 --failed):"
    assert told in " ".join(text.split())


def test_the_last_line_counts_items_errors_and_tokens():
    last = lines(RESULT)[-1]
    assert last.startswith("5 items")
    assert "scorer errors" in last
    assert last.endswith(" s")
    told = EvalResult(eval_id="e", summary=Summary(items=1, usage=Usage(total_tokens=12), notes=("a note",)))
    assert lines(told)[-1] == "1 item, 12 tokens; 1 note: a note"


def test_a_result_of_nothing_can_be_printed():
    assert lines(EvalResult(eval_id="e"))[0] == "NO VERDICT"


def test_s13_a_mean_near_its_bound_is_shown_on_its_side():
    row = [line for line in lines(weather("x", gates=[], scorers=[(graded(0.69996), 0.7)])) if "graded" in line]
    assert any("0.69996" in line for line in row)


def graded(score):
    return scorer(id="graded")(lambda run: score)


def test_gates_and_errors_are_listed_before_thresholds_that_were_missed():
    def look(run):
        if run.output == "boom":
            raise ValueError("broken")
        return run.output == "fine"

    def answer(given):
        if given == "lost":
            raise ConnectionError("no answer")
        return given

    told = str(
        weather(
            data=[{"id": f"case {word}", "input": word} for word in ("poor", "boom", "lost", "fine")],
            target=answer,
            gates=[scorer(id="strict")(lambda run: run.output != "poor")],
            scorers=[(scorer(id="loose")(look), 0.9)],
        )
    )
    listed = [line.split()[:4] for line in told[told.index("What failed") :].splitlines() if line.startswith("  case")]
    assert listed == [
        ["case", "poor", "gate", "strict:"],
        ["case", "boom", "loose:", "ValueError:"],
        ["case", "lost", "target:", "ConnectionError:"],
        ["case", "poor", "loose:", "0.00"],
    ]


def test_an_item_without_an_id_is_called_by_its_place_and_how_its_input_begins():
    data = [
        {"input": "Is it sunny?", "output": "It rains."},
        {"input": "Tell me\n  what the weather will be tomorrow, please", "output": "It rains."},
        {"input": {"city": "Brooklyn"}, "output": "It rains."},
        {"output": "It rains."},
        {"id": "mine", "input": "Is it sunny?", "output": "It rains."},
    ]
    result = weather(data=data, gates=[checks.includes("sunny")], scorers=[])
    text = result_table(result, width=200)
    for label in ('#0 "Is it sunny?"', '#1 "Tell me what the weather wi..."', "#2  ", "#3  ", "mine  "):
        assert f"  {label}" in text
    assert result.sentence.startswith('gate check-includes[sunny] missed: item #0 "Is it sunny?" scored 0.00')


def test_the_line_of_the_users_code_is_shown():
    def broken(run):
        return {}["key"]

    def lost(given):
        raise ConnectionError("lost")

    here = Path(__file__).name
    first = broken.__code__.co_firstlineno
    scored = str(weather("x", gates=[scorer(broken)], scorers=[]))
    assert f"KeyError: 'key' ({here}:{first + 1})" in " ".join(scored.split())
    asked = str(weather(data=[{"input": "x"}], target=lost, gates=[checks.includes("x")], scorers=[]))
    assert f"ConnectionError: lost ({here}:{lost.__code__.co_firstlineno + 1})" in " ".join(asked.split())


def test_a_long_reason_is_cut_in_its_line_and_in_the_sentence():
    result = weather("x", gates=[scorer(id="s")(lambda run: Score(0, reason="why " * 1000))], scorers=[])
    text = str(result)
    assert len(text) < 1500
    assert text.count("...") == 2
    assert result.items[0].gates[0].reason == "why " * 1000


@pytest.mark.parametrize(
    ("score", "shown"), [(0.9999, "0.9999"), (0.999, "0.999"), (0.99, "0.99"), (1 - 1e-8, "0.99999999"), (0.5, "0.50")]
)
def test_s13_a_gate_that_was_nearly_met_does_not_look_met(score, shown):
    result = weather("x", gates=[graded(score)], scorers=[])
    row = next(line for line in lines(result) if line.startswith("gate graded  "))
    assert row.split()[2] == shown
    assert f"scored {shown}" in result.sentence
    assert f"gate graded: {shown}" in str(result)


def test_s13_a_gate_that_was_met_within_rounding_noise_looks_met():
    result = weather("x", gates=[graded(1 - 1e-10)], scorers=[])
    assert next(line for line in lines(result) if line.startswith("gate graded  ")).split()[2] == "1.00"


def test_how_many_must_be_scored_is_shown():
    result = weather("x", gates=[], scorers=[(checks.similarity("x"), Threshold(0.5, min_scored=3))])
    row = next(line for line in lines(result) if line.startswith("scorer"))
    assert row.endswith(">= 0.5 (n >= 3)  MISSED (declines)")
    assert "1 item scored, at least 3 needed" in result.sentence


# ── what a terminal shows ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_u06_no_line_is_wider_than_the_terminal(width):
    widths = [wcswidth(line) for line in lines(RESULT, width)]
    assert max(widths) <= width
    assert min(widths) >= 0


def test_u06_a_terminal_of_less_than_40_columns_gets_40():
    assert lines(RESULT, 10) == lines(RESULT, 40)


@pytest.mark.parametrize("width", [40, 100])
def test_u06_everything_that_counts_is_there_at_any_width(width):
    text = result_table(RESULT, width=width)
    flat = " ".join(text.split())
    assert "weather: FAILED" in flat
    for mean in RESULT.means:
        assert f"{mean.n} of {mean.of}" in flat


def test_u06_columns_stand_below_each_other_though_names_are_wide():
    result = weather("x", gates=[checks.includes(WIDE), checks.includes(FAMILY), checks.includes("x")], scorers=[])
    rows = [line for line in lines(result) if "of 1" in line and "all" in line]
    assert len(rows) == 3
    assert len({wcswidth(row[: row.index(" of 1")]) for row in rows}) == 1


@pytest.mark.parametrize("width", [40, 41, 42, 43])
def test_u06_no_character_is_cut_in_half(width):
    result = weather(f"{FAMILY}{WIDE}" * 20, gates=[checks.includes("sunny")], scorers=[])
    text = "".join(line.strip() for line in lines(result, width))
    assert "\u200d\u200d" not in text
    for part in ("\u200d👩\u200d👧", FAMILY):
        assert part in text


def test_u01_what_a_terminal_could_obey_or_not_show_is_escaped():
    text = result_table(RESULT)
    text.encode()  # no lone surrogate is left
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text
    assert "\\ud83d" in text
    assert not {char for char in text if not char.isprintable()} - {"\n", "\u200d"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param("a\tb\nc", "a b c", id="white space"),
        pytest.param(RED, "\\x1b[31mred\\x1b[0m", id="colours"),
        pytest.param("a\x00b", "a\\x00b", id="NUL"),
        pytest.param("\ud83d", "\\ud83d", id="lone surrogate"),
        pytest.param("a\u202eb", "a\\u202eb", id="right to left override"),
        pytest.param("\x9b31m", "\\x9b31m", id="one-byte escape"),
        pytest.param(FAMILY, FAMILY, id="emoji of several parts"),
        pytest.param("สวัสดี", "สวัสดี", id="Thai"),
    ],
)
def test_u01_a_text_on_one_line(text, expected):
    assert printable(text) == expected


def test_names_of_the_user_are_escaped_too():
    outcome = Failure(type="Err\x1b[2J", message="boom\x1b[2J\nnext")
    item = ItemResult(item=Item("x", id="id\x1b[2J"), item_id="id\x1b[2J", status="error", error=outcome)
    text = result_table(EvalResult(eval_id="e", name="name\x1b[2J", items=(item,), sentence="said\x1b[2J"))
    assert "\x1b" not in text
    assert text.count("\\x1b[2J") == 5


def test_a_megabyte_in_a_reason_does_not_fill_the_screen():
    result = weather("x" * 1_000_000, gates=[checks.includes("sunny")], scorers=[])
    assert len(str(result)) < 3000


def test_a_message_of_a_megabyte_neither():
    def fail(given):
        raise ValueError("x" * 1_000_000)

    assert len(str(weather(data=[{"input": "x"}], target=fail))) < 10_000


def test_thresholds_of_both_sides_are_shown():
    result = weather("x", gates=[], scorers=[(checks.similarity("x"), Threshold(0.5, max=1))])
    assert ">= 0.5 and <= 1" in str(result)


def test_an_outcome_that_no_column_knows_is_left_out():
    column = RESULT.means[0].column
    item = ItemResult(item=Item("x"), item_id="i", gates=(Outcome(column, "scored", 0.0),))
    assert "What failed" not in result_table(EvalResult(eval_id="e", items=(item,)))
