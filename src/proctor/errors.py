"""Every exception Proctor raises. Each says what happened, where, and what to do; each has a `code`.

    ProctorError
    ├─ UsageError              you wrote something that cannot be used (also a ValueError)
    │   ├─ DataErrors          rows of data that cannot be used: all of them at once, in `.problems`
    │   └─ UnknownName         no such scorer, option, key, file reader; with "did you mean"
    ├─ UnreadableMessages      a value that is no conversation we can read; names the index and the key
    ├─ EncodingError           a value that cannot be written as plain data; names the path to it
    ├─ ScoreError              a step gave something that is no legal score; names the value and the range
    ├─ ScorerRunError          a scorer's step failed; holds what the finished steps produced
    ├─ ModelError              a model that judges could not be asked, or its reply not be used; says of which kind
    └─ TargetError             the thing under test failed or was cut short
        └─ ToolMockError       it called a tool as no mock of the item allows

`except ProctorError` catches all of them. Nothing here imports anything of Proctor's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "DataErrors",
    "EncodingError",
    "ModelError",
    "ModelErrorKind",
    "ProctorError",
    "ScoreError",
    "ScorerRunError",
    "TargetError",
    "ToolMockError",
    "UnknownName",
    "UnreadableMessages",
    "UsageError",
    "cut",
    "did_you_mean",
    "safe_message",
    "visible",
]


_FEW = 30  # as many names as one wants to read in a message


class ProctorError(Exception):
    """The root. *code*: a stable word for programs; messages are for people and may change."""

    code: str = "PROCTOR_ERROR"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self), self.args, dict(self.__dict__))  # the constructors take other arguments

    def to_dict(self) -> dict[str, Any]:
        """The error as plain data: `type`, `code`, `message`."""
        return {"type": type(self).__name__, "code": self.code, "message": self.message}


def _rebuilt(kind: type[ProctorError], args: tuple[Any, ...], state: dict[str, Any]) -> ProctorError:
    made: ProctorError = kind.__new__(kind, *args)
    made.args = args
    made.__dict__.update(state)
    return made


class UsageError(ProctorError, ValueError):
    """A mistake in what was written: an option, a name, an argument. Raised before anything is run or paid."""

    code = "USAGE"


class DataErrors(UsageError):
    """Rows of data that cannot be used, all at once. *problems*: one sentence each, in input order."""

    code = "INVALID_DATA_ITEM"

    def __init__(self, where: str, problems: Sequence[str], *, code: str | None = None) -> None:
        self.where = where
        self.problems = tuple(problems)
        count = f"{len(self.problems)} problem{'s' if len(self.problems) != 1 else ''}"
        alike: dict[str, list[str]] = {}
        for problem in self.problems:
            alike.setdefault(problem.partition(": ")[2] or problem, []).append(problem)
        shown = [f"  {those[0]}{_also(those[1:])}" for those in list(alike.values())[:20]]
        if len(alike) > len(shown):
            left = sum(len(those) for those in list(alike.values())[20:])
            shown.append(f"  ... and {left} more")
        super().__init__("\n".join([f"{count} in {where}:", *shown]), code=code)


def _also(problems: Sequence[str]) -> str:
    """Where else the same is wrong: the places of the first ten."""
    if not problems:
        return ""
    places = [problem.partition(": ")[0] for problem in problems[:10]]
    more = f" and {len(problems) - len(places)} more" if len(problems) > len(places) else ""
    return f" (also {', '.join(places)}{more})"


class UnknownName(UsageError, LookupError):
    """A name that nothing answers to. *name*: as written; *options*: what exists."""

    code = "UNKNOWN_NAME"

    def __init__(
        self, what: str, name: str, options: Iterable[str], *, hint: str = "", code: str | None = None
    ) -> None:
        self.name = name
        self.options = tuple(options)
        guess = did_you_mean(name, self.options)
        few = not guess and 0 < len(self.options) <= _FEW
        known = f" Known: {', '.join(sorted(self.options))}." if few else ""
        super().__init__(f"no {what} {name!r}.{guess}{known}{hint and ' ' + hint}", code=code)


class UnreadableMessages(ProctorError):
    """A value that is no conversation we can read; the message names the index and the key."""

    code = "UNREADABLE_OUTPUT"


class EncodingError(ProctorError, TypeError):
    """A value that cannot be written as plain data. *path*: how to get to it, as in `input.user.age`."""

    code = "NOT_PLAIN_DATA"

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(f"{path or 'value'}: {message}")


class ScoreError(ProctorError, ValueError):
    """A step gave something that is no legal score: no number, not finite, or outside the declared range."""

    code = "INVALID_SCORE"


class ScorerRunError(ProctorError):
    """A scorer could not finish. The cause is in `__cause__`.

    *failed_step*: the step that failed, None when the run could not start (a schema of the scorer's `type`).
    *completed_steps*: steps that finished, in order.
    *result*: a `RunSnapshot` of what the finished steps produced, a score of 0 included; None when there is nothing
    to show. `to_dict()` never holds it: it may be large, or private.
    """

    code = "SCORER_FAILED_TO_RUN_WORKFLOW_FAILED"

    def __init__(
        self,
        message: str,
        *,
        failed_step: str | None = None,
        completed_steps: Sequence[str] = (),
        result: Any = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.failed_step = failed_step
        self.completed_steps = tuple(completed_steps)
        self.result = result

    def to_dict(self) -> dict[str, Any]:
        """The error as plain data, without `result`."""
        return {
            **super().to_dict(),
            "failed_step": self.failed_step,
            "completed_steps": list(self.completed_steps),
        }


ModelErrorKind: TypeAlias = Literal[
    "busy", "unavailable", "timeout", "unreadable", "rejected", "context", "unauthorized", "quota", "not_found"
]


class ModelError(ProctorError):
    """A model could not be asked, or what came back is no reply of a model. Its `code` is `MODEL_` and the kind.

    *kind*: `busy` (a rate limit), `unavailable` (the server failed, or the connection), `timeout`, `unreadable` (HTML
    or half a reply, with status 200): these pass. `rejected`: the request as it is; `context`: it is too long for the
    model. `unauthorized`, `quota`, `not_found`: the same for every further call. *retry_after*: seconds that the server
    asked to wait. *parameter*: the setting that the server named when it rejected the request. *status*: of HTTP.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: ModelErrorKind,
        retry_after: float | None = None,
        parameter: str | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message, code=f"MODEL_{kind.upper()}")
        self.kind: ModelErrorKind = kind
        self.retry_after = retry_after
        self.parameter = parameter
        self.status = status

    @property
    def passes(self) -> bool:
        """Whether the same call may work in a while."""
        return self.kind in {"busy", "unavailable", "timeout", "unreadable"}

    @property
    def is_final(self) -> bool:
        """Whether every further call of this model will fail in the same way."""
        return self.kind in {"unauthorized", "quota", "not_found"}


class TargetError(ProctorError):
    """The thing under test failed, or its reply could not be used."""

    code = "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"


class ToolMockError(TargetError):
    """A tool was called as the item's mocks do not allow; nothing was called in its place, and the item is an error.

    Its `code`: `TOOL_MOCK_MISMATCH`, there are mocks of the tool and none for these arguments; `TOOL_MOCK_EXHAUSTED`,
    those that answer such a call have answered already; `TOOL_MOCK_NOT_DECLARED`, there is no mock of the tool, and
    `unmocked="deny"`.
    """

    code = "TOOL_MOCK_MISMATCH"


def did_you_mean(name: str, options: Iterable[str]) -> str:
    """The sentence ` Did you mean 'x'?` for the nearest of *options*, or an empty text.

    >>> did_you_mean("includs", ["includes", "excludes"])
    " Did you mean 'includes'?"
    """
    import difflib

    folded = {option.casefold(): option for option in options}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def cut(text: str, limit: int = 80) -> str:
    """*text*, or its first *limit* characters with `...` at the end.

    >>> cut("abcdefgh", 6)
    'abc...'
    """
    return text if len(text) <= limit else text[: limit - 3] + "..."


def safe_message(error: BaseException) -> str:
    """What an exception says, also when its `__str__` raises or says nothing."""
    try:
        text = str(error)
    except BaseException as broken:
        if isinstance(broken, KeyboardInterrupt):
            raise
        return f"{type(error).__name__} (its message cannot be read: {type(broken).__name__})"
    return text or type(error).__name__


def visible(text: str) -> str:
    r"""*text* with what a terminal could obey or not show written as an escape; line ends and spaces stay.

    >>> visible("a\x1b[31m")
    'a\\x1b[31m'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(char: str) -> str:
    if char.isprintable() or char in "\n\u200d":  # the latter joins the parts of one emoji
        return char
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
