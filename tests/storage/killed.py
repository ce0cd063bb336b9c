"""Runs in processes of their own, to be killed. `python -m tests.storage.killed` forks one for each line it is told.

A line of its input is the JSON of a `Sitting`'s fields. It answers with the process id, and with the exit code when the
process has ended. Forked, a process need not load everything again.

Every call of the agent and of a judge is two lines of the log, the first written as it begins, the second as it ends; a
row that has ended, and is recorded, is one. Replies and reasons say which call made them, so that a result tells which
calls it is made of. An *attempt* is what hangs together: a reply and its scores, or a conversation on its thread.
"""

import asyncio
import json
import os
import random
import re
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from proctor import (
    AgentReply,
    Eval,
    Item,
    JsonlRecorder,
    Score,
    Turn,
    UsageError,
    checks,
    create_scorer,
    not_scorable,
    resume_sync,
    run_evals_sync,
)
from proctor.data.usage import Cost, Usage

CONCURRENCY = 4
REPEATS = 2
AT_MOST_S = 60
SIGNED = re.compile(r"\[(\S+) (\S+) (\S+) (\S+)\]")


@dataclass(kw_only=True)
class Sitting:
    """One process of a run. *where*: `jsonl:PATH` and whatever else is in `WAYS`. *number*: 0 begins the run.

    *last*: at so many lines of its own it kills itself, should nobody have done so before.
    """

    where: str
    number: int
    log: str
    result: str
    last: int | None = None
    slow: float = 0.002


def over_jsonl(evaluation, path, sitting):
    return run_evals_sync(evaluation(recorder=JsonlRecorder(path)))


def over_nothing(evaluation, path, sitting):
    return run_evals_sync(evaluation())


def over_store(evaluation, url, sitting):
    """A sitting that was killed before its run was there, or even its tables, left nothing to go on with."""
    try:
        if sitting.number:
            return resume_sync("latest", evaluation(), store=url)
    except UsageError as error:
        if error.code not in {"UNKNOWN_NAME", "STORE_UNUSABLE"}:
            raise
    return run_evals_sync(evaluation(store=url))


# How a run is begun, or gone on with when the sitting's number is not 0. Each is given a maker of the evaluation, which
# takes further arguments of `Eval`, and what stands after the colon.
WAYS = {"jsonl": over_jsonl, "nothing": over_nothing, "store": over_store}


class Log:
    def __init__(self, sitting):
        self.file = os.open(sitting.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.number, self.last, self.slow = sitting.number, sitting.last, sitting.slow
        self.calls = self.lines = 0

    def write(self, *words):
        os.write(self.file, (json.dumps([self.number, *words]) + "\n").encode())
        self.lines += 1
        if self.lines == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    async def call(self, what, *, attempt=None, of):
        """One paid call: gives its signature, which goes into what it makes."""
        self.calls += 1
        call = f"{self.number}.{self.calls}"
        attempt = attempt or call
        self.write("begin", call, attempt, what, of)
        await asyncio.sleep(0.001 + random.random() * self.slow * 2)  # a store does not wait for what takes less
        self.write("end", call)
        return f"[{attempt} {call} {what} {of}]"


class Agent:
    """Its answer to `i3/0` ends with `[attempt call ask i3/0]`."""

    def __init__(self, log):
        self.log = log

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        asked = messages[-1].text
        signed = await self.log.call("ask", attempt=thread_id, of=asked)
        if asked == "i6/0":
            raise ConnectionRefusedError(f"no answer {signed}")
        number = int(asked[1:].split("/")[0])
        return AgentReply(
            f"the answer {signed}", Usage(input_tokens=10 + number, output_tokens=1), Cost(amount=0.1 * (number + 1))
        )


def judge(log, name, verdicts):
    """A scorer that pays for each score. *verdicts*: what it makes of some items; of others, something in between."""

    async def generate_score(ctx):
        (attempt, _, _, first), *more = SIGNED.findall(ctx.run.text)
        signed = await log.call(name, attempt=attempt, of="+".join([first, *(said[-1] for said in more)]))
        number = first[1:].split("/")[0]
        made = verdicts.get(int(number), (int(number) + 1) / 10)
        if made == "declines":
            return not_scorable(signed)
        if made == "fails":
            raise ValueError(signed)
        return Score(made, reason=signed)

    return create_scorer(id=name, version="1").generate_score(generate_score)


def evaluation(log):
    """Single questions and conversations, gates that fail, judges that decline or fail, and a target that does."""
    every = dict.fromkeys(range(10), 1)
    safe, polite = judge(log, "safe", every | {2: 0}), judge(log, "polite", every | {5: 0})
    brief = judge(log, "brief", {4: "declines"})
    judges = [judge(log, "right", {1: "declines", 7: "fails"}), judge(log, "kind", {}), judge(log, "short", {})]
    items = [Item(id=f"i{number}", input=f"i{number}/0", tags=["single"]) for number in (0, 1, 2, 6, 7)]
    items[2:2] = [Item(id="i3", inputs=["i3/0", "i3/1"])]
    for number, turns in ((4, 3), (5, 2)):
        asked = [Turn(f"i{number}/{turn}", gates=[polite], scorers=[brief]) for turn in range(turns)]
        items.append(Item(id=f"i{number}", turns=asked, stop_on_failure=True))

    def made(**options):
        return Eval(
            name="killed",
            target=Agent(log),
            data=items,
            gates=[safe, checks.includes("answer")],
            scorers=[(judges[0], 0.3), *judges[1:]],
            repeats=REPEATS,
            concurrency=CONCURRENCY,
            skip_scorers_after_gate_failure=True,
            on_item_complete=lambda row: log.write("done", *attempts(row)),
            **options,
        )

    return made


def attempts(row):
    """Of a row's replies: one, when they hang together."""
    return sorted({SIGNED.search(str(reply.error or reply.output))[1] for reply in row.replies})


def sit(sitting):
    way, _, place = sitting.where.partition(":")
    result = WAYS[way](evaluation(Log(sitting)), place, sitting)
    Path(sitting.result).write_text(result.to_json(), encoding="utf-8")


LOADED = (
    "proctor.storage.store",
    "sqlalchemy.ext.asyncio",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "aiosqlite",
    "asyncpg",
)


def serve():
    """Fork for each line, and wait for the process at the next: until then its number is its own."""
    for name in LOADED:
        import_module(name)
    print("ready", flush=True)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            begin(Sitting(**json.loads(line)))
        print(process, flush=True)
        sys.stdin.readline()
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def begin(sitting):
    """In the forked process: what it says goes to a file beside the log; that it has ended is the last of it."""
    random.seed(time.time_ns())
    signal.alarm(AT_MOST_S)
    said = os.open(f"{sitting.log}.said", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for mine, other in ((0, nothing), (1, said), (2, said)):
        os.dup2(other, mine)
    code = 1
    try:
        sit(sitting)
        code = 0
    finally:
        if code:
            traceback.print_exc()
            sys.stderr.flush()
        os.write(said, f"ended with {code}\n".encode())
        os._exit(code)  # what was forked with it is the server's


if __name__ == "__main__":
    serve()
