import pytest

from proctor import Item, MemoryRecorder, Reply, ScorerEntry, Turn, run_evals, scorer
from proctor.data.codec import decode, encode
from proctor.data.column import Column
from proctor.data.outcome import Outcome, Outcomes
from proctor.data.reply import ItemResult, TurnOutcomes
from proctor.running.holds import what_holds
from proctor.running.record import Event
from proctor.running.rows import RowMaker
from tests.running.graded import asked, graded
from tests.running.plans import plan_of

SCORED = Outcome(Column("scorer", None, "s", "s"), "scored", 0.5)


def row_of(item):
    return RowMaker((), (), has_target=True).make(item, 0)


def found_of(item):
    return ItemResult(item=item, item_id="i0", replies=(Reply("out"),), scorers=(SCORED,))


ITEM = Item({"a": [1, float("nan")]}, id="i0", ground_truth="t", context=["c"], metadata={"m": b"\xff"})
TALK = Item(id="i0", turns=[Turn("a", ground_truth="t"), Turn("b")])


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (ITEM, ITEM),
        (Item({"a": [1, float("nan")]}, id="i0", ground_truth="t", context=["c"], metadata={"m": b"\xff"}), ITEM),
        (Item({"a": (1, 2)}, id="i0"), Item({"a": [1, 2]}, id="i0")),
        (TALK, Item(id="i0", turns=[Turn("a", ground_truth="t", scorers=[graded()]), Turn("b")], tags=["new"])),
        (Item(id="i0"), ITEM),
    ],
    ids=["itself", "an equal one", "the same in plain data", "other scorers and tags", "nothing known"],
)
def test_all_holds_of_an_item_that_is_the_same(then, now):
    found = found_of(then)
    assert what_holds(found, row_of(now)) is found


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (Item("x", id="i0", ground_truth=1), Item("x", id="i0", ground_truth=True)),
        (Item("x", id="i0"), Item("x", id="i0", context=["c"])),
        (Item("x", id="i0"), Item("x", id="i0", metadata={"k": 1})),
        (TALK, Item(id="i0", turns=[Turn("a", ground_truth="u"), Turn("b")])),
    ],
    ids=["ground truth", "context", "metadata", "a turn's ground truth"],
)
def test_replies_hold_when_it_is_judged_otherwise(then, now):
    left = what_holds(found_of(then), row_of(now))
    assert (left.status, left.replies, left.outcomes) == ("not_run", (Reply("out"),), ())


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (Item("x", id="i0"), Item("y", id="i0")),
        (Item("x", id="i0"), Item("x", id="i0", request_context={"user": 1})),
        (Item("x", id="i0", output="a"), Item("x", id="i0", output="b")),
        (Item(id="i0", inputs=["a", "b"]), Item(id="i0", inputs=["a", "c"])),
        (TALK, Item(id="i0", turns=[Turn("a", ground_truth="t")])),
        (Item("a", id="i0"), TALK),
    ],
    ids=["input", "request context", "output", "inputs", "turns", "a conversation now"],
)
def test_nothing_holds_when_it_asks_something_else(then, now):
    assert what_holds(found_of(then), row_of(now)) is None


def own(version, id="own"):
    return scorer(lambda run: 1, id=id, version=version)


@pytest.mark.parametrize("written", [False, True], ids=["in memory", "written and read"])
@pytest.mark.parametrize("entry", [lambda it: it, lambda it: (it, 0.5), ScorerEntry], ids=["bare", "pair", "entry"])
def test_outcomes_of_an_item_s_own_scorer_hold_while_it_is_the_same(entry, written):
    def row(version):
        turns = [Turn("a", gates=[own(version, "g")]), Turn("b")]
        item = Item(id="i0", turns=turns, scorers=[entry(own(version)), own("1", "kept")])
        return row_of(item)

    then = row("1")
    turn, *whole = [
        Outcome(cell.column, "scored", 1.0) for cell in sorted(then.cells, key=lambda c: c.column.turn is None)
    ]
    found = ItemResult(item=then.item, item_id="i0", scorers=whole, turns=(TurnOutcomes(0, gates=Outcomes([turn])),))
    found = decode(encode(found)) if written else found
    assert what_holds(found, row("1")) is found
    assert [outcome.key for outcome in what_holds(found, row("2")).outcomes] == ["kept"]


# ── in a run ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_rows_of_other_items_are_run_anew_and_the_result_says_how_many():
    recorder, said = MemoryRecorder(), []

    async def target(given):
        said.append(given)
        return given

    options = {"target": target, "scorers": [graded()], "recorder": recorder}
    await run_evals(**options, data=asked(0.1, 0.2))
    result = await run_evals(**options, data=asked(0.1, 0.3))
    assert said == [0.1, 0.2, 0.3]
    assert [item.scorers[0].score for item in result.items] == [0.1, 0.3]
    assert [note for note in result.summary.notes if note.startswith("1 of the recorded rows")]


async def test_a_begun_row_of_another_item_is_asked_again():
    recorder, said = MemoryRecorder(), []
    await recorder.put(Event(("i0", 0), Reply("old"), None, Item("then", id="i0")))
    await run_evals(target=said.append, data=asked("now"), scorers=[graded()], recorder=recorder)
    assert said == ["now"]


async def test_rows_stand_where_the_data_has_them_now():
    recorder = MemoryRecorder()
    options = {"target": lambda given: given, "scorers": [graded()], "recorder": recorder}
    one, two, three = asked(0.1, 0.2, 0.3)
    await run_evals(**options, data=[one, two])
    result = await run_evals(**options, data=[three, two, one])
    assert [(item.item_id, item.index) for item in result.items] == [("i2", 0), ("i1", 1), ("i0", 2)]


async def test_a_conversation_that_broke_off_twice_does_not_take_its_beginnings_for_a_whole():
    recorder, said = MemoryRecorder(), []
    item = Item(id="i0", inputs=["a", "b"])
    for _ in range(2):
        await recorder.put(Event(("i0", 0), Reply("a, said before"), 0, item))

    def target(text, *, thread_id):
        said.append(text)
        return text

    await run_evals(target=target, data=[item], scorers=[scorer(lambda run: 1, id="one")], recorder=recorder)
    assert said == ["a", "b"]


async def test_what_was_added_to_a_finished_row_is_not_done_twice():
    recorder, ran = MemoryRecorder(), []
    options = {"target": lambda given: given, "data": asked(0.5), "recorder": recorder}
    await run_evals(**options, scorers=[graded()])
    added = Outcome(Column("scorer", None, "new", "new"), "scored", 0.25)
    await recorder.put(Event(("i0", 0), added))
    known = await recorder.start(plan_of())
    assert (known.finished, known.begun) == ({("i0", 0)}, {("i0", 0)})
    new = scorer(lambda run: ran.append(1) or 1, id="new")
    result = await run_evals(**options, scorers=[graded(), new])
    assert ran == []
    assert [outcome.score for outcome in result.items[0].scorers] == [0.5, 0.25]


async def test_scorers_that_were_not_run_are_run_when_they_may():
    recorder, options = MemoryRecorder(), {"target": lambda given: given, "data": asked(0.5)}
    gate, late = graded("gate"), graded("late")
    first = await run_evals(
        **options, gates=[gate], scorers=[late], recorder=recorder, skip_scorers_after_gate_failure=True
    )
    assert first.items[0].scorers["late"].status == "not_run"
    again = await run_evals(
        **options, gates=[gate], scorers=[late], recorder=recorder, skip_scorers_after_gate_failure=True
    )
    assert again.items == first.items
    result = await run_evals(**options, gates=[gate], scorers=[late], recorder=recorder)
    assert result.items[0].scorers["late"].score == 0.5
