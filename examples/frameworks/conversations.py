"""What the agents of this folder are tried on, the same for every framework: the weather, and refunds.

Single questions, conversations, and conversations of which each turn is checked stand in one list. Refunds are never
paid: `issue_refund` is answered by mocks, and a call that no mock is for is an error.
"""

import sys
from pathlib import Path

from proctor import Eval, Item, ToolMock, Turn, checks

sys.path.append(str(Path(__file__).parents[1]))
from refund_judge import POLICY, follows_policy, model

QUESTION = "What is the weather in Brooklyn?"


def weather(agent, *, name):
    """A weather agent: does it call its tool in each turn that needs it, and remember what was said?"""
    return Eval(
        name=name,
        target=agent,
        data=[
            Item(QUESTION, id="single"),
            Item(
                inputs=["My favorite city is Brooklyn.", "What is the weather in my favorite city?"],
                id="remembers",
                gates=[checks.called_tool("get_weather", exactly=1)],
            ),
            Item(
                turns=[
                    Turn(QUESTION, gates=[checks.called_tool("get_weather")]),
                    Turn(
                        "What about tomorrow?",  # the first turn's call does not count here
                        gates=[checks.called_tool("get_weather", args={"city": "Brooklyn", "day": "tomorrow"})],
                        scorers=[(checks.similarity("tomorrow's forecast for Brooklyn"), 0.5)],
                    ),
                ],
                id="tomorrow",
            ),
        ],
        gates=[checks.called_tool("get_weather"), checks.no_tool_errors()],
        scorers=[(checks.similarity("the weather forecast for Brooklyn"), 0.4), checks.includes("Brooklyn")],
    )


def refunds(agent, *, name):
    """A refund desk: does what it says follow from the policy, and does it pay what it may, without paying here?"""
    paid = ToolMock("issue_refund", {"order": 7}, output="order 7: refunded")
    return Eval(
        name=name,
        target=agent,
        data=[
            Item(
                turns=[
                    Turn("My kettle came 12 days ago. Can I send it back?", gates=[follows_policy(model)]),
                    Turn("Please refund order 7.", gates=[checks.called_tool("issue_refund", args={"order": 7})]),
                ],
                id="day-12",
                context=POLICY,
                tool_mocks=[paid],
            ),
            Item(
                "The lamp came 45 days ago. Can I send it back?",
                id="day-45",
                context=POLICY,
                gates=[checks.did_not_call("issue_refund"), follows_policy(model)],
            ),
        ],
        gates=[checks.no_tool_errors()],
        unmocked="deny",
    )
