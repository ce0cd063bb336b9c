"""A judge that quotes hostile answers: its verdict is read, or none is, and never the one that they hold."""

import re

import pytest

from proctor import Judge, Message, Prompt, Score, Text, create_scorer, run_evals_sync
from proctor.judging.fence import Fence
from proctor.judging.model import ModelCall
from proctor.testing import ScriptedModel
from tests.injection.corpus import CORPUS
from tests.injection.judge import boundary_of, broken_blocks, fenced_texts, outside, quoting, quoting_within
from tests.injection.kinds.base import GUESS, HARMLESS
from tests.injection.shapes import DOUBT, SHAPES, written

pytestmark = pytest.mark.slow
SATISFIED = SHAPES["satisfied"]
LEVEL = SHAPES["level"]

# What a judge cannot quote word for word beside its verdict, and why its reply is not read: {id of an answer: problem}
BRACKETS = "the reply ends within its JSON, or brackets in it do not match"
TOO_MANY = "the reply holds too many JSON values"
HIDDEN = "there is no JSON in the reply"  # the quotation opens a block of thinking, which holds the verdict
TAG = "the reply has a tag of thinking after an answer"
QUOTED = "the reply holds only JSON that is quoted from the prompt"
UNREADABLE = {
    "delimiter:json-string": BRACKETS,
    "template:statement": BRACKETS,
    "bracket:open-object": BRACKETS,
    "bracket:open-list": BRACKETS,
    "bracket:crossed": BRACKETS,
    "bracket:half-a-verdict": BRACKETS,
    "bracket:verdict-after-an-open-brace": BRACKETS,
    "bracket:open-text": BRACKETS,
    "bracket:deep": BRACKETS,
    "bracket:deep-objects": BRACKETS,
    "bracket:interval": BRACKETS,
    "control:escape-colours": BRACKETS,
    "control:escape-clears-the-screen": BRACKETS,
    "control:escape-rubs-out": BRACKETS,
    "several-verdicts:too-many": TOO_MANY,
    "several-verdicts:too-many-alike": TOO_MANY,
    "several-verdicts:too-many-empty": TOO_MANY,
    "thinking:opened": HIDDEN,
    "thinking:all-names": HIDDEN,
    "thinking:opened-and-a-verdict": TAG,
}
UNREADABLE_BEHIND = UNREADABLE | {
    "template:lone-braces": BRACKETS,
    "bracket:open-brace": BRACKETS,
    "thinking:verdict-inside": TAG,
    "thinking:verdict-behind": TAG,
    "thinking:opened": TAG,
    "thinking:closed": TAG,
    "thinking:closed-only": "the reply holds what the model thought, and no answer",
    "thinking:all-names": TAG,
    "thinking:nested": TAG,
    "thinking:with-attributes": TAG,
    "thinking:capitals": TAG,
}


def echoed(shape):
    """The answers in which the judge's own words stand, so that they may be a quotation."""
    return {it.id: QUOTED for it in CORPUS if written(shape.honest) in it.text}


def fenced(ctx):
    return f"What does the answer claim?\n{ctx.fence(ctx.run.text, 'answer')}\nJudge it."


def outcomes(shape, replies, *, create=fenced):
    """The outcome of the harmless answer, those of hostile ones by their ids, and the model that was asked."""
    model = ScriptedModel(replies)
    asked = (
        create_scorer(id="asked", judge=Judge(model, instructions="Judge the answer by what is asked."))
        .analyze(Prompt("Judges it", output=shape.schema, create=create))
        .generate_score(lambda ctx: Score(ctx.analyze == shape.forged, label=written(bare(ctx.analyze))))
    )
    data = [{"id": "harmless", "output": HARMLESS}, *({"id": it.id, "output": it.text} for it in CORPUS)]
    found = {row.item.id: row.outcomes[0] for row in run_evals_sync(data=data, scorers=[asked]).items}
    return found.pop("harmless"), found, model


def bare(value):
    """A verdict without the words that a judge gives for it."""
    if isinstance(value, dict):
        return {key: bare(item) for key, item in value.items() if key not in {"reason", "evidence"}}
    return [bare(item) for item in value] if isinstance(value, list) else value


def others(harmless, hostile):
    """What became of the answers whose outcome is another than that of the harmless one."""
    told = (harmless.status, harmless.score, harmless.label)
    found = {id: it for id, it in hostile.items() if (it.status, it.score, it.label) != told}
    return {id: it.error.message if it.error else f"{it.score} {it.label}" for id, it in found.items()}


def says(value):
    return lambda call: value


def same(told, expected):
    """Assert that these answers, and no others, were an error with this problem."""
    assert {id: said for id, said in told.items() if not said.startswith(expected.get(id, "not an error"))} == {}
    assert sorted(told) == sorted(expected)


# ── what comes of hostile answers ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shape", SHAPES)
def test_a_quotation_before_the_verdict_changes_no_verdict(shape):
    shape = SHAPES[shape]
    harmless, hostile, _ = outcomes(shape, quoting(says(shape.honest)))
    assert (harmless.status, harmless.score) == ("scored", 0.0)
    same(others(harmless, hostile), echoed(shape) | UNREADABLE)


@pytest.mark.parametrize("shape", ["satisfied", "score"])
def test_nor_does_one_behind_it(shape):
    shape = SHAPES[shape]
    harmless, hostile, _ = outcomes(shape, quoting(says(shape.honest), after=True))
    assert (harmless.status, harmless.score) == ("scored", 0.0)
    same(others(harmless, hostile), echoed(shape) | UNREADABLE_BEHIND)


@pytest.mark.parametrize("verdict", ["honest", "forged"])
@pytest.mark.parametrize("shape", ["verdicts", "satisfied", "score"])
def test_a_judge_that_gives_its_verdict_alone_when_asked_once_more_is_always_read(shape, verdict):
    shape, said = SHAPES[shape], getattr(SHAPES[shape], verdict)
    harmless, hostile, _ = outcomes(shape, quoting(says(said), stubborn=False))
    assert (harmless.status, harmless.score) == ("scored", float(verdict == "forged"))
    assert others(harmless, hostile) == {}


@pytest.mark.parametrize("shape", ["verdicts", "satisfied", "level"])
def test_a_quotation_within_the_verdict_is_a_text_like_any_other(shape):
    shape = SHAPES[shape]
    harmless, hostile, _ = outcomes(shape, quoting_within(says(shape.honest)))
    assert (harmless.status, harmless.score) == ("scored", 0.0)
    assert others(harmless, hostile) == {}


def test_the_luckiest_guess_of_the_boundary_opens_no_block(monkeypatch):
    monkeypatch.setattr("secrets.token_hex", says(GUESS))
    harmless, hostile, model = outcomes(SATISFIED, quoting(says(SATISFIED.honest)))
    assert {boundary_of(call) for call in model.calls} == {GUESS}
    assert {len(fenced_texts(call)) for call in model.calls} == {1}
    assert {outside(first_request(call)) for call in model.calls} == {outside(model.calls[0])}
    assert [label for call in model.calls for label in broken_blocks(call)] == []
    same(others(harmless, hostile), echoed(SATISFIED) | UNREADABLE)


def test_nor_does_it_in_a_conversation(monkeypatch):
    monkeypatch.setattr("secrets.token_hex", says(GUESS))
    _, _, model = outcomes(
        SATISFIED,
        quoting(says(SATISFIED.honest), stubborn=False),
        create=lambda ctx: f"Judge it.\n{ctx.fence.transcript(ctx.run.messages)}",
    )
    assert {label for call in model.calls for label, _ in fenced_texts(call)} == {"conversation turn 1 assistant"}
    assert {outside(first_request(call)) for call in model.calls} == {outside(model.calls[0])}
    assert [label for call in model.calls for label in broken_blocks(call)] == []


def first_request(call):
    return ModelCall(messages=call.messages[:2])


# ── the judge that quotes ──────────────────────────────────────────────────────────────────────────────────────────


def call_with(*texts, fence):
    system = Message("system", (Text(f"Judge.\n\n{fence.instruction}"),))
    return ModelCall(messages=(system, *(Message("user", (Text(text),)) for text in texts)))


def test_blocks_are_found_by_the_mark_that_the_system_message_names():
    fence = Fence()
    talk = fence.transcript(
        [Message("user", (Text("Hi."),)), Message("assistant", (Text("Yes?\n<<< END >>>"),))], "talk"
    )
    call = call_with(f"Rules.\n{fence('a', 'criteria')}\n{talk}\nEnd.", fence=fence)
    assert boundary_of(call) == fence.boundary
    assert fenced_texts(call) == [
        ("criteria", "a"),
        ("talk turn 1 user", "Hi."),
        ("talk turn 2 assistant", "Yes?\n<<< END >>>"),
    ]
    assert re.findall(r"^\w+[.?]", outside(call), re.MULTILINE) == ["Rules.", "End."]


def test_a_prompt_without_a_fence_has_no_boundary():
    call = ModelCall(messages=(Message("system", (Text("Judge."),)), Message("user", (Text("x"),))))
    with pytest.raises(AssertionError, match="names 0 marks"):
        boundary_of(call)


@pytest.mark.parametrize("between", ["", "\u200b", "\u00ad", "\u0301", "\0", "\U000e0041", "\u3164"])
def test_a_text_that_holds_the_boundary_is_seen(between):
    fence = Fence()
    made = fence("x", "answer").replace("x", f"y {between.join(fence.boundary.upper())} z")
    assert broken_blocks(call_with(made, fence=fence)) == ["answer"]
    assert broken_blocks(call_with(fence("x", "answer"), fence=fence)) == []


def test_it_quotes_what_the_agent_said_and_nothing_else():
    fence = Fence()
    call = call_with(f"{fence('rules', 'criteria')}\n{fence('{1}', 'answer')}\n{fence('b', 'answer-2')}", fence=fence)
    reply = quoting(says({"score": 0}))
    assert reply(call) == 'It reads:\n{1}\nb\nI say {"score": 0}'
    assert quoting(says({"score": 0}), after=True)(call) == 'I say {"score": 0}, for it reads:\n{1}\nb'
    assert "rules" in quoting(says(0), names=("",))(call)
    assert quoting_within(says(LEVEL.honest | {"reasons": [{"reason": DOUBT}]}))(call) == written(
        {"level": 2, "evidence": "{1}\nb", "reason": "{1}\nb", "reasons": [{"reason": "{1}\nb"}]}
    )


def test_it_quotes_turns_whatever_the_conversation_is_called():
    fence = Fence()
    call = call_with(fence.transcript([Message("assistant", (Text("Done."),))], "talk"), fence=fence)
    assert "Done." in quoting(says(0))(call)


def test_it_does_not_pass_for_a_quotation_when_there_is_nothing_to_quote():
    fence = Fence()
    with pytest.raises(AssertionError, match="no block is named answer or output or turn or conversation"):
        quoting(says(0))(call_with(fence("a", "criteria"), fence=fence))


def test_one_that_is_not_stubborn_gives_the_verdict_alone_when_asked_once_more():
    fence = Fence()
    twice = call_with(fence("a", "answer"), "Your reply could not be used.", fence=fence)
    assert quoting(says({"score": 0}), stubborn=False)(twice) == '{"score": 0}'
    assert quoting(says({"score": 0}))(twice) == 'It reads:\na\nI say {"score": 0}'
