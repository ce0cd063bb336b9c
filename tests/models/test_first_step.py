"""The first step of a coroutine, in which a warning of an ignored setting is an error."""

import asyncio
import warnings

import pytest

from proctor.models.first_step import FirstStep


def none():
    return None


async def test_it_gives_what_the_work_gives_whether_it_waits_or_not():
    async def at_once():
        return 1

    async def later():
        for _ in range(3):
            await asyncio.sleep(0)
        return 2

    passed = []
    assert await FirstStep(at_once(), passed=lambda: passed.append(1)) == 1
    assert await FirstStep(later(), passed=lambda: passed.append(2)) == 2
    assert passed == [1, 2]


async def test_a_warning_of_an_ignored_setting_is_raised_where_it_is_given():
    async def drops():
        warnings.warn("seed is not supported and will be ignored.", UserWarning, stacklevel=1)

    passed = []
    with pytest.raises(UserWarning, match="seed"):
        await FirstStep(drops(), passed=lambda: passed.append(1))
    assert not passed


async def test_other_warnings_and_later_ones_stay_warnings():
    async def warns():
        warnings.warn("it is old", UserWarning, stacklevel=1)
        await asyncio.sleep(0)
        warnings.warn("seed will be ignored", UserWarning, stacklevel=1)
        return 1

    with pytest.warns(UserWarning) as given:  # noqa: PT030 - both messages are looked at
        assert await FirstStep(warns(), passed=none) == 1
    assert [str(one.message) for one in given] == ["it is old", "seed will be ignored"]


async def test_errors_and_cancellations_reach_the_work():
    seen = []

    async def work():
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def wait():
        await FirstStep(work(), passed=none)

    task = asyncio.ensure_future(wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["cancelled"]

    async def fails():
        await asyncio.sleep(0)
        raise KeyError("mine")

    with pytest.raises(KeyError):
        await FirstStep(fails(), passed=none)
