import inspect

import pytest

from proctor import Eval, run_evals
from proctor.running.eval import door


def test_an_eval_is_a_value_that_was_not_run():
    made = Eval(data=[{"output": "x"}])
    assert (made.concurrency, made.target, made.name, made.recorder) == (1, None, None, None)
    with pytest.raises(AttributeError):
        made.concurrency = 2
    assert made == Eval(data=[{"output": "x"}])


def test_everything_is_given_by_name():
    with pytest.raises(TypeError):
        Eval([{"output": "x"}])


def test_its_repr_shows_what_was_given():
    assert repr(Eval(data="rows.jsonl", name="weather")) == "Eval(data='rows.jsonl', name='weather')"


async def test_a_door_takes_the_arguments_of_an_eval():
    async def execute(evaluation):
        return evaluation

    opened = door(Eval, execute, name="opened")
    assert await opened(data=[1], concurrency=3) == Eval(data=[1], concurrency=3)
    assert inspect.signature(opened).parameters == inspect.signature(Eval).parameters
    assert (opened.__name__, opened.__module__) == ("opened", __name__)


def test_the_door_of_a_run_is_documented():
    assert run_evals.__doc__.startswith("Run an evaluation")
    assert inspect.iscoroutinefunction(run_evals)
