"""Scorers: immutable values that turn one run into one outcome.

Two doors onto one pipeline: `create_scorer(...)` with a step after another, and `@scorer` over a single function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from proctor.bridge import sync_twin
from proctor.data.column import Column, ScorerRef
from proctor.data.outcome import Outcome
from proctor.data.value import MISSING, Value
from proctor.errors import ScorerRunError, UnknownName, UsageError
from proctor.judging.judge import Judge
from proctor.scoring.callables import is_async
from proctor.scoring.fingerprint import fingerprint
from proctor.scoring.judged import questions_of
from proctor.scoring.keys import key_of
from proctor.scoring.misbuilt import refuse_misbuilt
from proctor.scoring.pipeline import Walk
from proctor.scoring.run import ScorerRun
from proctor.scoring.steps import STEP_NAMES, Prompt, Step, StepName

if TYPE_CHECKING:
    from proctor.data.usage import Usage
    from proctor.judging.asking import Question

__all__ = ["Better", "Kind", "Scorer", "Stage"]

Better: TypeAlias = Literal["higher", "lower"]
Kind: TypeAlias = Literal["binary", "graded"]
Where: TypeAlias = Literal["ours", "loop", "thread", "judge"]
Stage: TypeAlias = tuple[StepName, Any, Where]
"""A step, its function, and where it runs: `ours` is quick, `loop` may give a coroutine, `thread` may be slow.

A `judge` is asked.
"""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scorer(Value):
    """One way to score a run. Made by `create_scorer`, `@scorer`, or the functions of `proctor.checks`.

    *range*: the least and greatest score. *better*: which end is good. *kind*: `binary` when only the ends occur.
    *version*: what to change when the meaning changes; it replaces the source text in the fingerprint. *arguments*:
    what it was built with, where that differs from the defaults: they make the `key`. *inline*: its functions are quick
    and may run on the event loop. *parts*: the scorers that it is made of.
    *replaced*: the steps of a built-in that are a user's own.
    """

    id: str
    name: str = ""
    description: str = ""
    judge: Judge | None = None
    type: Any = None
    prepare_run: Callable[[ScorerRun], Any] | None = None
    range: tuple[float, float] = (0.0, 1.0)
    better: Better = "higher"
    kind: Kind = "graded"
    version: str | None = None
    steps: Mapping[StepName, Step] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    positional: str | None = None
    key: str = ""
    inline: bool = False
    builtin: bool = False
    parts: tuple[Scorer, ...] = ()
    replaced: frozenset[StepName] = frozenset()
    questions: Mapping[str, Question] = field(init=False, compare=False, default_factory=dict)
    route: tuple[Stage, ...] = field(init=False, compare=False, default=())
    one_hop: bool = field(init=False, compare=False, default=False)
    shapes_run: bool = field(init=False, compare=False, default=False)

    def __post_init__(self) -> None:
        refuse_misbuilt(self)
        steps = {name: self.steps[name] for name in STEP_NAMES if name in self.steps}
        route = tuple((name, step, _where(name, step, self)) for name, step in steps.items())
        for name, value in (
            ("name", self.name or self.id),
            ("range", tuple(self.range)),
            ("steps", steps),
            ("key", self.key or key_of(self.id, self.arguments, positional=self.positional)),
            ("questions", questions_of(self)),
            ("route", route),
            ("shapes_run", self.prepare_run is not None or isinstance(self.type, tuple)),
            ("one_hop", bool(route) and all(where == "thread" for _, _, where in route)),
        ):
            object.__setattr__(self, name, value)

    # ── building: each gives a new scorer ──────────────────────────────────────────────────────────────────────────

    def preprocess(self, step: Step) -> Scorer:
        """With a first step, that gathers what the next ones need. It sees `ctx.run`."""
        return self._with_step("preprocess", step)

    def analyze(self, step: Step) -> Scorer:
        """With a step that makes the finding. It sees `ctx.run` and `ctx.preprocess`."""
        return self._with_step("analyze", step)

    def generate_score(self, step: Step) -> Scorer:
        """With the step that gives the number: a number, a bool, `Score(...)` or `not_scorable(...)`. Required."""
        return self._with_step("generate_score", step)

    def generate_reason(self, step: Step) -> Scorer:
        """With the step that gives the sentence. It also sees `ctx.score`."""
        return self._with_step("generate_reason", step)

    def named(self, key: str) -> Scorer:
        """The same scorer under a key of your own, to tell it from its likes.

        >>> from proctor import checks
        >>> checks.includes("Brooklyn").named("names the place").key
        'names the place'
        """
        if not isinstance(key, str) or not key.strip():
            raise UsageError(f"a key is a text that is not empty, not {key!r}")
        return self._copy(key=key)

    def replace(self, **changes: Any) -> Scorer:
        """A copy with changes: any step by its name, or `judge`, `id`, `name`, `description`, `version`, `range` ...

        Another judge keeps the instructions and the language that the scorer had, unless it has its own. The copy of a
        built-in under its own id keeps its key; give it another with `.named()`.
        """
        steps = {name: changes.pop(name) for name in STEP_NAMES if name in changes}
        known = [f.name for f in fields(self) if f.init and f.name not in _KEPT]
        for name in changes:
            if name not in known:
                raise UnknownName("part of a scorer", name, [*known, *STEP_NAMES])
        if isinstance(judge := changes.get("judge"), Judge):
            if self.builtin and not self.prompts:
                whose = "its parts have theirs: build it anew of others" if self.parts else "it asks no judge"
                raise UsageError(f"{self.id}.replace(judge=...): {whose}")
            own = self.judge or Judge()
            changes["judge"] = Judge(instructions=own.instructions, language=own.language).merged(judge)
        return self._copy(**changes, **({"steps": {**self.steps, **steps}} if steps else {}))

    def _with_step(self, name: StepName, step: Step) -> Scorer:
        if name in self.steps:
            raise UsageError(f"{self.id} already has {name}; use .replace({name}=...) to change it")
        return self._copy(steps={**self.steps, name: step})

    def _copy(self, **changes: Any) -> Scorer:
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.init}
        if {"id", "arguments"} & changes.keys() and "key" not in changes:
            own["key"] = ""
        if self.builtin and "steps" in changes:  # what is new may be slow
            new = {name for name, step in changes["steps"].items() if step is not self.steps.get(name)}
            own["replaced"] = self.replaced | new
        return Scorer(**own | changes)

    def __hash__(self) -> int:
        return hash((self.id, self.key))

    def __repr__(self) -> str:
        return f"Scorer({self.key!r})"

    # ── what others ask of it ──────────────────────────────────────────────────────────────────────────────────────

    @property
    def fingerprint(self) -> str:
        """12 hex digits of what this scorer is, or `unknown`. See `proctor.scoring.fingerprint`."""
        return fingerprint(self)

    @property
    def prepares_away(self) -> bool:
        """Whether its `prepare_run` is a user's `def`, to be called away from the loop."""
        return not self.inline and not is_async(self.prepare_run)

    def is_own(self, name: StepName) -> bool:
        """Whether a step is Proctor's: quick, and known by the scorer's id and arguments."""
        return self.builtin and name not in self.replaced

    @property
    def prompts(self) -> tuple[StepName, ...]:
        """The steps that a judge answers."""
        return tuple(name for name, step in self.steps.items() if isinstance(step, Prompt))

    def asks_as(self, other: Scorer) -> bool:
        """Whether it is of the same key and asks the same models, so that it may be given the same answers."""
        if self is other:
            return True
        if self.key != other.key or self.questions.keys() != other.questions.keys():
            return False
        judges = [(question.judge, other.questions[name].judge) for name, question in self.questions.items()]
        return all((mine.model, mine.settings) == (theirs.model, theirs.settings) for mine, theirs in judges)

    def to_ref(self) -> ScorerRef:
        """What is written of this scorer."""
        return ScorerRef(self.id, self.key, self.fingerprint)

    def require_runnable(self) -> None:
        """Raise a `UsageError` when it cannot run: there is no generate_score."""
        if "generate_score" not in self.steps:
            steps = ", ".join(self.steps) or "none"
            message = f"scorer {self.id} has no generate_score step (steps: {steps}); add .generate_score(...)"
            raise UsageError(message, code="SCORER_FAILED_TO_RUN_MISSING_GENERATE_SCORE")

    # ── running ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(
        self,
        run: ScorerRun | Mapping[str, Any] | None = None,
        /,
        *,
        output: Any = MISSING,
        input: Any = MISSING,
        run_id: str | None = None,
        ground_truth: Any = MISSING,
        context: Any = None,
        turns: Sequence[Any] = (),
        expected_trajectory: Any = None,
        request_context: Mapping[str, Any] | None = None,
        usage: Usage | None = None,
        **extra: Any,
    ) -> Outcome:
        """Score one output. Give a `ScorerRun` (or a mapping of its fields), or the fields as keywords.

        The outcome is `scored` or `not_scorable`. Raises `ScorerRunError` when a step fails; it keeps what the finished
        steps produced. Any other keyword is in `run.extra`.
        """
        self.require_runnable()
        given = {
            "output": output,
            "input": input,
            "ground_truth": ground_truth,
            "context": context,
            "turns": turns,
            "expected_trajectory": expected_trajectory,
            "request_context": request_context,
            "usage": usage,
            **extra,
        }
        scored = self._run_of(run, given)
        walk = Walk(
            self,
            scored,
            column=Column("scorer", None, self.key, self.id),
            run_id=run_id or scored.extra.get("run_id") or _random_id(),
        )
        now = walk.start()
        outcome = now if isinstance(now, Outcome) else await walk.drive(now)
        if outcome.error is None:
            return outcome
        raise _run_error(self, outcome) from walk.raised

    def _run_of(self, run: ScorerRun | Mapping[str, Any] | None, given: Mapping[str, Any]) -> ScorerRun:
        named = {name: value for name, value in given.items() if value is not _NOT_GIVEN.get(name, MISSING)}
        if run is None:
            if given["output"] is MISSING:
                raise UsageError(f"{self.id}.run needs output=, what the target gave")
            return ScorerRun.of({**named, "output": given["output"]})
        if named:
            raise UsageError(f"{self.id}.run takes a run, or its fields as keywords ({', '.join(named)}), not both")
        return ScorerRun.of(run)

    run_sync = sync_twin(run)


def _run_error(scorer: Scorer, outcome: Outcome) -> ScorerRunError:
    failure = outcome.error
    if failure is None:
        raise AssertionError("unreachable")
    where = f" in {failure.step}" if failure.step else ""
    return ScorerRunError(
        f"{scorer.id} failed{where}: {failure.message}",
        failed_step=failure.step,
        completed_steps=failure.completed_steps,
        result=outcome.evidence,
    )


_NOT_GIVEN: Mapping[str, Any] = {
    "context": None,
    "turns": (),
    "expected_trajectory": None,
    "request_context": None,
    "usage": None,
}


def _random_id() -> str:
    from uuid import uuid4

    return str(uuid4())


_KEPT = frozenset({"steps", "builtin", "positional", "parts", "replaced"})


def _where(name: StepName, step: Step, scorer: Scorer) -> Where:
    if isinstance(step, Prompt):
        return "judge"
    if scorer.is_own(name):
        return "ours"
    return "loop" if scorer.inline or is_async(step) else "thread"
