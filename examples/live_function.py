"""A plain async function under test: called for every item, its replies scored, the verdict in the exit code.

    python examples/live_function.py

The function is a small agent of rules; yours would call a model. It may return text, or messages with tool calls, as
here.
"""

import asyncio
import re
import sys

from proctor import checks, run_evals, scorer

DAYS_SINCE_DELIVERY = {"1041": 6, "1043": 45}


async def refund_agent(question):
    """Looks the order up, when the question names one, and decides by its age."""
    found = re.search(r"\d{4}", question)
    if found is None:
        return "What is the number of your order?"
    days = DAYS_SINCE_DELIVERY.get(found[0])
    call = {"id": "1", "function": {"name": "look_up_order", "arguments": {"order": found[0]}}}
    answer = "I cannot refund it any more." if days is None or days > 30 else "Your money is on its way back."
    return [
        {"role": "assistant", "tool_calls": [call]},
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": f"delivered {days} days ago" if days else "Error: no such order",
        },
        {"role": "assistant", "content": answer},
    ]


@scorer
def says_what_it_should(run):
    """The ground truth of the item is in the answer."""
    return run.ground_truth in run.text


async def main():
    return await run_evals(
        name="A function of rules",
        target=refund_agent,
        data=[
            {"id": "in time", "input": "I would like to return order 1041.", "ground_truth": "on its way"},
            {"id": "too late", "input": "Order 1043 was a mistake, money back!", "ground_truth": "cannot refund"},
            {"id": "no number", "input": "Can I get a refund?", "ground_truth": "number of your order"},
        ],
        gates=[checks.no_tool_errors()],
        scorers=[(says_what_it_should, 1.0), checks.called_tool("look_up_order")],
        concurrency=3,
    )


if __name__ == "__main__":
    result = asyncio.run(main())
    print(result)
    sys.exit(result.exit_code())
