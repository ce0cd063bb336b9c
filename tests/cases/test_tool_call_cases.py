"""Cases X03 and X07, as far as reading and checks go: how arguments are written, and no calls at all."""

import json
import unicodedata

import pytest

from proctor import ScorerRun, checks

ARGUMENTS = {"to": "SEA", "days": [14, [15, 16]], "who": {"name": "José", "age": 41}}
WAYS = {
    "json text": json.dumps(ARGUMENTS),
    "json text, escapes left out": json.dumps(ARGUMENTS, ensure_ascii=False),
    "mapping": ARGUMENTS,
    "keys in another order": json.dumps(dict(reversed(ARGUMENTS.items()))),
    "spaces around and within": f"  {json.dumps(ARGUMENTS, indent=2)} \n",
}
NO_CALLS = [{"role": "assistant", "content": "No tools needed."}]


def arguments_read(written):
    calls = [{"id": "1", "type": "function", "function": {"name": "book", "arguments": written}}]
    return ScorerRun(output=[{"role": "assistant", "content": None, "tool_calls": calls}]).tool_calls[0].args


@pytest.mark.parametrize("written", WAYS.values(), ids=WAYS)
def test_x03_arguments_are_the_same_however_they_are_written(written):
    assert arguments_read(written) == ARGUMENTS


def test_x03_the_order_in_lists_is_kept():
    assert arguments_read('{"days": [[16, 15], 14]}') != arguments_read('{"days": [14, [15, 16]]}')


def test_x03_text_is_kept_as_it_was_written():
    """Neither composed nor trimmed: what to make of that is for whoever compares."""
    composed, decomposed = (unicodedata.normalize(form, "José ") for form in ("NFC", "NFD"))
    assert composed != decomposed
    for name in (composed, decomposed):
        assert arguments_read(json.dumps({"name": name})) == {"name": name}
        assert arguments_read({"name": name}) == {"name": name}


def test_x03_what_is_no_json_stays_text():
    assert arguments_read('{"to": "SEA"') == '{"to": "SEA"'


@pytest.mark.parametrize(
    "check",
    [
        checks.used_no_tools(),
        checks.max_tool_calls(0),
        checks.did_not_call("book"),
        checks.no_tool_errors(),
    ],
    ids=lambda check: check.key,
)
def test_x07_no_calls_expected_and_none_made_is_one(check):
    assert check.run_sync(output=NO_CALLS).score == 1.0


@pytest.mark.parametrize(
    "check",
    [checks.called_tool("book"), checks.called_tool("book", times=2), checks.tool_order(["search", "book"])],
    ids=lambda check: check.key,
)
def test_x07_calls_expected_and_none_made_is_zero(check):
    outcome = check.run_sync(output=NO_CALLS)
    assert outcome.score == 0.0
    assert "no tool was called" in outcome.reason
