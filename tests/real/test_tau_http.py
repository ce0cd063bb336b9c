"""Recorded conversations through an agent behind an address: what Proctor sees of it is what was recorded.

The server does what such an agent does: it keeps the thread, and answers a turn with all that was said and called.
"""

import pytest

from proctor.targets.http import HttpTarget
from tests.real.tau_turns import DOMAINS, replayed_as_recorded
from tests.targets.loopback import answer, serving


@pytest.mark.parametrize("domain", DOMAINS)
async def test_what_is_seen_is_what_was_recorded(domain):
    recorded = {}

    def tell(request):
        said, results = recorded["now"]
        turn = []
        while not turn or turn[-1].get("tool_calls") or turn[-1]["role"] == "tool":
            turn.append(next(said))
            turn += [
                {"role": "tool", "tool_call_id": call["id"], "content": next(results)}
                for call in turn[-1].get("tool_calls") or ()
            ]
        return answer({"thread": request.body["thread"], "messages": turn})

    async with serving(tell) as url:

        def replaying(said, results, schemas):
            recorded["now"] = (said, results)
            return HttpTarget(url, request={"thread": "{thread_id}", "text": "{input}"}, response="messages")

        await replayed_as_recorded(domain, replaying)
