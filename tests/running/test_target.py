import pytest

from proctor import Item, Reply, UsageError, run_evals
from proctor.errors import UnknownName
from proctor.running.target import as_target
from proctor.targets.callable import CallableTarget
from tests.running.graded import asked, graded


class Agent:
    """Implements the protocol itself."""

    async def reply(self, call):
        return Reply(0.5)


def test_an_object_that_replies_is_a_target():
    agent = Agent()
    assert as_target(agent).thing is agent


def test_a_callable_is_wrapped():
    assert isinstance(as_target(len), CallableTarget)
    assert as_target(len).function is len


def test_an_import_path_is_looked_up():
    assert as_target("json:dumps").function.__name__ == "dumps"


@pytest.mark.parametrize(
    ("target", "message"),
    [
        pytest.param("jsn:dumps", "cannot import jsn", id="no module"),
        pytest.param("json", "write package.module:name", id="no name"),
        pytest.param(5, "target is of type int, which is not known here", id="number"),
        pytest.param({"kind": "agent"}, "target is of type dict", id="mapping"),
        pytest.param(Agent, "is the class Agent: give an instance", id="class"),
        pytest.param(lambda: 1, "must be callable with one argument", id="no argument"),
        pytest.param("json:JSONEncoder", "is the class JSONEncoder", id="class by path"),
        pytest.param("json:decoder", "target is of type module", id="module by path"),
    ],
)
def test_what_cannot_be_tested_is_refused(target, message):
    with pytest.raises(UsageError, match=message):
        as_target(target)


def test_a_name_that_is_not_there_is_guessed():
    with pytest.raises(UnknownName, match="Did you mean 'dumps'"):
        as_target("json:dump_s")


async def test_a_run_takes_an_object_that_replies():
    result = await run_evals(target=Agent(), data=asked("x"), scorers=[graded()])
    assert result.scores["graded"].mean == 0.5


async def test_an_object_of_ones_own_that_raises_is_an_error_of_the_item():
    class Failing:
        async def reply(self, call):
            raise ConnectionError("lost")

    result = await run_evals(target=Failing(), data=asked("x", "y"), scorers=[graded()])
    assert [item.status for item in result.items] == ["error", "error"]
    assert result.items[0].error.code == "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"


async def test_a_run_refuses_a_target_before_it_runs():
    with pytest.raises(UsageError, match="target is of type"):
        await run_evals(target=5, data=[Item("x")], scorers=[graded()])
