import pytest

from proctor import Message, Text
from proctor.running.threads import MemoryThreads, ThreadMemory
from proctor.testing import ScriptedAgent
from tests.running.talks import FileThreads


def said(text, id=None):
    return Message("user", (Text(text),), id)


@pytest.fixture(params=[MemoryThreads, FileThreads])
def memory(request, tmp_path):
    return request.param(tmp_path) if request.param is FileThreads else request.param()


async def test_threads_keep_what_was_said_in_order_and_apart(memory):
    kept: ThreadMemory = memory
    assert await kept.load("t") == []
    await kept.append("t", [said("a"), said("b")], resource_id="r")
    await kept.append("other", [said("x")])
    await kept.append("t", [said("a")])
    assert [message.text for message in await kept.load("t", resource_id="r")] == ["a", "b", "a"]
    assert [message.text for message in await kept.load("other")] == ["x"]
    await kept.clear("t")
    await kept.clear("never")
    assert await kept.load("t") == []


async def test_what_is_loaded_is_a_copy():
    memory = MemoryThreads()
    await memory.append("t", [said("a")])
    (await memory.load("t")).append(said("b"))
    assert [message.text for message in memory.threads["t"]] == ["a"]


async def test_messages_with_ids_may_be_appended_again():
    memory = MemoryThreads()
    for _ in range(2):
        await memory.append("t", [said("a", "1"), said("b", "2"), said("b", "2")])
    await memory.append("t", [said("b", "2"), said("c", "3"), said("no id"), said("no id")])
    assert [message.text for message in await memory.load("t")] == ["a", "b", "c", "no id", "no id"]


async def test_a_scripted_agent_remembers_where_it_is_told(tmp_path):
    memory = FileThreads(tmp_path)
    agent = ScriptedAgent(["one", "two"], memory=memory)
    for text in "ab":
        await agent.generate([said(text)], thread_id="t")
    assert [message.text for message in await FileThreads(tmp_path).load("t")] == ["a", "one", "b", "two"]
    assert (agent.durable_threads, agent.threads) == (True, {})
    assert not ScriptedAgent("ok").durable_threads
    assert not ScriptedAgent("ok", memory=False).durable_threads
