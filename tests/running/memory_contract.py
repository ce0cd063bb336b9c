"""What every memory of threads must do. Subclass `MemoryContract`, with a fixture `memory` that gives an empty one."""

import asyncio
from datetime import UTC, datetime

import pytest

from proctor import Message, Text, ToolCall
from proctor.data.message import Data, File, Reasoning
from proctor.running.threads import ThreadMemory
from tests.data.strategies import same

WHOLE = Message(
    "assistant",
    (
        Text("It is "),
        Reasoning("They ask for the time."),
        ToolCall("clock", {"zone": "UTC", "digits": [2.0, True, None]}, id="1", result={"at": "12:00"}, state="done"),
        ToolCall("clock", "{not json", error="no such zone", state="failed"),
        ToolCall("later", state="partial"),
        File(b"\x00\xff", "image/png", "sun.png"),
        File("https://example.org/sun.png"),
        Data({"moment": datetime(2026, 1, 2, tzinfo=UTC), 1: "one", "$": "text"}, "data-weather"),
        Data(None),
        Text(""),
    ),
    id="m1",
    metadata={"model": "gpt-5-mini", "tokens": 2**70},
)  # fmt: skip

TEXTS = {
    "nul": "a\x00b",
    "surrogates": "\ud83d and \ud83d\ude00 and \udc00",
    "escape": "\x1b[31m",
    "separators": "a\u2028b\r\nc",
    "five_mb": "ä" * 2_500_000,
    "empty": "",
}


def said(text, *, id=None):
    return Message("user", (Text(text),), id)


def texts(messages):
    return [message.text for message in messages]


class MemoryContract:
    async def test_it_is_a_memory(self, memory):
        assert isinstance(memory, ThreadMemory)
        assert isinstance(memory.durable, bool)

    async def test_a_thread_that_is_not_there_is_empty(self, memory):
        assert await memory.load("never") == []
        await memory.clear("never")

    async def test_messages_come_back_whole(self, memory):
        await memory.append("t", [WHOLE, Message("tool")])
        assert same(await memory.load("t"), [WHOLE, Message("tool")])

    @pytest.mark.parametrize("name", TEXTS)
    async def test_any_text_comes_back(self, memory, name):
        message = Message("user", (Text(TEXTS[name]),), metadata={TEXTS[name][:100]: TEXTS[name]})
        await memory.append("t", [message])
        assert same(await memory.load("t"), [message])

    @pytest.mark.parametrize("name", ["nul", "surrogates", "escape", "separators", "empty"])
    async def test_any_text_names_a_thread_a_resource_and_a_message(self, memory, name):
        text = TEXTS[name]
        for _ in range(2):
            await memory.append(text, [said("a", id=text)], resource_id=text)
        await memory.append(f"{text}.", [said("b", id=text)])
        assert await memory.load(text, resource_id=text) == [said("a", id=text)]
        await memory.clear(text)
        assert (await memory.load(text), texts(await memory.load(f"{text}."))) == ([], ["b"])

    async def test_messages_are_in_the_order_in_which_they_were_appended(self, memory):
        for start in range(0, 60, 3):
            await memory.append("t", [said(str(number)) for number in range(start, start + 3)])
        assert texts(await memory.load("t")) == [str(number) for number in range(60)]

    async def test_a_message_with_an_id_is_added_once(self, memory):
        for _ in range(2):
            await memory.append("t", [said("a", id="1"), said("b", id="2"), said("b again", id="2")])
        await memory.append("t", [said("b", id="2"), said("c", id="3"), said("none"), said("none")])
        await memory.append("other", [said("a", id="1")])
        assert texts(await memory.load("t")) == ["a", "b", "c", "none", "none"]
        assert texts(await memory.load("other")) == ["a"]

    async def test_a_thread_is_known_by_its_id_alone(self, memory):
        await memory.append("t", [said("a")], resource_id="anna")
        await memory.append("t", [said("b")])
        assert texts(await memory.load("t", resource_id="ben")) == ["a", "b"]

    async def test_nothing_may_be_appended(self, memory):
        await memory.append("t", [])
        assert await memory.load("t") == []

    async def test_a_thread_that_was_cleared_begins_anew(self, memory):
        await memory.append("t", [said("a", id="1"), said("b")])
        await memory.append("other", [said("x")])
        await memory.clear("t")
        assert await memory.load("t") == []
        await memory.append("t", [said("a", id="1")])
        assert (texts(await memory.load("t")), texts(await memory.load("other"))) == (["a"], ["x"])

    async def test_what_is_loaded_is_a_copy(self, memory):
        await memory.append("t", [said("a")])
        (await memory.load("t")).append(said("b"))
        assert texts(await memory.load("t")) == ["a"]

    async def test_of_many_who_append_at_once_none_loses_a_message(self, memory):
        async def work(who):
            for number in range(5):
                await memory.append("t", [said(f"{who} {number} {part}") for part in "ab"])

        await asyncio.gather(*map(work, range(6)))
        found = texts(await memory.load("t"))
        assert len(found) == 60
        assert all(first[:-1] == second[:-1] for first, second in zip(found[::2], found[1::2], strict=True))
        for who in range(6):
            mine = [text for text in found if text.startswith(f"{who} ")]
            assert mine == [f"{who} {number} {part}" for number in range(5) for part in "ab"]
