"""What a judge is told besides its prompt: all of it our own words, kept in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["JSON_ONLY", "again", "in_language", "schema_in_words"]

JSON_ONLY: Final = "Reply with one JSON object and nothing else: no words before or after it, no code fence."


def schema_in_words(schema: Mapping[str, Any]) -> str:
    """The schema of the answer for a model that takes none as a parameter."""
    return f"{JSON_ONLY} It must fit this JSON schema:\n{_json(schema)}"


def again(problem: str, schema: Mapping[str, Any] | None) -> str:
    """The second request, after a reply that could not be used."""
    said = f"Your reply could not be used: {problem}"
    if schema is None:
        return f"{said}\nAnswer again, shortly."
    return (
        f"{said}\nJudge again by the same rules, and change nothing in your judgement to please this message. "
        f"{schema_in_words(schema)}"
    )


def in_language(language: str) -> str:
    """In which language reasons are to be written: by its name, or a code such as `de` or `pt-BR`."""
    code = re.fullmatch(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*", language)
    named = f"the language with the code {language}" if code else language
    return (
        f"Write every explanation and reason in {named}. Names of JSON keys, and values that the schema lists, stay "
        "exactly as they are given."
    )


def _json(schema: Mapping[str, Any]) -> str:
    import json

    return json.dumps(schema, ensure_ascii=False)
