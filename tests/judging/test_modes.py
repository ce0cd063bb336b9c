"""The way in which a model takes a schema is found with one call, and remembered."""

import asyncio
import logging

import pytest

from proctor.errors import ModelError
from proctor.judging import modes as modes_module
from proctor.judging.modes import Modes, modes_of

WAYS = ("native", "tool", "prompted")


class Server:
    """Takes schemas in some ways only, and notes each call. *strange*: a schema that goes in words alone."""

    def __init__(self, *takes, strange=None):
        self.takes, self.strange = takes, strange
        self.calls = []

    def call(self, schema="s"):
        async def send(way):
            self.calls.append(way)
            await asyncio.sleep(0.001)
            if way not in self.takes or (schema == self.strange and way != "prompted"):
                raise ModelError(f"{way} is not supported", kind="rejected")
            return way

        return send


async def test_the_first_way_that_works_is_taken():
    server, modes = Server("tool", "prompted"), Modes("m")
    assert await modes.through(WAYS, server.call(), schema="s") == "tool"
    assert await modes.through(WAYS, server.call(), schema="s") == "tool"
    assert server.calls == ["native", "tool", "tool"]


async def test_a_hundred_at_once_waste_one_call(caplog):
    server, modes = Server("prompted"), Modes("m")
    with caplog.at_level(logging.WARNING):
        await asyncio.gather(*(modes.through(("native", "prompted"), server.call(), schema="s") for _ in range(100)))
    assert server.calls.count("native") == 1
    assert len(server.calls) == 101
    assert [record.getMessage() for record in caplog.records] == [
        "m rejects how the answer's schema was sent; it is sent as prompted: native is not supported"
    ]


async def test_a_schema_that_needs_another_way_changes_nothing_for_the_others():
    server, modes = Server(*WAYS, strange="odd"), Modes("m")
    for schema in ("s", "odd", "odd", "s"):
        await modes.through(WAYS, server.call(schema), schema=schema)
    assert server.calls == ["native", "native", "tool", "prompted", "prompted", "native"]


async def test_a_schema_that_worked_is_sent_so_whatever_is_rejected_later():
    """A prompt may be rejected for what it says: trying it in other ways would be calls for nothing."""
    server, modes = Server("native"), Modes("m")
    await modes.through(WAYS, server.call(), schema="s")
    server.takes = ()
    with pytest.raises(ModelError):
        await modes.through(WAYS, server.call(), schema="s")
    assert server.calls == ["native", "native"]


async def test_when_all_ways_are_rejected_the_first_error_counts():
    with pytest.raises(ModelError, match="native is not supported"):
        await Modes("m").through(WAYS, Server().call(), schema="s")


@pytest.mark.parametrize(
    "error",
    [
        ModelError("busy", kind="busy"),
        ModelError("no key", kind="unauthorized"),
        ModelError("temperature is not supported", kind="rejected", parameter="temperature"),
    ],
    ids=["busy", "unauthorized", "parameter"],
)
async def test_other_errors_are_no_reason_to_send_it_otherwise(error):
    sent = []

    async def send(way):
        sent.append(way)
        raise error

    with pytest.raises(ModelError) as raised:
        await Modes("m").through(WAYS, send, schema="s")
    assert raised.value is error
    assert sent == ["native"]


async def test_the_response_format_is_no_setting():
    """Servers name it when they reject it."""

    async def send(way):
        if way == "native":
            raise ModelError("no response_format", kind="rejected", parameter="response_format")
        return way

    assert await Modes("m").through(WAYS, send, schema="s") == "tool"


async def test_a_first_call_that_fails_holds_nobody_up():
    """A server that does not answer would otherwise be asked by one after the other."""
    modes, in_flight, most = Modes("m"), 0, 0

    async def fail(way):
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.01)
        in_flight -= 1
        raise ModelError("down", kind="unavailable")

    await asyncio.gather(*(modes.through(WAYS, fail, schema="s") for _ in range(20)), return_exceptions=True)
    assert most == 19


async def test_nobody_waits_for_a_first_call_that_takes_long(monkeypatch):
    monkeypatch.setattr(modes_module, "_LONG", 0.02)
    modes = Modes("m")

    async def hang(way):
        await asyncio.sleep(60)

    first = asyncio.create_task(modes.through(WAYS, hang, schema="s"))
    await asyncio.sleep(0)
    assert await modes.through(WAYS, Server("native").call(), schema="s") == "native"
    first.cancel()


async def test_where_there_is_but_one_way_the_first_call_goes_ahead_too():
    modes, called = Modes("m"), []

    async def refuse():
        called.append("refused")
        await asyncio.sleep(0.001)
        raise ModelError("no such key", kind="unauthorized")

    async def look():
        return first.done()

    first = asyncio.create_task(modes.in_one_way(refuse))
    await asyncio.sleep(0)
    assert await modes.in_one_way(look)
    assert isinstance(first.exception(), ModelError)
    assert called == ["refused"]


async def test_a_model_that_answered_in_one_way_is_waited_for_no_more():
    server, modes = Server(*WAYS), Modes("m")
    assert await modes.through(["native"], server.call(), schema="s") == "native"
    assert await asyncio.gather(*(modes.in_one_way(lambda: server.call()("tool")) for _ in range(3))) == ["tool"] * 3


async def test_after_a_first_call_that_failed_the_next_one_finds_the_way():
    server, modes = Server("native"), Modes("m")

    async def fail(way):
        raise ModelError("down", kind="unavailable")

    with pytest.raises(ModelError):
        await modes.through(WAYS, fail, schema="s")
    assert modes.known is None
    assert await modes.through(WAYS, server.call(), schema="s") == "native"


def test_a_process_knows_a_model_once():
    assert modes_of("a model") is modes_of("a model")
    assert modes_of("a model") is not modes_of("another")


def test_what_was_found_in_one_loop_holds_in_the_next():
    server, modes = Server("prompted"), Modes("m")
    for _ in range(2):
        assert asyncio.run(modes.through(WAYS, server.call(), schema="s")) == "prompted"
    assert server.calls == ["native", "tool", "prompted", "prompted"]
