"""Cases R04, R06 and R07: a run in several sessions, and one that was interrupted, over a recorder's file."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from proctor import AgentReply, JsonlRecorder, checks, run_evals_sync
from proctor.data.result import EvalResult
from proctor.data.usage import Cost, Usage
from tests.support import ROOT


class Paid:
    """An agent whose answers cost something; it fails loudly when it is asked what it was asked before."""

    def __init__(self):
        self.asked = set()

    async def generate(self, messages, *, thread_id, resource_id, options, request_context):
        text = messages[-1].text
        assert text not in self.asked
        self.asked.add(text)
        return AgentReply(f"answer {text}", Usage(input_tokens=10, output_tokens=1), Cost(amount=0.25))


def test_r04_tokens_cost_and_time_are_of_both_sessions(tmp_path):
    agent, path = Paid(), tmp_path / "x.jsonl"
    data = [{"id": name, "input": name} for name in "abcd"]
    options = {"target": agent, "scorers": [checks.includes("answer")]}
    first = run_evals_sync(data=data[:3], recorder=JsonlRecorder(path), **options)
    whole = run_evals_sync(data=data, recorder=JsonlRecorder(path), **options)
    assert (first.summary.tokens, first.summary.cost.amount) == (33, 0.75)
    assert (whole.summary.tokens, whole.summary.cost.amount) == (44, 1.0)
    assert whole.means[0].duration_ms > first.means[0].duration_ms
    assert [row.replies[0].duration_ms for row in whole.items[:3]] == [
        row.replies[0].duration_ms for row in first.items
    ]
    assert whole.summary.duration_ms > first.summary.duration_ms
    assert whole.summary.started_at == first.summary.started_at


PROGRAM = """
import asyncio, sys
from proctor import JsonlRecorder, checks, run_evals_sync

async def slow(text):
    if text == "c" and "hold" in sys.argv:
        print("began", flush=True)
        await asyncio.sleep(60)
    print("asked", text, flush=True)
    return text

data = [{"id": name, "input": name} for name in "abcd"]
recorder = JsonlRecorder(sys.argv[1])
try:
    result = run_evals_sync(target=slow, data=data, gates=[checks.matches("[a-d]")], recorder=recorder)
finally:
    print("finally", flush=True)
with open(sys.argv[1] + ".result", "w") as file:
    file.write(result.to_json())
"""


@pytest.fixture
def start(tmp_path):
    started = []

    def run(*words):
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), tmp_path / "x.jsonl", *words]
        paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


def until(process, word):
    for line in process.stdout:
        if line.strip() == word:
            return
    pytest.fail(f"no {word!r}: {process.stderr.read()}")


def result_of(tmp_path):
    return EvalResult.from_json((tmp_path / "x.jsonl.result").read_text())


@pytest.mark.slow
def test_r04_a_session_that_was_killed_counts_as_far_as_it_came(start, tmp_path):
    process = start("hold")
    until(process, "began")
    process.kill()
    process.communicate()
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert "proctor" not in lines[-1]
    start().communicate(timeout=30)
    summary = result_of(tmp_path).summary
    alone = json.loads((tmp_path / "x.jsonl").read_text().splitlines()[-2])["at"]  # of the second session
    assert summary.duration_ms >= lines[-1]["at"] + alone
    assert summary.started_at == lines[0]["started_at"]


@pytest.mark.slow
def test_r06_after_an_interrupt_and_the_finally_block_it_stays_cancelled(start, tmp_path):
    process = start("hold")
    until(process, "began")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert out.split() == ["finally"]
    result = result_of(tmp_path)
    assert (result.status, result.verdict, result.means[0].n) == ("cancelled", None, 2)
    again = start()
    out, err = again.communicate(timeout=30)
    assert (out.split("\n")[:2], err) == (["asked c", "asked d"], "")
    result = result_of(tmp_path)
    assert (result.status, result.verdict, result.means[0].n) == ("complete", "passed", 4)


@pytest.mark.slow
def test_r07_two_interrupts_leave_a_file_of_whole_lines_that_a_run_goes_on_from(start, tmp_path):
    process = start("hold")
    until(process, "began")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    path = tmp_path / "x.jsonl"
    text = path.read_text()
    assert text.endswith("\n")
    assert all(json.loads(line) for line in text.splitlines())
    out, err = start().communicate(timeout=30)
    assert (out.split("\n")[:2], err) == (["asked c", "asked d"], "")
    assert result_of(tmp_path).verdict == "passed"
