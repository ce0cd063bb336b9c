"""What a scorer sees: one run of the thing under test, in every shape by one rule.

One object is shared by all scorers of an item; each view is worked out once, when first asked for. `messages` is the
whole exchange, what came in and what came out. `text`, `tool_calls` and `reasoning` are of the output alone, since that
is what is scored; `user_text` and `system_text` are of the whole exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from proctor.data.message import Message, ToolCall
from proctor.data.plain import copied, plain
from proctor.data.read import read_input, read_messages
from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.judging.call_cache import NO_CACHE, CallCache
from proctor.scoring import views

if TYPE_CHECKING:
    from proctor.data.trajectory import Trajectory
    from proctor.data.usage import Cost, Usage

__all__ = ["ScorerRun", "TurnRun"]

T = TypeVar("T")
_UNKNOWN: Final = object()  # a view that nobody has asked for yet


class TurnRun:
    """One turn of a conversation as scorers see it: what the user gave, and what came back."""

    __slots__ = ("input", "output")

    def __init__(self, input: Any, output: Any) -> None:
        self.input = input
        self.output = output


class ScorerRun:
    """A run to be scored. *output* is what the target gave: messages, text, or any value.

    *input*, *output* and *ground_truth* are MISSING when there is none; None, 0, False and "" are values. *turns*: all
    turns of a conversation, whose first input is `input`. *usage*, *cost*, *duration_ms*: the target's, None when
    unknown. *extra*: any other keyword given. *calls*: the cache for models that a scorer asks, see
    `proctor.judging.cache.answered`. *repeat*: of the item, counted from 0. What scorers get of it is a copy: what one
    does to it changes neither the record nor what the built-in checks see.

    >>> run = ScorerRun(output=[{"role": "assistant", "content": "It is sunny."}], input="Weather?")
    >>> run.text, run.user_text
    ('It is sunny.', 'Weather?')
    """

    __slots__ = (
        "_calls",
        "_copies",
        "_given",
        "_input_messages",
        "_once",
        "_output_messages",
        "_text",
        "_texts",
        "calls",
        "cost",
        "duration_ms",
        "expected_trajectory",
        "extra",
        "repeat",
        "request_context",
        "trajectory",
        "turns",
        "usage",
    )

    def __init__(
        self,
        *,
        output: Any,
        input: Any = MISSING,
        ground_truth: Any = MISSING,
        context: Any = None,
        turns: Sequence[TurnRun] = (),
        expected_trajectory: Any = None,
        trajectory: Trajectory | None = None,
        request_context: Mapping[str, Any] | None = None,
        usage: Usage | None = None,
        cost: Cost | None = None,
        duration_ms: float | None = None,
        extra: Mapping[str, Any] | None = None,
        calls: CallCache = NO_CACHE,
        repeat: int = 0,
    ) -> None:
        self._given = {"input": input, "output": output, "ground_truth": ground_truth, "context": context}
        self._copies: dict[str, Any] = {}
        self.turns = turns
        self.expected_trajectory = expected_trajectory
        self.trajectory = trajectory
        self.request_context = request_context
        self.usage = usage
        self.cost = cost
        self.duration_ms = duration_ms
        self.extra = extra or {}
        self.calls = calls
        self.repeat = repeat
        self._input_messages: Any = _UNKNOWN
        self._output_messages: Any = _UNKNOWN
        self._text: Any = _UNKNOWN
        self._texts: Any = _UNKNOWN
        self._calls: Any = _UNKNOWN
        self._once: dict[Callable[[ScorerRun], Any], Any] = {}

    @classmethod
    def of(cls, given: ScorerRun | Mapping[str, Any]) -> ScorerRun:
        """A run from a mapping of the fields, in snake_case or the documents' camelCase; others are `extra`.

        Foreign objects become plain data, as they do in an evaluation.
        """
        if isinstance(given, ScorerRun):
            return given
        if not isinstance(given, Mapping):
            raise UsageError(f"a run is a ScorerRun or a mapping with output, not {type(given).__name__}")
        named = {_SNAKE.get(key, key): value for key, value in given.items()}
        if "output" not in named:
            raise UsageError("a run needs an output")
        extra = named.pop("extra") if isinstance(named.get("extra"), Mapping) else {}
        known = {key: named.pop(key) for key in _FIELDS if key in named}
        for name in ("output", "input", "ground_truth", "context"):
            if name in known:
                known[name] = plain(known[name])
        return cls(**known, extra=plain({**extra, **named}))

    def replace(self, **changes: Any) -> ScorerRun:
        """A copy with other fields; for `prepare_run`.

        >>> ScorerRun(output="a", ground_truth="b").replace(ground_truth=None).ground_truth is None
        True
        """
        for name in changes:
            if name not in _FIELDS and name not in _BESIDE:
                raise UsageError(f"a run has no field {name!r}")
        return ScorerRun(**{name: getattr(self, name) for name in (*_FIELDS, *_BESIDE)} | changes)

    @property
    def input(self) -> Any:
        """As the item gave it; the first turn's in a conversation. A copy, and so are the next three."""
        return self._own("input")

    @property
    def output(self) -> Any:
        """As the target gave it."""
        return self._own("output")

    @property
    def ground_truth(self) -> Any:
        """The item's reference answer or label."""
        return self._own("ground_truth")

    @property
    def context(self) -> Any:
        """The item's texts that the answer may rest on."""
        return self._own("context")

    def _own(self, name: str) -> Any:
        if name not in self._copies:
            self._copies[name] = copied(self._given[name])
        return self._copies[name]

    @property
    def input_messages(self) -> tuple[Message, ...]:
        """What came in: system messages, history and the user's words, of the first turn in a conversation."""
        if self._input_messages is _UNKNOWN:
            self._input_messages = read_input(self._given["input"])
        return self._input_messages  # type: ignore[no-any-return]

    @property
    def output_messages(self) -> tuple[Message, ...]:
        """What came out. Raises `UnreadableMessages` for what is no conversation, None included."""
        if self._output_messages is _UNKNOWN:
            self._output_messages = read_messages(self._given["output"])
        return self._output_messages  # type: ignore[no-any-return]

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole exchange, in order: all turns of a conversation, else the input and then the output."""
        return self.once(views.exchange)

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the assistant's messages in the output, in order; empty ones left out."""
        if self._texts is _UNKNOWN:
            self._texts = views.texts(self.output_messages, "assistant")
        return self._texts  # type: ignore[no-any-return]

    @property
    def text(self) -> str:
        """Everything the assistant said in the output; messages joined by one space."""
        if self._text is _UNKNOWN:
            self._text = " ".join(self.texts)
        return self._text  # type: ignore[no-any-return]

    @property
    def user_text(self) -> str:
        """Everything the user said, in the input and later; messages joined by one space. Needs no readable output."""
        return self.once(views.user_text)

    @property
    def system_text(self) -> str:
        """The system messages, with a blank line between them. Needs no readable output."""
        return self.once(views.system_text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls made in the output, in order, each with what came back. See `proctor.data.message`."""
        if self._calls is _UNKNOWN:
            self._calls = tuple(
                part
                for message in self.output_messages
                for part in message.parts
                if type(part) is ToolCall and part.made
            )
        return self._calls  # type: ignore[no-any-return]

    @property
    def reasoning(self) -> str:
        """What the model thought aloud in the output, parts joined by line ends; empty when nothing was recorded."""
        return self.once(views.reasoning)

    def transcript(self, *, roles: Iterable[str] = ("user", "assistant")) -> str:
        r"""The exchange as lines of `role: text`, for these roles; messages without text are left out.

        >>> ScorerRun(output="Noon.", input="What time is it?").transcript()
        'user: What time is it?\nassistant: Noon.'
        """
        wanted = {roles} if isinstance(roles, str) else set(roles)
        lines = [(message.role, message.text.strip()) for message in self.messages if message.role in wanted]
        return "\n".join(f"{role}: {text}" for role, text in lines if text)

    def once(self, view: Callable[[ScorerRun], T]) -> T:
        """What *view* gives for this run, worked out once and shared by all its scorers. It must not change the run."""
        try:
            return self._once[view]  # type: ignore[no-any-return]
        except KeyError:
            pass
        found = self._once[view] = view(self)
        return found

    def __repr__(self) -> str:
        """Without what is right: a repr may end up before a judge."""
        given = [
            f"{name}={'<given>' if name in _TRUTH else shown(value)}"
            for name in _FIELDS
            if (value := getattr(self, name)) is not MISSING and value is not None and value != ()
        ]
        return f"ScorerRun({', '.join(given)})"


_FIELDS = (
    "output",
    "input",
    "ground_truth",
    "context",
    "turns",
    "expected_trajectory",
    "trajectory",
    "request_context",
    "usage",
    "cost",
    "duration_ms",
)
_TRUTH = frozenset({"ground_truth", "expected_trajectory"})
_BESIDE = ("extra", "calls", "repeat")
_SNAKE = {
    "groundTruth": "ground_truth",
    "expectedTrajectory": "expected_trajectory",
    "requestContext": "request_context",
    "durationMs": "duration_ms",
    "runId": "run_id",
}
