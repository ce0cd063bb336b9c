import random
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.stats.exact import ExactSum

FLOATS = st.floats(-1e12, 1e12) | st.floats(0, 1)


def summed(numbers):
    total = ExactSum()
    for number in numbers:
        total.add(number)
    return total.value


@given(st.lists(FLOATS))
def test_it_is_the_sum_rounded_once(numbers):
    assert summed(numbers) == fsum(numbers)


@given(st.lists(FLOATS), st.randoms())
def test_the_order_does_not_matter(numbers, chance):
    mixed = numbers.copy()
    chance.shuffle(mixed)
    assert summed(mixed) == summed(numbers)


def test_nothing_is_zero():
    assert ExactSum().value == 0.0


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param([0.1] * 10, 1.0, id="ten tenths"),
        pytest.param([1e100, 1.0, -1e100], 1.0, id="large ones that cancel"),
        pytest.param([1e16, 1.0, 1.0, -1e16], 2.0, id="small ones beside large ones"),
        pytest.param([True, 0.5], 1.5, id="bool"),
    ],
)
def test_sums_that_go_wrong_otherwise(numbers, expected):
    assert summed(numbers) == expected


def test_its_memory_does_not_grow():
    total = ExactSum()
    chance = random.Random(1)
    for _ in range(10_000):
        total.add(chance.random())
    assert len(total._partials) < 10


def test_sums_merge_exactly():
    left, right, whole = ExactSum(), ExactSum(), ExactSum()
    for n in range(100):
        (left if n % 3 else right).add(0.1 * n)
        whole.add(0.1 * n)
    left.merge(right)
    assert left.value == whole.value
    left.merge(left)
    assert left.value == 2 * whole.value
