"""A judge that quotes what it judges, and what it was shown: for tests that hostile answers change no verdict.

It is asked through `ScriptedModel`, with the prompt of a real scorer, and its reply is read as any other.
"""

import re
import unicodedata
from itertools import pairwise

from proctor.judging.fence import Fence
from tests.injection.shapes import written

AGENT = ("answer", "output", "turn", "conversation")
"""How the blocks are named that hold what an agent said. Besides these, all with a turn are."""

_MARK = re.compile(r'hold the mark "([A-Za-z0-9_-]+)"')
_KEPT = frozenset("\t\n\r")
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


def boundary_of(call):
    """The mark that the system message names. An AssertionError where it names none, or two."""
    (system,) = (message.text for message in call.messages if message.role == "system")
    marks = _MARK.findall(system)
    assert len(marks) == 1, f"the system message names {len(marks)} marks: {system[:200]!r}"
    return marks[0]


def fenced_texts(call):
    """Each block in the user's messages as (label, text), in order."""
    fence = Fence(boundary=boundary_of(call))
    return [
        (block.label, text[block.body_begin : block.body_end]) for text in _asked(call) for block in fence.blocks(text)
    ]


def outside(call):
    """The user's messages without the texts of their blocks: what a hostile answer must not get to."""
    fence = Fence(boundary=boundary_of(call))
    kept = []
    for text in _asked(call):
        edges = [0, *(edge for block in fence.blocks(text) for edge in (block.body_begin, block.body_end)), len(text)]
        kept += [text[begin:end] for begin, end in list(pairwise(edges))[::2]]
    return "".join(kept)


def broken_blocks(call):
    """The labels of blocks whose text holds the boundary, or what looks like it."""
    boundary = boundary_of(call).casefold()
    return [label for label, text in fenced_texts(call) if boundary in _seen(text)]


def quoting(verdict, *, names=AGENT, after=False, stubborn=True):
    """Replies for `ScriptedModel`: the texts of the blocks word for word, then `verdict(call)` as JSON.

    *names*: how the labels begin of the blocks that are quoted, `("",)` for all of them. *after*: the verdict comes
    first. *stubborn*: quotes again when it is asked once more; else that reply is the verdict alone, as it was told. An
    AssertionError where there is no such block: nothing would be tried.
    """

    def reply(call):
        quoted = "\n".join(_named(call, names))
        said = written(verdict(call))
        if not stubborn and len(_asked(call)) > 1:
            return said
        return f"I say {said}, for it reads:\n{quoted}" if after else f"It reads:\n{quoted}\nI say {said}"

    return reply


def quoting_within(verdict, *, names=AGENT):
    """The same with the quotation in the verdict: it is each text with the key `reason` or `evidence`."""

    def reply(call):
        return written(_filled(verdict(call), "\n".join(_named(call, names))))

    return reply


def _asked(call):
    return [message.text for message in call.messages if message.role == "user"]


def _named(call, names):
    blocks = fenced_texts(call)
    found = [text for label, text in blocks if label.startswith(tuple(names)) or (names == AGENT and " turn " in label)]
    assert found, f"no block is named {' or '.join(names)}; there are {[label for label, _ in blocks]}"
    return found


def _filled(value, text):
    if isinstance(value, dict):
        return {key: text if key in {"reason", "evidence"} else _filled(item, text) for key, item in value.items()}
    return [_filled(item, text) for item in value] if isinstance(value, list) else value


def _seen(text):
    """*text* in small letters without characters that do not show, by their category in Unicode."""
    if text.isascii() and text.isprintable():
        return text.casefold()
    return "".join(
        letter
        for letter in unicodedata.normalize("NFD", text).casefold()
        if letter in _KEPT or (unicodedata.category(letter) not in {"Cc", "Cf", "Mn", "Me"} and letter not in _FILLERS)
    )
