from functools import partial, wraps

import pytest

from proctor import Eval, checks, scorer
from proctor.data.column import Column
from proctor.scoring.fingerprint import UNKNOWN
from proctor.storage.session import Session, differences, session_of
from proctor.testing import ScriptedAgent


def answer(given):
    return given


def other(given):
    return [given]


def decorated(function):
    @wraps(function)
    def inside(given):
        return function(given)

    return inside


def with_prompt(prompt, state=None):
    def target(given):
        return prompt, state, given

    return target


class Agent:
    def __init__(self):
        self.calls = 0

    def ask(self, given):
        self.calls += 1

    def tell(self, given):
        return None


def target_of(target):
    return session_of(Eval(data=[], target=target)).target


ALIKE = [
    (answer, f"{__name__}:answer"),
    (with_prompt("a", []), with_prompt("a", [1])),
    (Agent().ask, Agent().ask),
    (partial(with_prompt, "a"), partial(with_prompt, "a")),
    (decorated(answer), decorated(answer)),
]
OTHERS = [
    (answer, other),
    (with_prompt("a"), with_prompt("b")),
    (Agent().ask, Agent().tell),
    (partial(with_prompt, "a"), partial(with_prompt, "b")),
    (decorated(answer), decorated(other)),
    (lambda given: given + 1, lambda given: given + 2),
]


@pytest.mark.parametrize(("one", "two"), ALIKE, ids=["by its path", "state", "a method", "partial", "decorated"])
def test_what_is_the_same_target(one, two):
    assert target_of(one) == target_of(two) != UNKNOWN


@pytest.mark.parametrize(
    ("one", "two"), OTHERS, ids=["a function", "a setting", "a method", "partial", "decorated", "lambdas on one line"]
)
def test_what_is_another_target(one, two):
    assert UNKNOWN not in (target_of(one), target_of(two))
    assert target_of(one) != target_of(two)


def test_of_an_object_its_class_is_known_but_of_a_frameworks_nothing():
    assert target_of(Agent())[0] == "~"
    assert target_of(Agent()) == target_of(Agent())
    assert target_of(ScriptedAgent("a")) == UNKNOWN
    assert target_of(None) == "none"


def test_the_place_in_memory_is_no_option_of_the_target():
    one, two, three = (
        session_of(Eval(data=[], target=answer, target_options=options)).options
        for options in (None, {"memory": {"thread": "t"}}, {"temperature": 0.5})
    )
    assert one == two != three


def test_scorers_count_in_their_places():
    gate, graded = checks.includes("a"), scorer(answer, id="graded", version="1")
    columns = session_of(Eval(data=[], gates=[gate], scorers=[(graded, 0.5)])).columns
    assert columns == {
        Column("gate", None, gate.key, gate.id): gate.fingerprint,
        Column("scorer", None, "graded", "graded"): graded.fingerprint,
    }


@pytest.mark.parametrize(
    ("earlier", "now", "found"),
    [
        ([], "a", []),
        (["a"], "a", []),
        (["a"], "b", ["the target is another"]),
        (["a", "b"], "b", []),
        (["a", UNKNOWN, "none"], "b", ["the target is another"]),
        (["a"], UNKNOWN, []),
        (["none"], "a", []),
    ],
)
def test_the_last_run_of_which_it_is_known_decides(earlier, now, found):
    sessions = [Session(target=one) for one in earlier]
    assert differences(sessions, Session(target=now)) == found
