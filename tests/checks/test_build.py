import inspect

import pytest

from proctor import ScorerRun, checks
from proctor.data.codec import dumps, loads
from proctor.scoring.build import Findings, quote

ALL = [
    checks.includes("x"),
    checks.excludes("x"),
    checks.equals("x"),
    checks.matches("x"),
    checks.similarity("x"),
    checks.called_tool("x"),
    checks.did_not_call("x"),
    checks.tool_order(["x"]),
    checks.max_tool_calls(3),
    checks.used_no_tools(),
    checks.no_tool_errors(),
    checks.json_schema({"type": "string"}),
    checks.one_of(["x"]),
    checks.length(max=9),
    checks.max_duration(1),
    checks.max_tokens(1),
    checks.max_cost(1),
    checks.all_of(checks.includes("x"), checks.called_tool("x")),
    checks.any_of(checks.includes("x"), checks.called_tool("x")),
    checks.not_(checks.includes("x")),
]
OURS = [
    *("all_of", "any_of", "json_schema", "length", "max_cost", "max_duration", "max_tokens", "not_", "one_of"),
]  # the reference has none of these
every_check = pytest.mark.parametrize("check", ALL, ids=[check.id for check in ALL])


def name_of(check):
    name = check.id.removeprefix("check-").replace("-", "_")
    return "not_" if name == "not" else name


def test_the_eleven_checks_of_the_documents_have_their_ids_and_names():
    assert {check.id: check.name for check in ALL if name_of(check) not in OURS} == {
        "check-includes": "Includes Check",
        "check-excludes": "Excludes Check",
        "check-equals": "Equals Check",
        "check-matches": "Matches Check",
        "check-similarity": "Similarity Check",
        "check-called-tool": "Called Tool Check",
        "check-did-not-call": "Did Not Call Check",
        "check-tool-order": "Tool Order Check",
        "check-max-tool-calls": "Max Tool Calls Check",
        "check-used-no-tools": "Used No Tools Check",
        "check-no-tool-errors": "No Tool Errors Check",
    }
    assert sorted(checks.__all__) == sorted(map(name_of, ALL))


@every_check
def test_a_check_is_a_scorer_of_agents_like_any_other(check):
    assert (check.type, check.range, check.better) == ("agent", (0, 1), "higher")
    assert list(check.steps) == ["preprocess", "generate_score", "generate_reason"]
    assert check.description


@every_check
def test_a_check_has_at_most_one_argument_without_a_name(check):
    function = getattr(checks, name_of(check))
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    assert kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) <= 1
    assert kinds.count(inspect.Parameter.POSITIONAL_ONLY) == 0


@every_check
async def test_t09_both_forms_give_the_same(check):
    here, there = await check.run(output="x", run_id="r"), check.run_sync(output="x", run_id="r")
    assert (here.score, here.reason, here.preprocess_step_result) == (
        there.score,
        there.reason,
        there.preprocess_step_result,
    )


@every_check
@pytest.mark.parametrize(
    "output", ["x", "", [], {"a": 1}, "a\udc00b", "天気" * 1000], ids=["x", "empty", "[]", "{}", "u", "cjk"]
)
def test_u01_every_outcome_has_a_reason_and_can_be_written_and_read_back(check, output):
    outcome = check.run_sync(output=output)
    assert outcome.reason
    assert len(outcome.reason) < 300
    assert loads(dumps(outcome)) == outcome


@every_check
def test_a_check_leaves_the_run_as_it_was(check):
    output = [{"role": "assistant", "content": "x"}]
    run = ScorerRun(output=output)
    check.run_sync(run)
    assert run.output == output == [{"role": "assistant", "content": "x"}]


def test_runs_do_not_share_findings_that_one_could_change():
    outcome = checks.includes("x").run_sync(output="x")
    with pytest.raises(TypeError):
        outcome.preprocess_step_result["found"] = False


def test_findings_are_a_mapping():
    found = Findings(count=2, passed=True)
    assert (found["count"], len(found), dict(found)) == (2, 2, {"count": 2, "passed": True})
    assert found == {"count": 2, "passed": True}
    assert repr(found) == "{'count': 2, 'passed': True}"


def test_a_list_among_findings_cannot_be_changed_either():
    found = Findings(names=("a", "b"))
    found["names"].append("c")
    assert found == {"names": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "around", "expected"),
    [
        pytest.param("short", -1, '"short"', id="short"),
        pytest.param("", -1, '""', id="empty"),
        pytest.param("one\n  two\tthree", -1, '"one two three"', id="white space is one space"),
        pytest.param("x" * 100, -1, f'"{"x" * 60}..."', id="its beginning"),
        pytest.param("x" * 60, -1, f'"{"x" * 60}"', id="just fits"),
        pytest.param("a" * 100 + "NEEDLE" + "b" * 100, 100, f'"...{"a" * 20}NEEDLE{"b" * 34}..."', id="around a place"),
        pytest.param("NEEDLE" + "b" * 20, 0, f'"NEEDLE{"b" * 20}"', id="around the beginning"),
    ],
)
def test_a_quotation_is_a_piece_of_the_text(text, around, expected):
    assert quote(text, around=around) == expected
