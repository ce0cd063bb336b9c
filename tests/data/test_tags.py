import pytest

from proctor import Item, Mean, UsageError
from proctor.data.column import Column
from proctor.data.tags import ByTag, TagMeans, tags_of

REFUNDS = TagMeans("refunds", 3, (Mean(column=Column("scorer", None, "s[x]", "s"), mean=0.5, n=2, of=3),))
REST = TagMeans(None, 1)


def test_means_are_found_by_tag_and_then_as_in_a_result():
    by_tag = ByTag([REFUNDS, REST])
    assert by_tag["refunds"]["s"].mean == 0.5
    assert list(by_tag) == ["refunds", None]
    assert len(by_tag[None]) == 0
    assert (len(by_tag), None in by_tag, "refund" in by_tag) == (2, True, False)


def test_an_unknown_tag_is_an_error_that_guesses():
    with pytest.raises(UsageError, match=r"no tag 'refund'\. Did you mean 'refunds'"):
        ByTag([REFUNDS, REST])["refund"]


def test_its_repr_counts():
    assert repr(ByTag([REFUNDS, REST])) == "ByTag('refunds': 3 rows, None: 1 row)"


def test_they_print_tag_by_tag():
    assert str(ByTag([REFUNDS, REST])) == "refunds, 3 rows:\n  s[x]: 0.5 (2 of 3)\n(no tag), 1 row:"
    assert str(ByTag([TagMeans("\x1b[2J", 1)])) == "\\x1b[2J, 1 row:"
    assert str(ByTag([])) == "no item has a tag"


@pytest.mark.parametrize(
    ("tags", "found"),
    [((), ()), (["b", "a", "b"], ("b", "a")), ("text", ()), (None, ()), ([1, ["x"], "a"], ("a",))],
)
def test_the_tags_of_an_item_are_its_texts_each_once(tags, found):
    assert tags_of(Item("x", tags=tags)) == found
