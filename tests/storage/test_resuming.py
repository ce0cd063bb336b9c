"""Going on with kept runs: what changed is named, what broke is done again, what was said is scored again."""

import asyncio
from dataclasses import replace

import pytest

from proctor import (
    AgentReply,
    Eval,
    Item,
    Store,
    UsageError,
    checks,
    rescore,
    rescore_sync,
    resume,
    resume_sync,
    retry,
    run_evals,
    scorer,
    start_evals,
)
from proctor.data.usage import Cost, Usage
from tests.running.graded import until_done

DATA = [Item(f"{n}", id=f"i{n}") for n in range(6)]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request, tmp_path):
    return tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("store_url")


def length(run):
    return len(run.text) / 10


def other_length(run):
    return len(run.text) / 20


def graded(function=length, *, id="length", version="1"):
    return scorer(function, id=id, version=version)


ASKED = []


async def answer(given):
    ASKED.append(given)
    await asyncio.sleep(0)
    return f"re: {given}"


async def another(given):
    await asyncio.sleep(0)
    return f"again: {given}"


def of(**options):
    return Eval(**{"name": "e", "target": answer, "data": DATA, "scorers": [graded()], "concurrency": 1, **options})


async def stopped(where, **options):
    """A run that was stopped after three rows: its name."""
    made = of(**options)
    given = {"target": made.target, "data": made.data, "scorers": made.scorers, "gates": made.gates}
    run = start_evals(name="e", concurrency=1, target_options=made.target_options, store=where, **given)
    await until_done(run, 3)
    run.cancel()
    return (await run).run


class Agent:
    """Fails for what it is told to, and counts."""

    def __init__(self, *, fails=()):
        self.asked, self.fails = [], set(fails)

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        text = messages[-1].text
        self.asked.append(text)
        if text in self.fails:
            raise ConnectionError(text)
        return AgentReply(f"re: {text}", Usage(input_tokens=2, output_tokens=1), Cost(amount=0.5))


# ── what changed ───────────────────────────────────────────────────────────────────────────────────────────────────

CHANGES = {
    "target": ({"target": another}, "the target is another"),
    "option": ({"target_options": {"temperature": 1}}, "target_options or request_context are others"),
    "scorer": ({"scorers": [graded(other_length, version="2")]}, "the scorer length is another"),
    "new scorer": ({"scorers": [graded(), graded(id="more")]}, "the scorer more is new"),
    "gone scorer": ({"scorers": [graded(id="other")]}, "the scorer length is gone"),
    "gate": ({"gates": [checks.includes("re")]}, "is new"),
}


@pytest.mark.parametrize("what", CHANGES)
async def test_what_changed_is_named_and_refused(where, what):
    options, said = CHANGES[what]
    name = await stopped(where)
    with pytest.raises(UsageError, match=said) as error:
        await resume(name, of(**options), store=where)
    assert (error.value.code, "allow_changes" in str(error.value)) == ("RUN_CHANGED", True)
    async with Store(where) as store:
        assert (await store.run(name)).sittings == 1
    result = await resume(name, of(**options), store=where, allow_changes=True)
    assert (result.status, len(result.items)) == ("complete", 6)
    assert any(said in note for note in result.summary.notes)
    keys = [[outcome.column for outcome in row.outcomes] for row in result.items]
    assert keys == [keys[0]] * 6
    assert {column.key for column in keys[0]} == {mean.column.key for mean in result.means}


async def test_a_scorer_that_changed_scores_everything_anew(where):
    name = await stopped(where)
    options = {"scorers": [graded(other_length, version="2")]}
    result = await resume(name, of(**options), store=where, allow_changes=True)
    assert [row.scorers[0].score for row in result.items] == [len(row.output) / 20 for row in result.items]


async def test_rows_stand_where_their_items_are_now(where):
    name = (await run_evals(of(store=where))).run
    data = [Item("new", id="new"), *reversed(DATA[1:4])]
    result = await resume(name, of(data=data), store=where, allow_changes=True)
    assert [row.item_id for row in result.items] == ["new", "i3", "i2", "i1"]
    assert [row.index for row in result.items] == [0, 1, 2, 3]
    async with Store(where) as store:
        info, page = await store.run(name), await store.rows(name, order="worst")
    assert (info.rows, len(page.rows), result.summary.items) == (4, 4, 4)
    asked = len(ASKED)
    again = await resume(name, of(), store=where, allow_changes=True)  # those that were put aside come back
    assert [(row.item_id, row.index) for row in again.items] == [(f"i{n}", n) for n in range(6)]
    assert len(ASKED) == asked


async def test_nothing_changed(where):
    name = await stopped(where)
    result = await resume(name, of(), store=where)
    assert (result.run, result.status, result.summary.notes) == (name, "complete", ())


class Objects:
    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        return await answer(messages[-1].text)


async def test_whether_an_object_changed_cannot_be_told(where):
    name = await stopped(where, target=Objects())
    result = await resume(name, of(target=Objects()), store=where)
    assert result.status == "complete"
    assert [note for note in result.summary.notes if "cannot be told" in note] == [
        "whether the target is still the same cannot be told; its replies were used"
    ]


class Others:
    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        return await another(messages[-1].text)


async def test_that_its_class_is_another_can_be_told(where):
    name = await stopped(where, target=Objects())
    with pytest.raises(UsageError, match="the target is another"):
        await resume(name, of(target=Others()), store=where)


async def test_a_run_that_is_not_there(where):
    name = await stopped(where)
    with pytest.raises(UsageError, match=f"Did you mean '?{name}"):
        await resume(name[:-1] + "x", of(), store=where)
    with pytest.raises(UsageError, match="give its Eval"):
        await resume("latest", store=where)
    with pytest.raises(UsageError, match="takes the Eval"):
        await resume("latest", {"data": DATA}, store=where)


# ── retry ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_broke_is_done_again_and_nothing_else(where):
    agent, broken, ran = Agent(fails=["1", "4"]), {"2"}, []

    def fragile(run):
        ran.append(run.text)
        if run.text[-1] in broken:
            raise ValueError("broke")
        return 1.0

    options = {"target": agent, "scorers": [graded(), graded(fragile, id="fragile")]}
    first = await run_evals(**{"name": "e", "data": DATA, "concurrency": 1, **options}, store=where)
    assert (first.summary.errors, first.summary.outcome_errors) == (2, 1)
    agent.fails, agent.asked = {"4"}, []
    broken.clear()
    ran.clear()
    result = await retry(first.run, of(**options), store=where)
    assert (sorted(agent.asked), sorted(ran)) == (["1", "4"], ["re: 1", "re: 2"])
    assert (result.run, result.summary.errors, result.summary.outcome_errors) == (first.run, 1, 0)
    assert [row.status for row in result.items] == ["done"] * 4 + ["error", "done"]
    async with Store(where) as store:
        assert await store.result(first.run) == result
        assert [info.errors for info in await store.runs()] == [1]


# ── scoring again ──────────────────────────────────────────────────────────────────────────────────────────────────


class Forbidden:
    """An agent that nobody may touch."""

    async def generate(self, messages, **place):
        pytest.fail("the agent was asked")


async def test_y01_a_second_version_of_a_scorer_scores_what_was_said(where):
    agent = Agent(fails=["3"])
    first = await run_evals(name="e", target=agent, data=DATA, scorers=[graded()], store=where)
    agent.generate = Forbidden().generate
    asked = list(agent.asked)
    again = await rescore(first.run, scorers=[graded(other_length, version="2")], store=where)
    assert agent.asked == asked
    assert again.run != first.run
    assert (again.summary.usage, again.summary.cost) == (None, None)
    async with Store(where) as store:
        old, new = await store.result(first.run), await store.result(again.run)
        info = await store.run(again.run)
    assert (info.kind, info.parent) == ("rescore", first.run)
    assert (old, new) == (first, again)
    assert tuple(new.items) == tuple(again.items)
    assert [row.item_id for row in new.items] == [row.item_id for row in old.items]
    for then, now in zip(old.items, new.items, strict=True):
        assert [replace(reply, duration_ms=None) for reply in now.replies] == [
            replace(reply, duration_ms=None) for reply in then.replies
        ]
        if then.status == "done":
            assert now.scorers[0].score == then.scorers[0].score / 2


async def test_y02_each_reply_is_scored_five_times(where):
    agent = Agent()
    first = await run_evals(name="e", target=agent, data=DATA, scorers=[graded()], repeats=2, store=where)
    asked, scored = list(agent.asked), []

    def judge(run):
        scored.append(run.text)
        return len(scored) % 5 / 4

    again = await rescore(first.run, scorers=[graded(judge, id="judge")], repeats=5, store=where)
    assert agent.asked == asked
    assert (len(scored), len(again.items)) == (60, 60)
    assert {(row.item_id, row.repeat) for row in again.items} == {(f"i{n}", at) for n in range(6) for at in range(10)}
    assert (again.summary.cost, again.summary.usage) == (None, None)
    assert {row.output for row in again.items if row.item_id == "i3"} == {"re: 3"}


async def test_conversations_are_scored_again_turn_by_turn(where):
    talk = Item(id="talk", inputs=["one", "three"])
    first = await run_evals(target=Agent(), data=[talk], scorers=[graded()], store=where)
    again = await rescore(first.run, gates=[checks.includes("three")], store=where)
    assert (again.verdict, [reply.output for reply in again.items[0].replies]) == ("passed", ["re: one", "re: three"])


async def test_a_rescore_that_was_stopped_does_not_ask_the_agent_when_gone_on_with(where):
    first = await run_evals(name="e", target=Agent(), data=DATA, scorers=[graded()], store=where)

    def stops(run):
        if run.text.endswith("3"):
            raise KeyboardInterrupt
        return 1.0

    with pytest.raises(KeyboardInterrupt):
        await asyncio.to_thread(rescore_sync, first.run, scorers=[graded(stops, id="s")], store=where, concurrency=1)
    with pytest.raises(UsageError, match="rescore"):
        await resume("latest", of(target=Forbidden(), scorers=[graded(id="s")]), store=where, allow_changes=True)


async def test_what_cannot_be_scored_again(where):
    first = await run_evals(target=Agent(), data=DATA, scorers=[graded()], store=where)
    with pytest.raises(UsageError, match="leave target= out"):
        await rescore(first.run, scorers=[graded()], target=answer, store=where)
    with pytest.raises(UsageError, match="1 or more"):
        await rescore(first.run, scorers=[graded()], repeats=0, store=where)
    with pytest.raises(UsageError, match="nothing to score with"):
        await rescore(first.run, store=where)
    async with Store(where) as store:
        assert len(await store.runs()) == 1


def test_all_of_it_without_async(where):
    name = asyncio.run(stopped(where))
    assert resume_sync(name, of(), store=where).status == "complete"
    assert rescore_sync(name, scorers=[graded(id="again")], store=where).status == "complete"


# ── cases ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_y03_saved_outputs_of_some_items_only(where):
    data = [{"id": "a", "output": "x"}, {"id": "b", "input": "y"}]
    with pytest.raises(UsageError, match="b"):
        await run_evals(data=data, scorers=[graded()], store=where)
    if isinstance(where, str) or where.exists():
        async with Store(where) as store:
            assert await store.runs() == []


async def test_a07_an_item_that_is_edited_later_is_shown_as_it_was(where):
    item = {"id": "a", "input": "old", "ground_truth": {"answer": "old"}}
    first = await run_evals(target=answer, data=[item], scorers=[graded()], store=where)
    item["input"], item["ground_truth"]["answer"] = "new", "new"
    await run_evals(target=answer, data=[item], scorers=[graded()], store=where)
    async with Store(where) as store:
        row = await store.row(first.run, "a")
    assert (row.item.input, row.item.ground_truth) == ("old", {"answer": "old"})


@pytest.mark.parametrize("metadata", [{}, {"a": [1, None]}, None], ids=["none in it", "some", "None"])
async def test_d23_metadata_comes_back(where, metadata):
    first = await run_evals(target=answer, data=[Item("x", id="a", metadata=metadata)], scorers=[graded()], store=where)
    async with Store(where) as store:
        assert (await store.row(first.run, "a")).item.metadata == first.items[0].item.metadata == metadata


async def test_d25_two_scorers_of_one_name_are_two_columns(where):
    with pytest.warns(UserWarning, match="more than once"):
        result = await run_evals(target=answer, data=DATA, scorers=[graded(), graded()], store=where)
    async with Store(where) as store:
        stored = await store.result(result.run)
        page = await store.rows(result.run, below=1.0, column=result.means[1].column.label)
    assert [mean.n for mean in stored.means] == [6, 6]
    assert len(page.rows) == 6


async def test_a_run_that_scored_another_again_stands_for_that_other(where):
    asked = await run_evals(of(store=where))
    again = await rescore(asked.run, scorers=[graded()], repeats=2, store=where)
    third = await rescore(again.run, scorers=[graded()], repeats=3, store=where)
    assert (len(again.items), len(third.items)) == (12, 18)
    async with Store(where) as store:
        assert {(await store.run(result.run)).parent for result in (again, third)} == {asked.run}
        await store.delete(asked.run)
    assert len((await rescore(again.run, scorers=[graded()], store=where)).items) == 12


async def test_of_a_cancelled_run_it_is_said_how_many_rows_it_would_have_had(where):
    run = start_evals(of(store=where))
    await until_done(run, 2)
    run.cancel()
    result = await run
    assert (result.status, result.summary.planned) == ("cancelled", 6)
    assert f"{result.summary.items} of 6 items" in str(result)
    assert "6 items" in str(await resume(result.run, of(), store=where))
