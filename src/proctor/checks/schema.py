"""The check that an answer is JSON that fits a schema. No reference of a schema is ever fetched from anywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from proctor.checks.calls import passed
from proctor.checks.pattern import TimedPattern
from proctor.data.plain import canonical_json, plain
from proctor.data.shown import plural
from proctor.data.subschemas import subschemas
from proctor.errors import EncodingError, UsageError, cut
from proctor.scoring.build import Findings, bool_option, build_check, quote
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Hop, StepContext

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

__all__ = ["json_schema"]

_QUICK_CHARACTERS = 20_000  # what is validated while the event loop waits
_MOST_PROBLEMS = 100
_SHOWN_PROBLEMS = 3


def json_schema(schema: Any, *, fenced: bool = True) -> Scorer:
    """1 when the answer is JSON that fits the schema, else 0. All of the answer: messages join directly.

    *schema*: a mapping (JSON Schema, draft 2020-12 unless its `$schema` says otherwise) or a pydantic model. *fenced*:
    an answer that is one Markdown block (three backticks, `json` after them or nothing) counts as what is in it.
    NaN and Infinity are no JSON. `format` is not looked at; a `$ref` must lead to a place in the schema itself.

    >>> check = json_schema({"type": "object", "required": ["city"]})
    >>> check.run_sync(output='{"town": "Bern"}').reason
    "1 problem: $: 'city' is a required property"
    """
    fences = bool_option(fenced, name="fenced", check="json_schema")
    wanted = _checked(schema)
    validator = _validator(wanted)
    slow = '"pattern' in json.dumps(wanted)

    def look(ctx: StepContext) -> Findings | Hop:
        text = ctx.run.once(_joined)
        if slow or len(text) > _QUICK_CHARACTERS:
            return Hop(compare, text)
        return compare(text)

    def compare(text: str) -> Findings:
        try:
            value = _read(_unfenced(text) if fences else text)
        except ValueError as problem:
            return Findings(parsed=False, problem_count=1, problems=(str(problem),), passed=False)
        found = list(islice(validator.iter_errors(value), _MOST_PROBLEMS))
        told = tuple(_told(problem) for problem in found[:_SHOWN_PROBLEMS])
        return Findings(parsed=True, problem_count=len(found), problems=told, passed=not found)

    def reason(ctx: StepContext) -> str:
        found = ctx.preprocess
        if not found["parsed"]:
            return f"{found['problems'][0]}: {quote(ctx.run.once(_joined))}"
        if found["passed"]:
            return "the answer is JSON that fits the schema"
        return f"{plural(found['problem_count'], 'problem')}: {'; '.join(found['problems'])}"

    return build_check(
        id="check-json-schema",
        name="JSON Schema Check",
        description="The answer is JSON that fits a schema",
        arguments={"schema": wanted, "fenced": fenced},
        defaults={"fenced": True},
        look=look,
        score=passed,
        reason=reason,
    )


# ── the answer ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _joined(run: ScorerRun) -> str:
    return "".join(run.texts)


def _unfenced(text: str) -> str:
    """What is inside when all of the text is one fenced block, else the text."""
    lines = text.strip().splitlines()
    if len(lines) >= 2 and lines[0].strip().lower() in ("```", "```json") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return text


def _read(text: str) -> Any:
    """The JSON value. Raises `ValueError` with what is wrong, for people."""
    if not text.strip():
        raise ValueError("the answer is empty")
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as problem:
        raise ValueError(f"the answer is not JSON ({problem.msg}, character {problem.pos + 1})") from None
    except RecursionError:
        raise ValueError("the answer is JSON nested too deeply") from None
    except ValueError as problem:  # NaN, or a number of more digits than Python reads
        raise ValueError(f"the answer is not JSON ({problem})") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _told(problem: Any) -> str:
    """The place and what is wrong there: in the branch of an `anyOf` that comes nearest."""
    from jsonschema.exceptions import best_match

    nearest = best_match([problem])
    return f"{cut(nearest.json_path, 40)}: {cut(' '.join(nearest.message.split()), 80)}"


# ── the schema ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _checked(schema: Any) -> dict[str, Any]:
    """The schema in plain JSON."""
    if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    if not isinstance(schema, Mapping):
        raise UsageError(f"json_schema: schema must be a mapping or a pydantic model, not {schema!r}")
    try:
        text = canonical_json(plain(schema))
    except EncodingError as problem:
        raise UsageError(f"json_schema: {problem.message}") from problem
    made: dict[str, Any] = json.loads(text)
    return made


def _validator(schema: dict[str, Any]) -> Validator:
    """What finds the problems of a value. Raises `UsageError` for a schema that is none, or that refers elsewhere."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import extend, validator_for
    from referencing import Registry

    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as problem:
        raise UsageError(f"json_schema: this is no schema: {problem.json_path}: {cut(problem.message, 200)}") from None
    patterns = _patterns(schema)
    _check_references(schema)
    timed: Any = extend(kind, _timed_keywords(patterns))  # type: ignore[no-untyped-call]
    made: Validator = timed(schema, registry=Registry())
    return made


def _patterns(schema: Any) -> dict[str, TimedPattern]:
    """Every regular expression of the schema, compiled so that none can hang a run."""
    return {
        text: TimedPattern(text, "", check="json_schema")
        for node in subschemas(schema)
        for text in (node.get("pattern"), *_keys(node.get("patternProperties")))
        if isinstance(text, str)
    }


def _check_references(schema: Any) -> None:
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    if any("$id" in node for node in subschemas(schema) if node is not schema):
        return  # references are relative to those; one that leads nowhere is an error when it is met
    resolver = REGISTRY.resolver_with_root(Resource.from_contents(schema, default_specification=DRAFT202012))
    for node in subschemas(schema):
        reference = node.get("$ref")
        if isinstance(reference, str):
            try:
                resolver.lookup(reference)
            except Unresolvable:
                hint = "" if reference.startswith("#") else "; nothing is fetched: put it into $defs"
                raise UsageError(f"json_schema: $ref {reference!r} leads nowhere in the schema{hint}") from None


def _keys(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, Mapping) else ()


def _timed_keywords(patterns: Mapping[str, TimedPattern]) -> dict[str, Callable[..., Iterator[Any]]]:
    """The keywords that hold regular expressions, searched with a time limit instead of without one."""
    from jsonschema import ValidationError

    def found(pattern: str, text: str) -> bool:
        return patterns[pattern].find(text, whole=False) is not None

    def pattern(validator: Any, text: str, instance: Any, _: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and not found(text, instance):
            yield ValidationError(f"{instance!r} does not match {text!r}")

    def pattern_properties(validator: Any, inner: Any, instance: Any, _: Any) -> Iterator[Any]:
        for text, subschema in inner.items() if validator.is_type(instance, "object") else ():
            for key, value in instance.items():
                if found(text, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=text)

    def additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return
        named, by_pattern = schema.get("properties", {}), schema.get("patternProperties", {})
        more = [key for key in instance if key not in named and not any(found(text, key) for text in by_pattern)]
        if validator.is_type(allowed, "object"):
            for key in more:
                yield from validator.descend(instance[key], allowed, path=key)
        elif not allowed and more:
            yield ValidationError(f"more properties than allowed: {', '.join(map(repr, more[:5]))}")

    return {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional_properties,
    }
