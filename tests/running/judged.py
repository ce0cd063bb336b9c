"""Judged scorers for tests of runs: a model that charges, and scorers that ask it."""

from typing import Any

from proctor import create_scorer
from proctor.data.usage import Cost, Usage
from proctor.judging.judge import Judge
from proctor.judging.model import Price
from proctor.scoring.steps import Prompt
from proctor.testing import ScriptedModel
from proctor.testing.replies import ScriptedReply

PRICE = Price(input_token=0.001, output_token=0.01, source="prices 1")


def charging(usd: float = 1.0, *, tokens: int = 100, value: Any = None, **options: Any) -> ScriptedModel:
    """A model that takes so much for each answer: a score of 1, or *value*."""

    def reply(call):
        said = (
            {"answer" if "answer" in call.schema["properties"] else "score": 1.0} if call.schema else "Since it is so."
        )
        used = Usage(input_tokens=tokens - 10, output_tokens=10, total_tokens=tokens)
        return ScriptedReply(json=said if value is None else value, cost=Cost(amount=usd), usage=used)

    return ScriptedModel(reply, **{"price": PRICE, **options})


def fair(model: ScriptedModel, *, key: str = "fair", reasons: bool = False, **settings: Any):
    """A scorer with a judged score, and with a judged reason when *reasons*."""
    judge = Judge(model, instructions="Be exact.", **settings)
    made = create_scorer(id=key, judge=judge).generate_score(
        Prompt("whether it is fair", create=lambda ctx: f"Judge {ctx.run.output!r}.")
    )
    if reasons:
        made = made.generate_reason(Prompt("why", create=lambda ctx: f"Why {ctx.score} for {ctx.run.output!r}?"))
    return made
