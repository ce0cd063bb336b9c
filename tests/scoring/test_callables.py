from functools import partial

import pytest

from proctor.scoring.callables import RunFunction, is_async, takes_one


def plain(x):
    return x


async def later(x):
    return x


class Object:
    def __call__(self, x):
        return x

    def method(self, x):
        return x

    async def later(self, x):
        return x


class Later:
    async def __call__(self, x):
        return x


def two(x, y):
    return x


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(plain, False, id="def"),
        pytest.param(lambda x: x, False, id="lambda"),
        pytest.param(later, True, id="async def"),
        pytest.param(partial(two, 1), False, id="partial"),
        pytest.param(partial(partial(later)), True, id="partial of async def"),
        pytest.param(Object(), False, id="object"),
        pytest.param(Later(), True, id="object with async __call__"),
        pytest.param(Object().method, False, id="method"),
        pytest.param(Object().later, True, id="async method"),
        pytest.param(RunFunction(later), True, id="function of the run"),
        pytest.param(len, False, id="built in"),
    ],
)
def test_it_is_known_before_the_call_whether_it_gives_a_coroutine(function, expected):
    assert is_async(function) is expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        pytest.param(plain, True, id="one"),
        pytest.param(lambda *all: all, True, id="any number"),
        pytest.param(lambda x, y=1: x, True, id="one and an option"),
        pytest.param(len, True, id="built in"),
        pytest.param(dict, True, id="without a signature"),
        pytest.param(Object().method, True, id="method"),
        pytest.param(partial(two, 1), True, id="partial"),
        pytest.param(lambda: 1, False, id="none"),
        pytest.param(two, False, id="two"),
        pytest.param(lambda *, x: x, False, id="by keyword only"),
        pytest.param(5, False, id="no function"),
    ],
)
def test_whether_it_takes_one_argument(function, expected):
    assert takes_one(function) is expected
