import random
from fractions import Fraction

import pytest

from proctor import Item, Threshold, UsageError, checks, run_evals_sync
from proctor.data.reply import ItemResult
from proctor.running.columns import Columns
from proctor.running.fold import Fold
from proctor.running.tags import MOST_TAGS, TagFolds
from tests.running.graded import graded

RANDOM = random.Random(3)


def run(*items, **options):
    defaults = {"gates": [], "scorers": [(graded(), 0.5)]}
    return run_evals_sync(data=[Item(n, output=output, tags=tags) for n, (output, *tags) in enumerate(items)],
                          **defaults | options)  # fmt: skip


def test_each_tag_has_the_means_of_its_rows_and_of_how_many():
    result = run((1.0, "a"), (0.0, "a", "b"), ("n/a", "b"), ("boom", "b"), (0.25,))
    means = {tag: scores["graded"] for tag, scores in result.by_tag.items()}
    assert {tag: (mean.mean, mean.n, mean.of) for tag, mean in means.items()} == {
        "a": (0.5, 2, 2),
        "b": (0.0, 1, 3),
        None: (0.25, 1, 1),
    }
    assert (means["b"].errors, means["b"].not_scorable) == (1, 1)
    assert [(tag.tag, tag.items) for tag in result.tags] == [("a", 2), ("b", 3), (None, 1)]


def test_a_tag_decides_nothing():
    mean = run((0.0, "a"), gates=[graded("g")]).by_tag["a"]["graded"]
    assert (mean.passed, mean.decided_by, mean.sentence, mean.threshold) == (None, None, "", Threshold(0.5))
    assert run((0.0, "a"), gates=[graded("g")]).by_tag["a"]["g"].passed is None


@pytest.mark.parametrize("concurrency", [1, 3])
def test_the_untagged_rows_before_the_first_tag_count(concurrency):
    """Also those whose repeats stand on both sides of it."""
    items = [Item(n, tags=["a"] if n == 2 else []) for n in range(5)]
    result = run_evals_sync(
        data=items, target=lambda n: n / 8, scorers=[graded()], gates=[graded("g")], repeats=2, concurrency=concurrency
    )
    untagged = result.by_tag[None]["graded"]
    assert (untagged.mean, untagged.n, untagged.of) == (2 / 8, 8, 8)
    assert [(tag.tag, tag.items) for tag in result.tags] == [("a", 2), (None, 8)]
    assert result.means[1].n == 10


def test_without_tags_there_is_nothing_to_break_down():
    assert run((1.0,), (0.0,)).tags == ()


def test_a_tag_given_twice_counts_once():
    assert run((1.0, "a", "a")).by_tag["a"]["graded"].of == 1


def test_only_the_columns_of_its_rows_are_there():
    items = [Item(1, output=1.0, tags=["a"]), Item(2, output="sunny", scorers=[checks.includes("sun")], tags=["b"])]
    result = run_evals_sync(data=items, scorers=[graded()])
    assert list(result.by_tag["a"]) == ["graded"]
    assert list(result.by_tag["b"]) == ["graded", "check-includes[sun]"]


@pytest.mark.parametrize("keep", ["all", "none"])
@pytest.mark.parametrize("concurrency", [1, 7])
def test_sums_are_exact_with_repeats_whatever_is_kept(keep, concurrency):
    scores = [[RANDOM.random() for _ in range(3)] for _ in range(60)]
    tags = [RANDOM.choice(["a", "b", "c", None]) for _ in scores]
    left = [iter(each) for each in scores]
    result = run_evals_sync(
        data=iter([Item(n, tags=[tag] if tag else []) for n, tag in enumerate(tags)]),
        target=lambda n: next(left[n]),
        scorers=[graded()],
        repeats=3,
        keep=keep,
        concurrency=concurrency,
    )
    for tag in ("a", "b", "c", None):
        own = [sum(map(Fraction, each)) / 3 for each, its in zip(scores, tags, strict=True) if its == tag]
        mean = result.by_tag[tag]["graded"]
        assert mean.mean == pytest.approx(float(sum(own) / len(own)), abs=1e-15)
        assert (mean.n, mean.of) == (3 * len(own), 3 * len(own))


def test_means_are_the_same_in_any_order():
    items = [(RANDOM.random(), "a") for _ in range(200)]
    expected = run(*items).by_tag["a"]["graded"].mean
    assert expected == run(*items, concurrency=9).by_tag["a"]["graded"].mean
    assert expected == run(*reversed(items)).by_tag["a"]["graded"].mean


def test_too_many_tags_are_ids_and_are_left_out_with_a_note():
    result = run(*[(1.0, f"t{n}") for n in range(MOST_TAGS)], (1.0,))
    assert len(result.tags) == MOST_TAGS + 1
    result = run(*[(1.0, f"t{n}") for n in range(MOST_TAGS + 1)])
    assert result.tags == ()
    assert "no means by tag: there are more than 1000 different tags" in result.summary.notes


def test_a_bad_item_of_a_stream_counts_where_its_tags_can_be_read():
    data = iter([Item("x", tags=["a"]), Item("y", tags=["a", ["b"]]), Item("z", tags="a")])
    result = run_evals_sync(data=data, target=lambda given: 1.0, scorers=[graded()])
    assert [(tag.tag, tag.items) for tag in result.tags] == [("a", 2), (None, 1)]
    assert result.by_tag["a"]["graded"].no_reply == 1


def test_tags_that_are_no_texts_are_refused_before_anything_runs():
    with pytest.raises(UsageError, match=r"tags must be a list of texts; 2024 is none"):
        run((1.0, 2024))


def test_a_part_of_a_run_has_the_tags_of_that_part():
    columns = Columns([])
    folds = TagFolds(columns, Fold(columns))
    folds.add(ItemResult(item=Item("x", tags=["a"]), item_id="x"))
    assert [(tag.tag, tag.items, tag.means) for tag in folds.means()] == [("a", 1, ())]
