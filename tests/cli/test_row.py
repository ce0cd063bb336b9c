"""One row as text: what it came to first, and no more than one wants to read."""

from proctor import create_scorer, run_evals_sync
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
