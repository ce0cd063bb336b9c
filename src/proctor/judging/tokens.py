"""How many tokens a text is, without the tokenizer of the model that reads it."""

from __future__ import annotations

import re

__all__ = ["estimated_tokens", "least_tokens"]

_RUN = re.compile(r"(.)\1{7,}", re.DOTALL)


def estimated_tokens(text: str) -> int:
    """Rather too many than too few: a token for each three bytes of UTF-8, where English has one for four to five.

    >>> estimated_tokens("Was the refund fair?"), estimated_tokens("返金は公正でしたか")
    (7, 9)
    """
    return -(-_bytes(text) // 3)


def least_tokens(text: str) -> int:
    """No more than the model counts: what does not fit by this need not be sent to find out.

    A token for each eight characters. Single tokens can be longer, but text in no language is made of those alone: it
    has half of that on average, or less. Runs of one character, such as spaces, do make long tokens, up to 128: a run
    counts as one token, however long it is.

    >>> least_tokens("Was the refund fair?"), least_tokens(" " * 800)
    (2, 1)
    """
    return len(_RUN.sub(lambda run: run[1] * 8, text)) // 8


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
