"""Conversations, and scorers that tell what they were shown."""

import json
from pathlib import Path

from proctor import create_scorer
from proctor.data.codec import decode, encode

TALK = {"id": "talk", "inputs": ["Hi", "How are you?", "Bye"]}


def seeing(id="see"):
    """A scorer that keeps the runs it is shown, and the list of them."""
    seen = []

    def see(ctx):
        seen.append(ctx.run)
        return 1

    return create_scorer(id=id, inline=True).generate_score(see), seen


def says(text):
    """A scorer of one's own for a text, 1 or 0."""
    return create_scorer(id=f"says-{text}", inline=True).generate_score(lambda ctx: float(text in ctx.run.text))


def statuses(outcomes):
    return [(outcome.column.key, outcome.status) for outcome in outcomes]


def reasons(outcomes):
    return [outcome.cause.why for outcome in outcomes]


def by_turn(row):
    return [[outcome.status for outcome in (*turn.gates, *turn.scorers)] for turn in row.turns]


class FileThreads:
    """Threads that outlive the process: a file of JSON lines for each, in a folder."""

    durable = True

    def __init__(self, folder):
        self.folder = Path(folder)

    async def load(self, thread_id, *, resource_id=None):
        path = self.folder / thread_id
        lines = path.read_text().splitlines() if path.exists() else ()
        return [decode(json.loads(line)) for line in lines]

    async def append(self, thread_id, messages, *, resource_id=None):
        with (self.folder / thread_id).open("a") as file:
            file.write("".join(json.dumps(encode(message)) + "\n" for message in messages))

    async def clear(self, thread_id):
        (self.folder / thread_id).unlink(missing_ok=True)
