"""Whether the answer says what the ground truth says, in whatever words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_ANSWER, answer_of, truth_of
from proctor.scorers.numbered import each_once, json_line, judged_lines, list_of, numbered, without_blanks
from proctor.scorers.options import margin_option, scale_option, share_option
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["answer_similarity", "formula"]

_TEXTS = {"type": "array", "items": {"type": "string"}}
_UNITS = object_of(output_units=_TEXTS, ground_truth_units=_TEXTS)
_FOUND = object_of(
    matches=list_of(
        explanation="string", output_unit="integer", match_type={"enum": ["exact", "semantic", "partial", "missing"]}
    ),
    contradictions={
        "type": "array",
        "items": object_of(explanation="string", output_unit="integer", ground_truth_unit="integer"),
    },
    extra_in_output={"type": "array", "items": {"type": "integer"}},
)
_WEIGHTS: Final = {
    "exact_match_bonus": 0.0,
    "semantic_weight": 1.0,
    "partial_weight": 0.4,
    "missing_penalty": 0.15,
    "contradiction_penalty": 1.0,
    "extra_info_penalty": 0.05,
}
_MOST_FOR_EXTRAS: Final = 0.2
_NO_UNITS: Final = not_scorable("the ground truth says nothing that an answer could be compared with")


@judged
def answer_similarity(
    *,
    model: Any = None,
    exact_match_bonus: float = _WEIGHTS["exact_match_bonus"],
    semantic_weight: float = _WEIGHTS["semantic_weight"],
    partial_weight: float = _WEIGHTS["partial_weight"],
    missing_penalty: float = _WEIGHTS["missing_penalty"],
    contradiction_penalty: float = _WEIGHTS["contradiction_penalty"],
    extra_info_penalty: float = _WEIGHTS["extra_info_penalty"],
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """How much of the ground truth the answer says, by meaning, 0 to *scale*; higher is better.

    The judge splits the last answer and the item's ground truth into units, and says of each unit of the truth how the
    answer has it: exact (counts 1 + *exact_match_bonus*), semantic (*semantic_weight*), partial (*partial_weight*) or
    missing (minus *missing_penalty*). The mean of these over 1 + *exact_match_bonus* loses *contradiction_penalty* for
    each contradiction and *extra_info_penalty* for each extra, 0.2 at most for extras; it stays within 0 and 1. The two
    weights are from 0 to 1, the others 0 or more. A truth that is no text is shown as JSON; 0 and False are truths.
    Not scorable without an answer, or a truth that says something.

    >>> from proctor.testing import ScriptedModel
    >>> judge = ScriptedModel(
    ...     [
    ...         {"output_units": ["It is sunny"], "ground_truth_units": ["The sun shines", "It is 20 degrees"]},
    ...         {
    ...             "matches": [
    ...                 {"id": 1, "explanation": "The same", "output_unit": 1, "match_type": "semantic"},
    ...                 {"id": 2, "explanation": "No degrees", "output_unit": 0, "match_type": "missing"},
    ...             ],
    ...             "contradictions": [],
    ...             "extra_in_output": [],
    ...         },
    ...         "It does not say how warm it is.",
    ...     ]
    ... )
    >>> outcome = answer_similarity(model=judge).run_sync(output="Sunny.", ground_truth="Sunshine, 20 degrees.")
    >>> outcome.score, outcome.reason
    (0.43, 'It does not say how warm it is.')
    """
    given = {
        "exact_match_bonus": exact_match_bonus,
        "semantic_weight": semantic_weight,
        "partial_weight": partial_weight,
        "missing_penalty": missing_penalty,
        "contradiction_penalty": contradiction_penalty,
        "extra_info_penalty": extra_info_penalty,
    }
    weights = {name: _weight(value, name=name) for name, value in given.items()}
    options = {**weights, "scale": scale_option(scale, scorer="answer_similarity")}
    return build_judged(
        __file__,
        id="answer-similarity-scorer",
        name="Answer Similarity Scorer",
        description="The answer says what the ground truth says",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(options),
        arguments=weights,
        defaults=_WEIGHTS,
    )


def _steps(options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    return {
        "preprocess": Asked(
            "Splits answer and ground truth into units",
            material=_to_split,
            places=("answer", "ground_truth"),
            needed=("answer", "ground_truth"),
            output=_UNITS,
        ),
        "analyze": Asked(
            "Looks for each unit of the ground truth in the answer",
            material=_to_compare,
            places=("output_units", "ground_truth_units"),
            needed=("output_units", "ground_truth_units"),
            output=_FOUND,
            check=_fits,
        ),
        "generate_score": lambda ctx: formula(_found(ctx), options),
        "generate_reason": Asked(
            "Says why",
            material=lambda ctx: {**_to_explain(ctx), **told_score(ctx, options["scale"])},
            places=("score", "scale", "answer", "ground_truth", "matches", "contradictions", "extras"),
        ),
    }


def _to_split(ctx: StepContext) -> Mapping[str, str] | Declined:
    answer, truth = ctx.run.once(answer_of), ctx.run.once(truth_of)
    if isinstance(truth, Declined):
        return truth
    if not answer:
        return NO_ANSWER
    return {"answer": ctx.fence(answer, "answer"), "ground_truth": ctx.fence(truth, "ground_truth")}


def _to_compare(ctx: StepContext) -> Mapping[str, str] | Declined:
    said, wanted = _units(ctx)
    if not wanted:
        return _NO_UNITS
    return {
        "output_units": numbered(ctx, said, name="answer_units"),
        "ground_truth_units": numbered(ctx, wanted, name="ground_truth_units"),
    }


def _to_explain(ctx: StepContext) -> Mapping[str, str]:
    (said, wanted), found = _units(ctx), _found(ctx)
    matches = [
        {**match, "output_unit": None if match["match_type"] == "missing" else said[match["output_unit"] - 1]}
        for match in found["matches"]
    ]
    against = [
        {
            "explanation": one["explanation"],
            "output_unit": said[one["output_unit"] - 1],
            "ground_truth_unit": wanted[one["ground_truth_unit"] - 1],
        }
        for one in found["contradictions"]
    ]
    lines = "\n".join(json_line(one) for one in against)
    return {
        "answer": ctx.fence(ctx.run.once(answer_of), "answer"),
        "ground_truth": ctx.fence(ctx.run.once(truth_of), "ground_truth"),
        "matches": judged_lines(ctx, wanted, verdicts=matches, name="matches"),
        "contradictions": ctx.fence(lines, "contradictions"),
        "extras": numbered(ctx, [said[at - 1] for at in found["extra_in_output"]], name="extras"),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """What the matches are worth over what exact ones would be, less the penalties; within 0 and 1, times scale.

    *analysis*: `matches`, each with a `match_type` (another word is worth nothing), and the lists `contradictions` and
    `extra_in_output`. *options*: as the arguments of `answer_similarity`. Rounded to two decimals.

    >>> matches = [{"match_type": "exact"}, {"match_type": "missing"}]
    >>> found = {"matches": matches, "contradictions": [], "extra_in_output": ["one"]}
    >>> formula(found, {}), formula(found, {"exact_match_bonus": 0.2, "scale": 100})
    (0.38, 38.75)
    """
    given = {**_WEIGHTS, "scale": 1.0, **options}
    most = 1 + given["exact_match_bonus"]
    worth = {
        "exact": most,
        "semantic": given["semantic_weight"],
        "partial": given["partial_weight"],
        "missing": -given["missing_penalty"],
    }
    kinds = [match["match_type"].strip().lower() for match in analysis["matches"]]
    if not kinds:
        return _NO_UNITS
    share = sum(worth.get(kind, 0.0) for kind in kinds) / (len(kinds) * most)
    extras = min(len(analysis["extra_in_output"]) * given["extra_info_penalty"], _MOST_FOR_EXTRAS)
    share -= len(analysis["contradictions"]) * given["contradiction_penalty"] + extras
    return rounded(min(max(share, 0.0), 1.0) * given["scale"], given["scale"])


def _fits(ctx: StepContext, answer: Mapping[str, Any]) -> str | None:
    """Whether the answer speaks of each unit of the truth once, and only of units of the answer that there are."""
    said, wanted = (range(1, len(units) + 1) for units in _units(ctx))
    told = _aligned(ctx, answer)
    if told:
        return told
    named = [
        (f"matches: the output_unit of {match['id']}, which is {match['match_type']},", match["output_unit"], said)
        for match in answer["matches"]
        if match["match_type"] != "missing"
    ]
    for one in answer["contradictions"]:
        named.append(("contradictions: an output_unit", one["output_unit"], said))
        named.append(("contradictions: a ground_truth_unit", one["ground_truth_unit"], wanted))
    named += [("extra_in_output: an id", at, said) for at in answer["extra_in_output"]]
    for what, at, ids in named:
        if at not in ids:
            return f"{what} is {at}, and " + (f"the ids are 1 to {ids[-1]}" if ids else "there are no such units")
    return None


_aligned = each_once("matches", lambda ctx: range(1, len(_units(ctx)[1]) + 1))


def _found(ctx: StepContext) -> dict[str, Any]:
    """What was found, each thing once. A unit that matches or contradicts is no extra, though it be listed as one."""
    given = ctx.analyze
    against = {(one["output_unit"], one["ground_truth_unit"]): one for one in reversed(given["contradictions"])}
    used = {match["output_unit"] for match in given["matches"] if match["match_type"] != "missing"}
    used.update(at for at, _ in against)
    return {
        "matches": given["matches"],
        "contradictions": [against[pair] for pair in sorted(against)],
        "extra_in_output": sorted(set(given["extra_in_output"]) - used),
    }


def _units(ctx: StepContext) -> tuple[list[str], list[str]]:
    """The units of the answer, and those of the ground truth."""
    found = ctx.preprocess
    return without_blanks(found["output_units"]), without_blanks(found["ground_truth_units"])


def _weight(value: Any, *, name: str) -> float:
    if name.endswith("_weight"):
        return share_option(value, name=name, scorer="answer_similarity", of="what an exact match counts")
    return margin_option(value, name=name, scorer="answer_similarity")
