"""Some of the items: by id, by tag, the first of them."""

import json

import pytest

from proctor import Eval, Item, UsageError, run_evals_sync
from proctor.errors import DataErrors, UnknownName
from proctor.running.choice import NOTHING_LEFT, Choice, choose, read_filters
from tests.running.graded import graded

ROWS = [
    {"id": "refund-1", "output": 1, "tags": ["money", "slow"]},
    {"id": "refund-2", "output": 1, "tags": ["money"]},
    {"id": "greeting", "output": 1, "tags": ("slow",)},
    {"id": 7, "output": 1},
]


def as_file(folder):
    path = folder / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return path


async def arriving():
    for row in ROWS:
        yield row


KINDS = {
    "list": lambda folder: ROWS,
    "file": as_file,
    "iterator": lambda folder: iter(ROWS),
    "async": lambda folder: arriving(),
    "Items": lambda folder: [Item(**{**row, "id": str(row["id"])}) for row in ROWS],
}


def ids(data, *filters, limit=None, **options):
    evaluation = Eval(data=data, scorers=[graded()], **options)
    return [row.item_id for row in run_evals_sync(choose(evaluation, read_filters(filters, limit=limit))).items]


@pytest.mark.parametrize("kind", [list, iter])
def test_an_item_whose_content_comes_again_has_the_same_id_as_in_a_run_of_all(kind):
    """The number behind it counts all items, also those that are left out."""
    rows = [{"output": 1}, {"output": 1, "tags": ["b"]}, {"output": 0.5}, {"output": 1, "tags": ["b"]}]
    first, second, other, third = ids(kind(rows))
    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert ids(kind(rows), f"id={first}-2") == [second]
    assert ids(kind(rows), f"id={first}*") == [first, second, third]
    assert ids(kind(rows), f"id={other}", f"id={third}") == [other, third]
    assert ids(kind(rows), "tag=b") == [second, third]
    assert ids(kind(rows), "tag=b", limit=1) == [second]


def test_where_ids_are_not_remembered_none_has_a_number():
    rows = [{"output": 1}, {"output": 1}]
    evaluation = Eval(data=iter(rows), scorers=[graded()], keep="none")
    (first, _) = ids(rows)
    assert run_evals_sync(choose(evaluation, read_filters([f"id={first}"]))).summary.items == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("filters", "limit", "left"),
    [
        ([], None, ["refund-1", "refund-2", "greeting", "7"]),
        ([], 2, ["refund-1", "refund-2"]),
        ([], 9, ["refund-1", "refund-2", "greeting", "7"]),
        (["id=refund-*"], None, ["refund-1", "refund-2"]),
        (["id=refund-[2-9]", "id=7"], None, ["refund-2", "7"]),
        (["tag=slow"], None, ["refund-1", "greeting"]),
        (["tag=slow", "tag=money"], None, ["refund-1", "refund-2", "greeting"]),
        (["tag=slow", "id=refund-*"], None, ["refund-1"]),
        (["tag=slow"], 1, ["refund-1"]),
        ([" tag = slow ", "id=g*"], 1, ["greeting"]),
    ],
    ids=str,
)
def test_what_is_chosen(tmp_path, kind, filters, limit, left):
    assert ids(KINDS[kind](tmp_path), *filters, limit=limit) == left


def test_an_item_without_an_id_is_found_by_the_one_that_is_made_of_it():
    data = [{"output": "a"}, {"output": "b"}]
    made = ids(data)[1]
    assert ids(data, f"id={made[:6]}*") == [made]


@pytest.mark.parametrize("kind", ["stream", "list"])
def test_nothing_behind_the_last_of_a_limit_is_asked_for(kind):
    asked = []

    def rows():
        for number in range(100):
            asked.append(number)
            yield {"id": str(number), "output": 1}

    class Rows:
        def __iter__(self):
            return rows()

    assert ids(rows() if kind == "stream" else Rows(), "id=?[05]", limit=2) == ["10", "15"]
    assert len(asked) == 16


def test_repeats_do_not_count():
    assert ids(ROWS, limit=2, repeats=2) == ["refund-1", "refund-1", "refund-2", "refund-2"]


def test_columns_of_items_that_are_left_out_do_not_appear():
    data = [{"id": "a", "output": 1}, {"id": "b", "output": 1, "scorers": [graded("own")]}]
    evaluation = choose(Eval(data=data, scorers=[graded()]), Choice(ids=("a",)))
    assert len(run_evals_sync(evaluation).means) == 1


@pytest.mark.parametrize("kind", ["list", "file", "iterator", "async"])
@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (["tag=mony"], "no item has tag=mony (of 4). Did you mean 'money'? Tags: money, slow."),
        (["id=x*", "id=y"], "no item has id=x* or id=y (of 4). Ids: refund-1, refund-2, greeting, 7."),
        (["id=refnud-1"], "has id=refnud-1 (of 4). Did you mean 'refund-1'? Ids: refund-1, refund-2, greeting, 7."),
        (["id=7", "tag=slow"], "has id=7 and tag=slow (of 4). Tags: money, slow. Ids: refund-1"),
    ],
    ids=str,
)
def test_when_nothing_is_left_what_there_is_is_named(tmp_path, kind, filters, said):
    with pytest.raises(UsageError) as caught:
        ids(KINDS[kind](tmp_path), *filters)
    assert said in str(caught.value)
    assert caught.value.code == NOTHING_LEFT


def test_items_without_tags_say_so():
    with pytest.raises(UsageError, match=r"Tags: there are none\."):
        ids([{"output": 1}], "tag=slow")


def test_many_names_are_cut():
    with pytest.raises(UsageError, match=r"t17, \.\.\.") as caught:
        ids([{"output": 1, "id": f"i{n}", "tags": [f"t{n}"]} for n in range(30)], "tag=nothing-like-it")
    assert "i5" not in str(caught.value)


@pytest.mark.parametrize("bad", [{"inptu": "x"}, {"output": 1, "tags": "slow"}, {"output": 1, "tags": 5}], ids=str)
def test_what_cannot_be_an_item_is_told_whatever_is_chosen(bad):
    with pytest.raises(DataErrors, match="item 1"):
        ids([{"output": 1, "tags": ["a"]}, bad], "tag=a")


def test_no_items_are_still_no_items():
    with pytest.raises(UsageError, match="no items") as caught:
        ids([], "tag=a")
    assert caught.value.code != NOTHING_LEFT


@pytest.mark.parametrize("text", ["", "slow", "tag", "tag=", "=slow", "="])
def test_a_filter_that_cannot_be_read(text):
    with pytest.raises(UsageError, match="a filter is written id=GLOB or tag=NAME"):
        read_filters([text])


def test_a_key_that_does_not_exist():
    with pytest.raises(UnknownName, match=r"no filter key 'tags'\. Did you mean 'tag'\?"):
        read_filters(["tags=slow"])


@pytest.mark.parametrize("kind", KINDS)
def test_an_item_keeps_its_place_in_the_data(tmp_path, kind):
    evaluation = Eval(data=KINDS[kind](tmp_path), scorers=[graded()])
    result = run_evals_sync(choose(evaluation, Choice(tags=("slow",))))
    assert [row.index for row in result.items] == [0, 2]


def test_without_a_choice_the_evaluation_is_the_same_one():
    evaluation = Eval(data=ROWS, scorers=[graded()])
    assert choose(evaluation, read_filters([])) is evaluation
