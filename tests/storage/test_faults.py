"""A store that fails: a run ends loudly, what was committed is safe, and the run can be gone on with."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from datetime import timedelta
from textwrap import dedent

import pytest
from sqlalchemy import func, insert, select, text

from proctor import Eval, Item, ProctorError, Store, resume, run_evals, run_evals_sync, scorer, start_evals
from proctor.running.kept import Beginning
from proctor.running.plan import make_plan
from proctor.storage import sittings, writer
from proctor.storage.engine import writing
from proctor.storage.schema import OF_A_RUN, REPLY, SITTING
from tests.running.graded import until_done
from tests.support import ROOT

COUNT = 40


def full(run):
    return 1.0


def evaluation(target, **options):
    data = [Item(id=f"i{n}", input=f"{n}") for n in range(COUNT)]
    return {"target": target, "data": data, "scorers": [scorer(id="full", version="1")(full)], **options}


class Slow:
    """A target that takes a while, counts, and does something at one item."""

    def __init__(self, *, size=1, at=None, does=None):
        self.asked, self.size, self.at, self.does = [], size, at, does

    async def __call__(self, given):
        await asyncio.sleep(0.001)
        self.asked.append(given)
        if given == self.at:
            does, self.does = self.does, None
            if does is not None:
                await does()
        return given * self.size


async def stops(target, where, **options):
    """A run that ends with the error of the store."""
    with pytest.raises(ProctorError) as error:
        await run_evals(**evaluation(target, **options), store=where)
    assert error.value.code == "STORE_FAILED"
    return str(error.value)


async def shown(where):
    async with Store(where) as store:
        return await store.run("latest")


def integrity(path):
    database = sqlite3.connect(path)
    try:
        return database.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        database.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request, tmp_path):
    return tmp_path / "x.db" if request.param == "sqlite" else request.getfixturevalue("store_url")


# ── a full disk ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of a megabyte. Gives it, and what makes the disk large."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False)
    if not done or done.returncode:
        pytest.skip("no disk can be mounted here")
    yield folder, lambda: subprocess.run([mount, "-o", "remount,size=64m", folder], check=True)
    subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
async def test_r13_d24_a_full_disk_ends_the_run_and_keeps_what_was_committed(small_disk):
    folder, enlarge = small_disk
    target = Slow(size=20_000)
    said = await stops(target, folder / "x.db")
    assert "database or disk is full" in said
    assert "resume the run" in said
    asked = len(target.asked)
    assert 0 < asked < COUNT
    assert integrity(folder / "x.db") == "ok"
    info = await shown(folder / "x.db")
    assert (info.status, info.verdict) == ("interrupted", None)
    assert 0 < info.finished < asked
    enlarge()
    result = await resume(info.name, Eval(**evaluation(target)), store=folder / "x.db")
    assert (result.status, len(result.items), result.scores["full"].n) == ("complete", COUNT, COUNT)
    assert len(target.asked) - COUNT <= asked - info.finished


@pytest.mark.slow
def test_r13_a_file_that_may_not_grow_ends_the_run(tmp_path):
    done = program(
        """
        import resource, sys
        from tests.storage.test_faults import Slow, evaluation
        from proctor import ProctorError, run_evals_sync

        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            run_evals_sync(**evaluation(Slow(size=20_000)), store=sys.argv[1])
        except ProctorError as error:
            print(error.code)
        """,
        tmp_path / "x.db",
    )
    assert (done.stdout, done.stderr, done.returncode) == ("STORE_FAILED\n", "", 0)
    assert integrity(tmp_path / "x.db") == "ok"


# ── what goes while a run goes on ──────────────────────────────────────────────────────────────────────────────────


async def test_r13_a_file_that_is_deleted_ends_the_run(tmp_path):
    async def delete():
        for path in tmp_path.glob("x.db*"):
            path.unlink()

    target = Slow(at="20", does=delete)
    assert "deleted or replaced" in await stops(target, tmp_path / "x.db")
    assert len(target.asked) < COUNT


async def test_d26_a_run_that_is_deleted_ends(where):
    async def delete():
        async with Store(where) as store:
            await store.delete("latest", force=True)

    target = Slow(at="20", does=delete)
    assert "was deleted from the store" in await stops(target, where)
    assert len(target.asked) < COUNT
    async with Store(where) as store:
        assert await store.runs() == []


async def test_d26_runs_are_deleted_in_any_order_and_leave_nothing(where):
    names = [(await run_evals(**evaluation(Slow()), store=where)).run for _ in range(3)]
    async with Store(where) as store:
        for name in (names[1], names[0]):
            assert (await store.delete(name)).name == name
        assert [info.name for info in await store.runs()] == names[2:]
        assert len((await store.result(names[2])).items) == COUNT
        with pytest.raises(ProctorError, match="no run"):
            await store.delete(names[0])
        await store.delete(names[2])
        assert await left_over(store) == 0


async def test_two_may_prune_at_once(where):
    names = {(await run_evals(**evaluation(Slow()), store=where)).run for _ in range(3)}
    async with Store(where) as one, Store(where) as other:
        gone = await asyncio.gather(*(store.prune(older_than=timedelta(0)) for store in (one, other)))
        assert sorted(info.name for infos in gone for info in infos) == sorted(names)
        assert await left_over(one) == 0


async def test_what_is_written_while_a_run_is_deleted_goes_too(postgres_url):
    recorder = Store(postgres_url).recorder()
    await recorder.start(make_plan(Eval(**evaluation(Slow()))))
    async with Store(postgres_url) as store:
        async with writing(recorder._engine) as connection:
            await recorder._sitting.pulse(connection)
            await connection.execute(insert(REPLY).values(eval=recorder._run, no=0, turn=-1, sitting=1, body="{}"))
            deleting = asyncio.create_task(store.delete("latest", force=True))
            waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            while not await store._reading(lambda other: total(other, [waiting])):  # noqa: ASYNC110 - a lock has no event
                await asyncio.sleep(0.01)
        await deleting
        with pytest.raises(ProctorError, match="was deleted from the store"):
            await recorder.flush()
        assert await left_over(store) == 0


async def test_a_run_that_breaks_off_says_so_although_nothing_was_put(where):
    recorder = Store(where).recorder()
    await recorder.start(make_plan(Eval(**evaluation(Slow()))))
    await recorder.flush()
    async with Store(where) as store:
        statuses = await store._reading(lambda connection: connection.execute(select(SITTING.c.status)))
        assert statuses.scalars().all() == ["stopped"]


async def test_several_may_prune_at_once(where):
    for _ in range(6):
        await run_evals(**evaluation(Slow()), store=where)

    async def prune():
        async with Store(where) as store:
            return [info.name for info in await store.prune(older_than=timedelta(0))]

    pruned = await asyncio.gather(prune(), prune(), prune())
    assert len({name for names in pruned for name in names}) == len([name for names in pruned for name in names]) == 6


async def left_over(store):
    counts = [select(func.count()).select_from(table) for table in OF_A_RUN]
    return await store._reading(lambda connection: total(connection, counts))


async def total(connection, counts):
    return sum([(await connection.execute(count)).scalar_one() for count in counts])


async def test_a_run_that_goes_on_is_not_deleted_by_mistake(where):
    refused = []

    async def delete():
        async with Store(where) as store:
            with pytest.raises(ProctorError, match="is being run") as error:
                await store.delete("latest")
            refused.append(error.value.code)

    result = await run_evals(**evaluation(Slow(at="20", does=delete)), store=where)
    assert (refused, result.status, len(result.items)) == (["RUN_UNDER_WAY"], "complete", COUNT)


# ── PostgreSQL goes and comes ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_server_that_is_away_for_a_moment_costs_nothing(postgres, store_url):
    async def restart():
        await asyncio.to_thread(postgres.stop)
        asyncio.get_running_loop().call_later(0.5, threading.Thread(target=postgres.start).start)

    target = Slow(at="20", does=restart)
    result = await run_evals(**evaluation(target), store=store_url)
    assert (result.status, len(target.asked), len(result.items)) == ("complete", COUNT, COUNT)
    assert (await shown(store_url)).status == "complete"


async def test_r13_a_server_that_stays_away_ends_the_run(postgres, store_url, monkeypatch):
    monkeypatch.setattr(writer, "_PATIENCE_S", 0.5)

    async def stop():
        await asyncio.to_thread(postgres.stop)

    target = Slow(at="20", does=stop)
    said = await stops(target, store_url)
    assert "cannot be written" in said
    assert postgres.password not in said
    await asyncio.to_thread(postgres.start)
    info = await shown(store_url)
    assert (info.status, info.verdict) == ("interrupted", None)
    asked = len(target.asked)
    result = await resume(info.name, Eval(**evaluation(target)), store=store_url)
    assert (result.status, len(result.items)) == ("complete", COUNT)
    assert len(target.asked) - COUNT <= asked - info.finished


# ── several at once ────────────────────────────────────────────────────────────────────────────────────────────────

WRITING = """
    import sys
    from tests.storage.test_faults import Slow, evaluation
    from proctor import run_evals_sync

    for _ in range(3):
        result = run_evals_sync(**evaluation(Slow(), concurrency=4), store=sys.argv[1])
        print(result.status, len(result.items), result.scores["full"].n)
    """


@pytest.mark.slow
async def test_d20_two_processes_write_while_a_third_reads(where):
    started = [start_program(WRITING, where) for _ in range(2)]
    seen = 0
    while any(process.poll() is None for process in started):
        await asyncio.sleep(0.01)
        if not isinstance(where, str) and not where.exists():
            continue
        async with Store(where) as store:
            for info in await store.runs():
                page = await store.rows(info.name, limit=5, order="worst")
                seen += len(page.rows)
                assert info.finished <= info.rows <= COUNT
    for process in started:
        said, wrong = process.communicate()
        assert (said, wrong) == ("complete 40 40\n" * 3, "")
    assert seen
    async with Store(where) as store:
        infos = await store.runs()
        assert [(info.status, info.rows, info.finished) for info in infos] == [("complete", COUNT, COUNT)] * 6
        assert len({info.name for info in infos}) == 6


async def test_runs_of_one_process_may_go_on_at_once(where):
    results = await asyncio.gather(*[run_evals(**evaluation(Slow()), store=where) for _ in range(3)])
    assert [len(result.items) for result in results] == [COUNT] * 3
    assert len({result.run for result in results}) == 3


async def test_a_run_is_gone_on_with_by_one_at_a_time(where):
    target = Slow()
    run = start_evals(**evaluation(target), store=where)
    await until_done(run, 5)
    with pytest.raises(ProctorError, match="is being run by process"):
        await resume("latest", Eval(**evaluation(target)), store=where)
    run.cancel()
    name = (await run).run
    result = await resume(name, Eval(**evaluation(target)), store=where)
    assert (result.status, len(result.items)) == ("complete", COUNT)


async def test_who_only_slept_writes_nothing_into_a_run_that_another_went_on_with(where, monkeypatch):
    awake, waits, wait_both = (asyncio.Event() for _ in range(3))
    asked = []

    async def target(given):
        asked.append(given)
        if len(asked) == 24:
            waits.set()
        if len(asked) == 28:
            wait_both.set()
        if int(given) >= 20:
            await awake.wait()
        return given

    options = evaluation(target, concurrency=4)
    first = asyncio.create_task(run_evals(**options, store=where))
    await waits.wait()
    with monkeypatch.context() as patch:
        patch.setattr(sittings, "_DEAD_AFTER_S", -1.0)  # as for a process that was stopped for a minute
        second = asyncio.create_task(resume("latest", Eval(**options), store=where))
        await wait_both.wait()
    awake.set()
    with pytest.raises(ProctorError, match="gone on with by somebody else") as error:
        await first
    result = await second
    assert error.value.code == "STORE_FAILED"
    assert (result.status, [row.item_id for row in result.items]) == ("complete", [f"i{n}" for n in range(COUNT)])
    assert [row.replies[0].output for row in result.items] == [f"{n}" for n in range(COUNT)]
    assert len(asked) <= COUNT + 8
    assert (await shown(where)).status == "complete"


# ── interrupts and loops ───────────────────────────────────────────────────────────────────────────────────────────


def start_program(code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", dedent(code), *map(str, arguments)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def program(code, *arguments):
    """A program that must end by itself, without a warning."""
    process = start_program(code, *arguments)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


INTERRUPTED = """
    import asyncio, os, signal, sys, threading, time
    from tests.storage.test_faults import Slow, evaluation
    from proctor import run_evals_sync

    times = int(sys.argv[2])

    async def interrupt():
        def send():
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.05)
        threading.Thread(target=send).start()
        await asyncio.sleep(5 if times == 2 else 0.01)

    try:
        result = run_evals_sync(**evaluation(Slow(at="20", does=interrupt), concurrency=2), store=sys.argv[1])
        print(result.status, result.verdict, 0 < len(result.items) < 40)
    except KeyboardInterrupt:
        print("interrupted")
    """


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
async def test_r05_r07_interrupts_leave_a_clean_store(where, times):
    done = program(INTERRUPTED, where, times)
    assert (done.stdout.strip() in ("cancelled None True", "interrupted"), done.returncode) == (True, 0), done.stderr
    if times == 1 or not isinstance(where, str):  # of two, the pool of PostgreSQL may say what it could not close
        assert done.stderr == ""
    info = await shown(where)
    assert info.status in ("cancelled", "interrupted")
    target = Slow()
    result = await resume(info.name, Eval(**evaluation(target)), store=where)
    assert (result.status, len(result.items)) == ("complete", COUNT)
    assert len(target.asked) == COUNT - info.rows  # what was begun has its reply


def leaves(run):
    raise SystemExit(3)


async def test_r14_a_scorer_that_exits_leaves_a_store_to_go_on_from(where):
    def breaks(run):
        if run.input == "20":
            raise SystemExit(3)
        return 1.0

    options = evaluation(Slow(), concurrency=1) | {"scorers": [scorer(id="full", version="1")(breaks)]}
    try:
        result = await run_evals(**options, store=where)
    except SystemExit:
        result = None
    info = await shown(where)
    assert info.status in ("complete", "stopped", "cancelled")
    assert result is None or [row.item_id for row in result.items if row.scorers[0].status == "error"] == ["i20"]
    assert info.finished >= 20


LOOPS = {
    "twice in a row": """
        for _ in range(2):
            print(run_evals_sync(**made(), store=where).status)
        """,
    "own loops": """
        for _ in range(2):
            print(asyncio.run(run_evals(**made(), store=where)).status)
        """,
    "under uvloop": """
        import uvloop
        async def main():
            result = await run_evals(**made(), store=where)
            async with Store(where) as store:
                again = await resume(result.run, Eval(**made()), store=where)
                print((await store.result("latest")).status)
            print(again.status if len(again.items) == 40 else "?")
        uvloop.run(main())
        """,
    "in threads": """
        def work():
            print(run_evals_sync(**made(), store=where).status + "\\n", end="")
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
    "under a running loop": """
        async def main():
            for _ in range(2):
                result = run_evals_sync(**made(), store=where)
                print(result.status if len(result.items) == 40 else "?")
        asyncio.run(main())
        """,
    "after an exception": """
        async def main():
            try:
                task = asyncio.ensure_future(run_evals(**made(), store=where))
                await asyncio.sleep(0.05)
                task.cancel()
                await task
            except asyncio.CancelledError:
                print("complete")
            raise ValueError("on purpose")
        try:
            asyncio.run(main())
        except ValueError:
            print("complete")
        """,
    "items read in a loop": """
        async def main():
            result = await run_evals(**made(), store=where)
            print(result.status if len(list(result.items)) == 40 else "?")
            async with Store(where) as store:
                print((await store.result("latest")).status)
        asyncio.run(main())
        """,
    "left under way": """
        async def main():
            run = start_evals(**made(), store=where)
            while run.progress.done < 3:
                await asyncio.sleep(0.001)
        asyncio.run(main())
        print("complete")
        print("complete")
        """,
}
HEAD = """
import asyncio, sys, threading
from tests.storage.test_faults import Slow, evaluation
from proctor import Eval, Store, resume, run_evals, run_evals_sync, start_evals

where = sys.argv[1]
made = lambda: evaluation(Slow())
"""


@pytest.mark.slow
def test_any_loop_does_and_the_process_ends_by_itself(where):
    ways = list(LOOPS)[:-1]
    done = program(HEAD + "".join(dedent(LOOPS[way]) for way in ways), where)
    assert (done.stdout.split(), done.stderr, done.returncode) == (["complete"] * 2 * len(ways), "", 0)


@pytest.mark.slow
async def test_a_run_whose_loop_is_closed_is_kept_as_cancelled(where):
    done = program(HEAD + dedent(LOOPS["left under way"]), where)
    assert (done.stderr, done.returncode) == ("", 0)
    info = await shown(where)
    assert info.status == "cancelled"
    result = await resume(info.name, Eval(**evaluation(Slow())), store=where)
    assert (result.status, len(result.items)) == ("complete", COUNT)


def threads():
    return {thread for thread in threading.enumerate() if not thread.name.startswith("proctor")}


async def test_no_thread_is_left(where):
    before = threads()
    await run_evals(**evaluation(Slow()), store=where)
    await asyncio.to_thread(run_evals_sync, **evaluation(Slow()), store=where)
    left = [thread for thread in threads() - before if "asyncio" not in thread.name]
    for thread in left:
        thread.join(timeout=5)
    assert [thread for thread in left if thread.is_alive()] == []


async def test_a_run_that_cannot_be_announced_has_ended(where):
    def announce(name):
        raise OSError("the terminal is gone")

    recorder = Store(where).recorder(Beginning(announce=announce))
    with pytest.raises(ProctorError, match="the terminal is gone"):
        await run_evals(**evaluation(Slow()), recorder=recorder)
    async with Store(where) as store:
        assert (await store.run("latest")).status in ("stopped", "interrupted")
        statuses = await store._reading(lambda connection: connection.execute(select(SITTING.c.status)))
        assert statuses.scalars().all() == ["stopped"]
