"""What the stores of older schemas hold, which lie in `fixtures`: one whole run, and one that was stopped."""

import asyncio
from pathlib import Path

from proctor import AgentReply, Item, Turn, checks, not_scorable, scorer, start_evals
from proctor.data.usage import Cost, Usage
from tests.running.graded import until_done

FOLDER = Path(__file__).parent / "fixtures"


class Agent:
    """Answers what it is asked, and counts; fails for `fail`."""

    def __init__(self):
        self.asked = []

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        await asyncio.sleep(0)
        text = messages[-1].text
        self.asked.append(text)
        if text == "fail":
            raise ConnectionError("no answer")
        return AgentReply(f"re: {text}", Usage(input_tokens=3, output_tokens=1), Cost(amount=0.25))


def length(run):
    return len(run.text) % 5 / 4


def declines(run):
    return not_scorable("nothing to see") if len(run.text) % 2 else 1.0


def breaks(run):
    if len(run.text) % 3 == 0:
        raise ValueError("broke")
    return 1.0


def evaluation(agent):
    scorers = [(scorer(length, id="length", version="1"), 0.25)]
    scorers += [scorer(each, id=each.__name__, version="1") for each in (declines, breaks)]
    return {
        "name": "old",
        "target": agent,
        "data": [
            Item("one", id="plain", tags=["t"], ground_truth={"a": [1, None]}, metadata={"m": "\ud83d\0"}),
            Item("fail", id="failing"),
            Item(id="talk", turns=[Turn("one", gates=[checks.includes("re")]), Turn("two")]),
            Item(id="\x1bodd\0", inputs=["ünï", "日本"]),
            *[Item(f"{n}", id=f"i{n}") for n in range(4)],
        ],
        "gates": [checks.includes("re")],
        "scorers": scorers,
        "repeats": 2,
        "concurrency": 1,
    }


async def stopped(where):
    """A run that somebody stopped after five rows."""
    run = start_evals(**evaluation(Agent()), store=where)
    await until_done(run, 5)
    run.cancel()
    return await run
