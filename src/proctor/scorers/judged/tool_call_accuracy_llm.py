"""Whether the tools were called that the request asked for, by a judge's reading of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from proctor.data.message import ToolCall
from proctor.data.value import MISSING, shown
from proctor.errors import UsageError
from proctor.scorers.actions import has_request, numbered_fields, request_shown
from proctor.scorers.build_judged import Asked, build_judged, judged, object_of, rounded, told_score
from proctor.scorers.material import NO_QUESTION, answer_of
from proctor.scorers.numbered import each_once, list_of, numbered, without_blanks
from proctor.scorers.options import scale_option
from proctor.scoring.build import Findings
from proctor.scoring.run import ScorerRun
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, StepFunction, StepName, not_scorable

__all__ = ["formula", "tool_call_accuracy_llm"]

_SCORER: Final = "tool_call_accuracy_llm"
_NOTHING_DONE: Final = not_scorable("there is no answer and no tool call: the assistant did nothing")
_PARAMETERS: Final = ("parameters", "input_schema", "inputSchema")


@judged
def tool_call_accuracy_llm(
    available_tools: Sequence[str | Mapping[str, Any]],
    *,
    model: Any = None,
    scale: float = 1.0,
    language: str | None = None,
    prompts: Mapping[str, str] | None = None,
) -> Scorer:
    """The share of right ones among the calls made and the tools that were missed, 0 to *scale*; higher is better.

    *available_tools*: names, mappings with `name` (or `id`) and `description`, or tools as chat APIs take them. The
    judge is shown the request, the answer, each call with its arguments, and the tools; it says of each call whether
    the request asked for it, and which tools should have been called besides. Score: appropriate / (calls + missing
    tools), times *scale*; all of *scale* when nothing was called and nothing is missing. Failed calls count like
    others. Not scorable without a request, and when the assistant did nothing at all.

    >>> from proctor.testing import ScriptedModel
    >>> said = [{"id": 1, "reason": "The weather was asked for", "was_appropriate": True}]
    >>> judge = ScriptedModel(
    ...     [{"evaluations": said, "missing_reason": "No mail was sent", "missing_tools": ["mail"]}, "No mail."]
    ... )
    >>> call = {"id": "1", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
    >>> scorer = tool_call_accuracy_llm(["weather", {"name": "mail", "description": "Sends a mail"}], model=judge)
    >>> answer = [{"role": "assistant", "content": "It is sunny.", "tool_calls": [call]}]
    >>> scorer.run_sync(input="Mail me the weather in Rome", output=answer).score
    0.5
    """
    tools = _tools(available_tools)
    options = {"scale": scale_option(scale, scorer=_SCORER)}
    return build_judged(
        __file__,
        id="llm-tool-call-accuracy-scorer",
        name="Tool Call Accuracy (LLM)",
        description="The tools were called that the request asked for",
        model=model,
        language=language,
        prompts=prompts,
        scale=options["scale"],
        steps=_steps(tools, options),
        arguments={"available_tools": tools},
        positional="available_tools",
    )


def _steps(tools: Sequence[Mapping[str, Any]], options: Mapping[str, Any]) -> Mapping[StepName, Asked | StepFunction]:
    def look(ctx: StepContext) -> Findings | Declined:
        if not has_request(ctx.run):
            return NO_QUESTION
        called = tuple(call.name for call in ctx.run.tool_calls)
        if not called and not ctx.run.once(answer_of):
            return _NOTHING_DONE
        return Findings(actual_tools=called, has_tool_calls=bool(called))

    def to_judge(ctx: StepContext) -> Mapping[str, str]:
        return {
            "question": request_shown(ctx, ctx.run),
            "answer": ctx.fence(ctx.run.once(answer_of), "answer"),
            "calls": numbered_fields(ctx, ctx.run.once(_calls), name="calls"),
            "tools": numbered_fields(ctx, tools, name="tools", key="tool"),
        }

    def to_explain(ctx: StepContext) -> Mapping[str, str]:
        said = ctx.analyze
        return {
            "question": request_shown(ctx, ctx.run),
            "calls": numbered_fields(ctx, ctx.run.once(_calls), name="calls", verdicts=said["evaluations"]),
            "missing": numbered(ctx, without_blanks(said["missing_tools"]), name="missing"),
            "missing_reason": ctx.fence(said["missing_reason"], "missing_reason"),
            **told_score(ctx, options["scale"]),
        }

    return {
        "preprocess": look,
        "analyze": Asked(
            "Judges each call by the request",
            material=to_judge,
            places=("question", "answer", "calls", "tools"),
            needed=("question", "calls", "tools"),
            output=object_of(
                evaluations=list_of(reason="string", was_appropriate="boolean"),
                missing_reason="string",
                missing_tools={"type": "array", "items": {"enum": [tool["name"] for tool in tools]}},
            ),
            check=each_once("evaluations", lambda ctx: range(1, len(ctx.run.once(_calls)) + 1)),
        ),
        "generate_score": lambda ctx: formula(ctx.analyze, options),
        "generate_reason": Asked(
            "Says why",
            material=to_explain,
            places=("question", "calls", "missing", "missing_reason", "score", "scale"),
        ),
    }


def formula(analysis: Mapping[str, Any], options: Mapping[str, Any]) -> float | Declined:
    """Appropriate calls / (calls + missing tools), 1 when there is none of either, * scale, rounded to two decimals.

    *analysis*: `evaluations`, each with `was_appropriate`; `missing_tools`, names, of which each counts once, and which
    may be left out.

    >>> formula({"evaluations": [{"was_appropriate": True}], "missing_tools": ["a", "b"]}, {})
    0.33
    """
    calls = analysis["evaluations"]
    total = len(calls) + len(without_blanks(analysis.get("missing_tools") or ()))
    right = sum(entry["was_appropriate"] is True for entry in calls)
    scale = options.get("scale", 1.0)
    return rounded((right / total if total else 1.0) * scale, scale)


def _calls(run: ScorerRun) -> list[Mapping[str, Any]]:
    """The calls as the judge is shown them. A view for `run.once`."""
    return [_call(call) for call in run.tool_calls]


def _call(call: ToolCall) -> Mapping[str, Any]:
    return {"name": call.name} if call.args is MISSING else {"name": call.name, "arguments": call.args}


def _tools(given: Any) -> tuple[Mapping[str, Any], ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence) or not given:
        raise UsageError(
            f"{_SCORER}: available_tools is a list of tools that is not empty, each a name or a mapping with name and "
            f"description, not {shown(given)}"
        )
    tools = tuple(_tool(tool, at) for at, tool in enumerate(given))
    times = Counter(tool["name"] for tool in tools)
    twice = next((name for name in times if times[name] > 1), None)
    if twice is not None:
        raise UsageError(f"{_SCORER}: available_tools has {twice!r} more than once")
    return tools


def _tool(tool: Any, at: int) -> Mapping[str, Any]:
    """A tool by its name, description and parameters, from any form that is known."""
    where = f"{_SCORER}: available_tools[{at}]"
    if isinstance(tool, str):
        tool = {"name": tool}
    if not isinstance(tool, Mapping):
        raise UsageError(f"{where} is a name, or a mapping with name and description, not {shown(tool)}")
    inner = tool["function"] if isinstance(tool.get("function"), Mapping) else tool
    name = inner.get("name") or inner.get("id")
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{where} has no name: it is under 'name' or 'id', a text that is not empty; {shown(tool)}")
    made: dict[str, Any] = {"name": name}
    description = inner.get("description")
    if description is not None:
        if not isinstance(description, str):
            raise UsageError(f"{where}: description is text, not {shown(description)}")
        made["description"] = description
    parameters = next((inner[key] for key in _PARAMETERS if inner.get(key)), None)
    return made if parameters is None else {**made, "parameters": parameters}
