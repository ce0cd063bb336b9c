"""`proctor`, the command: finds the subcommand, calls it, and ends the process with its exit code.

The subcommands are a table of modules, each imported when it is called: `proctor --help` loads none of the engine.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version as installed_version
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from proctor.cli.streams import complain, friendly_streams, say
from proctor.errors import ProctorError, UsageError

__all__ = ["COMMANDS", "main"]

COMMANDS = {
    "run": ("proctor.cli.run", "Run the evaluations of a Python file."),
    "score": ("proctor.cli.score", "Score saved conversations or outputs, with no Python."),
    "resume": ("proctor.cli.resume", "Go on with a run that broke off; nothing is paid for twice."),
    "retry": ("proctor.cli.retry", "Do again what broke in a run."),
    "rescore": ("proctor.cli.rescore", "Score the replies of a run again; the agent is not asked."),
    "runs": ("proctor.cli.runs", "List the runs that are kept."),
    "show": ("proctor.cli.show_run", "Show a run, what failed in it, or one item of it."),
    "export": ("proctor.cli.export", "Write the rows of a run as JSON lines or CSV."),
    "delete": ("proctor.cli.delete", "Delete a run."),
    "prune": ("proctor.cli.prune", "Delete old runs."),
    "checks": ("proctor.cli.checks", "List the checks that score understands."),
}
_USAGE, _NOT_MEASURED, _DEFECT, _STOPPED = 2, 4, 70, 130

_HELP = """\
Find out whether an AI agent can be trusted: run it over test cases, score what it did, decide.

\b
  proctor run examples/refunds.py
  proctor score examples/refunds.jsonl --gate 'no_tool_errors()'

A verdict is `passed`; `scored`, when a threshold was missed; or `failed`, when a gate was missed. The exit code says so
too: 0, 3 and 1; 4 when something could not be measured, 2 when a command cannot be used as written.
`proctor COMMAND --help` is a page about each.
"""
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def main(arguments: Sequence[str] | None = None) -> int:
    """The `proctor` command. *arguments*: those of the process when not given. Gives the exit code."""
    with friendly_streams():
        code = _guarded(arguments)
        if code == _STOPPED:
            complain("Stopped.")
        return code


def _guarded(arguments: Sequence[str] | None) -> int:
    """The exit code, whatever happens. What a user's mistake explains is one message; the rest is a traceback."""
    try:
        return typer.main.get_command(_app())(arguments, prog_name="proctor", standalone_mode=False) or 0
    except typer.TyperException as problem:  # an option or a command that does not exist, or is not complete
        problem.show()  # type: ignore[attr-defined]  # those that parsing raises have it
        return _USAGE
    except UsageError as problem:
        complain(f"Error: {problem}")
        return _USAGE
    except (ProctorError, OSError) as problem:  # a run that could not be finished
        complain(f"Error: {problem}")
        return _NOT_MEASURED
    except KeyboardInterrupt:
        return _STOPPED
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            return 0  # a help page whose reader has gone
        complain(f"Error: the program was ended by code that called sys.exit({ended.code!r})")
        return _DEFECT
    except BaseException:  # noqa: BLE001 - the last resort; what it was is shown
        complain(f"{traceback.format_exc()}Error: this is a defect, in proctor or in code that it called")
        return _DEFECT


def _app() -> typer.Typer:
    app = typer.Typer(
        cls=_Lazy, rich_markup_mode=None, add_completion=False, no_args_is_help=True, context_settings=_SETTINGS
    )
    app.callback(help=_HELP)(_root)
    return app


def _say_version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it
    if wanted:
        say(f"proctor {installed_version('proctor')}")
        raise typer.Exit


def _root(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


class _Lazy(TyperGroup):
    """The commands of the table; one is imported when it is asked for by name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name][0])
        one = typer.Typer(rich_markup_mode=None, add_completion=False)
        one.command(cmd_name, help=module.HELP, epilog=module.EPILOG, context_settings=_SETTINGS)(module.command)
        return typer.main.get_command(one)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])
