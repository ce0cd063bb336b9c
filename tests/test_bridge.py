import asyncio
import contextvars
import gc
import inspect
import signal
import threading
import time
import weakref

import pytest

from proctor.bridge import in_thread, run_sync, sync_twin
from proctor.errors import UsageError

REQUEST = contextvars.ContextVar("REQUEST", default="nobody")


async def double(x: int, *, times: int = 2) -> int:
    """Twice as much."""
    await asyncio.sleep(0)
    return times * x


double_sync = sync_twin(double)


# ── a def, away from the loop ──────────────────────────────────────────────────────────────────────────────────────


async def test_a_call_goes_to_a_daemon_thread_of_ours_and_its_result_comes_back():
    thread = await in_thread(threading.current_thread)
    assert thread is not threading.current_thread()
    assert thread.daemon
    assert await in_thread(max, 1, 2) == 2


async def test_the_call_sees_the_callers_context_and_changes_only_its_own():
    REQUEST.set("ada")
    assert await in_thread(REQUEST.get) == "ada"
    await in_thread(REQUEST.set, "grace")
    assert REQUEST.get() == "ada"


async def test_what_it_raises_comes_back():
    with pytest.raises(ZeroDivisionError):
        await in_thread(lambda: 1 / 0)


async def test_stop_iteration_comes_back_as_another_error_since_no_future_can_hold_it():
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        await in_thread(next, iter_that_stops_with(3))


def iter_that_stops_with(value):
    class Stops:
        def __next__(self):
            raise StopIteration(value)

    return Stops()


async def test_any_number_of_calls_run_at_the_same_time():
    """All wait for each other: a pool with a limit would never end."""
    barrier = threading.Barrier(60, timeout=10)
    await asyncio.gather(*(in_thread(barrier.wait) for _ in range(60)))


async def test_idle_threads_are_used_again():
    await in_thread(int)
    before = set(threading.enumerate())
    used = set()
    for _ in range(20):
        await asyncio.sleep(0.01)
        used.add(await in_thread(threading.current_thread))
    assert len(used - before) < 5


async def test_an_idle_thread_keeps_nothing_alive():
    class Big:
        pass

    big = Big()
    gone = weakref.ref(big)
    await in_thread(lambda x: [x], big)
    del big
    for _ in range(100):
        gc.collect()
        if gone() is None:
            break
        await asyncio.sleep(0.01)
    assert gone() is None


async def test_a_caller_that_gave_up_is_not_disturbed_when_the_call_ends():
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(in_thread(time.sleep, 0.1), 0.01)
    await asyncio.sleep(0.15)


def test_a_call_may_outlive_its_loop():
    ended = threading.Event()

    async def main():
        in_thread(lambda: time.sleep(0.05) or ended.set())

    asyncio.run(main())
    assert ended.wait(5)
    time.sleep(0.02)  # its result has nowhere to go, which must not be an error


# ── async, from anywhere ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_twin_has_the_names_and_arguments_of_its_function():
    assert (double_sync.__name__, double_sync.__module__) == ("double_sync", __name__)
    assert list(inspect.signature(double_sync).parameters) == ["x", "times"]
    assert "`double`" in double_sync.__doc__
    assert not inspect.iscoroutinefunction(double_sync)


def test_l01_a_twin_works_in_a_script_twice_in_a_row():
    assert (double_sync(2), double_sync(3, times=3)) == (4, 9)


async def test_l01_a_twin_works_inside_a_running_loop():
    assert double_sync(2) == 4
    assert await asyncio.to_thread(double_sync, 2) == 4


def test_l01_a_twin_works_in_threads_at_once():
    found = []
    threads = [threading.Thread(target=lambda n=n: found.append(double_sync(n))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [2 * n for n in range(20)]


def test_a_twin_of_a_method_is_a_method():
    class Thing:
        async def name(self):
            return "thing"

        name_sync = sync_twin(name)

    assert Thing().name_sync() == "thing"


def test_l02_what_belongs_to_a_loop_works_in_two_calls():
    """A client made in the first call, with its locks and queues, is used in the second."""
    queue = []

    async def first():
        queue.append(asyncio.Queue())
        lock = asyncio.Lock()
        async with lock:
            await queue[0].put("hello")

    async def second():
        return await asyncio.wait_for(queue[0].get(), 1)

    run_sync(first())
    assert run_sync(second()) == "hello"


def test_a_twin_raises_what_its_function_raises():
    async def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sync_twin(fail)()


def test_a_twin_called_from_its_own_loop_is_told_to_await():
    async def inner():
        return double_sync(2)

    with pytest.raises(UsageError, match="await the async form"):
        run_sync(inner())


def test_the_callers_context_is_seen():
    def in_context():
        REQUEST.set("ada")
        return run_sync(asyncio.to_thread(REQUEST.get))

    assert contextvars.copy_context().run(in_context) == "ada"


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_what_would_end_the_program_reaches_the_caller_and_the_next_call_works(error):
    async def stop():
        raise error

    with pytest.raises(error):
        run_sync(stop())
    assert double_sync(2) == 4


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_so_does_what_a_task_of_it_raises(error):
    async def stop():
        await asyncio.sleep(0)
        raise error

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(stop())
            group.create_task(asyncio.sleep(60))

    caught = []

    def call():
        try:
            run_sync(main())
        except BaseException as raised:  # noqa: BLE001
            caught.append(type(raised))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(5)
    assert caught == [error]
    assert double_sync(2) == 4


def test_a_thread_does_not_keep_the_loop_that_it_was_started_for():
    gone = []
    all_there = threading.Barrier(50)  # that many threads at once: some must be new

    async def calls():
        gone.append(weakref.ref(asyncio.get_running_loop()))
        assert sorted(await asyncio.gather(*[in_thread(all_there.wait) for _ in range(50)])) == list(range(50))

    asyncio.run(calls())
    for _ in range(100):
        gc.collect()
        if gone[0]() is None:
            break
        time.sleep(0.01)
    assert gone[0]() is None


# ── interrupted ────────────────────────────────────────────────────────────────────────────────────────────────────


async def ends_when_stopped(begun):
    begun.set()
    await asyncio.sleep(20)


async def breaks_when_stopped(begun):
    begun.set()
    try:
        await asyncio.sleep(20)
    finally:
        raise OSError("no space left")


async def answers_when_stopped(begun):
    begun.set()
    try:
        await asyncio.sleep(20)
    except asyncio.CancelledError:
        return "its own"


def interrupted_as_soon_as_it_runs(work):
    begun = threading.Event()

    def interrupt():
        begun.wait(30)
        time.sleep(0.05)  # until who waits for it waits
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    return run_sync(work(begun), interrupted=lambda: "what was done")


on_posix = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals go to no thread here")


@on_posix
@pytest.mark.parametrize(("work", "given"), [(ends_when_stopped, "what was done"), (answers_when_stopped, "its own")])
def test_interrupted_work_gives_what_was_done_or_what_it_came_to_all_the_same(work, given):
    assert interrupted_as_soon_as_it_runs(work) == given


@on_posix
def test_r13_what_goes_wrong_while_interrupted_work_cleans_up_is_raised():
    with pytest.raises(OSError, match="no space left"):
        interrupted_as_soon_as_it_runs(breaks_when_stopped)


@pytest.mark.parametrize("asked", [True, False], ids=["after", "before"])
def test_work_may_be_interrupted_as_the_loop_is_asked_to_begin_it(monkeypatch, asked):
    """A moment that a test cannot hit from outside: the main thread may stand still in it while the work begins."""
    loop = run_sync(running_loop())
    ask = loop.call_soon_threadsafe

    def interrupted_once(*args):
        monkeypatch.delattr(loop, "call_soon_threadsafe")
        if asked:
            ask(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "call_soon_threadsafe", interrupted_once, raising=False)
    assert run_sync(ends_when_stopped(threading.Event()), interrupted=lambda: "what was done") == "what was done"


async def running_loop():
    return asyncio.get_running_loop()
