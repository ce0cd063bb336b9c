"""Six answers of a bicycle shop's support, read by judges: what is made up, what is promised, is it better than before?

    proctor run examples/judged.py

It needs no key: the judges' model is a script. With a model of your own:

    PROCTOR_JUDGE_MODEL=openai:gpt-5-mini proctor run examples/judged.py

The verdict is `scored`, as it should be: one answer promises what no document says. docs/scorers-judged.md tells of
all scorers that ask a judge.
"""

import os

from proctor import Eval, Item, Threshold, checks, scorers
from proctor.testing import ScriptedModel

# ── saved answers, the documents that the desk had, and what it said last week ─────────────────────────────────────


def text_of(item):
    """The last thing that the desk said."""
    return item.output if isinstance(item.output, str) else item.output[-1]["content"]


SAVED = [
    Item(
        "What does a new tube cost, fitted?",
        id="tube",
        context=["Tubes: 8 euros. Fitting a tube: 12 euros."],
        output="20 euros: 8 for the tube, and 12 for fitting it. You can come without an appointment.",
        metadata={"last_week": "That depends."},
    ),
    Item(
        "Are you open on Saturday?",
        id="saturday",
        context=["Open from Tuesday to Saturday, 9 to 18."],
        output="Yes, on Saturday from 9 to 18.",
        metadata={"last_week": "Yes, we are."},
    ),
    Item(
        "My brakes squeal. Can I still ride?",
        id="brakes",
        context=["Brakes that squeal are worn or dirty. Nobody should ride with worn brakes. Looking at them is free."],
        output="Please do not ride before we have seen the brakes: they may be worn. Looking at them is free.",
        metadata={"last_week": "Brakes often squeal, you can ride."},
    ),
    Item(
        "How long is the warranty on my frame?",
        id="warranty",
        context=["Frames have a warranty of 5 years, other parts of 2."],
        output="The warranty on frames is 5 years. Until yours is mended you get another bicycle from us.",
        metadata={"last_week": "Five years on the frame, two on other parts; bring the bill."},
    ),
    Item(
        "My battery is empty after 20 kilometres.",
        id="battery",
        context=["Batteries last 3 years or so. A new battery is 400 euros."],
        output=[  # a conversation goes on in the output; most scorers judge its last answer, multi_turn_judge all of it
            {"role": "assistant", "content": "How old is it?"},
            {"role": "user", "content": "Three years."},
            {"role": "assistant", "content": "It is at its end. A new battery is 400 euros; shall I order it?"},
        ],
        metadata={"last_week": "Then the battery is worn. A new one is 400 euros. Do you want one?"},
    ),
    Item(
        "Order 88 was promised for Tuesday. Where is it?",
        id="order",
        context=["Order 88 waits for a gear, which is expected on Friday."],
        output="I am sorry. Order 88 waits for a gear that should come on Friday.",
        metadata={"last_week": "Order 88 is late since a gear is missing. It comes on Friday. Sorry!"},
    ),
]

# ── the judges' model: a script, which says of each answer what a careful reader might ─────────────────────────────

CLAIMS = {  # of the answer: claim, reason, verdict
    "tube": [("A tube is 20 euros, fitted", "8 and 12 are 20.", "yes")],
    "saturday": [("It is open on Saturday from 9 to 18", "It says so.", "yes")],
    "brakes": [("The brakes may be worn", "It says so.", "yes"), ("Looking is free", "It says so.", "yes")],
    "warranty": [
        ("The warranty on frames is 5 years", "It says so.", "yes"),
        ("The shop lends another bicycle", "Nothing is said of other bicycles.", "unsure"),
    ],
    "battery": [("A new battery is 400 euros", "It says so.", "yes")],
    "order": [("A gear for order 88 should come on Friday", "It says so.", "yes")],
}
NEXT_STEP = {"tube", "brakes", "battery"}  # those that say what the customer can do now
COLD = {"saturday": "ac", "warranty": "c"}  # those that are not friendly, to which of the three judges
BETTER = {"warranty": "last_week", "battery": "tie", "order": "first"}  # of the two; "first" is whichever stands first


def script(call):
    """The reply to one call: what it is about is in the prompt, what is asked for in the schema."""
    prompt = call.messages[1].text
    item = next(item for item in SAVED if text_of(item) in prompt or CLAIMS[item.id][0][0] in prompt)
    asked_for = set(call.schema["properties"]) if call.schema else set()
    if "claims" in asked_for:
        return {"claims": [claim for claim, _, _ in CLAIMS[item.id]]}
    if "verdicts" in asked_for:
        found = enumerate(CLAIMS[item.id], start=1)
        return {"verdicts": [{"id": at, "reason": reason, "verdict": verdict} for at, (_, reason, verdict) in found]}
    if "criteria" in asked_for:
        what_next = {"id": "next", "reasoning": "It says what to do, or not.", "satisfied": item.id in NEXT_STEP}
        return {"criteria": [{"id": "answers", "reasoning": "It does.", "satisfied": True}, what_next]}
    if "winner" in asked_for:
        better = BETTER.get(item.id, "answer")
        answer_is_first = prompt.index(text_of(item)) < prompt.index(item.metadata["last_week"])
        if better in ("answer", "last_week"):
            better = "first" if (better == "answer") == answer_is_first else "second"
        return {"reason": "It says more of what was asked.", "winner": better}
    if "satisfied" in asked_for:
        is_cold = any(FRIENDLY[judge] in prompt for judge in COLD.get(item.id, ""))
        return {"reasoning": "It is short." if is_cold else "No turn speaks against it.", "satisfied": not is_cold}
    return "That another bicycle is lent is in no document." if item.id == "warranty" else "All of it is there."


model = os.environ.get("PROCTOR_JUDGE_MODEL") or ScriptedModel(script, address="examples/judged.py")

# ── the scorers ────────────────────────────────────────────────────────────────────────────────────────────────────

faithful = scorers.faithfulness(model=model)
safe = scorers.multi_turn_judge("The desk never says that one can ride a bicycle which may be unsafe", model=model)
complete = scorers.pass_criteria(
    [
        {"id": "answers", "description": "Its first sentence answers what was asked, or asks for what is missing"},
        {"id": "next", "description": "It says what the customer can do next"},
    ],
    model=model,
)

FRIENDLY = {  # one question in three wordings; three different models would err less alike
    "a": "The desk is friendly",
    "b": "The desk says nothing that would annoy a customer who is in a hurry",
    "c": "The desk speaks to the customer as a good neighbour would",
}
friendly = scorers.panel([scorers.multi_turn_judge(criterion, model=model) for criterion in FRIENDLY.values()])


def last_week(run):
    """What the desk said last week: from the item's metadata. Without it the item is declined."""
    return run.extra.get("metadata", {}).get("last_week")


better = scorers.pairwise("Which answer would help the customer more?", baseline=last_week, model=model)

# ── the evaluation: `proctor run` finds it, since it stands at module level ────────────────────────────────────────

support = Eval(
    name="Support answers",
    data=SAVED,
    gates=[safe.named("safe"), checks.matches(r"\S").named("not empty")],  # judges decline an empty answer
    scorers=[
        (faithful.named("faithful"), 0.95),
        (complete.named("complete"), 0.7),
        friendly.named("friendly"),
        (better.named("better than last week"), Threshold(min=0.5, min_scored=5)),  # 5 of 6 must be decided
    ],
)
