"""Where judged scorers have texts from, and what is no text."""

from collections import deque
from pathlib import Path

import pydantic
import pytest

from proctor import ScorerRun, not_scorable
from proctor.errors import UsageError
from proctor.scorers.material import NO_CONTEXT, tool_results
from proctor.scorers.sources import ContextSource, TextSource
from proctor.scoring.steps import StepContext

RUN = ScorerRun(output="x", ground_truth="TRUTH")
NOTHING = not_scorable("nothing")


class Page(pydantic.BaseModel):
    text: str


async def later(run):
    return "text"


WRONG = [
    (lambda run: later(run), "a coroutine that nobody awaited"),  # noqa: PLW0108 - an async def is refused when written
    (lambda run: run, "a whole ScorerRun, which knows the right answer"),
    (StepContext, "a whole StepContext, which knows the right answer"),
    (lambda run: 5, "5, of the type int, and not text"),
    (lambda run: False, "False, of the type bool, and not text"),
    (lambda run: 0.5, "0.5, of the type float, and not text"),
    (lambda run: print, "of the type builtin_function_or_method, and not text"),
    (lambda run: {"a", "b"}, "a set, which has no order"),
    (lambda run: frozenset("a"), "a frozenset, which has no order"),
    (lambda run: Path("page.txt"), "a path and not what is in it"),
    (lambda run: object(), "of the type object, and not text"),
]
IN_LISTS = [
    (["a", 5], r"a list, of which \[1\] is 5, of the type int"),
    ([None, True], r"a list, of which \[1\] is True, of the type bool"),
    ([RUN], r"a list, of which \[0\] is a whole ScorerRun"),
    ([print], r"a list, of which \[0\] is <built-in function print>"),
    (["a", {"b"}], r"a list, of which \[1\] is a set"),
]


def context(found):
    return ContextSource(None, lambda run: found, scorer="faithfulness")(RUN)


@pytest.mark.parametrize(("extractor", "said"), WRONG)
def test_what_nobody_means_is_an_error_that_names_its_type(extractor, said):
    with pytest.raises(UsageError, match=f"faithfulness: context_extractor gave .*{said}"):
        ContextSource(None, extractor, scorer="faithfulness")(RUN)
    source = TextSource(extractor, name="baseline", scorer="pairwise", missing=NOTHING)
    with pytest.raises(UsageError, match=f"pairwise: baseline gave .*{said}"):
        source(RUN)


@pytest.mark.parametrize(("found", "said"), IN_LISTS)
def test_so_is_one_in_a_list(found, said):
    with pytest.raises(UsageError, match=f"faithfulness: context_extractor gave {said}"):
        context(found)
    with pytest.raises(UsageError, match=f"faithfulness: context is {said}"):
        ContextSource(found, None, scorer="faithfulness")
    with pytest.raises(UsageError, match=f"faithfulness: the item's context is {said}"):
        ContextSource("c", None, scorer="faithfulness")(ScorerRun(output="x", context=found))


@pytest.mark.parametrize(
    ("found", "pieces"),
    [
        ("a", ("a",)),
        (["a", None, " ", "b"], ("a", "b")),
        ((text for text in "ab"), ("a", "b")),
        (deque(["a", "b"]), ("a", "b")),
        ({"a": "x", "b": "y"}.values(), ("x", "y")),
        ({"a": "x"}, ('{"a": "x"}',)),
        ([{"a": "x"}, "b"], ('{"a": "x"}', "b")),
        (b"a", ("a",)),
        (Page(text="a"), ('{"text": "a"}',)),
        ([Page(text="a")], ('{"text": "a"}',)),
    ],
)
def test_texts_are_read_out_of_what_can_be_gone_through(found, pieces):
    assert context(found) == pieces


@pytest.mark.parametrize("found", [None, [], "", [None], iter(())])
def test_nothing_is_no_context(found):
    assert context(found) is NO_CONTEXT


def test_an_item_whose_search_found_nothing_has_no_context():
    source = ContextSource("c", None, scorer="faithfulness", otherwise=lambda run: ["other"])
    assert source(ScorerRun(output="x", context=[])) is NO_CONTEXT
    assert source(RUN) == ("c",)


def test_a_text_can_be_given_as_anything_readable():
    def text(found):
        return TextSource(lambda run: found, name="source", scorer="summarization", missing=NOTHING)(RUN)

    assert [text(found) for found in (" a ", {"a": "x"}, (text for text in "ab"))] == ["a", '{"a": "x"}', '["a", "b"]']
    assert text(None) is text(" ") is NOTHING


def test_a_tool_that_gave_none_gave_nothing():
    def call(at):
        return {"id": f"{at}", "function": {"name": "t", "arguments": "{}"}}

    talk = [{"role": "assistant", "content": None, "tool_calls": [call(1), call(2)]}]
    parts = [{"type": "tool-invocation", "toolInvocation": {"toolCallId": f"{at}", "toolName": "t", "args": {},
              "state": "result", "result": result}} for at, result in enumerate([None, 0, "x"])]  # fmt: skip
    assert tool_results(ScorerRun(output=talk)) == []
    assert tool_results(ScorerRun(output=[{"role": "assistant", "content": {"format": 2, "parts": parts}}])) == [
        "0",
        "x",
    ]
