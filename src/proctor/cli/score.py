"""`proctor score`: saved conversations or outputs, with no Python file and nothing that is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli.expression import known_checks, read_check, read_gate, signature_of
from proctor.cli.keeping import Keeper, NoStore, StoreOption, make_folder, place_of
from proctor.cli.options import DEFAULT_WORDS, EXIT_CODES, FailOn, Filters, Json, Limit, NoProgress, fail_on_words
from proctor.cli.results import results_to
from proctor.errors import UsageError
from proctor.running.choice import choose, read_filters
from proctor.running.eval import Eval
from proctor.running.plan import make_plan
from proctor.running.source import DataFile

__all__ = ["EPILOG", "HELP", "command"]

HELP = """\
Score saved conversations or outputs: no Python, no agent, no model, no network.

\b
  proctor score examples/refunds.jsonl --gate 'no_tool_errors()' \\
      --check 'called_tool("read_policy") >= 0.9' --check 'excludes("guarantee")'

DATA is a .jsonl file (one JSON value a line), or a .json, .csv or .yaml file. A row has `messages`, a conversation
as OpenAI's chat API writes it, or `output`, text or messages; and `id`, `input` and `ground_truth` if you like.
"""
EPILOG = f"""\
\b
Checks (`proctor checks` lists them all):
  no_tool_errors()                      a name, and in the parentheses
  called_tool("pay", times=2)           text, numbers, true, false, null,
  tool_order(["search", "book"])        lists of them,
  called_tool("pay", args={{"to": "me"}}) mappings of them,
  not_(includes("sorry"))               or checks
  matches(r"\\d+ days")                  r before a text keeps backslashes
\b
Bounds on the mean over all items, in --check only; without one a check is
measured and decides nothing:
  similarity("hello") >= 0.5            at least
  max_tool_calls(9) >= 2/3              a fraction is exact
  0.2 <= similarity("hello") <= 0.8     both; the ends are included
\b
Quote for the shell: '...' around the check, "..." around texts in it.

{EXIT_CODES}"""


def command(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The .jsonl, .json, .csv or .yaml file.")],
    *,
    gate: Annotated[
        list[str] | None, typer.Option("--gate", metavar="CHECK", help="Every item must pass. May be repeated.")
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option("--check", metavar="CHECK", help="Measured; with a bound its mean decides. May be repeated."),
    ] = None,
    id: Annotated[str | None, typer.Option("--id", metavar="KEY", help="The key that holds the id.")] = None,
    input: Annotated[str | None, typer.Option("--input", metavar="KEY", help="The key that holds the input.")] = None,
    output: Annotated[
        str | None, typer.Option("--output", metavar="KEY", help="The key that holds the output.")
    ] = None,
    truth: Annotated[
        str | None, typer.Option("--truth", metavar="KEY", help="The key that holds the ground truth.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="Heads the table; else the file.")] = None,
    limit: Limit = None,
    filters: Filters = None,
    store: StoreOption = None,
    no_store: NoStore = False,
    json_out: Json = None,
    no_progress: NoProgress = False,
    fail_on: FailOn = DEFAULT_WORDS,
) -> int:
    """Score the file and show the table; gives the exit code."""
    words = fail_on_words(fail_on)
    choice = read_filters(filters or (), limit=limit)
    if not gate and not check:
        raise UsageError(_nothing_to_score_with(data))
    keys = {"id": id, "input": input, "output": output, "ground_truth": truth}
    evaluation = Eval(
        name=name or data.name,
        gates=[read_gate(text) for text in gate or ()],
        scorers=[read_check(text) for text in check or ()],
        data=DataFile(data, {field: key for field, key in keys.items() if key is not None}),
    )
    place = place_of(store, none=no_store)
    keeper = Keeper(place, goes_on=False)
    chosen = keeper.keep(choose(evaluation, choice), source=str(data.absolute()), options={})
    with results_to(json_out, inputs=(data,)) as results:
        plan = make_plan(chosen)
        make_folder(place)
        return results.carry_out([plan], fail_on=words, progress=not no_progress, keeper=keeper)


def _nothing_to_score_with(data: Path) -> str:
    known = "\n".join(f"  {signature_of(name)}" for name in known_checks())
    return (
        "nothing to score with: give --gate, --check or both, as in\n"
        f"  proctor score {data} --gate 'no_tool_errors()' --check 'includes(\"thank you\") >= 0.5'\n"
        f"The checks:\n{known}"
    )
