"""One judged step, counted row after row: prompts that are known, and those that can only be assumed."""

from __future__ import annotations

from typing import Final

from proctor.data.column import Column
from proctor.data.usage import Cost
from proctor.judging.asking import Question
from proctor.judging.fence import Fence
from proctor.judging.resolve import require_askable
from proctor.judging.tokens import estimated_tokens
from proctor.judging.wording import again, in_language, schema_in_words
from proctor.running.estimated import Asked, StepEstimate

__all__ = ["REPLY_TOKENS", "WORDS_TOKENS", "CountedStep"]

REPLY_TOKENS: Final = 1000
"""What a reply of a target, and an answer of a judge, is taken to have where nothing says."""

WORDS_TOKENS: Final = 1000
"""What a prompt is taken to say besides the texts of the item."""

_PROBLEM = "x" * 300  # as long as what is said of a reply that cannot be used


class CountedStep:
    """A step of a column, and what is known of it so far. The rest: as `StepEstimate` has them."""

    def __init__(self, question: Question, *, column: Column, name: str) -> None:
        self.cached = self.spared = self.broken = 0
        self.problem = ""
        self._column = column
        self._name = name
        self._model = require_askable(question.judge, whose=question.whose)
        judge, schema = question.judge, None if question.schema is None else question.schema.json
        told = [judge.instructions or "", Fence().instruction, in_language(judge.language) if judge.language else ""]
        told += [] if schema is None else [schema_in_words(schema)]
        self._around = sum(map(estimated_tokens, told))
        self._again = estimated_tokens(again(_PROBLEM, schema))
        self._answer = int((judge.settings or {}).get("max_tokens") or REPLY_TOKENS)
        self._most = judge.window if judge.window is not None else self._model.window
        self._known: list[int] = []
        self._assumed: list[int] = []

    def ask(self, prompt: str) -> None:
        """Count a call with this prompt."""
        self._known.append(self._within(estimated_tokens(prompt)))

    def break_off(self, problem: str) -> None:
        """Count a row that fails before the step."""
        self.broken += 1
        self.problem = self.problem or problem

    def assume(self, tokens: int) -> None:
        """Count a call whose prompt is not known; of about so many *tokens* if no other of this step is."""
        self._assumed.append(self._within(tokens))

    def _within(self, tokens: int) -> int:
        """With all that is sent besides; what is longer than the model can read is not sent."""
        whole = tokens + self._around
        return whole if self._most is None else min(whole, self._most)

    @property
    def estimate(self) -> StepEstimate:
        """What it comes to."""
        assumed = [max(self._known)] * len(self._assumed) if self._known else self._assumed
        calls, read = len(self._known) + len(assumed), sum(self._known) + sum(assumed)
        written = calls * self._answer
        return StepEstimate(
            model=self._model.id,
            scorer=self._column.label,
            step=self._name,
            once=self._asked(calls, read, written),
            most=self._asked(2 * calls, 2 * read + written + calls * self._again, 2 * written),
            assumed=len(assumed),
            cached=self.cached,
            spared=self.spared,
            broken=self.broken,
            problem=self.problem,
            guess=getattr(self._model, "guess", "") if self._model.price is None else "",
        )

    def _asked(self, calls: int, read: int, written: int) -> Asked:
        price, cost = self._model.price, None
        if price is not None:
            cost = Cost(amount=read * price.input_token + written * price.output_token, source=price.source)
        return Asked(calls=calls, input_tokens=read, output_tokens=written, cost=cost)
