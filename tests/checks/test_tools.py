import pytest

from proctor import ScorerRun, ScorerRunError, UsageError, checks
from proctor.testing import create_test_message, create_tool_invocation

NO_CALLS = "Just words."


def called(*names, **options):
    """One assistant message with these calls, in the stored form."""
    invocations = [
        create_tool_invocation(tool_call_id=str(n), tool_name=name, args={"n": n}, **{"result": {"ok": True}} | options)
        for n, name in enumerate(names)
    ]
    return [create_test_message(role="assistant", content="done", tool_invocations=invocations)]


def openai(*calls):
    """A conversation of OpenAI messages: (name, result) pairs, a result of None never came."""
    messages = []
    for n, (name, result) in enumerate(calls):
        function = {"name": name, "arguments": "{}"}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": str(n), "function": function}]})
        if result is not None:
            messages.append({"role": "tool", "tool_call_id": str(n), "content": result})
    return messages


def part(**fields):
    return [{"role": "assistant", "content": {"format": 2, "parts": [fields]}}]


def scored(check, output):
    return check.run_sync(output=output).score


# ── which tools ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("check", "output", "score"),
    [
        pytest.param(checks.called_tool("a"), called("a"), 1, id="called_tool"),
        pytest.param(checks.called_tool("a"), called("b"), 0, id="called_tool, another"),
        pytest.param(checks.called_tool("a"), called("A"), 0, id="called_tool, case counts"),
        pytest.param(checks.called_tool("a"), NO_CALLS, 0, id="called_tool, none"),
        pytest.param(checks.called_tool("a", times=2), called("a", "b", "a"), 1, id="called_tool, twice"),
        pytest.param(checks.called_tool("a", times=2), called("a"), 0, id="called_tool, once of twice"),
        pytest.param(checks.called_tool("a", times=2), called("a", "a", "a"), 1, id="called_tool, at least twice"),
        pytest.param(checks.did_not_call("a"), called("b"), 1, id="did_not_call"),
        pytest.param(checks.did_not_call("a"), called("b", "a"), 0, id="did_not_call, it did"),
        pytest.param(checks.tool_order(["a", "b"]), called("a", "b"), 1, id="tool_order"),
        pytest.param(checks.tool_order(["a", "b"]), called("b", "a"), 0, id="tool_order, the other way round"),
        pytest.param(
            checks.tool_order(["a", "b"]), called("x", "a", "x", "b", "x"), 1, id="tool_order, others between"
        ),
        pytest.param(checks.tool_order(["a", "b"]), called("b", "a", "b"), 1, id="tool_order, a later one"),
        pytest.param(checks.tool_order(["a", "a"]), called("a"), 0, id="tool_order, a name twice"),
        pytest.param(checks.tool_order(["a"]), NO_CALLS, 0, id="tool_order, none"),
        pytest.param(checks.tool_order(("a", "b")), called("a", "b"), 1, id="tool_order, of a tuple"),
        pytest.param(checks.max_tool_calls(2), called("a", "b"), 1, id="max_tool_calls"),
        pytest.param(checks.max_tool_calls(1), called("a", "b"), 0, id="max_tool_calls, one too many"),
        pytest.param(checks.used_no_tools(), called("a"), 0, id="used_no_tools, it did"),
    ],
)
def test_scores(check, output, score):
    assert scored(check, output) == score


@pytest.mark.parametrize(
    "check",
    [
        checks.did_not_call("a"),
        checks.max_tool_calls(0),
        checks.used_no_tools(),
        checks.no_tool_errors(),
    ],
    ids=lambda check: check.id,
)
@pytest.mark.parametrize("output", [NO_CALLS, "", [], {"a": 1}], ids=repr)
def test_x07_no_calls_expected_and_none_made_is_1(check, output):
    assert scored(check, output) == 1


@pytest.mark.parametrize("check", [checks.called_tool("a"), checks.tool_order(["a"])], ids=lambda check: check.id)
@pytest.mark.parametrize("output", [NO_CALLS, "", [], {"a": 1}], ids=repr)
def test_x07_calls_expected_and_none_made_is_0(check, output):
    assert scored(check, output) == 0


SEEN = [
    pytest.param(called("w"), id="tool-invocation"),
    pytest.param(
        part(type="tool-w", toolCallId="1", state="output-available", input={}, output={}), id="AI SDK 5 tool part"
    ),
    pytest.param(
        part(type="dynamic-tool", toolName="w", toolCallId="1", state="output-available", input={}, output={}),
        id="AI SDK 5 dynamic tool part",
    ),
    pytest.param(part(type="tool-call", toolCallId="1", toolName="w", input={}), id="tool-call part"),
    pytest.param(
        part(type="tool-invocation", toolInvocation={"toolCallId": "1", "toolName": "w", "state": "output-available"}),
        id="invocation in a newer state",
    ),
    pytest.param(openai(("w", "ok")), id="OpenAI"),
]


@pytest.mark.parametrize("output", SEEN)
def test_a_call_is_seen_in_every_dialect(output):
    assert scored(checks.called_tool("w"), output) == 1
    assert scored(checks.did_not_call("w"), output) == 0
    assert scored(checks.used_no_tools(), output) == 0
    assert scored(checks.max_tool_calls(0), output) == 0


def test_a_call_that_was_still_being_written_is_no_call():
    assert scored(checks.called_tool("a"), called("a", state="partial-call")) == 0
    assert scored(checks.used_no_tools(), called("a", state="partial-call")) == 1


# ── errors ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "score"),
    [
        pytest.param(called("a"), 1, id="a result"),
        pytest.param(called("a", result={"error": "no such user"}), 0, id="error"),
        pytest.param(called("a", result={"error": {"message": "x"}}), 0, id="error with a message"),
        pytest.param(called("a", result={"error": {}}), 1, id="an error that is empty"),
        pytest.param(called("a", result={"error": 0}), 1, id="an error that is 0"),
        pytest.param(called("a", result={"error": None}), 1, id="an error that is None"),
        pytest.param(called("a", result={"isError": True}), 0, id="isError in the result"),
        pytest.param(called("a", is_error=True), 0, id="isError of the call"),
        pytest.param(called("a", state="output-error", error_text="x"), 0, id="it threw"),
        pytest.param(called("a", state="call"), 0, id="it never came back"),
        pytest.param(called("a", "b", result={"error": "x"}), 0, id="two errors"),
        pytest.param(openai(("a", "ok"), ("b", None)), 0, id="OpenAI, it never came back"),
        pytest.param(openai(("a", '{"error": "x"}')), 0, id="OpenAI, error in JSON"),
        pytest.param(openai(("a", "No error: all is well")), 1, id="OpenAI, text that speaks of errors"),
    ],
)
@pytest.mark.parametrize("text", [True, False], ids=["text counts", "text does not count"])
def test_no_tool_errors(output, score, text):
    assert scored(checks.no_tool_errors(text=text), output) == score


@pytest.mark.parametrize("result", ["Error: card declined", "ERROR: x", "error: "])
def test_text_that_begins_with_error_counts_unless_it_is_left_out(result):
    assert scored(checks.no_tool_errors(), openai(("pay", result))) == 0
    assert scored(checks.no_tool_errors(text=False), openai(("pay", result))) == 1


# ── what they found, and say ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (checks.called_tool("a", times=2), {"tool_name": "a", "expected_times": 2, "actual_count": 2, "passed": True}),
        (checks.did_not_call("a"), {"tool_name": "a", "count": 2, "passed": False}),
        (checks.max_tool_calls(2), {"count": 3, "max": 2, "passed": False}),
        (checks.used_no_tools(), {"count": 3, "passed": False}),
        (checks.no_tool_errors(), {"error_count": 0, "total_calls": 3, "passed": True}),
    ],
    ids=lambda value: value.id if hasattr(value, "id") else "",
)
def test_findings_are_counts_and_verdicts(check, found):
    assert check.run_sync(output=called("a", "b", "a")).preprocess_step_result == found


def test_an_order_is_found_with_how_far_it_got():
    found = checks.tool_order(["a", "c"]).run_sync(output=called("a", "b")).preprocess_step_result
    assert (list(found["expected_order"]), list(found["actual_tools"])) == (["a", "c"], ["a", "b"])
    assert (found["reached"], found["passed"]) == (1, False)


@pytest.mark.parametrize(
    ("check", "output", "pieces"),
    [
        pytest.param(checks.called_tool("a"), called("a"), ["a was called once"], id="called"),
        pytest.param(checks.called_tool("a"), called("b", "c"), ["a was called 0 times", "b, c"], id="not called"),
        pytest.param(checks.called_tool("a"), NO_CALLS, ["0 times", "no tool was called"], id="no calls"),
        pytest.param(checks.called_tool("a", times=3), called("a", "a"), ["twice", "at least 3"], id="too few"),
        pytest.param(
            checks.did_not_call("a"), called("b", "a"), ["a was called once", 'first with {"n":1}'], id="it called"
        ),
        pytest.param(checks.did_not_call("a"), called("b"), ["a was not called", "b"], id="it did not call"),
        pytest.param(checks.tool_order(["a", "b"]), called("a", "c"), ["b", "2 of 2", "after a", "a, c"], id="order"),
        pytest.param(checks.max_tool_calls(1), called("a", "a"), ["at most 1", "a x2"], id="too many"),
        pytest.param(checks.max_tool_calls(1), called("a"), ["1 call", "at most 1"], id="few enough"),
        pytest.param(checks.used_no_tools(), called("a"), ["a"], id="used tools"),
        pytest.param(checks.used_no_tools(), NO_CALLS, ["no tool was called"], id="used none"),
        pytest.param(
            checks.no_tool_errors(),
            openai(("look", "ok"), ("pay", "Error: card declined")),
            ["1 of 2", "pay", '"Error: card declined"'],
            id="an error",
        ),
        pytest.param(
            checks.no_tool_errors(),
            called("pay", state="output-error", error_text="no network"),
            ["1 of 1", "pay", '"no network"'],
            id="it threw",
        ),
        pytest.param(checks.no_tool_errors(), openai(("pay", None)), ["pay", "never came back"], id="never came back"),
        pytest.param(checks.no_tool_errors(), called("a", "b"), ["none of 2 calls"], id="no errors"),
    ],
)
def test_the_reason_says_what_was_called(check, output, pieces):
    reason = check.run_sync(output=output).reason
    assert [piece for piece in pieces if piece not in reason] == []


def test_the_reason_of_a_thousand_calls_is_short():
    run = ScorerRun(output=called(*(f"tool_{n}" for n in range(1000))))
    for check in (checks.used_no_tools(), checks.tool_order(["x"]), checks.max_tool_calls(3), checks.called_tool("x")):
        assert len(check.run_sync(run).reason) < 400


def test_the_reason_of_large_arguments_is_short():
    output = [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "x" * 10_000}}]}]
    assert len(checks.did_not_call("a").run_sync(output=output).reason) < 400


# ── unreadable output, and options ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "check",
    [
        checks.called_tool("a"),
        checks.did_not_call("a"),
        checks.tool_order(["a"]),
        checks.max_tool_calls(3),
        checks.used_no_tools(),
        checks.no_tool_errors(),
    ],
    ids=lambda check: check.id,
)
def test_none_is_an_error_and_not_silence(check):
    with pytest.raises(ScorerRunError) as caught:
        check.run_sync(output=None)
    assert caught.value.failed_step == "preprocess"
    assert caught.value.__cause__.code == "UNREADABLE_OUTPUT"


@pytest.mark.parametrize("times", [0, -1, 1.5, True, "2", None], ids=repr)
def test_times_is_a_count_of_1_or_more(times):
    with pytest.raises(UsageError, match="called_tool: times must be a whole number, 1 or more"):
        checks.called_tool("a", times=times)


@pytest.mark.parametrize("most", [-1, 1.5, True, "2", None, float("inf"), float("nan")], ids=repr)
def test_max_is_a_count(most):
    with pytest.raises(UsageError, match="max_tool_calls: max must be a whole number, 0 or more"):
        checks.max_tool_calls(most)


@pytest.mark.parametrize("name", ["", None, 5, ["a"]], ids=repr)
@pytest.mark.parametrize(
    "check",
    [checks.called_tool, checks.did_not_call, lambda name: checks.tool_order(["a", name])],
    ids=["called_tool", "did_not_call", "tool_order"],
)
def test_the_name_of_a_tool_is_text(check, name):
    with pytest.raises(UsageError, match="the name of a tool is text that is not empty"):
        check(name)


@pytest.mark.parametrize("names", ["ab", None, 5, [], {"a", "b"}], ids=lambda names: type(names).__name__)
def test_an_order_is_a_list_of_names(names):
    with pytest.raises(UsageError, match="tool_order: names must be a list of tool names"):
        checks.tool_order(names)


def test_an_order_is_copied():
    names = ["a"]
    check = checks.tool_order(names)
    names.append("b")
    assert scored(check, called("a")) == 1


def test_text_is_true_or_false():
    with pytest.raises(UsageError, match="no_tool_errors: text must be True or False"):
        checks.no_tool_errors(text="yes")


def test_an_option_that_is_not_there_is_refused():
    with pytest.raises(TypeError):
        checks.called_tool("a", arguments={"a": 1})
