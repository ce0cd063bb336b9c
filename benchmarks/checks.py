"""What a built-in check costs on a conversation of 30 messages, over the bare comparison that it is about.

Bare: a plain function on the text and the calls, already read. The pass over the parts, which all scorers of an item
share, is counted by itself. Target: at most 4 µs over bare for each check.
"""

from functools import partial

from timing import judged, least, reference

from proctor import ScorerRun, checks
from proctor.checks.pattern import compile_pattern
from proctor.data.column import Column
from proctor.scoring.pipeline import Walk
from proctor.stats.dice import dice

TARGET_US = 4.0
PATTERN = r"at \d+:\d+"
ANSWER = "The flight leaves Boston at 10:45 and lands in Seattle at 14:05; shall I book it for you, with two bags? "


def conversation(messages):
    """OpenAI chat messages: a user's words, a call, its result and an answer, over and over."""
    made = []
    for number in range(messages):
        kind, call = number % 4, f"call_{number // 4}"
        if kind == 0:
            made.append({"role": "user", "content": "Find me a flight to Seattle on the 14th, please."})
        elif kind == 1:
            asked = {"name": ("search", "details")[number // 4 % 2], "arguments": '{"to": "SEA", "day": 14}'}
            made.append({"role": "assistant", "content": None, "tool_calls": [{"id": call, "function": asked}]})
        elif kind == 2:
            made.append({"role": "tool", "tool_call_id": call, "content": '[{"flight": "HAT136", "price": 152}]'})
        else:
            made.append({"role": "assistant", "content": ANSWER})
    return made


def pairs(run):
    """Each check beside the bare comparison, as the plainest function that gives the same answer."""
    text, whole, calls = run.text, "".join(run.texts), run.tool_calls
    lowered, pattern = ANSWER.lower(), compile_pattern(PATTERN)
    order = ["search", "details", "search"]

    def in_order():
        left = iter([call.name for call in calls])
        return all(name in left for name in order)

    return {
        "includes": (checks.includes("Seattle at 14"), lambda: "seattle at 14" in text.lower()),
        "excludes": (checks.excludes("refund"), lambda: "refund" not in text.lower()),
        "equals": (checks.equals(ANSWER), lambda: whole.lower() == lowered),
        "matches": (checks.matches(PATTERN), lambda: pattern.find(whole, whole=False) is not None),
        "similarity": (checks.similarity(ANSWER), lambda: dice(text.lower(), lowered)),
        "called_tool": (checks.called_tool("search"), lambda: any(call.name == "search" for call in calls)),
        "did_not_call": (checks.did_not_call("pay"), lambda: not any(call.name == "pay" for call in calls)),
        "tool_order": (checks.tool_order(order), in_order),
        "max_tool_calls": (checks.max_tool_calls(20), lambda: len(calls) <= 20),
        "used_no_tools": (checks.used_no_tools(), lambda: not calls),
        "no_tool_errors": (checks.no_tool_errors(), lambda: not any(call.is_error() for call in calls)),
    }


def score(scorer, run):
    column = Column("scorer", None, scorer.key, scorer.id)
    return lambda: Walk(scorer, run, column=column).start()


def read(output):
    run = ScorerRun(output=output)
    return run.texts, run.text, run.tool_calls


def main():
    output = conversation(30)
    run = ScorerRun(output=output)
    spent = least({"read": lambda: ScorerRun(output=output).output_messages, "all": lambda: read(output)})
    print("One pass over 30 messages, shared by all checks of an item (CPU µs)")
    print(f"  read the messages              {spent['read'] * 1e6:8.2f}")
    print(f"  the same, with text and calls  {spent['all'] * 1e6:8.2f}\n")

    compared = pairs(run)
    for scorer, bare in compared.values():
        assert score(scorer, run)().score == bare()
    calls = {("check", name): score(scorer, run) for name, (scorer, _) in compared.items()}
    calls |= {("bare", name): bare for name, (_, bare) in compared.items()}
    spent = least(calls | {"reference": reference}, rounds=1000)
    # Of a call that takes so long a short round is only a few: most of what is told then is how cold the caches were.
    spent |= least({key: call for key, call in calls.items() if "similarity" in key}, rounds=200, seconds=0.004)
    print(f"A check over its bare comparison, 30 messages (CPU µs; target {TARGET_US:g})")
    print(f"  {'check':<16}{'check':>8}{'bare':>8}{'over':>8}")
    for name in compared:
        whole, bare = spent["check", name] * 1e6, spent["bare", name] * 1e6
        print(f"  {name:<16}{whole:8.2f}{bare:8.2f}{whole - bare:8.2f}  {judged(whole - bare, TARGET_US)}")

    print(f"  {'(reference)':<16}{spent['reference'] * 1e6:8.2f}")

    print("\nTen times the messages: 1,000 and 10,000 (CPU ms; a ratio near 10 is linear)")
    calls = {}
    for size in (1000, 10_000):
        output = conversation(size)
        run = ScorerRun(output=output)
        calls["the pass", size] = partial(read, output)
        calls |= {(name, size): score(scorer, run) for name, (scorer, _) in compared.items()}
    spent = least(calls, rounds=15)
    for name in ("the pass", *compared):
        small, large = spent[name, 1000] * 1e3, spent[name, 10_000] * 1e3
        print(f"  {name:<16}{small:9.4f}{large:10.4f}{large / small:8.1f}")


if __name__ == "__main__":
    main()
