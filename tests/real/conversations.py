"""Saved conversations of agents whose success is known, and how far simple checks agree with it."""

import json
from collections import Counter
from functools import cache, partial
from typing import NamedTuple

from proctor import checks, run_evals_sync
from tests.support import shared

DOMAINS = ("airline", "retail")
# What a tool that changes something is called in these domains; the others only read, think or hand over.
CHANGES = ("book_", "cancel_", "exchange_", "modify_", "return_", "send_", "update_")


class Counts(NamedTuple):
    """Conversations by what the checks said and how they ended."""

    passed_success: int
    passed_failure: int
    missed_success: int
    missed_failure: int

    @property
    def of(self):
        return sum(self)

    @property
    def passed(self):
        return self.passed_success + self.passed_failure

    @property
    def agree(self):
        return self.passed_success + self.missed_failure


def path(domain):
    return shared(f"data/tau_{domain}/dev.jsonl")


@cache
def rows(domain):
    return [json.loads(line) for line in path(domain).read_text(encoding="utf-8").splitlines()]


@cache
def changing_tools(domain):
    tools = json.loads(shared(f"data/tau_{domain}/tools.json").read_text(encoding="utf-8"))
    return [name for tool in tools if (name := tool["function"]["name"]).startswith(CHANGES)]


def expected_names(row):
    return [action["name"] for action in row["expected_actions"]]


def counts_of(domain, passed):
    """*passed*: for each conversation in order, whether the checks passed it."""
    found = Counter(zip(passed, (row["success"] for row in rows(domain)), strict=True))
    return Counts(found[True, True], found[True, False], found[False, True], found[False, False])


def passes(item):
    return all(outcome.score == 1 for outcome in item.scorers)


@cache
def same_checks(domain):
    """The checks that ask the same of every conversation, all in one run over the file."""
    asked = {
        "no_tool_errors()": checks.no_tool_errors(),
        "no_tool_errors(text=False)": checks.no_tool_errors(text=False),
        "max_tool_calls(5)": checks.max_tool_calls(5),
        "max_tool_calls(10)": checks.max_tool_calls(10),
        "max_tool_calls(15)": checks.max_tool_calls(15),
    }
    result = run_evals_sync(data=path(domain), scorers=list(asked.values()))
    assert result.summary.outcome_errors == 0
    return {
        name: counts_of(domain, [item.scorers[scorer.key].score == 1 for item in result.items])
        for name, scorer in asked.items()
    }


@cache
def own_checks(domain):
    """The checks that are made from each row's own `expected_actions`."""
    asked = {
        "called_tool, each expected tool": called,
        "called_tool, each expected tool that changes something": partial(changed, domain),
        "did_not_call, every other tool that changes something": partial(changed_nothing_else, domain),
        "the last two together": partial(changed_what_was_expected, domain),
        "tool_order, the expected tools": lambda row: (
            [checks.tool_order(expected_names(row))] if expected_names(row) else []
        ),
    }
    return {name: counts_of(domain, with_own(domain, make)) for name, make in asked.items()}


def called(row):
    return [checks.called_tool(name) for name in dict.fromkeys(expected_names(row))]


def changed(domain, row):
    return [checks.called_tool(name) for name in changing_tools(domain) if name in expected_names(row)]


def changed_nothing_else(domain, row):
    return [checks.did_not_call(name) for name in changing_tools(domain) if name not in expected_names(row)]


def changed_what_was_expected(domain, row):
    return changed(domain, row) + changed_nothing_else(domain, row)


def with_own(domain, make):
    """Whether each conversation passes the checks made for it. One with none passes: nothing was asked of it."""
    data = [{**row, "scorers": make(row)} for row in rows(domain)]
    return [passes(item) for item in run_evals_sync(data=data).items]


def measured(domain):
    return same_checks(domain) | own_checks(domain)
