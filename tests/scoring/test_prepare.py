import pytest

from proctor import Item, Message, Text, ToolCall, Turn, create_scorer, filter_run, run_evals
from proctor.data.message import Data, File, Reasoning
from proctor.data.value import MISSING
from proctor.errors import UsageError
from proctor.scoring.run import ScorerRun
from proctor.testing import ScriptedAgent

SAID = Message("assistant", (Text("plain"),))
READ = Message("assistant", (Text("x"), ToolCall("read_file")))
RAN = Message("assistant", (ToolCall("exec_cmd"),))
THOUGHT = Message("assistant", (Reasoning("hm"),))
SHOWN = Message("assistant", (File("...", "image/png"), Data({}, "data-weather")))
ALL = [SAID, READ, RAN, THOUGHT, SHOWN]


def left(output=ALL, **options):
    return list(filter_run(**options)(ScorerRun(output=output)).output_messages)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ALL),
        ({"part_types": ["text"]}, [SAID, READ]),
        ({"part_types": ["tool"]}, [READ, RAN]),
        ({"part_types": ["image"]}, [SHOWN]),
        ({"part_types": ["data-"]}, [SHOWN]),
        ({"part_types": []}, []),
        ({"tool_names": ["read"]}, [SAID, READ, THOUGHT, SHOWN]),
        ({"tool_names": []}, [SAID, THOUGHT, SHOWN]),
        ({"tool_names": ["read"], "part_types": ["text"]}, [SAID, READ]),
        ({"max_output_messages": 2}, [THOUGHT, SHOWN]),
        ({"max_output_messages": 0}, []),
        ({"max_output_messages": 9}, ALL),
        ({"max_output_messages": 1, "tool_names": ["exec"], "part_types": ["tool"]}, [RAN]),
    ],
    ids=str,
)
def test_a_message_stays_or_goes_as_a_whole(options, expected):
    assert left(**options) == expected


def test_it_leaves_alone_what_is_no_list_of_messages():
    assert filter_run(part_types=["tool"])(ScorerRun(output="text")).output == "text"
    assert filter_run(part_types=["tool"])(ScorerRun(output={"a": 1})).output == {"a": 1}


def test_remembered_messages_have_their_own_limit_and_the_question_stays():
    asked = {"inputMessages": ["q"], "rememberedMessages": [{"role": "user", "content": "old"}] * 3}
    made = filter_run(max_remembered_messages=0)(ScorerRun(output="x", input=asked))
    assert made.input == {"inputMessages": ["q"], "rememberedMessages": []}


def test_it_drops_what_a_scorer_must_not_know():
    run = ScorerRun(output="x", ground_truth="g", request_context={"a": 1}, expected_trajectory={"steps": []})
    made = filter_run(drop_ground_truth=True, drop_request_context=True, drop_expected_trajectory=True)(run)
    assert (made.ground_truth, made.request_context, made.expected_trajectory) == (MISSING, None, None)
    assert run.ground_truth == "g"


async def test_in_a_conversation_the_limit_is_of_the_whole():
    seen = []
    last = create_scorer(id="last", prepare_run=filter_run(max_output_messages=1)).generate_score(
        lambda ctx: seen.append((ctx.run.text, ctx.run.transcript())) or 1
    )
    agent = ScriptedAgent({"a": "one", "b": "two"})
    await run_evals(target=agent, data=[Item(turns=[Turn("a"), Turn("b")])], scorers=[last])
    assert seen == [("two", "user: a\nuser: b\nassistant: two")]


@pytest.mark.parametrize(
    "options",
    [{"part_types": "text"}, {"tool_names": [1]}, {"max_output_messages": -1}, {"max_remembered_messages": True}],
    ids=str,
)
def test_a_bad_option_is_refused_when_written(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        filter_run(**options)


def test_scorers_with_other_filters_have_other_fingerprints():
    one, other = (
        create_scorer(id="x", prepare_run=filter_run(max_output_messages=count, drop_ground_truth=True))
        .generate_score(lambda ctx: 1)
        .fingerprint
        for count in (1, 2)
    )
    assert one != other
    assert "unknown" not in (one, other)
