"""Ten saved conversations of a refund desk, with mistakes planted in them for Proctor to find.

    proctor run examples/refunds.py

The desk may look an order up, read the policy and issue a refund. Nothing is called here: the conversations are in
refunds.jsonl, so this needs no key and no network. The verdict is `failed`, as it should be: in one conversation the
payment failed and the customer was told that all was well.
"""

import json
from pathlib import Path

from proctor import Eval, Score, checks, create_scorer, not_scorable, scorer

# ── a scorer in steps: did the customer get what the policy grants? ────────────────────────────────────────────────


def read_case(ctx):
    """What the order was, and what was paid back; the later steps see it as `ctx.preprocess`."""
    results = {call.name: call.result for call in ctx.run.tool_calls if not call.is_error()}
    if "issue_refund" not in results:
        return not_scorable("no refund was paid")
    order, refund = json.loads(results["look_up_order"]), json.loads(results["issue_refund"])
    return {"granted": granted(order), "paid": refund["amount"]}


def granted(order):
    """The policy as code: all within 30 days when unopened, half within 14 days when opened, nothing for gift cards."""
    if order["item"] == "gift card":
        return 0.0
    days, part = (14, 0.5) if order["opened"] else (30, 1.0)
    return part * order["paid"] if order["days_since_delivery"] <= days else 0.0


amount_is_right = (
    create_scorer(id="amount-is-right", description="The refund is what the policy grants, to the cent")
    .preprocess(read_case)
    .generate_score(lambda ctx: round(ctx.preprocess["paid"] - ctx.preprocess["granted"], 2) == 0)
    .generate_reason(lambda ctx: "paid {paid:.2f}, the policy grants {granted:.2f}".format(**ctx.preprocess))
)

# ── a scorer in one function: is the decision the one that a person labelled as right? ─────────────────────────────


@scorer
def decides_like_a_person(run):
    """The desk refunded when the label says so, and refused when it says so."""
    refunded = any(call.name == "issue_refund" for call in run.tool_calls)
    right = refunded == (run.ground_truth != "none")
    return Score(right, reason=f"{'refunded' if refunded else 'refused'}; a person says: {run.ground_truth}")


# ── the evaluation: `proctor run` finds it, since it stands at module level ────────────────────────────────────────

refund_desk = Eval(
    name="Refund desk, with planted mistakes",
    data=Path(__file__).with_name("refunds.jsonl"),
    gates=[checks.no_tool_errors(), checks.did_not_call("delete_order")],  # every conversation must pass these
    scorers=[
        (amount_is_right, 1.0),  # the mean over all conversations must reach 1.0
        (checks.called_tool("read_policy"), 0.95),
        (checks.excludes("guarantee"), 0.9),
        decides_like_a_person,  # measured, but decides nothing
    ],
)
