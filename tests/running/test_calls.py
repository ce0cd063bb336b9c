"""Scorers that ask a model get kept answers, from the place that the run says."""

import asyncio
from uuid import uuid4

import pytest

from proctor import Eval, Item, JsonlRecorder, Turn, rescore, resume, run_evals, scorer
from proctor.data.cached_call import CachedCall
from proctor.errors import UsageError
from proctor.judging.cache import answered
from proctor.judging.call_cache import NO_CACHE
from proctor.judging.request import CallRequest
from proctor.running.record import MemoryRecorder
from proctor.scoring.run import ScorerRun

ITEMS = [{"input": "a"}, {"input": "b"}]


class Model:
    """Says how often it was asked. *asked*: what, and in which repeat."""

    def __init__(self):
        self.name = f"scripted:{uuid4()}"  # so that what other tests ask of this process's cache is something else
        self.asked = []

    def grade(self):
        @scorer(inline=True, version="1", id="grade")
        async def grade(run):
            request = CallRequest(model=self.name, messages=run.text, repeat=run.repeat)

            async def call():
                self.asked.append((run.text, run.repeat))
                return CachedCall(output=1 / len(self.asked), raw_output="1", finish_reason="stop")

            return (await answered(run.calls, request, call=call)).call.output

        return grade


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def evaluate(model, tmp_path):
    """Runs two items over a store, and gives how often the model was asked."""

    async def run(**options):
        before = len(model.asked)
        given = {
            "data": [{"input": "a"}, {"input": "b"}],
            "target": str.upper,
            "scorers": [model.grade()],
            "store": tmp_path / "x.db",
        }
        result = await run_evals(**(given | options))
        assert (result.status, result.summary.outcome_errors) == ("complete", 0)
        return len(model.asked) - before, result

    return run


async def test_another_run_over_the_same_store_asks_nothing(evaluate):
    first, one = await evaluate()
    second, two = await evaluate()
    assert (first, second) == (2, 0)
    assert one.means[0].mean == two.means[0].mean == 0.75
    assert one.summary.notes == two.summary.notes == ()


async def test_another_store_is_another_cache(evaluate, tmp_path):
    assert [(await evaluate(store=tmp_path / name))[0] for name in ("x.db", "y.db", "x.db", "y.db")] == [2, 2, 0, 0]


async def test_repeats_are_asked_each_for_itself(evaluate, model):
    """N01"""
    assert [(await evaluate(repeats=5, concurrency=4))[0] for _ in range(2)] == [10, 0]
    assert sorted(model.asked) == [(text, repeat) for text in "AB" for repeat in range(5)]
    assert (await evaluate(repeats=6))[0] == 2


async def test_without_cache_it_is_asked_each_time(evaluate):
    assert [(await evaluate(cache=cache))[0] for cache in (True, False, False, True)] == [2, 2, 2, 0]


async def test_without_store_the_answers_are_kept_in_this_process(evaluate):
    assert [(await evaluate(store=None))[0] for _ in range(2)] == [2, 0]
    assert (await evaluate(store=None, cache=False))[0] == 2
    assert (await evaluate())[0] == 2


async def test_a_recorder_that_keeps_no_calls_leaves_them_to_this_process(evaluate, tmp_path):
    recorders = [JsonlRecorder(tmp_path / "1.jsonl"), JsonlRecorder(tmp_path / "2.jsonl")]
    assert [(await evaluate(store=None, recorder=each))[0] for each in recorders] == [2, 0]


async def test_turns_and_gates_are_served_too(model, tmp_path):
    options = {
        "data": [Item(turns=[Turn("a", scorers=[model.grade()]), Turn("b", gates=[model.grade()])])],
        "target": lambda text, thread_id: text.upper(),
        "store": tmp_path / "x.db",
        "repeats": 2,
    }
    await run_evals(**options)
    assert sorted(model.asked) == [("A", 0), ("A", 1), ("B", 0), ("B", 1)]
    await run_evals(**options)
    assert len(model.asked) == 4


async def test_a_rescore_asks_for_its_further_repeats_alone(evaluate, model, tmp_path):
    """The first scoring of each reply is the same question as before; the others measure how steady the judge is."""
    await evaluate()
    await rescore("latest", scorers=[model.grade()], repeats=3, store=tmp_path / "x.db")
    assert len(model.asked) == 2 + 4
    await rescore("latest", scorers=[model.grade()], repeats=3, store=tmp_path / "x.db", cache=False)
    assert len(model.asked) == 2 + 4 + 6


async def test_an_answer_that_came_before_a_run_broke_off_is_not_paid_for_again(model, tmp_path):
    """The scorer had its answer, and the run ended before there was an outcome."""
    holding = asyncio.Event()

    @scorer(inline=True, version="1", id="slow")
    async def slow(run):
        request = CallRequest(model=model.name, messages=run.text)

        async def call():
            model.asked.append(run.text)
            return CachedCall(output=1.0)

        answer = await answered(run.calls, request, call=call)
        if not answer.cached:
            holding.set()
            await asyncio.Event().wait()
        return answer.call.output

    evaluation = Eval(data=[{"input": "a"}], target=str.upper, scorers=[slow], store=tmp_path / "x.db")
    running = asyncio.create_task(run_evals(evaluation))
    await asyncio.wait_for(holding.wait(), 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    result = await resume("latest", evaluation, store=tmp_path / "x.db")
    assert (result.means[0].mean, model.asked) == (1.0, ["A"])


async def test_a_scorer_by_itself_is_asked_each_time(model):
    for _ in range(2):
        await model.grade().run(output="A")
    assert model.asked == [("A", 0), ("A", 0)]


def test_a_cut_run_has_the_same_cache():
    run = ScorerRun(output="a", repeat=3)
    assert (run.calls, run.repeat) == (NO_CACHE, 3)
    cache = object()
    cut = ScorerRun(output="a", repeat=3, calls=cache).replace(output="b")
    assert (cut.calls, cut.repeat, cut.output) == (cache, 3, "b")
    given = ScorerRun.of({"output": "a", "calls": 1, "repeat": 2})
    assert (given.calls, given.repeat, given.extra) == (NO_CACHE, 0, {"calls": 1, "repeat": 2})


class FullDisk:
    async def get(self, key):
        return None

    async def put(self, key, call):
        raise OSError("no space left")


async def test_a_cache_that_fails_is_noted_in_the_result(evaluate):
    class Recorder(MemoryRecorder):
        async def start(self, plan):
            return (await super().start(plan))._replace(calls=FullDisk())

    with pytest.warns(RuntimeWarning, match="no space left") as warned:
        calls, result = await evaluate(store=None, recorder=Recorder())
    assert (calls, len(warned)) == (2, 1)
    (note,) = result.summary.notes
    assert note.endswith("FullDisk) cannot be written, so answers are not kept: no space left")
    with pytest.warns(RuntimeWarning):  # each run has notes of its own
        assert (await evaluate(store=None, recorder=Recorder()))[1].summary.notes == (note,)


@pytest.mark.parametrize("cache", [None, 1, "x.db"])
async def test_cache_is_yes_or_no(evaluate, cache):
    with pytest.raises(UsageError, match=r"cache is True or False, not .*; store= says where answers are kept"):
        await evaluate(cache=cache)
