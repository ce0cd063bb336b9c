import pytest

from proctor import Item, Threshold, Turn, UsageError, checks, not_scorable, run_evals_sync, scorer
from proctor.data.failures import FailedRow, Failures, reply_text
from proctor.data.message import Message, Text
from proctor.data.value import MISSING


@scorer
def moody(run):
    if "crash" in run.text:
        raise ValueError("no such \x1b[31mcity")
    return not_scorable("no city in it") if "nothing" in run.text else 1.0


def weather(question):
    if question == "offline":
        raise ConnectionError("the weather service is down")
    return f"It is {question}."


def run(*questions, **options):
    data = [Item(question, id=question.split()[0]) for question in questions]
    defaults = {"target": weather, "gates": [moody], "scorers": [(checks.includes("sunny"), 0.8)]}
    return run_evals_sync(data=data, **defaults | options)


def kinds(failures):
    return [(row.item_id, [shortfall.kind for shortfall in row.shortfalls]) for row in failures]


# ── what is a failure ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_row_fails_by_its_target_a_gate_a_threshold_or_a_scorer():
    failures = run("sunny", "rainy", "offline", "crash sunny", "not sunny", gates=[moody, checks.excludes("not")])
    failures = failures.failures()
    assert kinds(failures) == [
        ("rainy", ["threshold"]),
        ("offline", ["target"]),
        ("crash", ["scorer"]),
        ("not", ["gate"]),
    ]


def test_each_says_what_fell_short_and_why_and_how_the_reply_begins():
    rainy, offline, crash = run("rainy", "offline", "crash sunny").failures()
    (short,) = rainy.shortfalls
    assert (short.column, short.score) == ("check-includes[sunny]", 0.0)
    assert short.why == 'scored 0.00, needed >= 0.8: "sunny" is not in the answer "It is rainy."'
    assert short.reason == '"sunny" is not in the answer "It is rainy."'
    assert short.reply == "It is rainy."
    (short,) = offline.shortfalls
    assert (short.column, short.score, short.reply) == (None, None, None)
    assert short.why.startswith("ConnectionError: the weather service is down (test_failures.py:")
    assert short.error is offline.row.error
    (short,) = crash.shortfalls
    assert short.column == "gate moody"
    assert short.why.startswith("failed: ValueError: no such")
    assert short.outcome is crash.row.gates[0]


def test_a_met_threshold_does_not_excuse_the_row_below_it():
    result = run("sunny", "rainy", scorers=[(checks.includes("sunny"), 0.5)])
    assert result.verdict == "passed"
    assert kinds(result.failures()) == [("rainy", ["threshold"])]


def test_an_upper_bound_is_fallen_short_of_from_above():
    @scorer(better="lower")
    def rudeness(run):
        return 0.9 if "rude" in run.text else 0.1

    result = run("sunny", "rude", scorers=[(rudeness, Threshold(max=0.2, min_scored=2))])
    assert [str(shortfall) for row in result.failures() for shortfall in row.shortfalls] == [
        "rudeness: scored 0.90, needed <= 0.2"
    ]


def test_what_decides_nothing_and_what_was_not_run_is_no_failure():
    result = run("rainy", "crash", scorers=[checks.includes("sunny")], skip_scorers_after_gate_failure=True)
    assert kinds(result.failures()) == [("crash", ["scorer"])]


def test_a_decline_is_a_failure_where_declines_are_what_was_missed_by():
    assert kinds(run("nothing sunny", "sunny").failures()) == []
    (row,) = run("nothing sunny").failures()
    assert row.why == "gate moody: declined: no city in it"


def test_a_turn_is_judged_by_its_own_reply():
    turns = [Turn("sunny"), Turn("rainy", gates=[checks.includes("sunny")])]
    result = run_evals_sync(data=[Item(turns=turns, id="talk")], target=lambda q, thread_id: weather(q))
    ((row,),) = [result.failures()]
    assert row.why.startswith("turn 1 gate check-includes[sunny]: scored 0.00, needed >= 1:")
    assert row.shortfalls[0].reply == "It is rainy."


def test_turns_before_the_one_that_got_no_reply_are_judged_too():
    turns = [Turn("rainy", gates=[checks.includes("sunny")]), Turn("offline", gates=[moody])]
    result = run_evals_sync(data=[Item(turns=turns, id="talk")], target=lambda q, thread_id: weather(q))
    assert kinds(result.failures()) == [("talk", ["target", "gate"])]


def test_every_repeat_is_a_row():
    assert [row.name for row in run("rainy", repeats=2).failures()] == ["rainy", "rainy (repeat 1)"]


# ── how they read ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_they_print_row_by_row_with_a_reply_once():
    result = run("rainy", scorers=[(checks.includes("sunny"), 0.8), (checks.includes("dry"), 0.8)])
    assert str(result.failures()).splitlines() == [
        "rainy",
        '  check-includes[sunny]: scored 0.00, needed >= 0.8: "sunny" is not in the answer "It is rainy."',
        "    reply: It is rainy.",
        '  check-includes[dry]: scored 0.00, needed >= 0.8: "dry" is not in the answer "It is rainy."',
    ]


def test_what_a_terminal_would_obey_is_escaped():
    printed = str(run("crash \x1b[2J\u202ehello").failures())
    assert "\\x1b[31mcity" in printed
    assert "\x1b" not in printed
    assert "\u202e" not in printed


def test_they_are_a_sequence_with_a_short_repr():
    failures = run("rainy", "grey", "offline").failures()
    assert (len(failures), failures[-1].item_id, bool(failures)) == (3, "offline", True)
    assert isinstance(failures[:2], Failures)
    assert [row.item_id for row in failures[:2]] == ["rainy", "grey"]
    assert repr(failures) == "Failures(3 rows)"
    assert repr(failures[0]).startswith("FailedRow('rainy', 'check-includes[sunny]: scored 0.00")
    assert repr(failures[0].shortfalls[0]).startswith("Shortfall(kind='threshold', why=")


def test_nothing_failed_is_said():
    failures = run("sunny").failures()
    assert not failures
    assert str(failures) == "nothing failed"


# ── rows that were not kept ────────────────────────────────────────────────────────────────────────────────────────


def test_without_rows_it_refuses_to_say_that_nothing_failed():
    with pytest.raises(UsageError, match=r'2 of 3 rows fell short or failed, but keep="none" kept no row') as refused:
        run("sunny", "rainy", "offline", keep="none").failures()
    assert refused.value.code == "ROWS_NOT_KEPT"
    with pytest.raises(UsageError, match="scorers declined, but"):
        run("nothing sunny", keep="none").failures()


def test_without_rows_it_knows_that_nothing_failed():
    assert not run("sunny", keep="none").failures()


def test_rows_with_failures_are_enough():
    options = {"data": iter([Item(question) for question in ("sunny", "rainy", "offline", "crash")]), "target": weather}
    options |= {"gates": [moody], "scorers": [(checks.includes("sunny"), 0.8)]}
    result = run_evals_sync(keep="failures", **options)
    assert result.keep == "failures"
    assert len(result.failures()) == result.summary.failures == len(result.items) == 3
    assert result.failures().note == ""


def test_declines_that_were_not_kept_are_mentioned():
    failures = run("nothing sunny", keep="failures").failures()
    assert not failures
    assert str(failures) == '(rows in which scorers only declined were not kept: keep="failures")'


# ── replies ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Odd:
    def __repr__(self):
        return "an odd one"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("It\n is \t sunny.", "It is sunny."),
        ("", ""),
        (None, "None"),
        (MISSING, "MISSING"),
        (7, "7"),
        ({"city": "Rome"}, '{"city":"Rome"}'),
        (b"\xff", "b'\\xff'"),
        ({"city": Odd()}, "{'city': an odd one}"),
        (Odd(), "an odd one"),
        ([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}], "Hello"),
        ([{"role": "user", "content": "Hi"}], ""),
        (Message("assistant", (Text("Hello"),)), "Hello"),
        ("x" * 300, "x" * 197 + "..."),
        (" " * 9000 + "x", "..."),
    ],
)
def test_a_reply_is_shown_by_what_the_assistant_said(output, text):
    assert reply_text(output) == text


def test_a_reply_of_calls_names_them():
    call = {"id": "1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    assert reply_text([{"role": "assistant", "content": None, "tool_calls": [call]}]) == "(no text; called get_weather)"


def test_a_failed_row_is_made_of_its_row_and_shortfalls():
    row = run("rainy").failures()[0]
    assert FailedRow(row.row, row.shortfalls) == row
