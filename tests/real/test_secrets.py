"""Conversations, answers and tool calls of real data hold no secret, so nothing of them may be replaced."""

import json

import pytest

from proctor.data.codec import encode
from proctor.data.secrets import redact, suspicious
from tests.support import shared

SETS = (
    "faith_begin",
    "halueval_general",
    "pairwise_llmbar",
    "pairwise_pandalm",
    "tau_airline",
    "tau_retail",
    "toolcall_bfcl",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_nothing_is_replaced_in_it_and_little_is_searched(name):
    lines = shared(f"data/{name}/dev.jsonl").read_text(encoding="utf-8").splitlines()
    values = [encode(json.loads(line)) for line in lines]
    assert [value for value in values if redact(value) is not value] == []
    assert sum(suspicious(json.dumps(value)) for value in values) <= 0.06 * len(values)


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_nor_in_the_tools(domain):
    tools = json.loads(shared(f"data/tau_{domain}/tools.json").read_text(encoding="utf-8"))
    assert redact(tools) is tools
