import csv
import io

import pytest

from proctor import EvalResult, Item, ItemResult, Turn, UsageError, checks, not_scorable, run_evals_sync, scorer
from proctor.data.outcome import Failure
from proctor.data.records import RECORD_KEYS


@scorer
def moody(run):
    if "crash" in run.text:
        raise ValueError("no such city")
    return not_scorable("no city in it") if "nothing" in run.text else 0.0


def weather(question):
    if question == "offline":
        raise ConnectionError("down")
    return question


def records(*items, **options):
    defaults = {"name": "weather", "target": weather, "scorers": [moody, (checks.includes("sunny"), 0.8)]}
    data = [item if isinstance(item, Item) else Item(item) for item in items]
    return run_evals_sync(data=data, **defaults | options).to_records()


def test_there_is_one_record_for_each_outcome_with_every_key_in_order():
    found = records("sunny", Item("rainy"), repeats=2)
    assert [(r["index"], r["repeat"], r["column"]) for r in found] == [
        (index, repeat, column)
        for index in (0, 1)
        for repeat in (0, 1)
        for column in ("moody", "check-includes[sunny]")
    ]
    assert {tuple(record) for record in found} == {RECORD_KEYS}


def test_a_score_and_what_it_was_held_against():
    free, bound = records(Item("rainy", id="r", tags=["wet", "cold"], cluster="c"))
    assert {key: bound[key] for key in RECORD_KEYS if key not in ("eval_id", "duration_ms")} == {
        "eval_name": "weather",
        "item_id": "r",
        "index": 0,
        "repeat": 0,
        "item_status": "done",
        "tags": "wet, cold",
        "cluster": "c",
        "column": "check-includes[sunny]",
        "turn": None,
        "position": "scorer",
        "key": "check-includes[sunny]",
        "scorer_id": "check-includes",
        "status": "scored",
        "score": 0.0,
        "label": None,
        "reason": '"sunny" is not in the answer "rainy"',
        "fell_short": True,
        "not_run": None,
        "error": None,
        "error_code": None,
    }
    assert bound["duration_ms"] > 0
    assert (free["score"], free["fell_short"]) == (0.0, None)


@pytest.mark.parametrize(
    ("question", "status", "reason", "not_run", "error"),
    [
        ("crash", "error", None, None, "ValueError: no such city"),
        ("nothing", "not_scorable", "no city in it", None, None),
        ("offline", "not_run", None, "target_failed", "ConnectionError: down"),
    ],
)
def test_what_was_not_measured_is_none_and_says_why(question, status, reason, not_run, error):
    record = records(Item(question))[0]
    assert (record["status"], record["reason"], record["not_run"]) == (status, reason, not_run)
    assert (record["score"], record["fell_short"], record["tags"]) == (None, None, None)
    assert record["error"] is error if error is None else record["error"].startswith(error)
    assert (record["duration_ms"] is None) == (status == "not_run")


def test_a_gate_is_held_against_the_top_of_its_range():
    assert [r["fell_short"] for r in records("sunny", "rainy", gates=[checks.includes("sunny")], scorers=[])] == [
        False,
        True,
    ]


def test_turns_are_numbered():
    item = Item(turns=[Turn("a", gates=[checks.includes("a")]), Turn("b", scorers=[checks.includes("a")])])
    found = records(item, target=lambda question, thread_id: question, scorers=[])
    assert [(r["turn"], r["position"], r["score"]) for r in found] == [(0, "gate", 1.0), (1, "scorer", 0.0)]


def test_a_row_without_an_outcome_is_not_lost():
    broken = ItemResult(item=Item("x"), item_id="x", status="error", error=Failure(type="E", message="m", code="c"))
    (record,) = EvalResult(eval_id="e", items=(broken,)).to_records()
    assert (record["item_id"], record["column"], record["status"]) == ("x", None, None)
    assert (record["error"], record["error_code"]) == ("E: m", "c")
    assert tuple(record) == RECORD_KEYS


def test_they_are_ready_for_csv():
    found = records("sunny", "crash", 'with "quotes", commas\nand lines')
    file = io.StringIO()
    writer = csv.DictWriter(file, RECORD_KEYS)
    writer.writeheader()
    writer.writerows(found)
    file.seek(0)
    read = list(csv.DictReader(file))
    assert [row["score"] for row in read] == ["0.0", "1.0", "", "0.0", "0.0", "0.0"]
    assert [row["error"] for row in read][2] == found[2]["error"]


def test_without_rows_there_are_none_to_give():
    with pytest.raises(UsageError, match='1 row ran, but keep="none" kept no row') as refused:
        records("sunny", keep="none")
    assert refused.value.code == "ROWS_NOT_KEPT"
    assert EvalResult(eval_id="e", keep="none").to_records() == []
