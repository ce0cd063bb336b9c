import json

import pytest

from proctor import ScorerRunError, UsageError, checks
from proctor.errors import UnknownName


def calls(*made):
    """A conversation with these calls: (name, arguments)."""
    return [
        {"role": "assistant", "tool_calls": [{"id": str(n), "type": "function", "function": {"name": name, **given}}]}
        for n, (name, arguments) in enumerate(made)
        for given in [{} if arguments is None else {"arguments": arguments}]
    ]


def pay(**arguments):
    return ("pay", json.dumps(arguments))


def scored(check, *made):
    return check.run_sync(output=calls(*made)).score


def reason(check, *made):
    return check.run_sync(output=calls(*made)).reason


# ── how often ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("exactly", "scores"), [(0, [1, 0, 0]), (1, [0, 1, 0]), (2, [0, 0, 1])])
def test_exactly_so_often(exactly, scores):
    check = checks.called_tool("pay", exactly=exactly)
    assert [scored(check, *[pay()] * count) for count in (0, 1, 2)] == scores


def test_exactly_with_arguments_counts_those_that_match():
    check = checks.called_tool("pay", exactly=1, args={"n": 1})
    assert scored(check, pay(n=1), pay(n=2)) == 1
    assert scored(check, pay(n=1), pay(n=1)) == 0
    assert scored(check, pay(n=2)) == 0


def test_times_with_arguments_is_at_least():
    check = checks.called_tool("pay", times=2, args={"n": 1})
    assert [scored(check, *[pay(n=1)] * count, pay(n=2)) for count in (1, 2, 3)] == [0, 1, 1]


# ── which arguments ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("args", "given", "rules"),
    [
        pytest.param({"a": 1}, {"a": 1}, "value exact subset superset", id="equal"),
        pytest.param({"a": 1}, {"a": 1.0}, "value subset superset", id="x02: 1 and 1.0"),
        pytest.param({"a": True}, {"a": 1}, "", id="x02: True and 1"),
        pytest.param({"a": "1"}, {"a": 1}, "", id="x02: '1' and 1"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, "value exact subset superset", id="x03: order of keys"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, "", id="x03: order of a list"),
        pytest.param({"a": 1}, {"a": 1, "b": 2}, "subset", id="x06: the call has more"),
        pytest.param({"a": 1, "b": 2}, {"a": 1}, "superset", id="x06: the call has less"),
        pytest.param({"a.b": 1}, {"a": {"b": 1, "c": 2}}, "subset", id="x06: dotted path"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, "subset", id="more inside"),
        pytest.param({}, {}, "value exact subset superset", id="none"),
        pytest.param({}, {"a": 1}, "subset", id="none asked for"),
    ],
)
@pytest.mark.parametrize("match", ["value", "exact", "subset", "superset"])
def test_which_arguments_match(args, given, rules, match):
    check = checks.called_tool("pay", args=args, match=match)
    assert scored(check, ("pay", json.dumps(given))) == (match in rules.split())


def test_ignored_arguments_do_not_matter():
    assert scored(checks.called_tool("pay", args={"n": 1}, match="ignore"), pay(n=2)) == 1


def test_x03_arguments_as_text_or_as_they_are():
    check = checks.called_tool("pay", args={"to": ["é", {"n": 1}]})
    assert scored(check, ("pay", '  {"to": ["\\u00e9", {"n": 1}]} ')) == 1
    assert scored(check, ("pay", {"to": ["é", {"n": 1}]})) == 1


@pytest.mark.parametrize("nothing", [None, "", {}, "{}"], ids=repr)
def test_a_call_without_recorded_arguments_has_none(nothing):
    assert scored(checks.called_tool("pay", args={}), ("pay", nothing)) == 1
    assert scored(checks.called_tool("pay", args={"a": 1}), ("pay", nothing)) == 0


def test_arguments_that_are_no_json_match_nothing():
    check = checks.called_tool("pay", args={"a": 1}, match="superset")
    outcome = check.run_sync(output=calls(("pay", '{"a": 1')))
    assert outcome.score == 0
    assert 'call 1, pay, arguments: expected {"a":1} -> actual' in outcome.reason


def test_x09_what_else_a_call_carries_is_not_looked_at():
    output = [
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "index": 0,
                    "extra": True,
                    "function": {"name": "pay", "arguments": '{"n": 1}', "strict": True},
                }
            ],
        }
    ]
    assert checks.called_tool("pay", args={"n": 1}, match="exact").run_sync(output=output).score == 1


def test_the_arguments_asked_for_are_copied():
    args = {"to": {"name": "Ann"}}
    check = checks.called_tool("pay", args=args)
    args["to"]["name"] = "Bob"
    assert scored(check, pay(to={"name": "Ann"})) == 1


# ── a function ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_function_says_which_arguments_will_do():
    check = checks.called_tool("pay", match=lambda args: args.get("n", 0) > 5)
    assert scored(check, pay(n=1), pay(n=9)) == 1
    assert reason(check, pay(n=1)) == (
        "pay was called once, never with the arguments asked for; nearest: call 1, pay: \"{'n': 1}\""
    )
    assert scored(check) == 0


def test_a_function_cannot_change_what_was_recorded():
    def spoil(args):
        args.clear()
        return True

    output = calls(pay(n=1))
    run = checks.called_tool("pay", match=spoil)
    assert run.run_sync(output=output).score == 1
    both = checks.all_of(run, checks.called_tool("pay", args={"n": 1}))
    assert both.run_sync(output=output).score == 1


def test_a_function_that_raises_is_an_error():
    with pytest.raises(ScorerRunError, match="missing"):
        checks.called_tool("pay", match=lambda args: args["missing"]).run_sync(output=calls(pay(n=1)))


def test_a_function_that_gives_a_coroutine_is_an_error():
    async def later(args):
        return True

    with pytest.raises(UsageError, match="match must be a def of one argument"):
        checks.called_tool("pay", match=later)
    with pytest.raises(ScorerRunError, match="not async"):
        checks.called_tool("pay", match=lambda args: later(dict(args))).run_sync(output=calls(pay(n=1)))


async def test_a_function_runs_away_from_the_loop():
    import threading

    seen = []
    check = checks.called_tool("pay", match=lambda args: seen.append(threading.current_thread()) or True)
    await check.run(output=calls(pay()))
    assert seen != [threading.current_thread()]


# ── what it says ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("check", "made", "said"),
    [
        pytest.param(
            checks.called_tool("pay", args={"amount": 5, "to": {"name": "Ann"}}),
            [("look", "{}"), pay(amount=7, to={"name": "Bob"}), pay(amount=5, to={"name": "Bob"})],
            "pay was called twice, never with the arguments asked for; "
            'nearest: call 3, pay, to.name: expected "Ann" -> actual "Bob"',
            id="x08: step, tool, path, expected -> actual of the nearest",
        ),
        pytest.param(
            checks.called_tool("pay", args={"amount": 5}),
            [pay()],
            "pay was called once, never with the arguments asked for; "
            "nearest: call 1, pay, amount: expected 5 -> actual nothing",
            id="an argument is missing",
        ),
        pytest.param(
            checks.called_tool("pay", args={}),
            [pay(a=1, b=2)],
            "pay was called once, never with the arguments asked for; "
            "nearest: call 1, pay, a: expected nothing -> actual 1, and 1 more",
            id="too many arguments",
        ),
        pytest.param(
            checks.called_tool("pay", args={"n": 1}),
            [pay(n=1), pay(n=2)],
            "pay was called once with the arguments asked for",
            id="matched",
        ),
        pytest.param(
            checks.called_tool("pay", args={"n": 1}, times=2),
            [pay(n=1), pay(n=2)],
            "pay was called once with the arguments asked for, at least 2 needed; "
            "nearest: call 2, pay, n: expected 1 -> actual 2",
            id="too few",
        ),
        pytest.param(
            checks.called_tool("pay", args={"n": 1}, exactly=1),
            [pay(n=1), pay(n=1)],
            "pay was called twice with the arguments asked for, exactly 1 needed",
            id="too many",
        ),
        pytest.param(
            checks.called_tool("pay", args={"n": 1}),
            [("look", "{}")],
            "pay was called 0 times; 1 call: look",
            id="another tool",
        ),
        pytest.param(
            checks.called_tool("pay", exactly=1),
            [pay(), pay()],
            "pay was called twice, exactly 1 needed; 2 calls: pay x2",
            id="too many by name",
        ),
        pytest.param(
            checks.called_tool("pay", args={"to": "Jose\u0301"}),
            [pay(to="Jos\u00e9")],
            "pay was called once, never with the arguments asked for; "
            "nearest: call 1, pay, to: expected 'Jose\\u0301' -> actual 'Jos\\xe9'",
            id="x03: what only looks the same",
        ),
    ],
)
def test_the_reason(check, made, said):
    assert reason(check, *made) == said


def test_the_reason_of_large_arguments_is_short():
    check = checks.called_tool("pay" * 100, args={"x" * 1000: "y" * 10_000})
    assert len(reason(check, ("pay" * 100, json.dumps({"x" * 1000: "z" * 10_000})))) < 400


def test_findings_count_the_calls_and_those_that_match():
    found = checks.called_tool("pay", args={"n": 1}).run_sync(output=calls(pay(n=1), pay(n=2))).preprocess_step_result
    assert dict(found) == {
        "tool_name": "pay",
        "expected_times": 1,
        "actual_count": 1,
        "calls": 2,
        "passed": True,
        "nearest": "call 2, pay, n: expected 1 -> actual 2",
    }


# ── keys, fingerprints, options ────────────────────────────────────────────────────────────────────────────────────


def test_the_arguments_are_in_the_key():
    assert checks.called_tool("pay", args={"n": 1}).key == 'check-called-tool[pay,args={"n":1}]'
    assert checks.called_tool("pay", exactly=0).key == "check-called-tool[pay,exactly=0]"

    def cheap(args):
        return args["n"] < 5

    assert checks.called_tool("pay", match=cheap).key == "check-called-tool[pay,match=cheap]"


def test_a_function_is_in_the_fingerprint():
    prints = {
        checks.called_tool("pay").fingerprint,
        checks.called_tool("pay", match=lambda args: args == {}).fingerprint,
        checks.called_tool("pay", match=lambda args: args == {"n": 1}).fingerprint,
    }
    assert len(prints) == 3
    assert checks.called_tool("pay", match=print).fingerprint == "unknown"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({"exactly": -1}, "exactly must be a whole number, 0 or more", id="exactly below 0"),
        pytest.param({"exactly": True}, "exactly must be a whole number", id="exactly of True"),
        pytest.param({"exactly": 2, "times": 2}, "times= .* or exactly=, not both", id="times and exactly"),
        pytest.param({"args": [1]}, "args must be a mapping", id="args of a list"),
        pytest.param({"args": len}, "give a function as match=", id="args of a function"),
        pytest.param({"args": {"a": object()}}, "has no plain form", id="args of an object"),
        pytest.param({"match": "subset"}, "needs args=", id="subset of nothing"),
        pytest.param({"args": {}, "match": "subsett"}, "Did you mean 'subset'", id="a match that is not there"),
        pytest.param({"args": {}, "match": 5}, "match is one of value", id="match of a number"),
        pytest.param({"args": {}, "match": len}, "leave args= out", id="a function and args"),
        pytest.param({"match": lambda: True}, "a def of one argument", id="a function of nothing"),
    ],
)
def test_options_are_refused_when_they_are_written(options, said):
    with pytest.raises(UsageError, match=said):
        checks.called_tool("pay", **options)


def test_an_unknown_match_lists_what_there_is():
    with pytest.raises(UnknownName) as caught:
        checks.called_tool("pay", args={}, match="?")
    assert caught.value.options == ("value", "exact", "subset", "superset", "ignore")
