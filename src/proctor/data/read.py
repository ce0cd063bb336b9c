"""Reads whatever an agent took or gave as messages.

Text is one message, a list of texts that many, an empty list none. Mappings with a `role` are a conversation, in the
dialect of `read_stored` when one of them is, else of `read_openai`: decided for the list as a whole. Any other value is
one message that holds the value. None is unreadable: a reply that never came must not pass for an empty one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.data.message import Data, Message, Text
from proctor.data.plain import is_plain
from proctor.data.read_fields import Problem, is_list, is_mapping, must_be
from proctor.data.read_join import Conversation
from proctor.data.read_openai import read_openai
from proctor.data.read_stored import is_stored, read_stored
from proctor.data.value import MISSING
from proctor.errors import UnreadableMessages

__all__ = ["read_input", "read_messages"]

_AGENT_INPUT = frozenset({"inputMessages", "rememberedMessages", "systemMessages", "taggedSystemMessages"})

_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "signal")
_SAYS = frozenset({"content", "parts", "tool_calls", "toolCalls", "function_call", "toolInvocations"})


def read_messages(value: Any, *, role: str = "assistant", where: str = "output") -> tuple[Message, ...]:
    """*value* as messages. *role*: who said what has no role of its own. *where*: how errors call the value.

    Raises `UnreadableMessages`, which names the index and the key.

    >>> read_messages([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])[1].text
    'Hello'
    """
    if isinstance(value, str):
        return (_saying(role, value),)
    if isinstance(value, Message):
        return (value,)
    if value is None or value is MISSING:
        raise UnreadableMessages(f"{where}: there is nothing to read: it is {value!r}")
    if is_list(value):
        return _read_list(value, role=role, where=where)
    if is_mapping(value):
        if _is_message(value):
            return _read_conversation([value], where=where, single=True)
        messages = value.get("messages")
        if is_list(messages) and messages and all(is_mapping(it) and "role" in it for it in messages):
            return _read_conversation(messages, where=f"{where}.messages")  # the state of a graph, a chat log
        _refuse_unread(value, where)
    elif isinstance(value, bytes):
        raise UnreadableMessages(f"{where}: bytes are not read as text; decode them")
    elif not is_plain(value):
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise UnreadableMessages(f"{where}: a {kind} has no plain form; give text, messages, a dict or a dataclass")
    return (Message(role, (Data(value),)),)


def read_input(value: Any, *, where: str = "input") -> tuple[Message, ...]:
    """What an agent was given, as messages: system messages first, then what it remembered, then the input.

    Knows the shapes of `read_messages`, the documents' agent input (`inputMessages` and its like) and a chat request
    (`{"messages": [...]}`). Text is the user's. MISSING gives no messages.
    """
    if value is MISSING:
        return ()
    if is_mapping(value) and "role" not in value:
        if not _AGENT_INPUT.isdisjoint(value):
            return _read_agent_input(value, where=where)
        if is_list(value.get("messages")):
            return read_messages(value["messages"], role="user", where=f"{where}.messages")
    return read_messages(value, role="user", where=where)


def _is_message(value: Mapping[str, Any]) -> bool:
    """Whether a mapping by itself is a message: other things have roles too (`{"name": "Ann", "role": "admin"}`)."""
    if "role" not in value:
        return False
    return value["role"] in _ROLES or not _SAYS.isdisjoint(value)


def _read_list(values: Sequence[Any], *, role: str, where: str) -> tuple[Message, ...]:
    with_role = [is_mapping(value) and "role" in value for value in values]
    if any(with_role):
        if not all(with_role):
            index = with_role.index(False)
            raise _unreadable(_no_role(values[index]), f"{where}[{index}]")
        return _read_conversation(values, where=where)
    if all(isinstance(value, str) for value in values):
        return tuple([_saying(role, value) for value in values])
    if not any(isinstance(value, Message) for value in values):
        for index, value in enumerate(values):
            if is_mapping(value):
                _refuse_unread(value, f"{where}[{index}]")
        return (Message(role, (Data(values),)),)
    for index, value in enumerate(values):
        if not isinstance(value, Message):
            raise _unreadable(must_be("", "a Message, as others in the list are", got=value), f"{where}[{index}]")
    return tuple(values)


_UNREAD: tuple[tuple[str, Callable[[Mapping[str, Any]], bool], str], ...] = (
    (
        "a LangChain message",
        lambda it: it.get("type") in ("ai", "human", "AIMessageChunk") and "content" in it,
        "use langchain_core's convert_to_openai_messages",
    ),
    (
        "a pydantic-ai message",
        lambda it: it.get("kind") in ("request", "response") and "parts" in it,
        "give OpenAI chat messages",
    ),
    (
        "an item of OpenAI's Responses",
        lambda it: it.get("type") in ("function_call", "function_call_output") and "call_id" in it,
        "give OpenAI chat messages, with tool_calls",
    ),
    ("a chat completion", lambda it: is_list(it.get("choices")), 'give its ["choices"][0]["message"]'),
)


def _refuse_unread(value: Mapping[str, Any], place: str) -> None:
    """Refuse what is a message in a dialect that is not read: as a mere value it would hide its tool calls."""
    for name, is_it, advice in _UNREAD:
        if is_it(value):
            raise UnreadableMessages(f"{place}: this is {name}, which is not read here; {advice}")


def _no_role(value: Any) -> Problem:
    return Problem("", "no role") if is_mapping(value) else must_be("", "a message (a mapping with a role)", got=value)


def _read_conversation(values: Sequence[Mapping[str, Any]], *, where: str, single: bool = False) -> tuple[Message, ...]:
    conversation = Conversation()
    read = read_stored if any(is_stored(value) for value in values) else read_openai
    for index, value in enumerate(values):
        try:
            read(value, conversation)
        except Problem as problem:
            raise _unreadable(problem, where if single else f"{where}[{index}]") from None
    return conversation.messages()


def _read_agent_input(value: Mapping[str, Any], *, where: str) -> tuple[Message, ...]:
    sections = [("system", f"{where}.systemMessages", value.get("systemMessages"))]
    tagged = value.get("taggedSystemMessages")
    if is_mapping(tagged):
        sections += [("system", f"{where}.taggedSystemMessages.{tag}", those) for tag, those in tagged.items()]
    elif tagged:
        raise _unreadable(must_be("", "a mapping of tags to messages", got=tagged), f"{where}.taggedSystemMessages")
    sections += [("user", f"{where}.{key}", value.get(key)) for key in ("rememberedMessages", "inputMessages")]
    messages: list[Message] = []
    for role, place, section in sections:
        if section is not None and not is_list(section):
            raise _unreadable(must_be("", "a list of messages", got=section), place)
        messages += read_messages(section or (), role=role, where=place)
    return tuple(messages)


def _saying(role: str, text: str) -> Message:
    return Message(role, (Text(text),) if text else ())


def _unreadable(problem: Problem, place: str) -> UnreadableMessages:
    return UnreadableMessages(f"{place}{problem.path}: {problem.text}")
