"""Cases R01 and R02: a run over a file, killed again and again, pays for nothing twice."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.storage.kills import judge_calls, run_and_kill_many, uninterrupted

pytestmark = pytest.mark.slow


def test_only_calls_that_were_under_way_at_a_kill_are_made_again(tmp_path):
    whole = uninterrupted(tmp_path / "whole")
    runs = run_and_kill_many(lambda seed, folder: f"jsonl:{folder / 'run.jsonl'}", tmp_path, seeds=range(5), kills=3)
    for run in runs:
        judge_calls(run, whole)
        assert_nothing_is_twice(run.where.removeprefix("jsonl:"))


def assert_nothing_is_twice(path):
    """But of conversations, which are begun anew."""
    events = [event for event in map(json.loads, Path(path).read_bytes().splitlines()) if "kind" in event]
    times = Counter(
        (event["item"], event["repeat"], event["kind"], str(event["value"].get("column")))
        for event in events
        if event["kind"] == "row" or event["item"] in {"i0", "i1", "i2", "i6", "i7"}
    )
    assert set(times.values()) == {1}
