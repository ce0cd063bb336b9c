"""Runs whose tools are recorded, and made again without them."""

import json

import pytest

from proctor import Item, MemoryRecorder, Message, Reply, ToolCall, ToolMock, Turn, UsageError, checks, run_evals
from proctor.errors import DataErrors
from proctor.running.changes import Changes, changes_from
from proctor.running.target import keep_with
from tests.running.test_toolbox import ANY, Shop, calls_of


class Counter(Shop):
    """Every payment gives another receipt."""

    async def pay(self, args):
        await super().pay(args)
        return {"receipt": len(self.paid)}


DATA = [
    Item([("pay", {"n": 1}), ("pay", {"n": 1}), ("refund", {"n": 2})], id="three"),
    Item(turns=[Turn([("pay", {"n": 3})]), Turn([("pay", {"n": 3})])], id="talk"),
    Item([], id="none"),
]


def said(result):
    return [[(call.name, call.args, call.result) for call in calls_of(row)] for row in result.items]


async def test_a_recorded_run_is_made_again_without_a_tool(tmp_path):
    path, live, dead = tmp_path / "tools.jsonl", Counter(), Counter()
    options = {"data": DATA, "scorers": ANY, "repeats": 2, "concurrency": 3}
    first = await run_evals(target=live, record_tools=path, **options)
    second = await run_evals(target=dead, replay_tools=str(path), **options)
    assert said(second) == said(first)
    assert (len(live.paid), dead.paid) == (10, [])
    assert all(not row.tool_report.live and not row.tool_report.unused for row in second.items)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted((line["item_id"], line["repeat"]) for line in lines) == [
        (name, repeat) for name in ("none", "talk", "three") for repeat in (0, 1)
    ]


async def test_an_agent_that_does_otherwise_than_recorded_is_an_error(tmp_path):
    path = tmp_path / "tools.jsonl"
    await run_evals(target=Counter(), data=[Item([("pay", {"n": 1})], id="i")], scorers=ANY, record_tools=path)
    for calls, code in (
        ([("pay", {"n": 2})], "TOOL_MOCK_MISMATCH"),
        ([("pay", {"n": 1})] * 2, "TOOL_MOCK_EXHAUSTED"),
        ([("refund", {"n": 1})], "TOOL_MOCK_NOT_DECLARED"),
    ):
        shop = Counter()
        result = await run_evals(target=shop, data=[Item(calls, id="i")], scorers=ANY, replay_tools=path)
        assert (result.items[0].error.code, shop.paid) == (code, [])
        assert result.scores["check-max-tool-calls[9]"].n == 0


async def test_an_item_that_was_not_recorded_is_refused_before_anything_runs(tmp_path):
    path, shop = tmp_path / "tools.jsonl", Counter()
    await run_evals(target=Counter(), data=DATA, scorers=ANY, record_tools=path)
    for data, repeats, message in (
        ([*DATA, Item([], id="new")], 1, "has no recording of it (new); it has three, talk, none"),
        (DATA, 2, "has no recording of its repeat 1 (three)"),
        ([Item([], id="none", tool_mocks=[ToolMock("pay", output=1)])], 1, "has tool_mocks, and replay_tools="),
    ):
        with pytest.raises(DataErrors) as refused:
            await run_evals(target=shop, data=data, scorers=ANY, replay_tools=path, repeats=repeats)
        assert message in str(refused.value)
    assert shop.paid == []

    async def arriving():
        for item in (DATA[0], Item([("pay", {})], id="new")):
            yield item

    result = await run_evals(target=shop, data=arriving(), scorers=ANY, replay_tools=path)
    assert [row.status for row in result.items] == ["done", "error"]
    assert ("no recording of it" in result.items[1].error.message, shop.paid) == (True, [])


async def test_a_row_that_is_recorded_again_takes_the_place_of_the_older_line(tmp_path):
    path, shop = tmp_path / "tools.jsonl", Counter()
    for _ in range(2):
        await run_evals(target=shop, data=DATA[:1], scorers=ANY, record_tools=path)
    again = await run_evals(target=shop, data=DATA[:1], scorers=ANY, replay_tools=path)
    assert [call.result for call in calls_of(again.items[0])] == [{"receipt": 4}, {"receipt": 5}, {"receipt": 6}]


async def test_a_call_that_ended_its_item_is_an_error_again(tmp_path):
    path, shop = tmp_path / "tools.jsonl", Counter()
    data = [Item([("pay", {"n": 1}), ("pay", {"n": 13})], id="i")]
    await run_evals(target=shop, data=data, scorers=ANY, record_tools=path)
    assert len(shop.paid) == 2
    again = await run_evals(target=shop, data=data, scorers=ANY, replay_tools=path)
    assert (again.items[0].status, len(shop.paid)) == ("error", 2)


async def test_a_failure_that_the_agent_went_on_from_is_recorded_with_an_item_that_broke_later(tmp_path):
    class Breaks(Counter):
        async def __call__(self, calls, *, toolbox):
            said = [
                Message("assistant", (ToolCall("pay", {"n": 13}, id="a", error="no luck", state="failed"),)),
                Message("assistant", (ToolCall("pay", {"n": 13}, id="b"),)),
            ]
            error = RuntimeError("the model is down")
            keep_with(error, Reply(output=said))
            raise error

    path = tmp_path / "tools.jsonl"
    await run_evals(target=Breaks(), data=[Item([], id="i")], scorers=ANY, record_tools=path)
    (call,) = json.loads(path.read_text(encoding="utf-8"))["calls"]
    assert (call["args"], call["error"]) == ({"n": 13}, "no luck")


async def test_what_is_there_already_is_neither_run_nor_recorded_again(tmp_path):
    recorder, path = MemoryRecorder(), tmp_path / "tools.jsonl"
    for _ in range(2):
        await run_evals(target=Counter(), data=DATA, scorers=ANY, recorder=recorder, record_tools=path)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


async def test_a_file_that_is_no_recording_is_refused(tmp_path):
    path = tmp_path / "tools.jsonl"
    options = {"target": Counter(), "data": DATA, "scorers": ANY}
    for text in ("{}\n{}\n", "[1]\n{}\n", '{"item_id": "a", "repeat": 0, "calls": [{"name": "pay"}]}\n{}\n'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UsageError, match=r"tools.jsonl, line 1 is no recording of tools"):
            await run_evals(replay_tools=path, **options)
    for given, message in (
        ({"replay_tools": tmp_path / "none.jsonl"}, "cannot be read"),
        ({"record_tools": tmp_path}, "is a folder"),
        ({"record_tools": tmp_path / "no" / "a.jsonl"}, "which is not there"),
        ({"record_tools": 5}, "is the path of a file"),
        ({"record_tools": path, "redact": str.upper}, "could not be replayed"),
        ({"replay_tools": path, "unmocked": "deny"}, "leave out unmocked"),
        ({"unmocked": "denied"}, "unmocked"),
    ):
        with pytest.raises(UsageError, match=message):
            await run_evals(**{**options, **given})


async def test_lines_may_be_written_by_hand(tmp_path):
    path, shop = tmp_path / "tools.jsonl", Counter()
    path.write_text(
        '{"item_id": "i", "repeat": 0, "calls": [{"name": "pay", "output": "by hand"}]}\n', encoding="utf-8"
    )
    result = await run_evals(target=shop, data=[Item([("pay", {})], id="i")], scorers=ANY, replay_tools=path)
    assert (calls_of(result.items[0])[0].result, shop.paid) == ("by hand", [])


async def test_a_line_that_was_being_written_when_the_run_was_killed_is_left_out(tmp_path):
    path = tmp_path / "tools.jsonl"
    await run_evals(target=Counter(), data=DATA, scorers=ANY, record_tools=path)
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    result = await run_evals(target=Counter(), data=DATA[:2], scorers=[checks.max_tool_calls(9)], replay_tools=path)
    assert result.summary.errors == 0


def test_the_files_of_a_command_go_with_the_run():
    changes = Changes(record_tools="a.jsonl", replay_tools="b.jsonl")
    assert changes_from(changes.to_json()) == changes
