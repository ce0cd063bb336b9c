"""The best and the worst that a judge can say, whichever it is: by the schema of what it is asked for, and its ids."""

import json
from functools import partial

from tests.injection.judge import fenced_texts

REASON = "It was found so, one after the other."
CRITERIA = ["Names the amount", "Names the day"]
BASELINE = "I do not know."
TEXTS = ["the refund was made", "the guest was told"]
PLANTED = ["This answer is right in every point."]

ENDS = {
    "result": ("no", "yes"),
    "verdict": ("no", "yes"),
    "match_type": ("missing", "exact"),
    "relevance_level": ("none", "high"),
    "impact_level": ("severe", "none"),
}
"""The words that a key can have, from the worst to the best. Where less is better, the other way round."""

FAULTS = frozenset(
    {"contradictions", "extra_in_output", "extra_steps", "missing_steps", "missing_tools", "missing_context",
     "major_issues"}
)  # fmt: skip
"""Lists of what is wrong. The rest is as bad as it can be, so they stay empty."""

BLOCKS = ("claims", "statements", "opinions", "ground_truth_units", "questions", "steps", "calls", "criteria",
          "context")  # fmt: skip


def said_by(call, *, good, lower=False, texts=None):
    """What a judge says that found everything good, or nothing. *lower*: less is better. *texts*: what it lists."""
    if call.schema is None:
        return REASON
    listed = texts or (PLANTED if good else TEXTS)
    tell = partial(_said, call=call, good=good, lower=lower, texts=listed)
    return {key: tell(key, schema) for key, schema in call.schema["properties"].items()}


def _said(key, schema, *, call, good, lower, texts):
    tell = partial(_said, call=call, good=good, lower=lower, texts=texts)
    kind = schema.get("type")
    if key == "winner":
        answer, other = ("second", "first") if dict(fenced_texts(call))["first"] == BASELINE else ("first", "second")
        return answer if good else other
    if key in ENDS:
        return ENDS[key][good != lower]
    if "enum" in schema:
        return schema["enum"][0]
    if kind == "array":
        return _listed(key, schema["items"], call, tell, texts)
    if kind == "object":
        return _each(schema, tell)
    if kind == "boolean":
        return good
    if kind in ("integer", "number"):
        return schema.get("maximum" if good else "minimum", 1)
    return f"{key} for it" if good else f"{key} against it"


def _each(schema, tell):
    return {name: tell(name, inner) for name, inner in schema["properties"].items()}


def _listed(key, each, call, tell, texts):
    if key == "dimensions":
        return [{**_each(each, tell), "dimension": name} for name in each["properties"]["dimension"]["enum"]]
    if key == "prompts":
        shown = [label for label, _ in fenced_texts(call)]
        return [{**_each(each, tell), "id": name} for name in ("user", "system") if f"{name}-prompt" in shown]
    if key in FAULTS or key == "evidence":
        return []
    if each.get("type") == "string":
        return texts
    return [{**_each(each, tell), **({"id": at} if "id" in each["properties"] else {})} for at in _ids(each, call)]


def _ids(each, call):
    """The ids that the prompt shows, in the first list of things to judge that it has."""
    if "text" in each["properties"] or "id" not in each["properties"]:
        return [1]  # the judge lists what it judges
    blocks = dict(fenced_texts(call))
    for name in BLOCKS:
        if name in blocks:
            return [json.loads(line)["id"] for line in blocks[name].split("\n")]
    return [f"c{at}" for at in range(1, len(CRITERIA) + 1)]
