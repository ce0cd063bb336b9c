"""Judged steps without a scorer: a question, put once."""

from proctor.judging.answer_schema import AnswerSchema, score_schema
from proctor.judging.asking import Question
from proctor.judging.cache import CacheNotes, MemoryCache
from proctor.judging.call_cache import NO_CACHE
from proctor.judging.fence import Fence
from proctor.judging.judge import Judge
from proctor.judging.run_calls import RunCalls

SCORE = score_schema(0, 1)
VERDICT = AnswerSchema.of(
    {
        "type": "object",
        "properties": {"verdict": {"enum": ["pass", "fail"]}, "reason": {"type": "string"}},
        "required": ["verdict"],
    }
)
PASS = {"verdict": "pass"}


def calls(cache=NO_CACHE, **options):
    return RunCalls(cache, CacheNotes(), **options)


def question(model, *, schema=VERDICT, **judge):
    return Question(whose="s.analyze", judge=Judge(model, **({"instructions": "Judge."} | judge)), schema=schema)


def asking(model, *, schema=VERDICT, through=None, repeat=0, **judge):
    return question(model, schema=schema, **judge).asking(through or calls(), repeat=repeat)


async def put(model, prompt="Is it kind?", *, fence=None, **options):
    """The value and the record of one judged step."""
    asked = asking(model, **options)
    value = await asked.answer(prompt, fence=fence or Fence())
    return value, asked.execution


async def failed(model, prompt="Is it kind?", *, fence=None, **options):
    """The error and the record of one that fails."""
    asked = asking(model, **options)
    try:
        value = await asked.answer(prompt, fence=fence or Fence())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
        return error, asked.execution
    raise AssertionError(f"it gave {value!r}")


def memory():
    return MemoryCache()
