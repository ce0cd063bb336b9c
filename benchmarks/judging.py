"""What a judged step costs over the model call that it makes, and whether limits are kept, on a server of our own.

The server is a process of its own, so that CPU time is the client's alone. Direct: `pydantic_ai.direct.model_request`
with the same prompts, schema and concurrency. Judged: a whole `run_evals` over items with saved outputs, one scorer
with one judged step, nothing cached. Rounds of both alternate on one event loop, and the least counts.

Targets: 1.5 times the direct call at 64 at once; a server that lets in so many requests a second is kept 95 % busy and
every item is scored, also where the judge is not told and finds out from what the server refuses; a judge with
`concurrency=4` has 4 calls in flight and never more. `--full`: more items and rounds, and 200 requests a second
besides, for a quiet machine: with the client near 100 % of a processor, that is the limit and not the server.
"""

import asyncio
import gc
import json
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

from timing import judged, least, reference

from proctor import Item, Judge, Prompt, create_scorer, run_evals
from proctor.judging.answer_schema import score_schema
from proctor.judging.fence import Fence
from proctor.judging.limiter import Limiter, Limits
from proctor.judging.request import CallRequest
from proctor.judging.structured import read_reply

FULL = "--full" in sys.argv
ITEMS, ROUNDS, CONCURRENCY = (2_000, 7, 64) if FULL else (1_000, 5, 64)
RATES, SECONDS = ((50, 200), 20) if FULL else ((50,), 12)
TIMES, BUSY_PERCENT, AT_ONCE = 1.5, 95.0, 4
REPLY = '{"score": 0.75}'
ANSWER = "It is sunny in Brooklyn, and it will rain tomorrow. Take an umbrella, and leave the car where it is. " * 4
RULES = "Judge whether the answer is of use to the person who asked. Score 0 for no use, 1 for full use."


def make_items(count):
    return [
        Item(f"What is the weather in street {number}?", id=f"street-{number}", output=ANSWER)
        for number in range(count)
    ]


def asks(ctx):
    return f"Question:\n{ctx.fence(ctx.run.input, 'question')}\nAnswer:\n{ctx.fence(ctx.run.output, 'answer')}"


def judged_scorer(url, *, id="useful", **limits):
    judge = Judge("openai-chat:m", base_url=url, instructions=RULES, **limits)
    return create_scorer(id=id, description="Is it of use?", judge=judge).generate_score(
        Prompt("Score the use of the answer.", create=asks)
    )


async def whole(items, scorers, *, concurrency=CONCURRENCY):
    """A whole run: how many outcomes are scores."""
    result = await run_evals(data=items, scorers=scorers, concurrency=concurrency, cache=False)
    return sum(mean.n for mean in result.means)


# ── the server ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Server:
    """A server in a process of its own. *traffic*: what it had counted when it ended."""

    def __init__(self, *options):
        command = [sys.executable, "-m", "proctor.testing.server", "--reply", REPLY, *options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self._process.stdout.readline().strip()
        self.traffic = None

    def end(self):
        said, _ = self._process.communicate()
        self.traffic = json.loads(said)


@contextmanager
def serving(*options):
    server = Server(*options)
    try:
        yield server
    finally:
        server.end()


# ── over the direct call ───────────────────────────────────────────────────────────────────────────────────────────


def direct_calls(url):
    """A function that makes so many direct calls of the same prompts, by a model of its own."""
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="none"))
    schema = score_schema(0, 1)
    output = OutputObjectDefinition(json_schema=schema.json, name=schema.name, strict=True)
    parameters = ModelRequestParameters(output_mode="native", output_object=output)
    system = f"{RULES}\n\n{Fence().instruction}"

    async def calls(prompts):
        slots = asyncio.Semaphore(CONCURRENCY)

        async def one(prompt):
            async with slots:
                request = ModelRequest(parts=[UserPromptPart(prompt)], instructions=system)
                return await model_request(model, [request], model_request_parameters=parameters)

        return await asyncio.gather(*map(one, prompts))

    return calls


def prompt_of(item):
    fence = Fence()
    return f"Question:\n{fence(item.input, 'question')}\nAnswer:\n{fence(item.output, 'answer')}"


async def cpu_us(work, count):
    """CPU µs for each of *count*, once."""
    gc.collect()
    began = time.process_time()
    made = await work
    spent = time.process_time() - began
    del made
    return spent / count * 1e6


async def over_direct(url):
    """CPU µs of a direct call and of a judged step in every round."""
    calls, items = direct_calls(url), make_items(ITEMS)
    prompts, scorers = [prompt_of(item) for item in items], [judged_scorer(url)]
    await calls(prompts[:100])
    await whole(items[:100], scorers)
    found = []
    for _ in range(ROUNDS):
        direct = await cpu_us(calls(prompts), ITEMS)
        found.append((direct, await cpu_us(whole(items, scorers), ITEMS)))
    return found


def print_over_direct():
    with serving() as server:
        found = asyncio.run(over_direct(server.url))
    theirs, ours = (min(spent) for spent in zip(*found, strict=True))
    print(f"CPU µs of a call, {ITEMS:,} items, {CONCURRENCY} at once")
    print(f"  {'direct':<34}{theirs:10.1f}")
    print(f"  {'judged':<34}{ours:10.1f}")
    print(f"  {'judged over direct, times':<34}{ours / theirs:10.2f}  {judged(ours / theirs, TIMES)}")


# ── limits ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def print_busy():
    print("\nA server that lets in so many requests a second; told: requests_per_minute=, untold: it answers 429")
    for rate in RATES:
        for name, limits in (("told", {"requests_per_minute": 60 * rate}), ("untold", {})):
            items = make_items(rate * SECONDS)
            with serving("--rate", str(rate)) as server:
                cpu, wall = time.process_time(), time.perf_counter()
                scored = asyncio.run(whole(items, [judged_scorer(server.url, **limits)]))
                cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            percent, lost = 100 * (server.traffic["busy"] or 0), len(items) - scored
            row = f"{rate} a second, {name}: % busy"
            beside = f"{server.traffic['refused']:,} refused, the client at {100 * cpu / wall:.0f} % of a processor"
            print(f"  {row:<34}{percent:10.1f}  {judged(percent, BUSY_PERCENT, least=True)}  ({beside})")
            print(f"  {'items lost':<34}{lost:10}  {judged(lost, 0)}")


def print_in_flight():
    with serving("--delay-ms", "20") as server:
        scorers = [judged_scorer(server.url, id=f"useful-{n}", concurrency=AT_ONCE) for n in range(8)]
        scored = asyncio.run(whole(make_items(10), scorers, concurrency=10))
    most, lost = server.traffic["most_in_flight"], 80 - scored
    print(f"\n10 items by 8 scorers of a judge with concurrency={AT_ONCE}")
    print(f"  {'most calls in flight':<34}{most:10}  {'ok' if most == AT_ONCE else f'not {AT_ONCE}'}")
    print(f"  {'items lost':<34}{lost:10}  {judged(lost, 0)}")


# ── where the time goes ────────────────────────────────────────────────────────────────────────────────────────────


def print_parts():
    limiter, limits, schema, item = Limiter(), Limits(concurrency=CONCURRENCY), score_schema(0, 1), make_items(1)[0]
    fence = Fence()
    prompt = fence(item.output, "answer")

    async def take_turn():
        async with await limiter.turn(limits, tokens=500) as turn:
            turn.done(420)

    def turn():
        with suppress(StopIteration):
            take_turn().send(None)  # nobody is before it, so it never waits

    def key():
        texts = [fence.neutral(RULES), fence.neutral(prompt)]
        return CallRequest(model="openai-chat:m", messages=texts, schema=schema.json).key

    parts = {
        "turn of the limiter": turn,
        "fence, and two texts put in": lambda: prompt_of(item),
        "key of the request": key,
        "reply read": lambda: read_reply(REPLY, schema, finish_reason="stop", prompt=item.input),
        "(reference)": reference,
    }
    print("\nCPU µs of the parts of a judged step; the key is made only for a cache")
    for name, seconds in least(parts).items():
        print(f"  {name:<34}{seconds * 1e6:10.2f}")


def main():
    print_over_direct()
    print_busy()
    print_in_flight()
    print_parts()


if __name__ == "__main__":
    main()
