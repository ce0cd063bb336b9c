"""Tells by a scenario's content which of our rules changes how it goes."""

import math
from collections.abc import Iterator
from typing import Any


def scorers_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every description of a scorer in a scenario."""
    if isinstance(value, dict):
        if "kind" in value and value["kind"] != "agent":
            yield value
        for one in value.values():
            yield from scorers_of(one)
    elif isinstance(value, list):
        for one in value:
            yield from scorers_of(one)


def someone_raises(case):
    return "onItemComplete" in case["scenario"] or any(
        "throw" in value for value in words_of(scorers_of(case["scenario"]))
    )


def words_of(scorers):
    """The values of these scorers that are no scores: who raises, who declines."""
    return [value for one in scorers for value in one.get("values", ()) if isinstance(value, dict)]


def target_fails(case):
    replies = case["scenario"]["target"]["replies"]
    given = replies if isinstance(replies, list) else replies.values()
    return any("throw" in reply for reply in given) or has_no_scoring_data(case)


def has_no_scoring_data(case):
    return "noScoringData" in str(case["scenario"]["target"]["replies"])


def gate_is_decided_otherwise(case):
    """By each item's score, with a tolerance, and not passed when every item declined."""
    gates = [gate for place in places_of(case) for gate in place.get("gates", ())]
    numbers = [value for gate in gates for value in gate.get("values", ()) if type(value) in (int, float)]
    return bool(words_of(gates)) or any(value > 1 or 0 < 1 - value < 1e-9 for value in numbers)


def places_of(case):
    """Where scorers stand: the whole run, and each turn."""
    items = [item for item in listed(case["scenario"]["data"]) if isinstance(item, dict)]
    turns = [turn for item in items for turn in listed(item.get("turns")) if isinstance(turn, dict)]
    return [case["scenario"], *turns]


def listed(value):
    return value if isinstance(value, list) else []


def threshold_is_decided_otherwise(case):
    """By an exact mean, and missed when every item declined."""
    bounded = [one for place in places_of(case) for one in listed(place.get("scorers")) if "threshold" in one]
    scorers = [one["scorer"] for one in bounded]
    return bool(words_of(scorers)) or any(has_inexact_mean(one, len(case["scenario"]["data"])) for one in scorers)


def has_inexact_mean(scorer, count):
    values = scorer.get("values", ())
    if not all(map(is_score, values)) or not values:
        return False
    values = [*values, *[values[-1]] * (count - len(values))]
    return sum(values) / count != math.fsum(values) / count


def gives_no_score(case):
    """A score outside the range, or that is no number."""
    values = [value for one in scorers_of(case["scenario"]) for value in one.get("values", ())]
    return any(not is_score(value) for value in values if not isinstance(value, dict))


def is_score(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def shares_an_id(case):
    """Scorers of one id in one place, or of an id that means something to the reference."""
    lists = [listed(place.get(name)) for place in places_of(case) for name in ("gates", "scorers")]
    ids = [[id_of(one) for one in given] for given in lists]
    return any(len(set(found)) < len(found) or {"agent", "workflow", "trajectory"} & set(found) for found in ids)


def id_of(one):
    one = one.get("scorer", one)
    return one.get("id", one.get("check")) if isinstance(one, dict) else one


def asks_nothing(case):
    return any(isinstance(item, dict) and item.get("input", "") is None for item in case["scenario"]["data"])


def reads_the_input_of_a_conversation(case):
    """Where the reference gives a scorer text in place of messages."""
    several = any("inputs" in item for item in case["scenario"]["data"] if isinstance(item, dict))
    return several and any(one["kind"] == "prebuilt" for one in scorers_of(case["scenario"]))


def is_built_wrongly(case):
    return any(one["kind"] == "noGenerateScore" for one in scorers_of(case["scenario"]))


def is_not_concurrent(case):
    return case["scenario"].get("concurrency", 1) < 1


def declines_a_reason(case):
    return any(value.get("step") == "generateReason" for value in words_of(scorers_of(case["scenario"])))


def is_shaped_wrongly(case):
    """Input beside inputs; an entry where the reference knows none; two thresholds for one turn."""
    scenario, entries = case["scenario"], case["scenario"].get("scorers", [])
    in_config = isinstance(entries, dict) and any("scorer" in one for one in entries.get("agent", ()))
    without = any("scorer" in one and "threshold" not in one for one in listed(entries))
    as_gate = any("scorer" in one for one in scenario.get("gates", ()))
    both = any({"input", "inputs"} <= item.keys() for item in scenario["data"] if isinstance(item, dict))
    return in_config or without or as_gate or both or has_two_thresholds(scenario)


def has_two_thresholds(scenario):
    bounds: dict[Any, list[Any]] = {}
    for item in scenario["data"]:
        for index, turn in enumerate(listed(item.get("turns")) if isinstance(item, dict) else []):
            for one in listed(turn.get("scorers")) if isinstance(turn, dict) else []:
                bounds.setdefault((index, id_of(one)), []).append(one.get("threshold"))
    return any(len(found) > 1 and found[0] != found[1] for found in bounds.values())


def turn_has_its_own_truth(case):
    return any("groundTruth" in turn for turn in places_of(case)[1:])


RULES = {
    1: someone_raises,
    2: target_fails,
    3: gate_is_decided_otherwise,
    4: threshold_is_decided_otherwise,
    5: gives_no_score,
    6: shares_an_id,
    7: asks_nothing,
    9: reads_the_input_of_a_conversation,
    18: is_built_wrongly,
    21: is_not_concurrent,
    24: declines_a_reason,
    25: is_shaped_wrongly,
    26: turn_has_its_own_truth,
}


def rule_of(case):
    """The lowest rule that changes a case; a quirk is changed by one too, whichever way we do it."""
    return next((rule for rule in sorted(RULES) if RULES[rule](case)), None)
