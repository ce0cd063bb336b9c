"""What Proctor's adapter adds to a turn of an agent, over the framework's own call of the same turn.

A turn is a question, a tool that is called, and an answer, by the scripted models of examples/frameworks; each turn is
on a thread of its own. Bare: the call as a person writes it, with a thread where the framework keeps one. Over: the
same turn by the target, with a toolbox that passes every call on, read as messages with usage and durations. The
target: 15% of the bare turn, or 0.5 ms of CPU, whichever is more. HTTP is measured against a bare post to a server in
another process.
"""

import asyncio
import gc
import subprocess
import sys
import time
from pathlib import Path

from timing import judged

from proctor import Item
from proctor.running.target import Call, as_target
from proctor.running.toolbox import Toolbox

EXAMPLES = Path(__file__).parents[1] / "examples" / "frameworks"
ROUNDS, TURNS = 25, 20
SHARE, MS = 0.15, 0.5
QUESTION = "What is the weather in Brooklyn?"


def pydantic_ai():
    from pydantic_ai_agents import weather_agent

    return lambda thread: weather_agent.run(QUESTION), as_target(weather_agent)


def openai_agents():
    from agents import Runner, SQLiteSession, set_tracing_disabled
    from openai_agents import weather_agent

    from proctor.targets.openai_agents import OpenAIAgentsTarget

    set_tracing_disabled(True)  # it would try to send what it traced
    return (
        lambda thread: Runner.run(weather_agent, QUESTION, session=SQLiteSession(thread)),
        OpenAIAgentsTarget(weather_agent, session=SQLiteSession),
    )


def langgraph():
    from langgraph_agents import weather_agent

    def bare(thread):
        asked = {"messages": [{"role": "user", "content": QUESTION}]}
        return weather_agent.ainvoke(asked, {"configurable": {"thread_id": thread}})

    return bare, as_target(weather_agent)


def http(url):
    import httpx2

    from proctor.targets.http import HttpTarget

    client = httpx2.AsyncClient()
    body = {"model": "any", "messages": [{"role": "user", "content": QUESTION}]}

    async def bare(thread):
        answer = await client.post(f"{url}/chat/completions", json=body)
        return answer.json()

    return bare, HttpTarget(url, model="any")


# ── measuring ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def compared(bare, target):
    """CPU milliseconds of a turn, bare and by the target: the least of rounds that alternate."""
    item, count = Item(QUESTION), 0

    async def by_target(thread):
        call = Call(
            input=QUESTION, item=item, turn=0, thread_id=thread, resource_id=thread,
            toolbox=Toolbox() if getattr(target, "mocks_tools", False) else None,
        )  # fmt: skip
        reply = await target.reply(call)
        if call.toolbox is not None:
            call.toolbox.noted(reply.output)
        if hasattr(target, "forget"):
            target.forget(thread, resource_id=thread)

    least = {"bare": float("inf"), "target": float("inf")}
    for round in range(ROUNDS + 1):
        for name, turn in (("bare", bare), ("target", by_target)):
            gc.collect()
            began = time.process_time()
            for _ in range(TURNS):
                count += 1
                await turn(f"t{count}")
            if round:  # the first one loads and warms up
                least[name] = min(least[name], (time.process_time() - began) * 1000 / TURNS)
    return least["bare"], least["target"]


def say(name, bare, over):
    limit = max(SHARE * bare, MS)
    verdict = judged(over - bare, limit)
    print(
        f"{name:14} bare {bare:6.2f} ms, target {over:6.2f} ms: {over - bare:+.2f} ms of at most {limit:.2f}: {verdict}"
    )


def main():
    sys.path.insert(0, str(EXAMPLES))
    print(f"CPU of a turn, the least of {ROUNDS} rounds of {TURNS} turns")
    for make in (pydantic_ai, openai_agents, langgraph):
        say(make.__name__, *asyncio.run(compared(*make())))
    command = [sys.executable, "-m", "proctor.testing.server", "--reply", "It is sunny in Brooklyn."]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        url = server.stdout.readline().strip()

        async def measured():
            return await compared(*http(url))

        say("http", *asyncio.run(measured()))
        server.communicate()


if __name__ == "__main__":
    main()
