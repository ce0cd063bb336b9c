import re
import threading
from dataclasses import dataclass
from functools import partial

import pytest
from pydantic import BaseModel

from proctor import Judge, Prompt, checks, create_scorer, scorer
from proctor.scoring.fingerprint import UNKNOWN


def scored_by(function, **options):
    return create_scorer(id="s", **options).generate_score(function)


def with_bound(bound, **options):
    def decide(ctx):
        return len(ctx.run.text) < bound

    return scored_by(decide, **options)


def test_it_is_12_hex_digits():
    assert re.fullmatch("[0-9a-f]{12}", checks.includes("x").fingerprint)


def test_a_built_in_is_known_by_its_arguments():
    assert checks.includes("x").fingerprint == checks.includes("x").fingerprint
    assert checks.includes("x").fingerprint != checks.includes("y").fingerprint
    assert checks.includes("x").fingerprint != checks.excludes("x").fingerprint


def test_the_key_is_no_part_of_what_a_scorer_is():
    assert checks.includes("x").named("place").fingerprint == checks.includes("x").fingerprint


def test_a_function_is_known_by_its_source():
    def one(ctx):
        return 1

    def other(ctx):
        return 0

    assert scored_by(one).fingerprint != scored_by(other).fingerprint
    assert UNKNOWN not in {scored_by(one).fingerprint, scored_by(other).fingerprint}


def test_two_functions_on_one_line_are_told_apart():
    one, other = scored_by(lambda ctx: "ä" in ctx.run.text), scored_by(lambda ctx: "ö" in ctx.run.text)
    assert one.fingerprint != other.fingerprint


def test_where_a_function_stands_is_no_part_of_it():
    one = scored_by(lambda ctx: len(ctx.run.text) > 3)
    assert one.fingerprint == scored_by(lambda ctx: len(ctx.run.text) > 3).fingerprint
    assert scored_by(lambda ctx: 2 * 3).fingerprint == scored_by(lambda ctx: 2 * 3).fingerprint


def test_values_closed_over_are_part_of_it():
    assert with_bound(3).fingerprint == with_bound(3).fingerprint != with_bound(4).fingerprint


def test_defaults_are_part_of_it():
    def with_default(value):
        def decide(ctx, bound=value, *, other=value):
            return bound == other

        return scored_by(decide)

    assert with_default(1).fingerprint == with_default(1).fingerprint
    assert with_default(1).fingerprint != with_default(2).fingerprint


def test_arguments_of_a_partial_are_part_of_it():
    def decide(bound, ctx):
        return len(ctx.run.text) < bound

    assert scored_by(partial(decide, 1)).fingerprint == scored_by(partial(decide, 1)).fingerprint
    assert scored_by(partial(decide, 1)).fingerprint != scored_by(partial(decide, 2)).fingerprint


def test_a_method_is_known_with_what_its_object_holds():
    class Bound:
        def __init__(self, bound):
            self.bound = bound

        def decide(self, ctx):
            return len(ctx.run.text) < self.bound

    assert scored_by(Bound(1).decide).fingerprint == scored_by(Bound(1).decide).fingerprint
    assert scored_by(Bound(1).decide).fingerprint != scored_by(Bound(2).decide).fingerprint


@dataclass(frozen=True, slots=True)
class Policy:
    most: int
    words: tuple[str, ...] = ()

    def decide(self, ctx):
        return len(ctx.run.text) < self.most


def test_a_method_of_a_value_with_slots_is_known_with_what_it_holds():
    assert scored_by(Policy(1).decide).fingerprint == scored_by(Policy(1).decide).fingerprint != UNKNOWN
    made = [Policy(1), Policy(2), Policy(1, ("a",))]
    assert len({scored_by(policy.decide).fingerprint for policy in made}) == 3


def test_a_function_that_a_function_calls_from_its_closure_is_part_of_it():
    def nested(inner):
        return scored_by(lambda ctx: 1 - inner(ctx))

    assert nested(lambda ctx: 1).fingerprint != nested(lambda ctx: 0).fingerprint


def recursive():
    def count(ctx):
        return count(ctx)

    return count


class Callable:
    def __call__(self, ctx):
        return 1


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(lambda: with_bound(threading.Lock()), id="closes over a lock"),
        pytest.param(lambda: scored_by(recursive()), id="closes over itself"),
        pytest.param(lambda: scored_by(Callable()), id="an object"),
        pytest.param(lambda: scored_by(eval("lambda ctx: 1")), id="without source"),  # noqa: S307
    ],
)
def test_what_cannot_be_written_is_unknown_rather_than_guessed(made):
    assert made().fingerprint == UNKNOWN


def test_a_version_stands_for_the_functions():
    one, other = with_bound(3, version="1"), with_bound(threading.Lock(), version="1")
    assert one.fingerprint == other.fingerprint != UNKNOWN
    assert with_bound(3, version="2").fingerprint != one.fingerprint


def test_range_and_direction_are_part_of_it():
    made = {
        scored_by(Callable(), version="1", **options).fingerprint
        for options in ({}, {"scale": 10}, {"better": "lower"}, {"judge": Judge("m")})
    }
    assert len(made) == 4


def test_a_prompt_is_known_by_its_words_and_its_schema():
    def judged(description, output):
        return create_scorer(id="s").analyze(Prompt(description, output=output, create=with_bound))

    made = [judged("a", int), judged("b", int), judged("a", {"type": "object"})]
    assert len({one.fingerprint for one in made}) == 3


def test_prepare_run_is_part_of_it():
    def shaping(prepare):
        return scored_by(lambda ctx: 1, prepare_run=prepare)

    assert shaping(None).fingerprint != shaping(lambda run: run).fingerprint


class Weather(BaseModel):
    city: str


class Place(BaseModel):
    name: str


def test_a_type_of_two_schemas_is_part_of_it():
    types = [None, (Weather, None), (None, Weather), (Weather, Place), (str, None), (dict[str, int], None)]
    made = [scored_by(lambda ctx: 1, type=kind).fingerprint for kind in types]
    assert len({*made} - {UNKNOWN}) == len([one for one in made if one != UNKNOWN])
    assert scored_by(lambda ctx: 1, type=(Weather, None)).fingerprint == made[1] != UNKNOWN


def test_a_scorer_of_one_function_is_known_by_that_function():
    @scorer
    def polite(run):
        return "please" in run.text

    assert re.fullmatch("[0-9a-f]{12}", polite.fingerprint)
