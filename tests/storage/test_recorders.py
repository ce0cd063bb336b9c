"""One contract for all that keep a run: memory, a file of lines, SQLite, PostgreSQL."""

from dataclasses import fields, replace

import pytest

from proctor import (
    Eval,
    EvalResult,
    Item,
    ItemResult,
    Outcome,
    Reply,
    Store,
    UsageError,
    resume,
    run_evals,
    start_evals,
)
from proctor.data.codec import decode, encode
from proctor.data.outcome import Outcomes, RunSnapshot
from proctor.running.plan import make_plan
from proctor.running.record import Event
from proctor.storage import schema
from tests.data.strategies import same
from tests.running.graded import until_done
from tests.storage.recorder_contract import (
    BROKEN,
    GATE,
    JUDGED_OUTCOME,
    ROWS,
    VALUES,
    Agent,
    column,
    everything,
    in_lines,
    in_memory,
    in_store,
    put_row,
)

STORES = ["sqlite", "postgresql"]


@pytest.fixture
def where(request, tmp_path):
    return tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("store_url")


@pytest.fixture
def place(request, tmp_path):
    if request.param == "memory":
        return in_memory()
    if request.param == "lines":
        return in_lines(tmp_path / "x.jsonl")
    return in_store(tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("store_url"))


def among(names, *, argument):
    marks = {"postgresql": pytest.mark.slow}
    return pytest.mark.parametrize(
        argument, [pytest.param(name, marks=marks.get(name, ()), id=name) for name in names], indirect=True
    )


every_place = among(["memory", "lines", *STORES], argument="place")
every_store = among(STORES, argument="where")


def rows(known):
    return set(known.finished), set(known.begun)


# ── what was put is found ──────────────────────────────────────────────────────────────────────────────────────────


@every_place
async def test_a_new_one_knows_nothing(place):
    recorder, known = await place.sit()
    assert (rows(known), known.notes, known.spent_ms) == ((set(), set()), (), 0.0)
    assert await recorder.find(("a", 0)) is None
    await recorder.flush()


@every_place
async def test_rows_that_ended_are_found_as_they_were_put(place):
    recorder, _ = await place.sit()
    for row in ROWS.values():
        await put_row(recorder, row)
    await recorder.flush()
    recorder, known = await place.sit()
    assert rows(known) == ({(row.item_id, row.repeat) for row in ROWS.values()}, set())
    for row in ROWS.values():
        assert same(await recorder.find((row.item_id, row.repeat)), row)
    await recorder.flush()


@every_place
async def test_rows_that_only_ended_are_found_too(place):
    """A bad item of a stream has no reply; a row may end in another recorder's words."""
    recorder, _ = await place.sit()
    for row in ROWS.values():
        await recorder.put(Event((row.item_id, row.repeat), row))
    await recorder.flush()
    recorder, known = await place.sit()
    assert len(known.finished) == len(ROWS)
    for row in ROWS.values():
        assert same(await recorder.find((row.item_id, row.repeat)), row)
    await recorder.flush()


@every_place
async def test_rows_that_were_begun_are_found_with_what_there_is(place):
    recorder, _ = await place.sit()
    for row in ROWS.values():
        await put_row(recorder, row, ends=False)
    await recorder.flush()
    recorder, known = await place.sit()
    assert rows(known) == (set(), {(row.item_id, row.repeat) for row in ROWS.values()})
    for row in ROWS.values():
        found = await recorder.find((row.item_id, row.repeat))
        assert (found.item_id, found.repeat, found.status, found.item) == (row.item_id, row.repeat, "not_run", row.item)
        assert same(found.replies, row.replies)
        there, put = ({it.column: it for it in each.outcomes} for each in (found, row))
        assert there.keys() == put.keys()
        assert all(same(there[each], put[each]) for each in put)
    await recorder.flush()


@every_place
async def test_a_row_that_is_gone_on_with_ends_as_a_whole(place):
    whole = ROWS["single"]
    recorder, _ = await place.sit()
    await put_row(recorder, replace(whole, scorers=Outcomes(whole.scorers[:1])), ends=False)
    await recorder.flush()
    recorder, _ = await place.sit()
    for outcome in whole.scorers[1:]:
        await recorder.put(Event(("single", 0), outcome))
    await recorder.put(Event(("single", 0), whole))
    await recorder.flush()
    recorder, known = await place.sit()
    assert rows(known) == ({("single", 0)}, set())
    assert same(await recorder.find(("single", 0)), whole)
    await recorder.flush()


@every_place
async def test_a_row_that_begins_anew_leaves_nothing_of_before(place):
    recorder, _ = await place.sit()
    await put_row(recorder, ROWS["conversation"])
    await recorder.flush()
    recorder, _ = await place.sit()
    anew = replace(
        ROWS["conversation"],
        replies=(Reply("now"), Reply("then")),
        gates=Outcomes(),
        scorers=Outcomes([replace(JUDGED_OUTCOME, score=0.25, evidence=None)]),
        turns=tuple(replace(turn, gates=Outcomes(), scorers=Outcomes()) for turn in ROWS["conversation"].turns),
    )
    await put_row(recorder, anew)
    await recorder.flush()
    recorder, known = await place.sit()
    assert rows(known) == ({("talk", 0)}, set())
    assert same(await recorder.find(("talk", 0)), anew)
    await recorder.flush()


@every_place
async def test_a_row_that_begins_anew_and_does_not_end_is_begun(place):
    recorder, _ = await place.sit()
    await put_row(recorder, ROWS["single"])
    await recorder.flush()
    recorder, _ = await place.sit()
    await recorder.put(Event(("single", 0), Reply("anew"), item=ROWS["single"].item))
    await recorder.flush()
    recorder, known = await place.sit()
    assert rows(known) == (set(), {("single", 0)})
    found = await recorder.find(("single", 0))
    assert (found.replies, found.outcomes) == ((Reply("anew"),), ())
    await recorder.flush()


@every_place
async def test_an_outcome_that_is_added_to_a_row_that_ended_is_not_lost(place):
    recorder, _ = await place.sit()
    row = replace(ROWS["single"], scorers=Outcomes([BROKEN]))
    await put_row(recorder, row)
    await recorder.flush()
    recorder, _ = await place.sit()
    await recorder.put(Event(("single", 0), JUDGED_OUTCOME))
    await recorder.flush()
    recorder, _ = await place.sit()
    found = await recorder.find(("single", 0))
    assert same(found.replies, row.replies)
    assert {outcome.column for outcome in found.outcomes} == {GATE.column, BROKEN.column, JUDGED_OUTCOME.column}
    await recorder.flush()


def row_of(name, value):
    return ItemResult(
        item=Item({"given": value}, id=name, ground_truth=value, metadata={"m": value}),
        item_id=name,
        replies=(Reply(value),),
        scorers=Outcomes([replace(JUDGED_OUTCOME, evidence=RunSnapshot(score=0.5, analyze_step_result=value))]),
    )


@every_place
async def test_a05_any_value_comes_back(place):
    await come_back(place, [row_of(name, value) for name, value in VALUES.items()])


@every_place
async def test_a05_five_mb_come_back(place):
    await come_back(place, [row_of("a", "\u00e4" * 2_500_000)])


async def come_back(place, rows):
    recorder, _ = await place.sit()
    for row in rows:
        await put_row(recorder, row)
    await recorder.flush()
    recorder, _ = await place.sit()
    for row in rows:
        found = await recorder.find((row.item_id, 0))
        assert encode(found) == encode(row), row.item_id
        assert same(decode(encode(found)), decode(encode(row))), row.item_id
    await recorder.flush()


@every_place
async def test_many_rows_are_found_in_any_order(place):
    judged = replace(JUDGED_OUTCOME, duration_ms=None)
    made = [
        ItemResult(
            item=Item(n, id=f"i{n}"), item_id=f"i{n}", index=n, repeat=repeat, replies=(Reply(n + repeat / 2),),
            scorers=Outcomes([Outcome(column("s"), "scored", n / 1000), replace(judged, reason=f"{n}")]),
        )
        for n in range(40)
        for repeat in range(2)
    ]  # fmt: skip
    recorder, _ = await place.sit()
    for row in made:
        await put_row(recorder, row)
    await recorder.flush()
    recorder, known = await place.sit()
    assert len(known.finished) == 80
    for row in [*made[::-7], *made[30:70], made[0], made[-1]]:
        assert same(await recorder.find((row.item_id, row.repeat)), row)
    await recorder.flush()


# ── runs ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def plain(result):
    """A result without what is another in each run: times, ids, and where it is kept."""

    def outcome(it):
        return replace(it, duration_ms=None, origin=None, run_id=None)

    def each(them):
        return Outcomes(map(outcome, them))

    def reply(it):
        return replace(it, duration_ms=None, origin=None, error=it.error and replace(it.error, traceback=None))

    items = tuple(
        replace(
            row,
            item=decode(encode(row.item)),
            replies=tuple(map(reply, row.replies)),
            gates=each(row.gates),
            scorers=each(row.scorers),
            turns=tuple(replace(turn, gates=each(turn.gates), scorers=each(turn.scorers)) for turn in row.turns),
        )
        for row in result.items
    )
    return replace(
        result,
        eval_id="",
        run=None,
        items=items,
        means=tuple(replace(mean, duration_ms=None) for mean in result.means),
        tags=tuple(replace(tag, means=tuple(replace(m, duration_ms=None) for m in tag.means)) for tag in result.tags),
        summary=replace(
            result.summary,
            started_at=None,
            duration_ms=None,
            provenance={},
            notes=tuple(note for note in result.summary.notes if "cannot be told" not in note),
        ),
    )


def assert_alike(one, other):
    one, other = plain(one), plain(other)
    for field in fields(one):
        assert getattr(one, field.name) == getattr(other, field.name), field.name


@pytest.fixture(scope="module")
def whole():
    import asyncio

    return asyncio.run(run_evals(**everything()))


@every_place
async def test_an_interrupted_run_that_is_gone_on_with_equals_one_that_was_not(place, whole):
    agent = Agent()

    class Begun:
        """The place as a run's recorder, whose sitting begins with the run."""

        async def start(self, plan):
            return (await place.sit(plan))[1]

        async def find(self, row):
            return await place.recorder.find(row)

        async def put(self, event):
            await place.recorder.put(event)

        async def end(self, result):
            await place.recorder.end(result)

        async def flush(self):
            await place.recorder.flush()

    for stop_at in (3, 9, 15):
        run = start_evals(**everything(agent), recorder=Begun())
        await until_done(run, stop_at)
        run.cancel()
        assert (await run).status == "cancelled"
    result = await run_evals(**everything(agent), recorder=Begun())
    assert_alike(result, whole)


@every_store
async def test_a_kept_run_is_the_same_as_one_that_is_not_and_stays_so(where, whole):
    result = await run_evals(**everything(), store=where)
    assert_alike(result, whole)
    async with Store(where) as store:
        again = await store.result(result.run)
        info = await store.run("latest")
    assert again == result
    assert (again.items == result.items, result.items == tuple(again.items)) == (True, True)
    assert same(tuple(again.items), tuple(result.items))
    assert (info.status, info.verdict, info.sentence) == (result.status, result.verdict, result.sentence)
    assert (info.rows, info.finished, info.repeats, info.sittings) == (26, 26, 2, 1)
    assert (info.errors, info.failures) == (result.summary.errors, result.summary.failures)
    assert EvalResult.from_json(again.to_json()) == again


@every_store
async def test_items_are_a_sequence(where):
    result = await run_evals(**everything(), store=where)
    items, rows = result.items, tuple(result.items)
    assert (len(items), len(rows)) == (26, 26)
    for at in (0, 7, 25, -1, -26, slice(3, 9), slice(None, None, -5), slice(30, 40)):
        assert items[at] == rows[at]
    for at in (26, -27):
        with pytest.raises(IndexError):
            items[at]
    assert rows[3] in items
    assert list(reversed(items)) == list(rows[::-1])
    assert items != rows[1:]
    assert encode(items) == encode(rows)
    assert [(row.index, row.repeat) for row in rows] == sorted((row.index, row.repeat) for row in rows)


@every_store
@pytest.mark.parametrize("keep", ["all", "failures", "none"])
async def test_deviation_14_everything_is_stored_whatever_the_result_keeps(where, keep):
    result = await run_evals(**everything(), keep=keep, store=where)
    async with Store(where) as store:
        stored = await store.result(result.run)
    assert len(stored.items) == 26
    assert (stored.means, stored.summary, stored.keep) == (result.means, result.summary, "all")


@every_store
async def test_r03_a_kept_run_that_is_complete_asks_for_nothing(where):
    agent = Agent()
    first = await run_evals(**everything(agent), store=where)
    asked = len(agent.asked)
    again = await resume(first.run, Eval(**everything(agent)), store=where)
    assert len(agent.asked) == asked
    assert (again.run, again.eval_id) == (first.run, first.eval_id)
    assert_alike(again, first)
    assert tuple(again.items) == tuple(first.items)


@every_store
async def test_a_recorder_keeps_one_run_after_another_each_whole(where):
    recorder = Store(where).recorder()
    results = [await run_evals(**everything(), recorder=recorder) for _ in range(2)]
    assert results[0].run != results[1].run
    assert_alike(results[1], results[0])
    each = [[[outcome.column for outcome in row.outcomes] for row in result.items] for result in results]
    assert each[1] == each[0]


@every_store
async def test_a_recorder_that_is_at_work_takes_no_other_run(where):
    recorder = Store(where).recorder()
    plan = make_plan(Eval(**everything()))
    await recorder.start(plan)
    with pytest.raises(UsageError, match="a run that has not ended is written by this recorder"):
        await recorder.start(plan)
    await recorder.flush()


@every_store
async def test_a_stopped_run_says_so_and_is_gone_on_with(where):
    options = everything(stop_after_errors=2, concurrency=1)
    alone = await run_evals(**options)
    kept = await run_evals(**options, store=where)
    assert_alike(replace(kept, items=()), replace(alone, items=()))
    assert [(row.item_id, row.repeat, row.status) for row in kept.items] == [
        (row.item_id, row.repeat, row.status) for row in alone.items if row.status != "not_run"
    ]


def test_rows_are_written_in_the_order_of_their_columns():
    """They are tuples: a column that is put elsewhere in a table would take another's value."""
    order = {
        "item": "eval no item_id repeat place status failed errors broke worst body error",
        "reply": "eval no turn sitting duration_ms body",
        "outcome": "eval no col sitting status score duration_ms body",
        "judge_execution": "eval no col step number status model answered_by duration_ms body",
        "column": "eval col position turn key scorer_id low high better threshold",
        "cached_call": "key model kept_at body",
    }
    tables = {table.name.removeprefix("proctor_"): table for table in schema.METADATA.tables.values()}
    assert {name: " ".join(tables[name].c.keys()) for name in order} == order
