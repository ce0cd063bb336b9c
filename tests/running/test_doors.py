"""The doors of an evaluation, from wherever people call them."""

import asyncio
import subprocess
import sys
import textwrap
import threading

import pytest

from proctor import Item, Turn, checks, run_evals, run_evals_sync, scorer, start_evals
from tests.running.graded import asked, echo, graded


class Client:
    """What belongs to the loop in which it was used first, as an HTTP client does."""

    def __init__(self):
        self.loop = None

    async def answer(self, given):
        self.loop = self.loop or asyncio.get_running_loop()
        assert self.loop is asyncio.get_running_loop(), "attached to a different loop"
        await asyncio.sleep(0)
        return given


def passed(**options):
    given = {"target": echo, "data": asked(1.0, 1.0, 1.0), "gates": [graded()], **options}
    return run_evals_sync(**given).verdict


# ── l01: one answer wherever it is asked ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("concurrency", [1, 3])
def test_l01_twice_in_a_row(concurrency):
    assert [passed(concurrency=concurrency) for _ in range(2)] == ["passed", "passed"]


@pytest.mark.parametrize("concurrency", [1, 3])
async def test_l01_inside_a_test_that_is_async(concurrency):
    assert [passed(concurrency=concurrency) for _ in range(2)] == ["passed", "passed"]
    assert (await run_evals(target=echo, data=asked(1.0), gates=[graded()])).verdict == "passed"


def test_l01_in_plain_threads_at_once():
    verdicts = []
    threads = [threading.Thread(target=lambda: verdicts.append(passed(concurrency=2))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert verdicts == ["passed"] * 8


async def test_l01_in_a_thread_of_a_running_loop():
    assert await asyncio.to_thread(passed) == "passed"


def test_l01_inside_a_def_target_of_another_run():
    result = run_evals_sync(target=lambda given: passed(), data=asked("a"), gates=[checks.includes("passed")])
    assert result.verdict == "passed"


def test_l01_inside_an_async_target_of_another_run_it_says_what_to_do():
    async def target(given):
        return passed()

    result = run_evals_sync(target=target, data=asked("a"), gates=[checks.includes("passed")])
    assert "await the async form" in result.items[0].error.message


async def everything():
    """What an application under a loop of another kind does: both forms, a stream, time limits, a handle."""

    async def rows():
        for row in asked(1.0, "fail", 1.0):
            await asyncio.sleep(0)
            yield row

    options = {"target": echo, "scorers": [graded()], "concurrency": 2, "timeout": 30, "scorer_timeout": 30}
    awaited = await run_evals(data=rows(), **options)
    waited_for = run_evals_sync(data=rows(), **options)
    run = start_evals(data=rows(), **options)
    run.cancel()
    cut = await asyncio.wait_for(run_evals(target=lambda given: given, data=rows(), gates=[graded()]), 30)
    return awaited.means[0].n, waited_for.means[0].n, (await run).status, cut.summary.items


EVERYTHING = (2, 2, "cancelled", 3)


def test_l01_under_asyncio():
    assert asyncio.run(everything()) == EVERYTHING
    assert asyncio.run(everything()) == EVERYTHING


def test_l01_under_asyncio_in_debug_mode():
    """Debug mode refuses calls from a wrong thread."""
    assert asyncio.run(everything(), debug=True) == EVERYTHING


def test_l01_under_uvloop():
    uvloop = pytest.importorskip("uvloop")
    assert uvloop.run(everything()) == EVERYTHING
    assert uvloop.run(everything()) == EVERYTHING


@pytest.mark.slow
def test_l01_in_a_script_and_where_uvloop_is_the_policy():
    program = """
        import sys
        if sys.argv[1] == "uvloop":
            import asyncio, uvloop
            asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
        from proctor import checks, run_evals_sync
        for _ in range(2):
            print(run_evals_sync(target=str.upper, data=[{"input": "a"}], gates=[checks.includes("A")]).verdict)
    """
    kinds = ["asyncio"]
    try:
        import uvloop  # noqa: F401 - whether it is there
    except ImportError:
        pass
    else:
        kinds.append("uvloop")
    for kind in kinds:
        strict = ["-W", "error"] if kind == "asyncio" else []  # policies are deprecated in new versions of Python
        command = [sys.executable, *strict, "-c", textwrap.dedent(program), kind]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "passed\npassed\n", "")


def test_l02_one_client_serves_every_sync_run():
    client = Client()
    for _ in range(3):
        result = run_evals_sync(target=client.answer, data=asked(1.0, 1.0), gates=[graded()], concurrency=2)
        assert result.verdict == "passed"


# ── l04: what a target may be ──────────────────────────────────────────────────────────────────────────────────────


def gives(given):
    return f"{given}!"


async def gives_later(given):
    return f"{given}!"


def gives_a_coroutine(given):
    return gives_later(given)


def generates(given):
    yield given
    yield "!"


async def generates_later(given):
    yield given
    yield "!"


async def gives_a_generator_later(given):
    return generates_later(given)


async def gives_a_future(given):
    future = asyncio.get_running_loop().create_future()
    future.set_result(f"{given}!")
    return future


@pytest.mark.parametrize("later", [False, True], ids=["def scorer", "async scorer"])
@pytest.mark.parametrize(
    "target",
    [gives, gives_later, gives_a_coroutine, generates, generates_later, gives_a_generator_later, gives_a_future],
)
async def test_l04_any_target_with_any_scorer_and_never_a_coroutine_as_output(target, later):
    def look(run):
        return run.output == "a!"

    async def look_later(run):
        return look(run)

    result = await run_evals(
        target=target, data=asked("a"), gates=[scorer(id="s")(look_later if later else look)], timeout=30
    )
    assert (result.items[0].output, result.verdict) == ("a!", "passed")


# ── conversations under the options ────────────────────────────────────────────────────────────────────────────────


class Remembering:
    """An agent that says all it was told in its thread."""

    def __init__(self):
        self.threads = {}

    async def __call__(self, text, *, thread_id):
        said = self.threads.setdefault(thread_id, [])
        said.append(text)
        await asyncio.sleep(0)
        return " ".join(said)


async def test_m10_conversations_do_not_see_each_other_whatever_runs_at_once():
    target = Remembering()
    data = [{"id": f"talk {n}", "inputs": [f"a{n}", f"b{n}", f"c{n}"]} for n in range(6)]
    result = await run_evals(target=target, data=data, scorers=[checks.includes("a")], concurrency=4, repeats=3)
    assert len(target.threads) == 18
    for item in result.items:
        number = item.index
        assert item.replies[-1].output == f"a{number} b{number} c{number}"


async def test_m01_scorers_of_the_whole_see_every_turn_in_order():
    seen = []

    @scorer(id="s", inline=True)
    def look(run):
        seen.append([(turn.input, turn.output) for turn in run.turns])
        return 1

    async def target(text, *, thread_id):
        return text.upper()

    await run_evals(target=target, data=[{"inputs": ["a", "b", "c", "d"]}], scorers=[look])
    assert seen == [[("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]]


async def test_m06_m07_scores_of_the_turns_and_not_run_where_a_turn_failed():
    def turns(*needed):
        return [Turn(text, gates=[checks.includes(text if ok else "z")]) for text, ok in needed]

    data = [
        Item(id="goes on", turns=turns(("a", True), ("b", True), ("c", True), ("d", False))),
        Item(id="stops", turns=turns(("a", True), ("b", False), ("c", True), ("d", True)), stop_on_failure=True),
    ]
    result = await run_evals(target=Remembering(), data=data, scorers=[graded()])
    first, second = result.items
    assert [turn.gates[0].score for turn in first.turns] == [1, 1, 1, 0]
    assert [turn.gates[0].status for turn in second.turns] == ["scored", "scored", "not_run", "not_run"]
    assert second.turns[2].gates[0].cause.why == "earlier_turn_failed"
    assert (len(second.replies), second.scorers[0].status) == (2, "not_run")
    assert result.verdict == "failed"


# ── exit codes ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("inputs", "code"),
    [([1.0] * 91 + [0.0] * 9, 0), ([1.0] * 89 + [0.0] * 11, 3), (["fail"] * 100, 4), (["boom"] * 100, 4)],
    ids=["91 of 100", "89 of 100", "100 failed targets", "100 errors"],
)
async def test_g02_a_rate_of_ninety_percent(inputs, code):
    result = await run_evals(target=echo, data=asked(*inputs), scorers=[(graded(), 0.9)], concurrency=8)
    assert result.exit_code() == code


def test_u01_a_lone_surrogate_in_a_reply_is_scored_and_shown():
    async def target(given):
        return "broken \udc00 text"

    result = run_evals_sync(target=target, data=asked("\udc00"), gates=[checks.includes("text"), checks.includes("z")])
    assert [mean.mean for mean in result.gate_results] == [1.0, 0.0]
    str(result).encode()
