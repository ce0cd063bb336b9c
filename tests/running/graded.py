"""Items whose saved output says what the scorer is to make of it."""

import asyncio

from proctor import create_scorer, not_scorable


def decide(ctx):
    output = ctx.run.output
    if output == "boom":
        raise ValueError("the scorer broke")
    return not_scorable("nothing to score") if output == "n/a" else output


def graded(id="graded", **options):
    """A scorer that gives the output as score, declines for `n/a` and raises for `boom`."""
    return create_scorer(id=id, inline=True, **options).generate_score(decide)


def saved(*outputs):
    """Items with these outputs, called i0, i1 ..."""
    return [{"id": f"i{n}", "output": output} for n, output in enumerate(outputs)]


async def echo(given):
    """A target that gives its input back, and fails for `fail`."""
    await asyncio.sleep(0)
    if given == "fail":
        raise ConnectionError("unable to answer, please retry")
    return given


def asked(*inputs):
    """Items with these inputs, called i0, i1 ..."""
    return [{"id": f"i{n}", "input": given} for n, given in enumerate(inputs)]


async def until_done(run, count):
    """Wait until a run that goes on, of a handle, has done so many rows."""
    while run.progress.done < count:  # noqa: ASYNC110 - a run has no event for it
        await asyncio.sleep(0)
