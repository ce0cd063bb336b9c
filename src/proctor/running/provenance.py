"""Where a run comes from: what was run, on which data, by which code, so that two runs can be told apart.

All of it is plain data, and no secret is in it: see `as_shown`. Prompts and data go in as hashes.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from os import PathLike, fspath
from typing import Any

from proctor.data.item import Item, item_content
from proctor.data.opaque import describe, name_of
from proctor.data.plain import canonical_json, plain, to_json
from proctor.data.secret_texts import MARK
from proctor.data.secrets import redact_text
from proctor.data.value import Value
from proctor.errors import EncodingError, ProctorError
from proctor.judging.judge import DEFAULT_MODEL, Judge
from proctor.plugins import import_object
from proctor.running.choice import Chosen
from proctor.running.environment import git_state, versions_of
from proctor.running.eval import Eval
from proctor.running.plan import Plan
from proctor.running.source import DataFile
from proctor.running.target import is_address, shown_address
from proctor.running.target_fingerprint import digest_of, target_fingerprint
from proctor.scoring.fingerprint import UNKNOWN, function_content
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Prompt

__all__ = ["as_shown", "data_hash", "provenance_of", "scorer_shown"]

_NOT_OPTIONS = frozenset({"data", "target", "gates", "scorers", "on_item_complete", "recorder", "name"})
_ALSO_SEEN = ("expected_trajectory", "request_context", "metadata")
_OF_A_JUDGE = ("base_url", "language", "output_mode", "window", "on_overflow")
_AT_ONCE = 500  # items: what is written of them at one time
_SECRET = re.compile(r"key$|secret|token|passw|pwd|credential|authori|^auth|cookie|session", re.IGNORECASE)
_IN_URL = re.compile(r"(?<=://)[^/@\s]+@")
_HIDDEN = f"{MARK}hidden]"


def provenance_of(plan: Plan) -> dict[str, Any]:
    """All of it, for `Summary.provenance` and for stores. Raises nothing; git may take two seconds.

    What cannot be told is None or `unknown`.
    """
    import platform

    evaluation = plan.evaluation
    versions = versions_of({"proctor", *_modules_of(evaluation.target)})
    return {
        "proctor": versions.pop("proctor", None),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": versions,
        "git": git_state(),
        "target": _target(evaluation.target),
        "scorers": {cell.column.label: scorer_shown(cell.scorer) for cell in plan.cells},
        "data": _data(plan),
        "options": _options(evaluation),
        "seeds": dict(_seeds(evaluation)),
    }


# ── what was run ───────────────────────────────────────────────────────────────────────────────────────────────────


def _target(given: Any) -> dict[str, Any] | None:
    if given is None:
        return None
    name = _name_of(given) if not isinstance(given, str) else shown_address(given) if is_address(given) else given
    return {"name": name, "fingerprint": target_fingerprint(given)}


def _name_of(thing: Any) -> str:
    """The full name of a function, or of an object's class."""
    name, module = getattr(thing, "__qualname__", None), getattr(thing, "__module__", None)
    if not isinstance(name, str):
        return name_of(thing)
    return f"{module}.{name}" if isinstance(module, str) else name  # methods of built-in types are of no module


def _modules_of(given: Any) -> set[str]:
    """The top-level modules that a target is made of: a function's own, an object's classes' and their bases'."""
    if given is None or is_address(given):
        return set()
    target = import_object(given) if isinstance(given, str) else given
    homes = [getattr(target, "__module__", None), *(base.__module__ for base in type(target).__mro__)]
    tops = {home.partition(".")[0] for home in homes if isinstance(home, str)}
    return tops - sys.stdlib_module_names - {"__main__"}


def scorer_shown(scorer: Scorer) -> dict[str, Any]:
    """What it is, and of each step that a judge answers a hash of the prompt, and who is asked how."""
    judge = scorer.judge or Judge()
    judged = {name: (step, judge.merged(step.judge)) for name, step in scorer.steps.items() if isinstance(step, Prompt)}
    return {
        "id": scorer.id,
        "key": scorer.key,
        "version": scorer.version,
        "fingerprint": scorer.fingerprint,
        "prompts": {name: _prompt(step, judge=its) for name, (step, its) in judged.items()},
        "judges": {name: _judge(its) for name, (_, its) in judged.items()},
    }


def _prompt(prompt: Prompt, *, judge: Judge) -> str:
    """12 hex digits of all that makes the text a judge is sent: description, instructions, the function's source."""
    try:
        create = prompt.create and function_content(prompt.create)
    except (EncodingError, RecursionError):
        return UNKNOWN
    return digest_of([prompt.description, judge.instructions, create])


def _judge(judge: Judge) -> dict[str, Any]:
    model = judge.model or os.environ.get(DEFAULT_MODEL)
    named = model if model is None or isinstance(model, str) else getattr(model, "id", model)
    others = {name: getattr(judge, name) for name in _OF_A_JUDGE if getattr(judge, name) is not None}
    return {"model": as_shown(named), "settings": as_shown(judge.settings), **as_shown(others)}


# ── on which data ──────────────────────────────────────────────────────────────────────────────────────────────────


def _data(plan: Plan) -> dict[str, Any]:
    data = plan.evaluation.data
    made: dict[str, Any] = {}
    if isinstance(data, Chosen):
        choice, data = data.choice, data.data
        chosen = {"ids": list(choice.ids), "tags": list(choice.tags), "limit": choice.limit}
        made["choice"] = {name: value for name, value in chosen.items() if value}
    if isinstance(data, DataFile):
        if data.names:
            made["names"] = dict(data.names)
        data = data.path
    if plan.stream is not None:
        return {"source": "stream", "hash": None, "items": None, "item_ids": None, **made}
    source = fspath(data) if isinstance(data, str | PathLike) else "list"
    ids = [row.id[0] for row in plan.rows]
    return {
        "source": source,
        "hash": data_hash(row.item for row in plan.rows),
        "items": len(ids),
        "item_ids": ids,
    } | made


def data_hash(items: Iterable[Item]) -> str:
    """16 hex digits of what targets and scorers see of the items, in their order; ids and tags are not in it."""
    from hashlib import sha256

    digest = sha256()
    try:
        for batch in _batches(items):
            text = canonical_json([_seen(item) for item in batch], other=lambda it: to_json(describe(it)))
            digest.update(f"{text[1:-1]},".encode("utf-8", "surrogatepass"))
    except EncodingError:
        return UNKNOWN
    return digest.hexdigest()[:16]


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Some items at a time: writing them one by one takes three times as long."""
    from itertools import islice

    left = iter(items)
    while batch := list(islice(left, _AT_ONCE)):
        yield batch


def _seen(item: Item) -> dict[str, Any]:
    content = item_content(item)
    for name in _ALSO_SEEN:
        value = getattr(item, name)
        if value is not None:
            content[name] = value
    return content


# ── with which options ─────────────────────────────────────────────────────────────────────────────────────────────


def _options(evaluation: Eval) -> dict[str, Any]:
    """Those that differ from their defaults. Of the request context only the names: it may say who somebody is."""
    made = {
        field.name: as_shown(value)
        for field in fields(Eval)
        if field.name not in _NOT_OPTIONS and (value := getattr(evaluation, field.name)) != field.default
    }
    if evaluation.request_context is not None:
        made["request_context"] = {"keys": sorted(map(str, evaluation.request_context))}
    return made


def _seeds(evaluation: Eval) -> Iterator[tuple[str, int]]:
    options = evaluation.target_options or {}
    places = {
        "target_options.seed": options.get("seed"),
        "target_options.model_settings.seed": _part(options.get("model_settings"), "seed"),
        "request_context.seed": (evaluation.request_context or {}).get("seed"),
    }
    for place, seed in places.items():
        if isinstance(seed, int) and not isinstance(seed, bool):
            yield place, seed


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def as_shown(value: Any, *, name: str = "") -> Any:
    """*value* as data that may be shown: texts under names such as `api_key`, and passwords in URLs, are hidden.

    Of an object that is no data there is only its type, of a function its name.
    """
    try:
        return _shown(plain(value), name)
    except (ProctorError, RecursionError):
        return name_of(value)


def _shown(value: Any, name: str) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if _SECRET.search(name):
        return _HIDDEN
    if isinstance(value, str):
        return redact_text(_IN_URL.sub(f"{_HIDDEN}@", value))
    if isinstance(value, list | tuple):
        return [_shown(item, name) for item in value]
    if isinstance(value, dict):
        return {str(key): _shown(item, str(key)) for key, item in value.items()}
    if isinstance(value, Value):
        return {field.name: as_shown(getattr(value, field.name), name=field.name) for field in fields(value)}  # type: ignore[arg-type]  # all of them are dataclasses
    return _name_of(value) if callable(value) else name_of(value)
