"""One judged step: a prompt goes to a model, a value comes back, and a record of all of it stays.

`answer` is the story: what decides the answer (`_request`), the cache, and what a miss leads to: as much of the prompt
as fits (`window.py`), put to the model (`exchange.py`). However it ends, `execution` tells it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from proctor.data.cached_call import CachedCall
from proctor.data.judge import JudgeExecution, JudgeRecord
from proctor.data.message import Text
from proctor.data.plain import copied
from proctor.data.secrets import redact_text
from proctor.data.value import Value
from proctor.errors import ModelError, ProctorError, safe_message
from proctor.judging.answer_check import AnswerCheck
from proctor.judging.answer_schema import AnswerSchema
from proctor.judging.cache import OF_THIS_PROCESS, answered
from proctor.judging.call_cache import CallCache
from proctor.judging.callbacks import tell
from proctor.judging.exchange import Exchange
from proctor.judging.fence import Fence
from proctor.judging.judge import Judge
from proctor.judging.model import JudgeModel
from proctor.judging.prompt import prompt_parts, refuse_files
from proctor.judging.request import CallRequest
from proctor.judging.resolve import require_askable
from proctor.judging.run_calls import CallsStopped, RunCalls
from proctor.judging.structured import ReplyProblem
from proctor.judging.window import Window
from proctor.judging.wording import in_language

__all__ = ["Asking", "Question"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Question(Value):
    """What of a judged step is the same for every item. *schema*: of the answer; None for plain text.

    *whose*: the scorer and its step, as errors call them. *of_answer*: makes the step's value of the answer.
    """

    whose: str
    judge: Judge
    schema: AnswerSchema | None = None
    of_answer: Callable[[Any], Any] | None = None

    def asking(self, calls: CallCache, *, repeat: int = 0) -> Asking:
        """This question for one item. *calls*: of the run; *repeat*: of the item."""
        if not isinstance(calls, RunCalls):
            calls = RunCalls(calls, OF_THIS_PROCESS)
        return Asking(self, calls=calls, repeat=repeat)


class Asking:
    """A judged step on its way. *prompt*: what the step's `create` gave."""

    def __init__(self, question: Question, *, calls: RunCalls, repeat: int = 0) -> None:
        self.question = question
        self.prompt: str | None = None
        self._calls = calls
        self._repeat = repeat
        self._began = perf_counter()
        self._model: JudgeModel | None = None
        self._exchange: Exchange | None = None  # none of our own when another's answer is waited for
        self._call: CachedCall | None = None  # the answer, once there is a whole one
        self._ended: float | None = None
        self._cached = False
        self._error: BaseException | None = None

    async def answer(self, given: Any, *, fence: Fence, check: AnswerCheck | None = None) -> Any:
        """The step's value for the prompt *given*. Raises what makes it impossible; `TooLong` when it does not fit.

        *check*: says of the schema's value what is wrong for this item, None for nothing.
        """
        try:
            return await self._answer(given, fence, check)
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._ended = perf_counter()
            if self._error is None or (self.asked and isinstance(self._error, Exception)):
                question = self.question
                await tell(question.judge.on_finish, self.execution, whose=question.whose, calls=self._calls)

    @property
    def asked(self) -> bool:
        """Whether there is something to record: an answer, a call that was tried, or would have been in a dry run.

        A failure of a call that another made is this one's, too, and took nothing more.
        """
        if self._call is not None or isinstance(self._error, ModelError | ReplyProblem):
            return True
        exchange = self._exchange
        return exchange is not None and (exchange.sender.attempts > 0 or self._calls.is_dry)

    @property
    def record(self) -> JudgeRecord:
        """What is kept of the step: one execution, however often the model was asked."""
        return JudgeRecord((self.execution,))

    @property
    def execution(self) -> JudgeExecution:
        """The record, success or failure; of a step that was broken off, of what there is."""
        model, exchange = self._model, self._exchange
        sender, last = (exchange.sender, exchange.last) if exchange else (None, None)
        record = JudgeExecution(
            status="failed",
            prompt=self.prompt or "",
            judge_model_id=None if model is None else model.id,
            judge_provider=None if model is None else model.provider,
            attempt_count=sender.attempts if sender else 0,
            model_call_count=sender.completed if sender else 0,
            duration_ms=((self._ended or perf_counter()) - self._began) * 1000.0,
            usage=sender.usage if sender else None,
            cost=sender.cost if sender else None,
            retry_count=sender.retries if sender else 0,
            waited_ms=sender.waited_ms if sender else 0.0,
        )
        if self._call is not None:
            record = self._with_answer(record, self._call)
        elif last is not None:
            record = replace(
                record, answered_by=last.answered_by, raw_output=last.text, finish_reason=last.finish_reason
            )
        if self._call is not None and self._error is None:
            return replace(record, status="success")
        return replace(record, error=_told(self._error))

    def _with_answer(self, record: JudgeExecution, call: CachedCall) -> JudgeExecution:
        """An answer from the cache keeps what it took when it was made."""
        made = replace(
            record,
            answered_by=call.answered_by,
            attempt_count=call.attempt_count,
            model_call_count=call.model_call_count,
            usage=call.usage,
            cost=call.cost,
            output=call.output,
            raw_output=call.raw_output,
            finish_reason=call.finish_reason,
            repaired=call.repaired,
            truncated=call.truncated,
            cached=self._cached,
        )
        return replace(made, duration_ms=call.duration_ms) if self._cached else made

    # ── the story ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def _answer(self, given: Any, fence: Fence, check: AnswerCheck | None) -> Any:
        question = self.question
        parts = prompt_parts(given)
        self.prompt = "".join(part.text for part in parts if isinstance(part, Text))
        self._model = model = require_askable(question.judge, whose=question.whose)
        refuse_files(parts, model)
        system = self._system(fence)
        window = Window(question.judge, model, fence, schema=question.schema)

        async def put(*these: Any) -> CachedCall:
            if self._exchange is None:
                prompt = self.prompt or ""
                self._exchange = Exchange(model, question, calls=self._calls, prompt=prompt, check=check)
            return await self._exchange.answer(*these)

        async def ask() -> CachedCall:
            return await window.fitting(parts, system, ask=put)

        request, schema = self._request(model, parts, system, fence), question.schema
        while True:
            try:
                answer = await answered(
                    self._calls,
                    request,
                    call=ask,
                    fits=None if schema is None else lambda plain: self._fits(plain, schema, check),
                    patience=(question.judge.timeout, question.judge.retries, check and check.function),
                )
                break
            except CallsStopped:
                if self._calls.stopped is not None:
                    raise  # else it was another run's call, for which this one waited, and its budget
        self._call, self._cached = answer.call, answer.cached
        value = copied(answer.call.output)  # others have the same answer, and the record keeps it
        if schema is not None:
            value = schema.restored(value)
        return value if question.of_answer is None else question.of_answer(value)

    async def _fits(self, plain: Any, schema: AnswerSchema, check: AnswerCheck | None) -> bool:
        """Whether the answer that another call gave is one here."""
        if not schema.fits(plain):
            return False
        return check is None or await check.problem(schema.restored(plain), whose=self.question.whose) is None

    def _system(self, fence: Fence) -> str:
        judge = self.question.judge
        told = [judge.instructions or ""]
        told += [fence.instruction] if fence.used else []
        told += [in_language(judge.language)] if judge.language else []
        return "\n\n".join(told)

    def _request(self, model: JudgeModel, parts: Sequence[Any], system: str, fence: Fence) -> CallRequest:
        """What decides the answer. The boundary of the fence does not: it is another one for each call."""
        judge, schema = self.question.judge, self.question.schema
        texts = [fence.neutral(part.text) if isinstance(part, Text) else [part.data, part.media_type] for part in parts]
        besides = {
            "address": model.address,
            "own_settings": getattr(model, "own_settings", None),
            "output_mode": judge.output_mode,
            "on_overflow": judge.on_overflow,
            "window": judge.window,
        }
        return CallRequest(
            model=model.id,
            messages=[fence.neutral(system), *texts],
            settings=judge.settings or {},
            schema=None if schema is None else schema.json,
            repeat=self._repeat,
            extra={name: value for name, value in besides.items() if value is not None},
        )


def _told(error: BaseException | None) -> dict[str, Any]:
    if error is None:
        return {"name": "Unfinished", "message": "the step did not end"}
    told = {"name": type(error).__name__, "message": redact_text(safe_message(error))}
    code = getattr(error, "code", None)
    return told | ({"code": code} if isinstance(error, ProctorError) and isinstance(code, str) else {})
