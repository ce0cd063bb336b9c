"""One row as text: what it came to first, and no more than one wants to read."""

import re

from proctor import Item, Message, ToolCall, ToolMock, checks, create_scorer, run_evals_sync
from proctor.cli.row import row_text
from proctor.errors import ModelError
from proctor.judging.judge import Judge
from proctor.scoring.steps import Prompt
from proctor.testing import ScriptedModel

LONG = "word " * 100


def row(reply):
    judged = create_scorer(id="kind", judge=Judge(ScriptedModel(reply), instructions="Be fair."))
    judged = judged.generate_score(Prompt("whether it is kind", create=lambda ctx: f"Is it kind? {ctx.run.text}"))
    return run_evals_sync(data=[{"id": "one", "output": LONG}], scorers=[judged]).items[0]


def test_a_long_prompt_is_shown_when_it_is_asked_for():
    one = row(lambda call: {"score": 1})
    text = row_text(one, width=100)
    assert text.startswith("one: done\n\nscorer kind: scored 1\n")
    assert text.count("word") == 100
    assert " characters, which --prompts shows\n" in text
    assert row_text(one, width=100, prompts=True).count("word") == 200


def test_an_error_of_proctors_own_has_no_traceback():
    failed = row(ModelError("the server is down", kind="unauthorized"))
    assert failed.scorers[0].error.traceback
    text = row_text(failed, width=100)
    assert "the server is down" in text
    assert "Traceback" not in text


def test_calls_say_how_long_they_took_and_which_mock_answered():
    async def clerk(text, *, toolbox):
        parts = []
        for name in ("pay", "look"):
            result = await toolbox.call(name, {"n": 1}, id=name, live=looked)
            parts.append(ToolCall(name, {"n": 1}, id=name, result=result, state="done"))
        return [Message("assistant", tuple(parts))]

    async def looked():
        return "seen"

    item = Item("x", tool_mocks=[ToolMock("pay", output="paid"), ToolMock("other", output=1)])
    text = row_text(run_evals_sync(target=clerk, data=[item], scorers=[checks.no_tool_errors()]).items[0], width=100)
    assert re.search(r'pay\(\{"n": 1\}\), done, \d+ ms, by mock 0\n', text)
    assert re.search(r'look\(\{"n": 1\}\), done, \d+ ms\n', text)
    assert "\ntools: 1 call answered by mocks, 1 live, 1 mock unused (other)" in text
