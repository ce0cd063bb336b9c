"""Case D21: a store of any older schema is opened, listed, read, gone on with."""

import shutil

import pytest

from proctor import Eval, Store, resume, run_evals
from proctor.data.codec import encode
from tests.storage.old_stores import FOLDER, Agent, evaluation

FILES = sorted(FOLDER.glob("schema-*.db"), key=lambda path: int(path.stem.removeprefix("schema-")))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def old(request, tmp_path):
    assert request.param.stat().st_size < 100_000
    return shutil.copy(request.param, tmp_path / "old.db")


def test_there_are_some():
    assert FILES


async def test_d21_its_runs_are_listed(old):
    async with Store(old) as store:
        infos = {info.name: info for info in await store.runs()}
    assert infos.keys() == {"old-whole-1", "old-stopped-1"}
    whole, stopped = infos["old-whole-1"], infos["old-stopped-1"]
    assert (whole.status, whole.verdict, whole.rows, whole.finished) == ("complete", "failed", 16, 16)
    assert (stopped.status, stopped.verdict) == ("cancelled", "failed")
    assert 5 <= stopped.finished < 16


async def test_d21_a_result_is_read_whole(old):
    async with Store(old) as store:
        result = await store.result("old-whole-1")
        page = await store.rows("old-whole-1", failed=True, order="failures")
        row = await store.row("old-whole-1", "\x1bodd\0", repeat=1)
    now = await run_evals(**evaluation(Agent()))
    assert facts(result) == facts(now)
    assert page.rows[0].item_id == "failing"
    assert [reply.output for reply in row.replies] == [reply.output for reply in now.items[7].replies]


def facts(result):
    rows = [(encode(row.item), row.item_id, row.repeat, row.index, row.status, said(row)) for row in result.items]
    return rows, result.verdict, result.sentence, [(mean.column, mean.mean, mean.n, mean.of) for mean in result.means]


def said(row):
    replies = [(reply.output, reply.usage, reply.cost, reply.error and reply.error.message) for reply in row.replies]
    return replies, [(it.column, it.status, it.score, it.label, it.reason) for it in row.outcomes]


async def test_d21_it_is_gone_on_with(old):
    agent = Agent()
    result = await resume("old-stopped-1", Eval(**evaluation(agent)), store=old)
    assert (result.status, len(result.items)) == ("complete", 16)
    assert 0 < len(agent.asked) < 20
    async with Store(old) as store:
        assert (await store.run("old-stopped-1")).sittings == 2


async def test_d21_it_takes_new_runs(old):
    result = await run_evals(**evaluation(Agent()), store=old)
    async with Store(old) as store:
        assert [info.name for info in await store.runs(limit=1)] == [result.run]
