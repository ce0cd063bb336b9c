"""A budget as it is written on a command line."""

from __future__ import annotations

import re
from typing import Final

from proctor.data.value import shown
from proctor.errors import UsageError
from proctor.judging.budget import Budget

__all__ = ["budget_from"]

_FORM = re.compile(r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>[a-z]*)", re.IGNORECASE)
_HOW: Final = "write 5 or 0.50 (US dollars), 5usd, 200000tokens, or both: 5usd,200000tokens"


def budget_from(text: str) -> Budget:
    """The budget that a text means: `5` and `0.50usd` are US dollars, `200000tokens` tokens, `5usd,200000tokens` both.

    >>> str(budget_from("0.50")), str(budget_from("5usd,200000tokens"))
    ('$0.50', '$5.00 or 200,000 tokens')
    """
    usd: float | None = None
    tokens: int | None = None
    for part in text.split(","):
        found = _FORM.fullmatch(part.strip())
        unit = "" if found is None else found["unit"].lower()
        if found is None or unit not in {"", "usd", "tokens"}:
            raise UsageError(f"--budget {shown(text)}: {shown(part)} is no amount; {_HOW}")
        if unit == "tokens":
            if tokens is not None:
                raise UsageError(f"--budget {shown(text)}: tokens are there twice; {_HOW}")
            if "." in found["amount"]:
                raise UsageError(f"--budget {shown(text)}: tokens are a whole number; {_HOW}")
            tokens = int(found["amount"])
        else:
            if usd is not None:
                raise UsageError(f"--budget {shown(text)}: dollars are there twice; {_HOW}")
            usd = float(found["amount"])
    try:
        return Budget(usd=usd, tokens=tokens)
    except UsageError as problem:
        raise UsageError(f"--budget {shown(text)}: an amount must be above 0; {_HOW}") from problem
