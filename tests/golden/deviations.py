"""Tells by a case's content which of our rules changes it."""

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.data.value import MISSING

OUR_STATES = {"approval-requested", "approval-responded", "output-available", "input-available", "output-denied"}


def messages_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping with a role, however deep."""
    if isinstance(value, dict):
        if "role" in value:
            yield value
        for item in value.values():
            yield from messages_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from messages_in(item)


def parts_of(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content")
    parts = content.get("parts") if isinstance(content, dict) else content
    return parts if isinstance(parts, list) else []


def has_several_texts(given: Any) -> bool:
    """A message whose text stands in more than one place: we read all its text parts."""
    return any(_texts_in(message) > 1 for message in messages_in(given))


def _texts_in(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    legacy = [content.get("content"), content.get("text")] if isinstance(content, dict) else []
    texts = [part for part in parts_of(message) if isinstance(part, dict) and part.get("type") == "text"]
    return len(texts) + len([text for text in legacy if text])


def is_unreadable(given: Any) -> bool:
    """Messages expected where there are none, or not in a form that says what was said."""
    return (
        given is None
        or given is MISSING
        or any(_is_unreadable(message) for message in messages_in(given))
        or _has_gap(given)
    )


def _is_unreadable(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    if isinstance(content, dict):
        return not isinstance(content.get("parts", []), list)
    return not (content is None or isinstance(content, str | list))


def _has_gap(given: Any) -> bool:
    """A list of messages with something else in it; tagged messages that are no list."""
    if isinstance(given, list):
        return any(isinstance(item, dict) for item in given) and not all(isinstance(item, dict) for item in given)
    if not isinstance(given, dict):
        return False
    tagged = given.get("taggedSystemMessages")
    no_list = isinstance(tagged, dict) and any(not isinstance(section, list) for section in tagged.values())
    return no_list or any(_has_gap(section) for section in given.values())


def has_other_dialect(given: Any) -> bool:
    """A call that the reference does not see: the parts and states of other dialects."""
    return any(_has_other_dialect(part) for message in messages_in(given) for part in parts_of(message))


def _has_other_dialect(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    kind = str(part.get("type"))
    invocation = part.get("toolInvocation") or part
    other = kind.startswith("tool") and kind != "tool-invocation"
    return other or kind == "dynamic-tool" or invocation.get("state") in OUR_STATES


def changes_reading(given: Any) -> bool:
    """Rule 7: what a message says, which calls are seen, what is no conversation."""
    return has_several_texts(given) or is_unreadable(given) or has_other_dialect(given)
