"""The documents' scorer helpers, over every shape of input and output."""

import math

import pytest

from proctor import scorer_utils
from proctor.data.message import Message, Text, ToolCall
from proctor.errors import UnreadableMessages
from proctor.scorer_utils import (
    get_assistant_message_from_run_output,
    get_conversation_history_from_run_input,
    get_user_message_from_run_input,
    is_closer_to,
    is_scorer_run_input_for_agent,
    is_scorer_run_output_for_agent,
    round_to_two_decimals,
)
from proctor.testing import create_agent_test_run, create_test_message

HI = Message("user", (Text("Hi"),))
CHAT = [
    {"role": "system", "content": "rules"},
    {"role": "user", "content": "first"},
    {"role": "assistant", "content": "answer"},
    {"role": "user", "content": [{"type": "text", "text": "sec"}, {"type": "text", "text": "ond"}]},
]


def stored(role, *texts):
    parts = [{"type": "text", "text": text} for text in texts]
    return {"id": "m", "role": role, "content": {"format": 2, "parts": parts}}


# ── the user ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("input", "said"),
    [
        ("words", "words"),
        ("", ""),
        (CHAT, "first"),
        (HI, "Hi"),
        ([Message("system", (Text("s"),)), HI], "Hi"),
        ({"inputMessages": [stored("assistant", "a"), stored("user", "the ", "words")]}, "the words"),
        ({"inputMessages": [], "messages": CHAT}, "first"),
        ({"messages": CHAT, "prompt": "p"}, "first"),
        ({"prompt": "p", "text": "t"}, "p"),
        ({"text": "t", "content": "c"}, "t"),
        ({"content": [{"type": "text", "text": "c"}], "input": "i"}, "c"),
        ({"input": {"content": "i"}, "user": "u"}, "i"),
        ({"input": CHAT}, "first"),
        ({"user": {"text": "u"}}, "u"),
        ({"user": {"parts": [{"type": "text", "text": "u"}]}}, "u"),
    ],
)
def test_the_first_user_message_is_found_in_every_shape(input, said):
    assert get_user_message_from_run_input(input) == said


@pytest.mark.parametrize(
    "input", [None, 5, [], ["a"], [1], {}, {"query": "q"}, {"prompt": 5}, {"inputMessages": [stored("user")]}]
)
def test_without_a_user_message_there_is_none(input):
    assert get_user_message_from_run_input(input) is None


# ── the assistant ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("words", "words"),
        ("", ""),
        ([*CHAT, {"role": "assistant", "content": "last"}, {"role": "user", "content": "thanks"}], "last"),
        ([stored("assistant", "the ", "words"), stored("assistant")], "the words"),
        (Message("assistant", (Text("a"), ToolCall("f"), Text("b"))), "ab"),
        (["one", "two"], "two"),
        ({"role": "assistant", "text": "t"}, "t"),
        ({"text": "", "content": "c"}, ""),
        ({"content": "c"}, "c"),
        (stored("assistant", "p", "q"), "pq"),
        ({"role": "assistant", "parts": [{"type": "text", "text": "ui"}]}, "ui"),
    ],
)
def test_the_last_assistant_message_with_text_is_found_in_every_shape(output, said):
    assert get_assistant_message_from_run_output(output) == said


@pytest.mark.parametrize(
    "output", [None, 5, [], [1], [HI], {"a": 1}, {"text": 5}, {"role": "assistant"}, {"role": "user", "content": "x"}]
)
def test_without_an_assistant_message_there_is_none(output):
    assert get_assistant_message_from_run_output(output) is None


def test_what_cannot_be_read_is_an_error_not_none():
    with pytest.raises(UnreadableMessages, match=r"^output\[1\]: must be a message"):
        get_assistant_message_from_run_output([{"role": "assistant", "content": "x"}, None])
    with pytest.raises(UnreadableMessages, match=r"^input\.messages\[0\]\.content: must be text"):
        get_user_message_from_run_input({"messages": [{"role": "user", "content": 5}]})


# ── history and shapes ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_history_is_what_the_agent_remembered():
    remembered = [stored("user", f"u{n}") if n % 2 == 0 else stored("assistant", f" a{n} ") for n in range(12)]
    run = create_agent_test_run(output=[], remembered_messages=[*remembered, stored("assistant", " ")])
    assert get_conversation_history_from_run_input(run["input"], max_messages=3) == "user: u10\nassistant: a11"
    assert get_conversation_history_from_run_input(run["input"]).count("\n") == 8
    assert get_conversation_history_from_run_input(run["input"], max_messages=0) is None


def test_the_history_of_a_plain_list_is_what_came_before_the_last_question():
    assert get_conversation_history_from_run_input(CHAT) == "user: first\nassistant: answer"
    assert get_conversation_history_from_run_input([HI]) is None


@pytest.mark.parametrize(
    "input", ["text", None, 5, {}, ["a"], {"messages": CHAT}, create_agent_test_run(output=[])["input"]]
)
def test_without_a_history_there_is_none(input):
    assert get_conversation_history_from_run_input(input) is None


def test_an_agents_input_has_all_four_parts():
    given = create_agent_test_run(output=[])["input"]
    assert is_scorer_run_input_for_agent(given)
    assert not any(is_scorer_run_input_for_agent({k: v for k, v in given.items() if k != key}) for key in given)
    assert not is_scorer_run_input_for_agent("text")


def test_an_agents_output_is_a_list_of_whole_messages():
    whole = {**create_test_message(role="assistant", content="x"), "createdAt": "2025-01-01"}
    assert is_scorer_run_output_for_agent([whole])
    assert is_scorer_run_output_for_agent([HI])
    assert is_scorer_run_output_for_agent([])
    assert not any(is_scorer_run_output_for_agent([{k: v for k, v in whole.items() if k != key}]) for key in whole)
    assert not is_scorer_run_output_for_agent("text")
    assert not is_scorer_run_output_for_agent([whole, 5])


# ── numbers ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("number", "rounded"),
    [(1.005, 1.01), (2.675, 2.68), (0.125, 0.13), (-0.125, -0.12), (0.0049999, 0), (1, 1), (1e300, 1e300)],
)
def test_halves_are_rounded_up(number, rounded):
    assert round_to_two_decimals(number) == pytest.approx(rounded, rel=1e-15)


def test_what_is_not_finite_stays():
    assert math.isnan(round_to_two_decimals(math.nan))
    assert round_to_two_decimals(-math.inf) == -math.inf


def test_numbers_too_large_to_have_decimals_stay():
    assert round_to_two_decimals(1.7e308) == 1.7e308


def test_as_close_to_both_is_not_closer():
    assert is_closer_to(0.4, 0, than=1)
    assert not is_closer_to(0.5, 0, than=1)


def test_the_table_names_every_helper_here():
    assert all(name in scorer_utils.__doc__ for name in scorer_utils.__all__)
