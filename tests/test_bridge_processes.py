"""The bridge in processes of their own: after a fork, without room for threads, and interrupted."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

pytestmark = pytest.mark.slow

HEAD = """
    import asyncio, contextlib, os, sys, threading, time
    from proctor import MemoryRecorder, checks, create_scorer, run_evals_sync, scorer

    def answer(given):
        return f"answer {given}"

    def verdict(**options):
        given = {"target": answer, "data": [{"input": n} for n in range(4)], "gates": [checks.includes("answer")]}
        return run_evals_sync(**{**given, **options}).verdict

    def say(text):
        print(text, flush=True)
"""


def program(*parts):
    return [sys.executable, "-W", "error", "-c", "\n".join(map(textwrap.dedent, (HEAD, *parts)))]


def said(*parts):
    """What a program prints, which ends well."""
    ran = subprocess.run(program(*parts), capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


@pytest.fixture
def start():
    """Starts a program, to be interrupted."""
    started = []

    def start(*parts):
        process = subprocess.Popen(program(*parts), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


# ── after a fork ───────────────────────────────────────────────────────────────────────────────────────────────────

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@forks
@pytest.mark.parametrize(
    "before",
    [
        pytest.param("", id="nothing was done before"),
        pytest.param("verdict()", id="an idle thread"),
        pytest.param("verdict(concurrency=4)", id="several idle threads"),
        pytest.param(
            "threading.Thread(target=verdict, kwargs={'target': time.sleep}, daemon=True).start(); time.sleep(0.2)",
            id="a thread at work",
        ),
    ],
)
def test_a_forked_child_has_threads_and_a_loop_of_its_own(before):
    lines = said(f"""
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forking beside threads
        {before}
        child = os.fork()
        if not child:
            say([verdict(), verdict(concurrency=4), scorer(id="s")(lambda run: 1).run_sync(output="x").score])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        say(verdict())
    """)
    assert lines == ["['passed', 'passed', 1.0]", "passed"]


@forks
def test_a_pool_of_forked_processes_evaluates_at_once():
    lines = said("""
        import multiprocessing, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        verdict(concurrency=4)

        def one(n):
            return verdict(concurrency=n)

        with multiprocessing.get_context("fork").Pool(2) as pool:
            say(pool.map_async(one, [1, 2, 3, 4]).get(timeout=30))
    """)
    assert lines == ["['passed', 'passed', 'passed', 'passed']"]


# ── no room for a thread ───────────────────────────────────────────────────────────────────────────────────────────

NO_ROOM = """
    import resource

    @contextlib.contextmanager
    def no_room():
        before = resource.getrlimit(resource.RLIMIT_AS)
        threading.stack_size(1 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, before[1]))  # too little memory for such a stack
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
            threading.stack_size(0)
"""
LOOP = """
    async def later(given):
        return f"answer {given}"

    verdict(target=later)  # now the loop has its thread
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="this system does not keep the limit of memory")


@linux
def test_a_target_that_gets_no_thread_is_an_error_of_the_item_and_the_next_run_works():
    lines = said(
        NO_ROOM,
        LOOP,
        """
        with no_room():
            result = run_evals_sync(target=answer, data=[{"input": n} for n in range(4)], gates=[checks.includes("a")])
        say(result.items[0].error)
        say([item.status for item in result.items])
        say([verdict(), verdict(concurrency=4)])
        """,
    )
    assert "can't start new thread" in lines[0]
    assert lines[1:] == ["['error', 'error', 'error', 'error']", "['passed', 'passed']"]


@linux
def test_a_scorer_that_gets_no_thread_is_an_error_of_the_outcome_and_the_next_run_works():
    lines = said(
        NO_ROOM,
        LOOP,
        """
        half = create_scorer(id="def").generate_score(lambda ctx: 0.5)
        shaped = create_scorer(id="shaped", prepare_run=lambda run: run).generate_score(lambda ctx: 0.5)
        halves = [half, half.replace(id="mixed").analyze(later), shaped]
        with no_room():
            result = run_evals_sync(data=[{"output": n} for n in range(4)], scorers=halves, concurrency=2)
        say([outcome.status for item in result.items for outcome in item.scorers])
        say(result.items[0].scorers[0].error)
        say([mean.mean for mean in run_evals_sync(data=[{"output": "x"}], scorers=halves).means])
        """,
    )
    assert lines[0] == str(["error"] * 12)
    assert "can't start new thread" in lines[1]
    assert lines[2] == "[0.5, 0.5, 0.5]"


@linux
def test_a_sync_form_that_gets_no_loop_says_so_and_works_when_there_is_room():
    lines = said(
        NO_ROOM,
        """
        with no_room():
            try:
                verdict()
            except RuntimeError as error:
                say(error)
        say(verdict())
        """,
    )
    assert lines == ["can't start new thread", "passed"]


# ── interrupted ────────────────────────────────────────────────────────────────────────────────────────────────────

INTERRUPTED = """
    class Flushing(MemoryRecorder):
        async def flush(self):
            await asyncio.sleep(0.05)
            say("flushed")

    async def slow(given):
        say("began")
        try:
            await asyncio.sleep(60)
        finally:
            say("cleaning")
            await asyncio.sleep({cleaning})
            say("cleaned")

    try:
        if verdict(target=slow, recorder=Flushing(), concurrency={concurrency}) is None:
            say("ended early")
    except KeyboardInterrupt:
        say("interrupted")
"""
at_any_concurrency = pytest.mark.parametrize("concurrency", [1, 2], ids=["one at a time", "two at once"])


@at_any_concurrency
def test_an_interrupt_waits_until_the_run_has_cleaned_up_and_flushed(start, concurrency):
    process = start(INTERRUPTED.format(cleaning=0.1, concurrency=concurrency))
    for _ in range(concurrency):
        assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    words = ["cleaning"] * concurrency + ["cleaned"] * concurrency + ["flushed", "ended early"]
    assert (out.splitlines(), err, process.returncode) == (words, "", 0)


@at_any_concurrency
def test_a_second_interrupt_does_not_wait(start, concurrency):
    process = start(INTERRUPTED.format(cleaning=60, concurrency=concurrency))
    for _ in range(concurrency):
        assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGINT)
    for _ in range(concurrency):
        assert process.stdout.readline() == "cleaning\n"
    began = time.perf_counter()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.perf_counter() - began < 20
    assert (out.split(), err, process.returncode) == (["interrupted"], "", 0)


@at_any_concurrency
def test_an_interrupt_under_a_loop_of_ones_own_waits_too(start, concurrency):
    text = INTERRUPTED.format(cleaning=0.1, concurrency=concurrency)
    process = start(
        """
        from proctor import run_evals

        def verdict(**options):
            data = [{"input": n} for n in range(4)]
            asyncio.run(run_evals(data=data, gates=[checks.includes("a")], **options))
        """,
        text,
    )
    for _ in range(concurrency):
        assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    words = ["cleaning"] * concurrency + ["cleaned"] * concurrency + ["flushed", "interrupted"]
    assert (out.splitlines(), err, process.returncode) == (words, "", 0)


def test_an_interrupted_program_can_go_on(start):
    process = start(INTERRUPTED.format(cleaning=0, concurrency=1), "say(verdict())")
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[0].split()[-3:] == ["ended", "early", "passed"]


def test_an_interrupt_in_a_def_target_ends_the_run_without_waiting_for_it(start):
    process = start("""
        def slow(given):
            say("began")
            time.sleep(60)

        try:
            say(verdict(target=slow))
        except KeyboardInterrupt:
            say("interrupted")
    """)
    assert process.stdout.readline() == "began\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out.split(), err, process.returncode) == (["None"], "", 0)
