"""200 cases of the Berkeley Function Calling Leaderboard (v4, Apache-2.0) as tool-call scoring with the checks.

A case allows for each parameter a list of values, where "" means that it may be left out; several calls may come in any
order; in 20 cases no call is right. The answers scored are the expected calls themselves, as an agent would have made
them, and the same with one mistake: every right one passes, every wrong one fails.
"""

import json
import re
from collections import Counter
from functools import cache

import pytest

from proctor import checks, run_evals_sync
from proctor.data.compare import differences
from tests.support import shared

WORDS = [{"role": "assistant", "content": "None of my tools can do that."}]


@cache
def rows():
    return [json.loads(line) for line in shared("data/toolcall_bfcl/dev.jsonl").read_text("utf-8").splitlines()]


def expected(row):
    """Each expected call: its name as the agent's tools have it, and the allowed values of its parameters."""
    named = [next(iter(call.items())) for call in row["expected_calls"]]
    return [(re.sub(r"[^a-zA-Z0-9_-]", "_", name), allowed) for name, allowed in named]


# ── what is asked of an answer ─────────────────────────────────────────────────────────────────────────────────────


def check_of(row):
    """Each expected call was made, none of these tools was called otherwise, and each was called so often.

    Counted by name too, since in one case two expected calls allow the same arguments.
    """
    wanted = expected(row)
    if row["expect_no_call"]:
        return checks.used_no_tools()
    made = [
        checks.called_tool(name, match=lambda args, allowed=allowed: fits(args, allowed)) for name, allowed in wanted
    ]
    others = [
        checks.not_(checks.called_tool(name, match=lambda args, name=name: not fits_one(args, name, wanted)))
        for name in dict(wanted)
    ]
    counts = [checks.called_tool(name, exactly=count) for name, count in Counter(name for name, _ in wanted).items()]
    return checks.all_of(*made, *others, *counts, checks.max_tool_calls(len(wanted)))


def fits_one(args, name, wanted):
    return any(fits(args, allowed) for other, allowed in wanted if other == name)


def fits(args, allowed):
    known = all(name in allowed and any(is_option(value, it) for it in allowed[name]) for name, value in args.items())
    return known and all(name in args or "" in options for name, options in allowed.items())


def is_option(value, option):
    """Whether a value is an allowed one; a mapping among the allowed has a list of allowed values for each key."""
    if isinstance(option, dict):
        return isinstance(value, dict) and fits(value, option)
    if isinstance(option, list):
        return isinstance(value, list) and len(value) == len(option) and all(map(is_option, value, option))
    return not differences(option, value)


# ── answers ────────────────────────────────────────────────────────────────────────────────────────────────────────


def calls_of(row, *, pick=0):
    """The expected calls with one allowed value for each parameter, and without those that may only be left out."""
    return [(name, arguments(allowed, pick=pick)) for name, allowed in expected(row)]


def arguments(allowed, *, pick):
    given = {name: [option for option in options if option != ""] for name, options in allowed.items()}
    return {name: plain(options[pick], pick=pick) for name, options in given.items() if options}


def plain(option, *, pick):
    if isinstance(option, dict):
        return arguments(option, pick=pick)
    return [plain(item, pick=pick) for item in option] if isinstance(option, list) else option


def written(calls):
    """A call's arguments are JSON text, as chat APIs give them."""
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for n, (name, args) in enumerate(calls)
            ],
        }
    ]


def first_argument(row, wanted):
    """The expected calls, and where in them a parameter is that *wanted* says yes to; None when none is."""
    calls = calls_of(row)
    for place, ((_, args), (_, allowed)) in enumerate(zip(calls, expected(row), strict=True)):
        for name in args:
            if wanted(args[name], allowed[name]):
                return calls, place, name
    return None


def changed(row, wanted, change):
    """The expected calls with one argument changed, or removed where *change* gives nothing."""
    found = first_argument(row, wanted)
    if found is None:
        return None
    calls, place, name = found
    args = calls[place][1]
    value = change(args.pop(name))
    if value is not None:
        args[name] = value
    return calls


def another(value):
    return value + 987654 if isinstance(value, int | float) and not isinstance(value, bool) else {"not": value}


def is_number(value, _):
    return isinstance(value, int | float) and not isinstance(value, bool)


def anything(value, allowed):
    return True


RIGHT = {
    "the first allowed values": calls_of,
    "the last allowed values": lambda row: calls_of(row, pick=-1),
    "optional parameters left out": lambda row: [
        (name, {key: value for key, value in args.items() if "" not in allowed[key]})
        for (name, args), (_, allowed) in zip(calls_of(row), expected(row), strict=True)
    ],
    "arguments in another order": lambda row: [(name, dict(reversed(args.items()))) for name, args in calls_of(row)],
    "calls in another order": lambda row: calls_of(row)[::-1] if len(calls_of(row)) > 1 else None,
    "whole numbers with a point": lambda row: changed(row, lambda value, _: type(value) is int, float),
}
WRONG = {
    "another value": lambda row: changed(row, anything, another),
    "another value in the last call": lambda row: (
        [*calls_of(row)[:-1], *changed({**row, "expected_calls": row["expected_calls"][-1:]}, anything, another)]
        if len(calls_of(row)) > 1
        else None
    ),
    "a number as text": lambda row: changed(row, is_number, str),
    "true for a number": lambda row: changed(row, lambda value, _: value == 1 and is_number(value, _), bool),
    "a required parameter left out": lambda row: changed(row, lambda _, allowed: "" not in allowed, lambda _: None),
    "one parameter too many": lambda row: [(name, {**args, "verbose": True}) for name, args in calls_of(row)],
    "another tool": lambda row: [(f"{name}_2", args) for name, args in calls_of(row)],
    "one call left out": lambda row: calls_of(row)[1:],
    "the last call left out": lambda row: calls_of(row)[:-1],
    "one call twice": lambda row: [*calls_of(row), calls_of(row)[0]],
    "one call in the place of another": lambda row: (
        [calls_of(row)[0], *calls_of(row)[:-1]] if len(calls_of(row)) > 1 else None
    ),
    "another tool as well": lambda row: [*calls_of(row), ("search_web", {"query": "x"})],
}
# Of the 180 cases in which a call is right, those to which each applies. All of the right pass, none of the wrong.
RIGHT_COUNTS = {
    "the first allowed values": 180,
    "the last allowed values": 180,
    "optional parameters left out": 180,
    "arguments in another order": 180,
    "calls in another order": 55,
    "whole numbers with a point": 86,
}
WRONG_COUNTS = {
    "another value": 180,
    "another value in the last call": 55,
    "a number as text": 102,
    "true for a number": 5,
    "a required parameter left out": 180,
    "one parameter too many": 180,
    "another tool": 180,
    "one call left out": 180,
    "the last call left out": 180,
    "one call twice": 180,
    "one call in the place of another": 55,
    "another tool as well": 180,
}


def passing(answers):
    """How many of the answers pass the check of their row, all in one run; and of how many."""
    data = [
        {"id": row["id"], "output": written(calls) if calls else WORDS, "scorers": [check_of(row)]}
        for row, calls in answers
    ]
    result = run_evals_sync(data=data)
    assert (result.summary.errors, result.summary.outcome_errors) == (0, 0)
    return sum(item.scorers[0].score == 1 for item in result.items), len(data)


def answers(make):
    """What *make* gives for each case in which a call is right; cases in which it does not apply are left out."""
    asked = [(row, make(row)) for row in rows() if not row["expect_no_call"]]
    return [(row, calls) for row, calls in asked if calls is not None]


@pytest.mark.parametrize("what", RIGHT)
def test_right_answers_pass(what):
    passed, of = passing(answers(RIGHT[what]))
    assert (passed, of) == (RIGHT_COUNTS[what], RIGHT_COUNTS[what])


@pytest.mark.parametrize("what", WRONG)
def test_wrong_answers_fail(what):
    assert passing(answers(WRONG[what])) == (0, WRONG_COUNTS[what])


def test_where_no_call_is_right_words_pass_and_a_call_fails():
    irrelevant = [row for row in rows() if row["expect_no_call"]]
    assert passing([(row, []) for row in irrelevant]) == (20, 20)
    tool = [row["tools"][0]["function"]["name"] for row in irrelevant]
    assert passing([(row, [(name, {})]) for row, name in zip(irrelevant, tool, strict=True)]) == (0, 20)


def test_where_a_call_is_right_words_fail():
    assert passing(answers(lambda row: [])) == (0, 180)


def test_the_reason_names_the_call_that_is_missing():
    row = next(row for row in rows() if row["id"] == "simple_python_6")
    outcome = check_of(row).run_sync(output=written([("solve_quadratic", {"a": 2, "b": 5, "c": 4})]))
    assert "solve_quadratic was called once, never with the arguments asked for" in outcome.reason
