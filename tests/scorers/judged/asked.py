"""Judged scorers, asked with a script for a judge."""

import re

from proctor.judging.fence import Fence
from proctor.testing import ScriptedModel


async def outcome_of(factory, replies, *, options=None, **run):
    """The outcome of a scorer and the model that was its judge. *run*: what is scored, as `Scorer.run` takes it."""
    model = ScriptedModel(replies)
    return await factory(model=model, **(options or {})).run(**run), model


def boundary_of(call):
    """The mark of the fence, as the judge was told it; None when nothing was fenced."""
    found = re.search(r'hold the mark "([^"]+)"', call.messages[0].text)
    return found and found[1]


def fenced(call):
    """What stood between the lines of the fence, by the names on them."""
    prompt = next(message.text for message in call.messages if message.role == "user")
    mark = boundary_of(call)
    blocks = Fence(boundary=mark).blocks(prompt) if mark else []
    return {block.label: prompt[block.body_begin : block.body_end] for block in blocks}
