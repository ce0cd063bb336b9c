"""Checks written on the command line: `called_tool("refund", times=2) >= 0.9`. Nothing in them is ever evaluated.

The text is parsed as Python and walked; whatever is not listed here is refused where it stands:

    entry   = check | check ">=" number | check "<=" number | number "<=" check "<=" number     (and mirrored)
    check   = NAME "(" literals, option=literal ")"           NAME: a check, ours or an installed package's
    literal = text | number | true | false | null | [literals] | {text: literal} | check     (also True, False, None)
    number  = digits | digits "/" digits, with a sign or without             (the second in bounds only)
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from proctor.data.threshold import Threshold
from proctor.errors import UsageError, cut, did_you_mean, visible
from proctor.plugins import find, import_object, known
from proctor.scoring.entry import ScorerEntry

__all__ = ["known_checks", "read_check", "read_gate", "signature_of"]

_LONGEST = 10_000
_SHOWN = 72
_WORDS = {"true": True, "false": False, "null": None}
_ALLOWED = (
    "A check is a name and literals (text, numbers, true, false, null, lists and mappings of them, checks), as in "
    'called_tool("pay", times=2).'
)


def read_check(text: str) -> ScorerEntry:
    """A check, with the bounds on its mean when it carries some. Raises `UsageError` that points at the place.

    >>> read_check('similarity("hello") >= 0.5').threshold
    Threshold(min=0.5)
    """
    return _read(_Reader.entry, text)


def read_gate(text: str) -> ScorerEntry:
    """A check that every item must pass; it carries no bound.

    >>> read_gate("no_tool_errors()").scorer.key
    'check-no-tool-errors'
    """
    return _read(_Reader.gate, text)


@cache
def known_checks() -> Mapping[str, Callable[..., Any]]:
    """The checks that can be written, by name."""
    return {name: find("check", name) for name in known("check")}


def signature_of(name: str) -> str:
    """How a check is called.

    >>> signature_of("similarity")
    'similarity(expected, *, ignore_case=True, threshold=None)'
    """
    signature = inspect.signature(known_checks()[name])
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return f"{name}{signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"


def _read(reading: Callable[[_Reader], ScorerEntry], text: str) -> ScorerEntry:
    try:
        return reading(_Reader(text))
    except RecursionError:
        raise UsageError(f"a check is nested too deeply: {cut(text)}") from None


class _Reader:
    """One expression. Its methods give values, or raise a `UsageError` with a caret under the place."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.lines = re.split(r"\r\n|\r|\n", self.text)

    def gate(self) -> ScorerEntry:
        node = self._parsed()
        if isinstance(node, ast.Compare):
            raise self._wrong("a gate carries no bound, every item must pass it: put this in --check", node)
        return ScorerEntry(self._check(node))

    def entry(self) -> ScorerEntry:
        node = self._parsed()
        if not isinstance(node, ast.Compare):
            return ScorerEntry(self._check(node))
        call, low, high = self._bounds(node)
        scorer = self._check(call)
        least, most = (None if bound is None else self._bound(bound) for bound in (low, high))
        try:
            return ScorerEntry(scorer, Threshold(min=least, max=most))
        except UsageError as problem:
            raise self._wrong(problem.message, low or high or node) from None

    # ── the parts ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _parsed(self) -> ast.expr:
        if not self.text:
            raise UsageError(f"a check is empty. {_ALLOWED}")
        if len(self.text) > _LONGEST:
            raise UsageError(f"a check has {len(self.text)} characters, at most {_LONGEST} are read: {cut(self.text)}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # an escape that Python does not know is a mistake, not a warning
                return ast.parse(self.text, mode="eval").body
        except SyntaxError as problem:
            raise self._wrong_at(_said(problem), problem.lineno or 1, max((problem.offset or 1) - 1, 0)) from None
        except UnicodeEncodeError as problem:
            raise self._wrong_at("this is no readable text (is it UTF-8?)", 1, problem.start) from None
        except (ValueError, MemoryError):
            raise self._wrong_at("this is nested too deeply, or is no text at all", 1, 0) from None

    def _bounds(self, node: ast.Compare) -> tuple[ast.expr, ast.expr | None, ast.expr | None]:
        """The check, its lower and its upper bound."""
        parts = [node.left, *node.comparators]
        kinds = {type(operator) for operator in node.ops}
        if kinds not in ({ast.LtE}, {ast.GtE}):
            raise self._wrong("a bound is written >= or <= (both ends included), as in 0.2 <= check <= 0.8", node)
        if kinds == {ast.GtE}:
            parts.reverse()
        calls = [place for place, part in enumerate(parts) if not _is_number(part)]
        if len(calls) != 1 or len(parts) > 3 or (len(parts) == 3 and calls != [1]):
            raise self._wrong("a bound is a number beside one check, as in 0.2 <= check <= 0.8", node)
        at = calls[0]
        return parts[at], parts[at - 1] if at else None, parts[at + 1] if at + 1 < len(parts) else None

    def _bound(self, node: ast.expr) -> float:
        try:
            if isinstance(node, ast.BinOp):
                return self._bound(node.left) / self._bound(node.right)
            return float(self._literal(node))
        except ArithmeticError:
            raise self._wrong("this is no number that can be a bound", node) from None

    def _check(self, node: ast.expr) -> Any:
        call = self._call(node)
        name = self._name(call)
        check = known_checks()[name]
        given = [self._literal(argument) for argument in call.args]
        options = self._options(call, name)
        try:
            inspect.signature(check).bind(*given, **options)
        except TypeError as problem:
            raise self._wrong(f"{name}: {problem}; it is written {signature_of(name)}", call) from None
        try:
            return check(*given, **options)
        except UsageError as problem:
            raise self._wrong(problem.message, call) from None

    def _call(self, node: ast.expr) -> ast.Call:
        if not isinstance(node, ast.Call):
            raise self._no_call(node)
        return node

    def _no_call(self, node: ast.expr) -> UsageError:
        if isinstance(node, ast.Name) and node.id in known_checks():
            return self._wrong(f"put parentheses after the name: {signature_of(node.id)}", node)
        if isinstance(node, ast.Name):
            return self._wrong(f"no check {cut(node.id)!r}.{self._guess(node.id)}", node)
        if isinstance(node, ast.BoolOp):
            return self._wrong("one check at a time: give the option again for the next one", node.values[1])
        return self._wrong(f"this is no check. {_ALLOWED}", node)

    def _name(self, call: ast.Call) -> str:
        node = call.func
        if isinstance(node, ast.Attribute):
            raise self._wrong(f"a check is written without a dot: {node.attr}(...)", node)
        if not isinstance(node, ast.Name):
            raise self._wrong(f"this is no name of a check. {_ALLOWED}", node)
        if node.id not in known_checks():
            raise self._wrong(f"no check {cut(node.id)!r}.{self._guess(node.id)}", node)
        return node.id

    def _guess(self, name: str) -> str:
        if name in import_object("proctor.scorers:__all__"):
            return f" scorers.{name} is a scorer: write it in an eval file, for `proctor run FILE`."
        return did_you_mean(name, known_checks()) or f" Known: {', '.join(known_checks())}."

    def _options(self, call: ast.Call, name: str) -> dict[str, Any]:
        known = list(inspect.signature(known_checks()[name]).parameters)
        options: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise self._wrong(f"** is not allowed here. {_ALLOWED}", keyword.value)
            if keyword.arg not in known:
                guess = did_you_mean(keyword.arg, known)
                raise self._wrong(f"{name} has no {keyword.arg!r}.{guess} It is written {signature_of(name)}", keyword)
            if keyword.arg in options:
                raise self._wrong(f"{keyword.arg} is given twice", keyword)
            options[keyword.arg] = self._literal(keyword.value)
        return options

    def _literal(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=str() as text):
                return self._plain_text(text, node)
            case ast.Constant(value=bool() | int() | float() | None):
                return node.value
            case ast.UnaryOp(op=ast.USub(), operand=operand) if _has_digits(node):
                return -self._literal(operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand) if _has_digits(node):
                return self._literal(operand)
            case ast.List(elts=elements):
                return [self._literal(element) for element in elements]
            case ast.Dict(keys=keys, values=values):
                return self._mapping(keys, values, node)
            case ast.Call():
                return self._check(node)
            case ast.Name(id=word) if word in _WORDS:
                return _WORDS[word]
            case ast.Name(id=word):
                raise self._wrong(f'text goes in quotes: "{word}"', node)
            case _:
                raise self._wrong(f"this is not allowed here. {_ALLOWED}", node)

    def _mapping(self, keys: list[ast.expr | None], values: list[ast.expr], node: ast.expr) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in zip(keys, values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                raise self._wrong('a key is text in quotes, as in {"amount": 5}', key or node)
            if key.value in made:
                raise self._wrong(f"{key.value} is given twice", key)
            made[self._plain_text(key.value, key)] = self._literal(value)
        return made

    def _plain_text(self, text: str, node: ast.expr) -> str:
        """The text; a control character in it came from an escape that was meant for a pattern."""
        if any(ord(char) < 32 and char not in "\t\n\r" for char in text):
            raise self._wrong(r'a backslash here makes a control character; for a pattern write r"\bword\b"', node)
        return text

    # ── where it is wrong ──────────────────────────────────────────────────────────────────────────────────────────

    def _wrong(self, message: str, node: ast.expr | ast.keyword) -> UsageError:
        line = self.lines[node.lineno - 1]
        column = len(line.encode("utf-8", "surrogatepass")[: node.col_offset].decode("utf-8", "replace"))
        return self._wrong_at(message, node.lineno, column)

    def _wrong_at(self, message: str, line: int, column: int) -> UsageError:
        shown = self.lines[min(line, len(self.lines)) - 1]
        return UsageError(f"{message}\n{_pointed(shown, column)}")


def _is_number(node: ast.expr) -> bool:
    """Whether it is written as a number, or as a fraction of two."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and _has_digits(node.left) and _has_digits(node.right)
    return _has_digits(node)


def _has_digits(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _said(problem: SyntaxError) -> str:
    if "escape" in problem.msg:
        return f'{problem.msg}; for a pattern put r before the text: r"\\d+"'
    return f"this cannot be read: {problem.msg}"


def _pointed(line: str, column: int) -> str:
    """The line with a caret under the place, cut to a screen's width around it."""
    from wcwidth import width

    before, after = visible(line[:column]), visible(line[column:])
    if len(before) > _SHOWN // 2:
        before = "..." + before[3 - _SHOWN // 2 :]
    room = _SHOWN - len(before)
    after = after if len(after) <= room else after[: room - 3] + "..."
    return f"  {before}{after}\n  {' ' * width(before)}^"
