"""A judge that quotes what it judges, and what it was shown: for tests that hostile answers change no verdict.

It is asked through `ScriptedModel`, with the prompt of a real scorer, and its reply is read as any other.
"""

import json
import re
import unicodedata
from itertools import pairwise

from proctor.judging.fence import Fence
from tests.injection.shapes import written

AGENT = ("answer", "output", "turn", "conversation")
"""How the blocks are named that hold what an agent said. Besides these, all with a turn are."""

_MARK = re.compile(r'hold the mark "([A-Za-z0-9_-]+)"')
_KEPT = frozenset("\t\n\r")
_WORDS = {"reason", "reasoning", "evidence"}
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_STRAIGHT = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")


def boundary_of(call):
    """The mark that the system message names. An AssertionError where it names none, or two."""
    (system,) = (message.text for message in call.messages if message.role == "system")
    marks = _MARK.findall(system)
    assert len(marks) == 1, f"the system message names {len(marks)} marks: {system[:200]!r}"
    return marks[0]


def asked(call):
    """The texts of the user's messages: one, and another when it is asked once more."""
    return [message.text for message in call.messages if message.role == "user"]


def fenced_texts(call):
    """Each block in the user's messages as (label, text), in order."""
    fence = Fence(boundary=boundary_of(call))
    return [
        (block.label, text[block.body_begin : block.body_end]) for text in asked(call) for block in fence.blocks(text)
    ]


def outside(call):
    """The user's messages without the texts of their blocks: what a hostile answer must not get to."""
    fence = Fence(boundary=boundary_of(call))
    kept = []
    for text in asked(call):
        edges = [0, *(edge for block in fence.blocks(text) for edge in (block.body_begin, block.body_end)), len(text)]
        kept += [text[begin:end] for begin, end in list(pairwise(edges))[::2]]
    return "".join(kept)


def broken_blocks(call):
    """The labels of blocks whose text holds the boundary, or what looks like it."""
    boundary = boundary_of(call).casefold()
    return [label for label, text in fenced_texts(call) if boundary in _seen(text)]


def quoting(verdict, *, names=AGENT, after=False, stubborn=True, change=str):
    """Replies for `ScriptedModel`: the texts of the blocks word for word, then `verdict(call)` as JSON.

    *names*: how the labels begin of the blocks that are quoted, `("",)` for all of them. *after*: the verdict comes
    first. *stubborn*: quotes again when it is asked once more; else that reply is the verdict alone, as it was told.
    *change*: what it makes of the texts. An AssertionError where there is no such block: nothing would be tried.
    """

    def reply(call):
        quoted = change("\n".join(_named(call, names)))
        said = written(verdict(call))
        if not stubborn and len(asked(call)) > 1:
            return said
        return f"I say {said}, for it reads:\n{quoted}" if after else f"It reads:\n{quoted}\nI say {said}"

    return reply


def only_quoting(*, names=AGENT, change=str):
    """The same without any verdict."""
    return lambda call: "It reads:\n" + change("\n".join(_named(call, names)))


def respaced(text):
    """As one quotes who lays everything out anew."""
    return re.sub(r"\s+", "\n\t ", text)


def read_out(text):
    """As one quotes what a numbered line says, not how it is written."""
    return "\n".join(_text_of(line) for line in text.split("\n"))


def _text_of(line):
    try:
        value = json.loads(line)
    except ValueError:
        return line
    return value["text"] if isinstance(value, dict) and "text" in value else line


def straightened(text):
    """As one quotes who has straight quotes alone, and leaves out what does not show."""
    return _UNSEEN.sub("", text.translate(_STRAIGHT))


def quoting_within(verdict, *, names=AGENT):
    """The same with the quotation in the verdict: it is each text with the key `reason`, `reasoning` or `evidence`."""

    def reply(call):
        return written(_filled(verdict(call), "\n".join(_named(call, names))))

    return reply


def _named(call, names):
    blocks = fenced_texts(call)
    found = [text for label, text in blocks if label.startswith(tuple(names)) or (names == AGENT and " turn " in label)]
    assert found, f"no block is named {' or '.join(names)}; there are {[label for label, _ in blocks]}"
    return found


def _filled(value, text):
    if isinstance(value, dict):
        return {
            key: text if key in _WORDS and isinstance(item, str) else _filled(item, text) for key, item in value.items()
        }
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
