import pytest

from proctor import UsageError, scorers


def calls(*names):
    made = [{"id": str(at), "function": {"name": name, "arguments": "{}"}} for at, name in enumerate(names)]
    return [{"role": "assistant", "content": "done", "tool_calls": made}]


def outcome(names, **options):
    return scorers.tool_call_accuracy(**options).run_sync(input="go", output=calls(*names))


@pytest.mark.parametrize(
    ("names", "options", "score"),
    [
        pytest.param("a", {"expected_tool": "a"}, 1, id="the tool"),
        pytest.param("ba", {"expected_tool": "a"}, 1, id="the tool among others"),
        pytest.param("b", {"expected_tool": "a"}, 0, id="another tool"),
        pytest.param("a", {"expected_tool": "A"}, 0, id="case counts"),
        pytest.param("", {"expected_tool": "a"}, 0, id="no call"),
        pytest.param("a", {"expected_tool": "a", "strict_mode": True}, 1, id="strict: just the one"),
        pytest.param("aa", {"expected_tool": "a", "strict_mode": True}, 0, id="strict: not twice"),
        pytest.param("axb", {"expected_tool_order": ["a", "b"]}, 1, id="in order"),
        pytest.param("ba", {"expected_tool_order": ["a", "b"]}, 0, id="out of order"),
        pytest.param("bab", {"expected_tool_order": ["a", "b"]}, 1, id="in order, after a first try"),
        pytest.param("aa", {"expected_tool_order": ["a", "a"]}, 1, id="a tool twice"),
        pytest.param("a", {"expected_tool_order": ["a", "a"]}, 0, id="a tool once too few"),
        pytest.param("axb", {"expected_tool_order": ["a", "b"], "strict_mode": True}, 0, id="strict: no others"),
        pytest.param("aba", {"expected_tool_order": list("aba"), "strict_mode": True}, 1, id="strict: exactly those"),
        pytest.param("a", {"expected_tool_order": ["a"], "expected_tool": "z"}, 1, id="an order wins"),
    ],
)
def test_scores(names, options, score):
    assert outcome(names, **options).score == score


def test_a_run_without_an_input_is_scored_by_its_calls():
    assert scorers.tool_call_accuracy(expected_tool="a").run_sync(output=calls("a")).score == 1


@pytest.mark.parametrize(("given", "output"), [("go", []), ([], calls("a"))], ids=["no output", "no input"])
def test_an_exchange_without_a_message_is_not_scorable(given, output):
    assert scorers.tool_call_accuracy(expected_tool="a").run_sync(input=given, output=output).status == "not_scorable"


def test_the_reason_says_what_was_called():
    assert outcome("ba", expected_tool="c").reason == "expected c; called: b, a"
    assert outcome("", expected_tool_order=["a", "b"], strict_mode=True).reason == (
        "expected only a, b; no tool was called"
    )
    assert outcome("abcdefghij", expected_tool="a").reason == "expected a; called: a, b, c, d, e, f, g, h, ..."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give expected_tool= or expected_tool_order="),
        ({"expected_tool": ""}, "the name of a tool is text that is not empty"),
        ({"expected_tool": ["a"]}, "the name of a tool is text"),
        ({"expected_tool_order": []}, "must be a list of tool names, not \\[\\]; to expect no call"),
        ({"expected_tool_order": "search"}, "must be a list of tool names, not 'search'"),
        ({"expected_tool_order": ["a", 1]}, "not 1"),
        ({"expected_tool": "a", "strict_mode": 1}, "strict_mode must be True or False"),
    ],
)
def test_options_are_refused_when_written(options, message):
    with pytest.raises(UsageError, match=message):
        scorers.tool_call_accuracy(**options)
