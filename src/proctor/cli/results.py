"""Plans carried out one after the other: each result shown when it is there, and all of them one JSON document."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

from proctor.cli.keeping import Keeper
from proctor.cli.progress import shows_progress
from proctor.cli.show import say_result
from proctor.cli.streams import complain, say, say_bytes
from proctor.data.codec import dumps
from proctor.data.exit_code import first_of
from proctor.data.result import EvalResult
from proctor.data.shown import plural
from proctor.errors import ProctorError
from proctor.files.output import OutputFile
from proctor.running.plan import Plan
from proctor.running.run_evals import run_plan_sync

__all__ = ["Results", "results_to"]

_STDOUT = "-"


class Results:
    """What has ended so far: results, or estimates as plain data. *several*: whether it is written as a list."""

    def __init__(self) -> None:
        self.several = False
        self.ended: list[EvalResult | dict[str, Any]] = []

    def carry_out(self, plans: Sequence[Plan], *, fail_on: Collection[str], progress: bool, keeper: Keeper) -> int:
        """Run each and show its table; gives the exit code. Ctrl-C ends them all."""
        codes = []
        for place, plan in enumerate(plans):
            if place:
                say("")
            try:
                result = run_plan_sync(plan, watched=shows_progress(plan.evaluation.name, wanted=progress))
            except BaseException:
                keeper.broke_off()
                raise
            self.ended.append(result)
            say_result(result)
            keeper.ended(result)
            codes.append(result.exit_code(fail_on))
            _say_if_declined(result, fail_on)
            if result.status == "cancelled":
                left = [str(other.evaluation.name) for other in plans[place + 1 :]]
                if left:
                    complain(f"Not run: {', '.join(left)}")
                break
        return first_of(codes)

    def text(self) -> str:
        """The document: the result, or a list of them."""
        return f"{dumps(self.ended if self.several else self.ended[0])}\n"


def _say_if_declined(result: EvalResult, fail_on: Collection[str]) -> None:
    """Tell of an exit code that nothing in the table explains: the verdict may be `passed`."""
    others = [word for word in fail_on if word != "not-scorable"]
    if result.exit_code(fail_on) != result.exit_code(others):
        declined = plural(result.summary.not_scorable.total, "outcome")
        complain(f"Exit code {result.exit_code(fail_on)}: {declined} declined, which --fail-on not-scorable asks for")


@contextmanager
def results_to(out: str | None, *, inputs: Sequence[str | Path | None] = ()) -> Iterator[Results]:
    """Within it, evaluations are carried out; at its end *out* gets what has ended, `-` being standard output.

    That *out* can be written is known before: else a `UsageError`. With `-` all that is printed meanwhile goes to
    standard error. *inputs*: files that *out* must not be.
    """
    results = Results()
    if out is None:
        yield results
        return
    place = None if out == _STDOUT else OutputFile(Path(out), inputs=tuple(Path(path) for path in inputs if path))
    stdout = sys.stdout
    try:
        with redirect_stdout(sys.stderr if place is None else stdout):
            yield results
    except BaseException:
        try:
            _write(results, place, stdout)
        except ProctorError as problem:
            complain(f"Error: {problem}")  # and the first error goes on
        raise
    _write(results, place, stdout)


def _write(results: Results, place: OutputFile | None, stdout: TextIO) -> None:
    if not results.ended:
        return
    if place is None:
        say_bytes(results.text().encode(), stdout)
        return
    try:
        place.write(results.text())
    except OSError as problem:
        raise ProctorError(f"{place.shown!r} could not be written: {problem.strerror}") from problem
