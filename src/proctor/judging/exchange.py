"""What is said between a judged step and its model, until there is an answer or none is to be had.

A call in the best way that the model takes (`modes.py`), with its turn and its further tries (`sending.py`); the reply
read (`structured.py`); and one more request, which quotes the problem, when it cannot be used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final

from proctor.data.cached_call import CachedCall
from proctor.data.message import File, Message, Text
from proctor.errors import ModelError
from proctor.judging.answer_check import AnswerCheck
from proctor.judging.callbacks import tell
from proctor.judging.judge import OutputMode
from proctor.judging.model import JudgeModel, ModelAnswer, ModelCall
from proctor.judging.modes import modes_of
from proctor.judging.run_calls import RunCalls
from proctor.judging.sending import Sender
from proctor.judging.structured import Reading, ReplyProblem, read_reply, read_text
from proctor.judging.wording import again, schema_in_words

if TYPE_CHECKING:
    from proctor.judging.asking import Question

__all__ = ["Exchange"]

_REQUESTS: Final = 2


class Exchange:
    """*sender*: what the calls took; *last*: the last reply, None before one came. *prompt*: all of the step's text.

    *check*: says what is wrong with an answer that fits the schema.
    """

    def __init__(
        self, model: JudgeModel, question: Question, *, calls: RunCalls, prompt: str, check: AnswerCheck | None = None
    ) -> None:
        self.sender = Sender(model, question.judge, calls)
        self.last: ModelAnswer | None = None
        self._model = model
        self._question = question
        self._calls = calls
        self._prompt = prompt
        self._check = check

    async def answer(self, parts: Sequence[File | Text], system: str) -> CachedCall:
        """The answer in the first reply, or in the second, when the first cannot be used."""
        began = perf_counter()
        sent = "".join(part.text for part in parts if isinstance(part, Text))
        if sent != self._prompt:  # it was shortened: both can be quoted
            self._prompt = f"{self._prompt}\n{sent}"
        messages: tuple[Message, ...] = (Message("system", (Text(system),)), Message("user", tuple(parts)))
        unusable: ReplyProblem | None = None
        for request in range(1, _REQUESTS + 1):
            try:
                answer = await self._reply(messages)
            except ModelError as error:
                if unusable is None or error.kind != "context":
                    raise
                raise unusable from error  # the prompt is not too long: together with the first reply it is
            try:
                reading = await self._read(answer)
                break
            except ReplyProblem as problem:
                if answer.refusal:
                    raise
                if request == _REQUESTS:
                    raise problem.asked_twice() from None
                unusable = problem
                messages = (*messages, *self._again(answer, problem))
        return CachedCall(
            raw_output=answer.text,
            output=reading.plain,
            finish_reason=answer.finish_reason,
            answered_by=answer.answered_by,
            provider=self._model.provider,
            usage=self.sender.usage,
            cost=self.sender.cost,
            duration_ms=(perf_counter() - began) * 1000.0,
            attempt_count=self.sender.attempts,
            model_call_count=self.sender.completed,
            repaired=reading.repaired,
        )

    async def _reply(self, messages: Sequence[Message]) -> ModelAnswer:
        judge, schema = self._question.judge, self._question.schema
        modes, settled = modes_of(self.sender.key), "prompted" if schema is None else judge.output_mode
        ways: Sequence[OutputMode] = self._model.modes if settled is None else (settled,)
        answer = await modes.through(
            ways,
            lambda mode: self._sent(messages, mode),
            schema=str(schema and schema.json),
            wait=self._calls.unless_stopped,
        )
        self.last = answer
        await tell(judge.on_step_finish, answer, whose=self._question.whose, calls=self._calls)
        return answer

    async def _sent(self, messages: Sequence[Message], mode: OutputMode) -> ModelAnswer:
        schema = self._question.schema
        sent = tuple(messages)
        if schema is not None and mode == "prompted":
            words = Text("\n\n" + schema_in_words(schema.json))
            sent = (*sent[:1], replace(sent[1], parts=(*sent[1].parts, words)), *sent[2:])
        call = ModelCall(
            messages=sent,
            settings=self._question.judge.settings or {},
            schema=None if schema is None else schema.json,
            mode=mode,
            name="answer" if schema is None else schema.name,
            timeout=self.sender.timeout,
        )
        return await self.sender.send(call)

    async def _read(self, answer: ModelAnswer) -> Reading:
        schema = self._question.schema
        if schema is None:
            text = read_text(answer.text, finish_reason=answer.finish_reason, refusal=answer.refusal)
            return Reading(text, text)
        reading = read_reply(
            answer.text, schema, finish_reason=answer.finish_reason, refusal=answer.refusal, prompt=self._prompt
        )
        wrong = await self._check.problem(reading.value, whose=self._question.whose) if self._check else None
        if wrong is not None:
            raise ReplyProblem(wrong)
        return reading

    def _again(self, answer: ModelAnswer, problem: ReplyProblem) -> list[Message]:
        """The reply that could not be used, if there was one, and what is asked for now."""
        schema = self._question.schema
        asked = Message("user", (Text(again(str(problem), None if schema is None else schema.json)),))
        return [Message("assistant", (Text(answer.text),)), asked] if answer.text.strip() else [asked]
