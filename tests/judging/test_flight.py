"""Who asks the same thing at the same time gets the one answer that is on its way."""

import asyncio

import pytest

from proctor.judging.flight import once


class Counted:
    """Gives what it was told to, after a while; counts how often it was asked and cancelled."""

    def __init__(self, value="answer", wait=0.01):
        self.value, self.wait = value, wait
        self.asked = self.cancelled = 0

    async def __call__(self):
        self.asked += 1
        try:
            await asyncio.sleep(self.wait)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


async def test_it_is_made_once_for_all_who_ask_meanwhile():
    make = Counted()
    found = await asyncio.gather(*(once("key", make) for _ in range(50)))
    assert make.asked == 1
    assert sorted(found) == [("answer", False)] + 49 * [("answer", True)]


async def test_it_is_made_again_for_those_who_come_later():
    make = Counted()
    await once("key", make)
    assert await once("key", make) == ("answer", False)
    assert make.asked == 2


async def test_keys_are_apart():
    make = Counted()
    await asyncio.gather(once("a", make), once("b", make))
    assert make.asked == 2


async def test_a_failure_is_everybodys():
    make = Counted(ValueError("no"))
    found = await asyncio.gather(*(once("key", make) for _ in range(3)), return_exceptions=True)
    assert [str(error) for error in found] == ["no"] * 3
    assert make.asked == 1


async def test_an_exit_is_everybodys_too_and_not_the_loops():
    async def leave():
        await asyncio.sleep(0)
        raise SystemExit(3)

    async def ask():
        with pytest.raises(SystemExit):
            await once("key", leave)

    await asyncio.gather(*(ask() for _ in range(3)))
    await asyncio.sleep(0.01)


@pytest.mark.parametrize("which", [0, 1])
async def test_whoever_gives_up_leaves_the_others_alone(which):
    make = Counted(wait=0.05)
    tasks = [asyncio.create_task(once("key", make)) for _ in range(2)]
    await asyncio.sleep(0.01)
    tasks[which].cancel()
    assert (await tasks[1 - which])[0] == "answer"
    assert (make.asked, make.cancelled) == (1, 0)


async def test_when_the_last_one_gives_up_the_call_is_given_up():
    make = Counted(wait=60)
    tasks = [asyncio.create_task(once("key", make)) for _ in range(3)]
    await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.01)
    assert (make.asked, make.cancelled) == (1, 1)


async def test_who_comes_while_it_is_being_given_up_has_it_made_again():
    slow = Counted(wait=60)
    task = asyncio.create_task(once("key", slow))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.sleep(0)  # it is cancelled, and has not ended
    assert await once("key", Counted()) == ("answer", False)
    with pytest.raises(asyncio.CancelledError):
        await task


def test_loops_do_not_wait_for_each_other():
    make = Counted()
    for _ in range(2):
        assert asyncio.run(once("key", make)) == ("answer", False)
    assert make.asked == 2


@pytest.mark.parametrize("leaver", [0, 1])
async def test_one_who_gets_it_has_it_first_also_when_who_asked_first_is_gone(leaver):
    make = Counted(wait=0.05)
    tasks = [asyncio.create_task(once("key", make)) for _ in range(3)]
    await asyncio.sleep(0.01)
    tasks[leaver].cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [it[1] for it in found if isinstance(it, tuple)] == [False, True]
