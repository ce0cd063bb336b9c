"""What a model call used: what is unknown stays unknown."""

import pytest

from proctor.data.usage import Cost, Usage


@pytest.mark.parametrize(
    ("usage", "total"),
    [
        (Usage(), None),
        (Usage(total_tokens=0), 0),
        (Usage(input_tokens=3, output_tokens=4, total_tokens=9), 9),
        (Usage(input_tokens=3, output_tokens=4), 7),
        (Usage(output_tokens=4), 4),
        (Usage(input_tokens=0), 0),
        (Usage(reasoning_tokens=5), None),
    ],
    ids=repr,
)
def test_the_total_is_what_was_reported_or_the_known_parts(usage, total):
    assert usage.total == total


def test_usages_add_up_field_by_field():
    left = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    right = Usage(input_tokens=10, cached_input_tokens=4, total_tokens=30)
    assert left + right == Usage(input_tokens=11, output_tokens=2, total_tokens=33, cached_input_tokens=4)
    assert Usage() + Usage() == Usage()


def test_a_total_that_only_one_reported_is_of_both_all_the_same():
    reported, counted = Usage(total_tokens=25), Usage(input_tokens=10, output_tokens=1)
    assert (reported + counted).total == (counted + reported).total == 36
    assert (counted + counted).total_tokens is None


def test_what_both_know_is_added_even_when_it_is_nothing():
    assert (Usage(input_tokens=0) + Usage(input_tokens=0)).input_tokens == 0


def test_a_cost_says_who_says_so():
    assert Cost(amount=0.5) == Cost(amount=0.5, unit="USD", source="provider")
