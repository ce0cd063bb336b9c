"""Conversations, and scorers that tell what they were shown."""

from proctor import create_scorer

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
