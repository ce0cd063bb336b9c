"""Recorded conversations, turn by turn, and what an adapter makes of them: the same, message for message."""

import json
from collections import Counter
from dataclasses import replace

from proctor import Item, checks, run_evals
from proctor.data.message import ToolCall
from proctor.data.read import read_messages
from tests.support import shared

__all__ = ["DOMAINS", "replayed_as_recorded", "schemas"]

DOMAINS = ["tau_airline", "tau_retail"]


def cases(domain):
    with shared(f"data/{domain}/dev.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def turns_of(messages):
    """The user's turns, each with what was said and called until the next one; up to one that breaks off at a tool."""
    turns = []
    for message in messages:
        if message["role"] == "user":
            turns.append((message["content"], []))
        elif turns and message["role"] != "system":
            turns[-1][1].append(message)
    ended = [
        bool(answer) and answer[-1]["role"] == "assistant" and not answer[-1].get("tool_calls") for _, answer in turns
    ]
    return turns[: ended.index(False)] if False in ended else turns


def with_unique_ids(messages):
    """The messages, an id of a call that came before with a number: a few recordings use one twice."""
    now, times, found = {}, Counter(), []
    for message in messages:
        calls = message.get("tool_calls") or ()
        for call in calls:
            times[call["id"]] += 1
            again = times[call["id"]] > 1
            now[call["id"]] = f"{call['id']}-{times[call['id']]}" if again else call["id"]
        renamed = [call | {"id": now[call["id"]]} for call in calls]
        answers = message.get("tool_call_id")
        changes = {"tool_calls": renamed} if calls else {"tool_call_id": now.get(answers, answers)} if answers else {}
        found.append(message | changes)
    return found


def schemas(domain):
    """The tools of a domain, as OpenAI has them."""
    return json.loads(shared(f"data/{domain}/tools.json").read_text(encoding="utf-8"))


def bare(messages):
    """What was said and called, in order; how long it took is of this run."""
    return [(message.role, [untimed(part) for part in message.parts]) for message in messages]


def untimed(part):
    return replace(part, state="done", duration_ms=None) if isinstance(part, ToolCall) else part


async def replayed_as_recorded(domain, target_of, *, unique_ids=False, **options):
    """Run each conversation by the target that *target_of* makes of what was said and what tools gave, in order."""
    compared = calls = 0
    for case in cases(domain):
        turns = turns_of(with_unique_ids(case["messages"]) if unique_ids else case["messages"])
        if not turns:
            continue
        said = [message for _, answer in turns for message in answer if message["role"] == "assistant"]
        results = [message["content"] for _, answer in turns for message in answer if message["role"] == "tool"]
        item = Item(inputs=[asked for asked, _ in turns], id=case["id"])
        target = target_of(iter(said), iter(results), schemas(domain))
        result = await run_evals(target=target, data=[item], scorers=[checks.no_tool_errors()], **options)
        (row,) = result.items
        assert row.status == "done", (case["id"], row.error)
        for reply, (_, answer) in zip(row.replies, turns, strict=True):
            recorded = read_messages(answer)
            assert bare(read_messages(reply.output)) == bare(recorded), case["id"]
            compared += 1
            calls += sum(isinstance(part, ToolCall) for message in recorded for part in message.parts)
    assert compared > 100
    assert calls > 100
