"""Cases Y04 to Y06, X02, X05, X06, X08 and X09, with the wishes P45 to P48 and P81: live agents that have tools."""

import json
from time import perf_counter

import pytest
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from proctor import Item, Retry, Store, ToolMock, Turn, checks, not_scorable, run_evals, scorer, scorers

ANY = [checks.max_tool_calls(9)]
MEGABYTE = "0123456789abcdef" * 65_536


class Bank:
    """Tools with side effects; *fired* is what really happened."""

    def __init__(self):
        self.fired = []

    def pay(self, order: int) -> str:
        self.fired.append(("pay", order))
        return f"paid {order}"

    def look(self, order: int) -> str:
        self.fired.append(("look", order))
        return f"order {order} is open"

    def book(self, a: float, b: int = 0, who: dict | None = None) -> str:
        self.fired.append(("book", a))
        return "booked"

    def ping(self) -> str:
        self.fired.append(("ping",))
        return "pong"

    def fails(self, order: int) -> str:
        self.fired.append(("fails", order))
        raise ModelRetry("no such order")

    @property
    def tools(self):
        return [self.pay, self.look, self.book, self.ping, self.fails]


def script(*calls, at_once=False):
    """A model that makes these calls in each turn, one after the other or all at once, and tells what came back."""

    def model(messages, info):
        asked = max(at for at, message in enumerate(messages) if isinstance(message.parts[-1], UserPromptPart))
        since = [part for message in messages[asked:] for part in message.parts]
        made = sum(isinstance(part, ToolCallPart) for part in since)
        if made < len(calls):
            wanted = calls[made:] if at_once else calls[made : made + 1]
            parts = [
                ToolCallPart(name, args, tool_call_id=f"c{asked}-{made + n}") for n, (name, args) in enumerate(wanted)
            ]
            return ModelResponse(parts=parts)
        told = [f"{part.outcome}: {part.content}" for part in since if part.part_kind == "tool-return"]
        return ModelResponse(parts=[TextPart("; ".join(told) or "nothing to do")])

    return FunctionModel(model)


def agent(bank, *calls, at_once=False, **options):
    return Agent(script(*calls, at_once=at_once), tools=bank.tools, retries=3, **options)


async def mocked(*calls, mocks, bank=None, at_once=False, **options):
    """The row of an agent that makes these calls under these mocks, and what fired."""
    bank = bank or Bank()
    item = Item("Go", id="i", tool_mocks=mocks, unmocked=options.pop("policy", None))
    made = agent(bank, *calls, at_once=at_once)
    result = await run_evals(target=made, data=[item], scorers=options.pop("scorers", ANY), **options)
    return result.items[0], bank.fired


async def checked(*calls, by):
    """The outcomes of these checks on an agent that makes these calls."""
    result = await run_evals(target=agent(Bank(), *calls), data=[Item("Go")], scorers=by)
    assert result.items[0].status == "done"
    return list(result.items[0].outcomes)


async def scores(*calls, by):
    return [outcome.score for outcome in await checked(*calls, by=by)]


def ends(row):
    """What the agent said at the end of each turn."""
    return [reply.output[-1].text for reply in row.replies]


# ── Y04: a mocked tool never fires ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("policy", [None, "allow", "deny"])
@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
async def test_y04_a_tool_that_has_mocks_is_never_called(policy, at_once):
    calls = [("pay", {"order": 7}), ("pay", {"order": 8})]
    mocks = [ToolMock("pay", {"order": n}, output=f"would pay {n}") for n in (7, 8)]
    row, fired = await mocked(*calls, mocks=mocks, policy=policy, at_once=at_once)
    assert fired == []
    assert ends(row) == ["success: would pay 7; success: would pay 8"]
    assert [call.mock for call in row.tool_report.served] == [0, 1]


@pytest.mark.parametrize("policy", [None, "allow", "deny"])
async def test_y04_nor_for_arguments_or_for_a_call_more_than_its_mocks_are_for(policy):
    mock = ToolMock("pay", {"order": 7}, output="would pay")
    row, fired = await mocked(("pay", {"order": 8}), mocks=[mock], policy=policy)
    assert (row.status, row.error.code, fired) == ("error", "TOOL_MOCK_MISMATCH", [])
    row, fired = await mocked(("pay", {"order": 7}), ("pay", {"order": 7}), mocks=[mock], policy=policy)
    assert (row.status, row.error.code, fired) == ("error", "TOOL_MOCK_EXHAUSTED", [])


async def test_y04_a_tool_without_mocks_fires_where_the_run_or_the_item_says_so_and_else_ends_the_item():
    mocks = [ToolMock("pay", output="would pay")]
    calls = [("look", {"order": 7}), ("pay", {"order": 7})]
    for run, own, fires in (
        ("allow", None, True),
        ("allow", "deny", False),
        ("deny", None, False),
        ("deny", "allow", True),
    ):
        row, fired = await mocked(*calls, mocks=mocks, policy=own, unmocked=run)
        if fires:
            assert (ends(row), fired) == (["success: order 7 is open; success: would pay"], [("look", 7)])
        else:
            assert (row.status, row.error.code, fired) == ("error", "TOOL_MOCK_NOT_DECLARED", [])


async def test_y04_an_item_whose_call_was_refused_has_no_score_and_fails_the_gate_it_never_met():
    bank = Bank()
    items = [
        Item("Go", id="good", tool_mocks=[ToolMock("pay", {"order": 7}, output="ok")]),
        Item("Go", id="bad", tool_mocks=[ToolMock("pay", {"order": 9}, output="ok")]),
    ]
    gates = [checks.called_tool("pay")]
    result = await run_evals(target=agent(bank, ("pay", {"order": 7})), data=items, gates=gates, retries=2)
    good, bad = result.items
    assert [(row.status, row.gates[0].status, row.gates[0].score) for row in (good, bad)] == [
        ("done", "scored", 1.0),
        ("error", "not_run", None),
    ]
    assert (result.means[0].mean, result.means[0].n, result.means[0].not_run) == (1.0, 1, 1)
    assert (result.verdict, bank.fired) == ("failed", [])


async def test_y04_what_the_agent_did_before_the_refused_call_is_kept_with_it():
    row, fired = await mocked(
        ("look", {"order": 7}), ("pay", {"order": 7}), mocks=[ToolMock("look", output="open")], unmocked="deny"
    )
    calls = [call for message in row.output for call in message.tool_calls]
    assert [(call.name, call.mock, call.state) for call in calls] == [("look", 0, "done"), ("pay", None, "called")]
    assert (fired, row.replies[0].usage.output_tokens > 0) == ([], True)


async def test_y04_nothing_fires_after_a_refused_call_not_even_what_was_called_in_the_same_breath():
    mocks = [ToolMock("pay", {"order": 7}, output="would pay")]
    row, fired = await mocked(("pay", {"order": 8}), ("look", {"order": 8}), mocks=mocks, at_once=True)
    assert (row.error.code, fired) == ("TOOL_MOCK_MISMATCH", [])


class Soothing(AbstractCapability):
    """Makes an ordinary result of whatever a tool raises."""

    async def wrap_tool_execute(self, ctx, *, call, tool_def, args, handler):
        try:
            return await handler(args)
        except Exception as error:  # noqa: BLE001 - whatever it is
            return f"never mind: {type(error).__name__}"


async def test_y04_an_agent_that_swallows_the_refusal_gets_no_further_tool_and_the_item_is_an_error():
    bank = Bank()
    made = agent(bank, ("pay", {"order": 8}), ("look", {"order": 8}), capabilities=[Soothing()])
    item = Item("Go", tool_mocks=[ToolMock("pay", {"order": 7}, output="would pay")])
    (row,) = (await run_evals(target=made, data=[item], scorers=ANY)).items
    assert ends(row) == ["success: never mind: ToolMockError; success: never mind: ToolMockError"]
    assert (row.status, row.error.code, bank.fired) == ("error", "TOOL_MOCK_MISMATCH", [])


async def test_y04_tools_that_come_with_the_run_s_options_are_kept_from_firing_like_the_agent_s_own():
    bank = Bank()
    made = Agent(script(("pay", {"order": 7})))
    result = await run_evals(
        target=made,
        data=[Item("Go", tool_mocks=[ToolMock("pay", output="would pay")])],
        scorers=ANY,
        target_options={"toolsets": [FunctionToolset([bank.pay])]},
    )
    assert (ends(result.items[0]), bank.fired) == (["success: would pay"], [])


async def test_y04_a_tool_is_kept_from_firing_in_every_turn_repeat_and_try():
    bank, lost = Bank(), [True] * 3

    def model(messages, info):
        if lost and messages[-1].parts[-1].part_kind == "tool-return":
            lost.pop()
            raise ConnectionError("lost after the call")
        return script(("pay", {"order": 7})).function(messages, info)

    mocks = [ToolMock("pay", {"order": 7}, output=f"would pay {n}") for n in range(2)]
    result = await run_evals(
        target=Agent(FunctionModel(model), tools=bank.tools),
        data=[Item(inputs=["Go", "Again"], tool_mocks=mocks)],
        scorers=ANY,
        repeats=3,
        retries=Retry(times=3, first_wait=0.0),
    )
    assert [ends(row) for row in result.items] == [["success: would pay 0", "success: would pay 1"]] * 3
    assert (bank.fired, lost) == ([], [])


# ── Y05: what was recorded is replayed, or the item says that it could not be ──────────────────────────────────────


async def recorded(path, *calls, **options):
    result = await run_evals(
        target=agent(Bank(), *calls), data=[Item("Go", id="i")], scorers=ANY, record_tools=path, **options
    )
    assert result.items[0].status == "done"
    return result


@pytest.mark.parametrize(
    ("calls", "code", "told"),
    [
        ([("pay", {"order": 8})], "TOOL_MOCK_MISMATCH", "has at order 7, not 8"),
        ([("pay", {"order": 7.0})], "TOOL_MOCK_MISMATCH", "has at order 7, not 7.0"),
        ([("pay", {"order": 7}), ("pay", {"order": 7})], "TOOL_MOCK_EXHAUSTED", "once more than the 1 mock for it"),
        ([("look", {"order": 7})], "TOOL_MOCK_NOT_DECLARED", "there are mocks of: pay"),
    ],
    ids=["other arguments", "another type", "once more", "another tool"],
)
async def test_y05_an_agent_that_calls_otherwise_than_recorded_is_an_error_and_no_zero(tmp_path, calls, code, told):
    await recorded(tmp_path / "r.jsonl", ("pay", {"order": 7}))
    bank = Bank()
    result = await run_evals(
        target=agent(bank, *calls),
        data=[Item("Go", id="i")],
        gates=[checks.called_tool("pay")],
        scorers=[(checks.includes("paid"), 0.5)],
        replay_tools=tmp_path / "r.jsonl",
    )
    (row,) = result.items
    assert (row.status, row.error.code, bank.fired) == ("error", code, [])
    assert told in row.error.message
    assert {(outcome.status, outcome.score) for outcome in row.outcomes} == {("not_run", None)}
    assert [(mean.mean, mean.n) for mean in result.means] == [(None, 0)] * 2
    assert result.summary.errors == 1


async def test_y05_an_agent_that_calls_as_recorded_is_given_the_same_and_nothing_fires(tmp_path):
    calls = [("look", {"order": 7}), ("fails", {"order": 8}), ("pay", {"order": 7})]
    live, bank = await recorded(tmp_path / "r.jsonl", *calls), Bank()
    again = await run_evals(
        target=agent(bank, *calls), data=[Item("Go", id="i")], scorers=ANY, replay_tools=tmp_path / "r.jsonl"
    )
    seen = [
        [
            (call.name, call.args, call.result, call.error, call.state)
            for message in row.output
            for call in message.tool_calls
        ]
        for row in (live.items[0], again.items[0])
    ]
    assert seen[0] == seen[1]
    assert [call[4] for call in seen[0]] == ["done", "failed", "done"]
    assert (bank.fired, str(again.items[0].tool_report)) == ([], "3 calls answered by mocks, 0 live, 0 mocks unused")


async def test_y05_an_agent_that_makes_fewer_calls_than_recorded_is_told_of_in_the_report(tmp_path):
    await recorded(tmp_path / "r.jsonl", ("look", {"order": 7}), ("pay", {"order": 7}))
    result = await run_evals(
        target=agent(Bank(), ("look", {"order": 7})), data=[Item("Go", id="i")], scorers=ANY,
        replay_tools=tmp_path / "r.jsonl",
    )  # fmt: skip
    assert result.items[0].status == "done"
    assert [mock.name for mock in result.items[0].tool_report.unused] == ["pay"]


# ── Y06: mocks that fail, take long, or give much ──────────────────────────────────────────────────────────────────


def three(odd):
    """An item of its own between two that are well."""
    mocks = [ToolMock("pay", output="ok")], [odd], [ToolMock("pay", output="ok")]
    return [Item(f"Go {n}", id=str(n), tool_mocks=mock) for n, mock in enumerate(mocks)]


async def among_three(odd, **options):
    bank = Bank()
    made = agent(bank, ("pay", {"order": 7}))
    result = await run_evals(target=made, data=three(odd), scorers=[checks.no_tool_errors()], **options)
    first, row, last = result.items
    assert [(it.status, ends(it), it.outcomes[0].score) for it in (first, last)] == [("done", ["success: ok"], 1.0)] * 2
    assert bank.fired == []
    return row


async def test_y06_a_mock_that_fails_is_a_tool_error_to_the_agent_and_to_the_checks():
    row = await among_three(ToolMock("pay", error="the bank is closed"))
    assert (row.status, ends(row), row.outcomes[0].score) == ("done", ["failed: the bank is closed"], 0.0)
    (call,) = row.tool_report.served
    assert (call.state, call.error) == ("failed", "the bank is closed")


async def test_y06_a_failure_that_the_agent_is_not_told_of_is_one_to_the_checks():
    row = await among_three(ToolMock("pay", error="never sent", output="paid 7"))
    assert (row.status, ends(row), row.outcomes[0].score) == ("done", ["success: paid 7"], 0.0)


async def test_y06_a_mock_that_takes_long_costs_its_own_item_the_time_and_no_other():
    began = perf_counter()
    row = await among_three(ToolMock("pay", output="late", delay=60), timeout=0.5)
    assert perf_counter() - began < 10
    assert (row.status, row.error.code, row.outcomes[0].status) == ("error", "TIMEOUT", "not_run")
    assert [message.tool_calls[0].args for message in row.output] == [{"order": 7}]


async def test_y06_a_megabyte_comes_whole_to_the_agent_and_into_the_store(tmp_path):
    row = await among_three(ToolMock("pay", output=MEGABYTE), store=tmp_path / "runs.db")
    assert (row.status, len(ends(row)[0])) == ("done", len("success: ") + len(MEGABYTE))
    assert row.tool_report.served[0].result == MEGABYTE


async def test_y06_a_match_that_raises_ends_its_item_with_what_it_raised():
    row = await among_three(ToolMock("pay", match=lambda args: args["customer"] == 1, output="ok"))
    assert (row.status, row.error.code) == ("error", "TOOL_MOCK_MISMATCH")
    assert "match= of tool_mocks[0] raised KeyError: 'customer'" in row.error.message


# ── X02, X06, P45: arguments, as the model wrote them ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("expected", "actual", "value", "exact"),
    [(1, 1.0, 1, 0), (1.0, 1, 1, 0), (1, 1, 1, 1), (True, 1, 0, 0), (1, True, 0, 0), ("1", 1, 0, 0), (1, "1", 0, 0)],
    ids=repr,
)
async def test_x02_numbers_of_another_type_are_the_same_value_and_not_exactly_the_same(expected, actual, value, exact):
    """Whatever the framework makes of them for a tool that takes a float."""
    wanted = {"a": expected}
    by = [checks.called_tool("book", args=wanted), checks.called_tool("book", args=wanted, match="exact")]
    assert await scores(("book", {"a": actual}), by=by) == [value, exact]


MATCHES = ("value", "exact", "subset", "superset", "ignore")


@pytest.mark.parametrize(
    ("expected", "actual", "fits"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, (0, 0, 1, 0, 1)),
        ({"a": 1, "b": 2}, {"a": 1}, (0, 0, 0, 1, 1)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, (1, 1, 1, 1, 1)),
        ({"a": 2}, {"a": 1}, (0, 0, 0, 0, 1)),
        ({"who.name.last": "Roe"}, {"a": 1, "who": {"name": {"first": "Jo", "last": "Roe"}}}, (0, 0, 1, 0, 1)),
        ({"who.tags.1": "b"}, {"a": 1, "who": {"tags": ["a", "b"]}}, (0, 0, 1, 0, 1)),
        ({"who": {"age": 4}}, {"a": 1, "who": {"name": "Jo", "age": 4}}, (0, 0, 1, 0, 1)),
    ],
    ids=["more in the call", "less in the call", "other order", "other value", "path", "path in a list", "inside"],
)
async def test_x06_parts_of_arguments_match_in_the_direction_that_is_written(expected, actual, fits):
    by = [checks.called_tool("book", args=expected, match=match) for match in MATCHES]
    assert tuple(await scores(("book", actual), by=by)) == fits


async def test_x06_a_list_of_fields_is_a_subset_of_those():
    call = ("book", {"a": 1, "b": 2, "who": {"name": "Jo"}})
    fields = ["a", "b"]
    by = [checks.called_tool("book", args={field: call[1][field] for field in fields}, match="subset")]
    assert await scores(call, by=by) == [1]


async def test_p45_no_arguments_are_no_arguments_however_the_model_writes_them():
    by = [checks.called_tool("ping", args={}), checks.called_tool("ping", args={}, match="exact")]
    for written in ({}, "{}", " { } ", None):
        assert await scores(("ping", written), by=by) == [1, 1]
    assert await scores(("look", {"order": 1}), by=[checks.called_tool("look", args={})]) == [0]


async def test_p45_arguments_written_as_json_text_are_those_of_the_mapping():
    args = {"a": 1, "who": {"name": "José"}}
    by = [checks.called_tool("book", args=args, match="exact")]
    for written in (args, json.dumps(args), json.dumps(args, ensure_ascii=False, indent=1)):
        assert await scores(("book", written), by=by) == [1]


async def test_p45_the_arguments_need_not_be_looked_at_or_are_looked_at_by_a_function():
    by = [
        checks.called_tool("look"),
        checks.called_tool("look", args={"order": 1}, match="ignore"),
        checks.called_tool("look", match=lambda args: args["order"] > 5),
    ]
    assert await scores(("look", {"order": 9}), by=by) == [1, 1, 1]
    assert await scores(("look", {"order": 3}), by=by) == [1, 1, 0]


# ── X05, X09: which calls, in which order ──────────────────────────────────────────────────────────────────────────


async def test_x05_the_order_counts_where_an_order_is_asked_for():
    calls = [("pay", {"order": 1}), ("look", {"order": 2})]
    by = [
        checks.tool_order(["look", "pay"]),
        scorers.tool_call_accuracy(expected_tool_order=["look", "pay"], strict_mode=True),
        checks.called_tool("look", args={"order": 2}),
        checks.called_tool("pay", args={"order": 1}),
    ]
    assert await scores(*calls, by=by) == [0, 0, 1, 1]
    assert await scores(*reversed(calls), by=by) == [1, 1, 1, 1]


async def test_x05_calls_of_one_tool_are_found_whatever_their_order():
    """A call with any arguments and one with these are both there, though the first that fits both comes first."""
    by = [
        *(checks.called_tool("look", args={"order": n}, exactly=1) for n in (1, 2)),
        checks.called_tool("look", times=2),
    ]
    assert await scores(("look", {"order": 2}), ("look", {"order": 1}), by=by) == [1, 1, 1]
    assert await scores(("look", {"order": 2}), ("look", {"order": 9}), by=by) == [0, 1, 1]


async def test_x09_what_a_live_call_carries_besides_its_arguments_is_not_compared():
    by = [checks.called_tool("look", args={"order": 1}, match=match, exactly=1) for match in MATCHES]
    result = await run_evals(target=agent(Bank(), ("look", {"order": 1})), data=[Item("Go")], scorers=by)
    (call,) = result.items[0].output[0].tool_calls
    assert None not in (call.id, call.result, call.duration_ms)
    assert [mean.mean for mean in result.means] == [1] * len(MATCHES)


# ── X08, P46: why not ──────────────────────────────────────────────────────────────────────────────────────────────


async def test_x08_the_reason_names_call_tool_argument_expected_and_actual_in_that_order():
    who = {"name": "Jo", "days": [14, 16]}
    wanted = {"a": 1, "who": {"name": "Jo", "days": [14, 15]}}
    calls = [("look", {"order": 3}), ("book", {"a": 1, "who": who})]
    (outcome,) = await checked(*calls, by=[checks.called_tool("book", args=wanted)])
    assert outcome.score == 0
    assert outcome.reason == (
        "book was called once, never with the arguments asked for; "
        "nearest: call 2, book, who.days[1]: expected 15 -> actual 16"
    )


@pytest.mark.parametrize(
    ("expected", "actual", "told"),
    [
        ({"a": 1}, {"a": 2}, "a: expected 1 -> actual 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "b: expected 2 -> actual nothing"),
        ({"a": 1}, {"a": 1, "b": 2}, "b: expected nothing -> actual 2"),
        ({"a": True}, {"a": 1}, "a: expected true -> actual 1"),
        ({"a": "1"}, {"a": 1}, 'a: expected "1" -> actual 1'),
    ],
    ids=["other", "missing", "more", "true and 1", "text and number"],
)
async def test_x08_expected_and_actual_are_not_swapped(expected, actual, told):
    (outcome,) = await checked(("book", actual), by=[checks.called_tool("book", args=expected)])
    assert outcome.reason.endswith(f"call 1, book, {told}")


async def test_p46_every_check_that_is_missed_says_which_calls_there_were():
    calls = [("look", {"order": 3}), ("fails", {"order": 4}), ("pay", {"order": 3})]
    told = {
        checks.called_tool("book"): "book was called 0 times; 3 calls: look, fails, pay",
        checks.tool_order(["pay", "look"]): "look (number 2 of 2) was not called after pay; 3 calls: look, fails, pay",
        checks.max_tool_calls(2): "at most 2 allowed; 3 calls: look, fails, pay",
    }
    outcomes = await checked(*calls, by=[*told, checks.did_not_call("pay"), checks.no_tool_errors()])
    assert {outcome.score for outcome in outcomes} == {0}
    reasons = [outcome.reason for outcome in outcomes]
    assert reasons[:3] == list(told.values())
    assert reasons[3].startswith("pay was called once, first with")
    assert reasons[4] == '1 of 3 calls failed: fails, which said "no such order"'


# ── P47, P48: edges, and what becomes of the scores ────────────────────────────────────────────────────────────────


async def test_p47_an_agent_that_calls_nothing_meets_what_expects_nothing_and_misses_what_expects_a_call():
    none = [checks.used_no_tools(), checks.max_tool_calls(0), checks.did_not_call("pay"), checks.no_tool_errors()]
    some = [checks.called_tool("pay"), checks.tool_order(["pay"]), scorers.tool_call_accuracy(expected_tool="pay")]
    assert await scores(by=[*none, *some]) == [1] * 4 + [0] * 3
    assert await scores(("pay", {"order": 1}), by=[*none, *some]) == [0, 0, 0, 1, 1, 1, 1]


async def test_p47_a_scorer_of_arguments_that_declines_where_there_are_none_is_no_failure_and_in_no_mean():
    @scorer(id="arguments", inline=True)
    def arguments(run):
        """The share of calls with a sensible order number."""
        if not run.tool_calls:
            return not_scorable("no tool was called")
        return sum(call.args["order"] > 0 for call in run.tool_calls) / len(run.tool_calls)

    def model(messages, info):
        calls = [("pay", {"order": 1}), ("pay", {"order": -1})] if "Pay" in str(messages[0].parts[-1].content) else []
        return script(*calls).function(messages, info)

    made = Agent(FunctionModel(model), tools=Bank().tools)
    result = await run_evals(target=made, data=[Item("Pay"), Item("Hello")], scorers=[(arguments, 0.5)])
    assert [(row.status, row.outcomes[0].score) for row in result.items] == [("done", 0.5), ("done", None)]
    assert (result.means[0].mean, result.means[0].n, result.means[0].not_scorable) == (0.5, 1, 1)
    assert (result.verdict, result.summary.errors) == ("passed", 0)
    lines = [line for line in str(result).splitlines() if line.startswith("scorer arguments")]
    assert ["0.50" in line and "1 of 2" in line and "MISSED" not in line for line in lines] == [True]


async def test_p48_calls_and_their_scores_are_kept_and_read_back_all_of_them(tmp_path):
    by = [checks.called_tool("pay", args={"order": 1}), checks.tool_order(["look", "pay"]), checks.no_tool_errors()]
    data = [
        Item(turns=[Turn("Go", gates=[checks.called_tool("look")]), Turn("Again", scorers=by[:1])], id=f"talk{n}")
        for n in range(3)
    ]
    calls = [("look", {"order": 1}), ("fails", {"order": 2}), ("pay", {"order": 1})]
    live = await run_evals(target=agent(Bank(), *calls), data=data, scorers=by, repeats=2, store=tmp_path / "runs.db")
    assert len(live.to_records()) == 3 * 2 * (len(by) + 2)
    async with Store(tmp_path / "runs.db") as store:
        kept = await store.result(live.run)
        assert kept.to_records() == live.to_records()
        assert [row.replies for row in kept.items] == [row.replies for row in live.items]
        stored = kept.items[0].replies[1].output
    assert [(mean.column.label, mean.mean) for mean in kept.means] == [
        (mean.column.label, mean.mean) for mean in live.means
    ]
    assert {mean.mean for mean in kept.means} == {1.0, 0.0}
    assert [(call.name, call.state) for message in stored for call in message.tool_calls] == [
        ("look", "done"),
        ("fails", "failed"),
        ("pay", "done"),
    ]


# ── P81: recorded once, replayed; failures put in; arguments checked; tools with a state ───────────────────────────


async def test_p81_recorded_once_it_can_be_replayed_as_often_as_one_likes_turn_by_turn(tmp_path):
    path, live, dead = tmp_path / "r.jsonl", Bank(), Bank()
    calls = [("look", {"order": 7}), ("pay", {"order": 7})]
    options = {"data": [Item(inputs=["Go", "Again"], id="talk"), Item("Go", id="one")], "repeats": 2}
    options |= {"gates": [checks.called_tool("pay", args={"order": 7})], "scorers": [checks.includes("paid 7")]}
    first = await run_evals(target=agent(live, *calls), record_tools=path, **options)
    assert len(live.fired) == 2 * 2 * (2 + 1)
    for _ in range(3):
        again = await run_evals(target=agent(dead, *calls), replay_tools=path, **options)
        assert [ends(row) for row in again.items] == [ends(row) for row in first.items]
        assert [(mean.mean, mean.n) for mean in again.means] == [(mean.mean, mean.n) for mean in first.means]
        assert again.verdict == first.verdict == "passed"
    assert dead.fired == []


async def test_p81_a_failure_can_be_put_into_one_repeat_alone():
    bank = Bank()
    mocks = [
        ToolMock("pay", output="paid", repeat=0),
        ToolMock("pay", error="the bank is closed", repeat=1),
        ToolMock("pay", output="paid", repeat=2),
    ]
    result = await run_evals(
        target=agent(bank, ("pay", {"order": 1})),
        data=[Item("Go", tool_mocks=mocks)],
        scorers=[checks.no_tool_errors()],
        repeats=3,
    )
    assert [row.outcomes[0].score for row in result.items] == [1, 0, 1]
    assert [len(row.tool_report.unused) for row in result.items] == [0, 0, 0]
    assert bank.fired == []


async def test_p81_a_mock_can_check_the_arguments_by_a_function_which_cannot_change_them():
    def cheap(args):
        return args.pop("order") < 10

    mocks = [ToolMock("pay", match=cheap, output="paid"), ToolMock("pay", output="ask your manager")]
    row, fired = await mocked(("pay", {"order": 5}), ("pay", {"order": 50}), mocks=mocks)
    assert (ends(row), fired) == (["success: paid; success: ask your manager"], [])
    assert [call.args for call in row.tool_report.served] == [{"order": 5}, {"order": 50}]


async def test_p81_mocks_in_a_row_stand_for_a_tool_that_changes_over_the_turns_and_begin_anew_in_each_item():
    bank = Bank()
    mocks = [ToolMock("look", {"order": 1}, output=state) for state in ("open", "paid", "shipped")]
    data = [Item(inputs=["Go", "And now?", "And now?"], id=f"i{n}", tool_mocks=mocks) for n in range(5)]
    made = agent(bank, ("look", {"order": 1}))
    result = await run_evals(target=made, data=data, repeats=2, concurrency=10, scorers=ANY)
    told = [["success: open", "success: paid", "success: shipped"]]
    assert [ends(row) for row in result.items] == told * 10
    assert bank.fired == []
