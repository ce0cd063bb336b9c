import json
from pathlib import Path

import pytest

from proctor import Item, UsageError, run_evals_sync
from proctor.errors import DataErrors
from proctor.running.source import DataFile, read_items
from tests.running.graded import graded


def written(folder, name, rows):
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines) if name.endswith("l") else f"[{','.join(lines)}]", encoding="utf-8")
    return path


def items(data):
    return read_items(data).items


def refused(data):
    """What a run says of data that cannot be used."""
    with pytest.raises(DataErrors) as caught:
        run_evals_sync(data=data, scorers=[graded()])
    return caught.value


# ── from Python ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "kind", [list, tuple, iter, lambda rows: (row for row in rows)], ids=["list", "tuple", "iter", "generator"]
)
def test_items_come_from_any_iterable_of_items_and_mappings(kind):
    item = Item("a")
    found = read_items(kind([item, {"input": "b"}]))
    assert found.items == [item, Item("b")]
    assert found.items[0] is item
    assert [place for place, _ in found.rows] == ["item 0", "item 1"]


def test_an_iterator_that_raises_says_after_how_many():
    def rows():
        yield {"input": "a"}
        raise OSError("connection lost")

    with pytest.raises(UsageError, match=r"data raised OSError: connection lost \(after 1 items?\)"):
        read_items(rows())


@pytest.mark.parametrize("data", [5, None, {"input": "x"}, Item("x")], ids=lambda data: type(data).__name__)
def test_what_is_no_list_is_refused(data):
    with pytest.raises(UsageError, match="data must be a list of items or the path of a file") as caught:
        read_items(data)
    assert caught.value.code == "INVALID_DATA_ITEM"


# ── from files ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
@pytest.mark.parametrize("kind", [str, Path], ids=["text", "path"])
def test_items_come_from_a_file_by_its_ending(tmp_path, name, kind):
    path = written(tmp_path, name, [{"input": "天気", "groundTruth": 1}, {"input": "b"}])
    assert items(kind(path)) == [Item("天気", ground_truth=1), Item("b")]


def test_the_case_of_the_ending_does_not_matter(tmp_path):
    path = tmp_path / "ROWS.JSONL"
    path.write_text('{"input": "a"}')
    assert items(path) == [Item("a")]


@pytest.mark.parametrize(("name", "places"), [("r.jsonl", ("line 2", "line 4")), ("r.json", ("row 2", "row 4"))])
def test_all_bad_rows_are_named_at_once_with_file_place_and_key(tmp_path, name, places):
    path = written(tmp_path, name, [{"output": "a"}, {"inptu": "b"}, {"output": "c"}, 5])
    error = refused(path)
    assert [problem.split(":")[0] for problem in error.problems] == list(places)
    assert "'inptu'. Did you mean 'input'?" in error.problems[0]
    assert 'mapping such as {"input": ...}, not int 5' in error.problems[1]
    assert str(error).startswith(f"2 problems in {path}:")


def test_rows_that_cannot_be_read_and_items_that_cannot_be_run_are_named_together(tmp_path):
    rows = [{"inptu": "a"}, {"output": "b", "id": "x"}, {"output": "c", "id": "x"}, {"input": "no output"}]
    problems = refused(written(tmp_path, "rows.jsonl", rows)).problems
    assert [problem.split(":")[0] for problem in problems] == ["line 1", "line 3 (x)", "line 4"]


def test_a_file_keeps_to_one_style(tmp_path):
    rows = [{"output": "a"}, {"output": "b", "groundTruth": 1}, {"output": "c", "ground_truth": 1}]
    (problem,) = refused(written(tmp_path, "rows.jsonl", rows)).problems
    assert problem == "line 3: writes its keys in snake_case, line 2 in camelCase: keep to one"


CONVERSATION = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "!"}]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        pytest.param(
            [{"output": "a", "ground_truth": 1}, {"messages": CONVERSATION, "groundTruth": 1}],
            "line 2: writes its keys in camelCase, line 1 in snake_case: keep to one",
            id="a conversation among items",
        ),
        pytest.param(
            [{"messages": CONVERSATION, "externalId": "e"}, {"messages": CONVERSATION, "external_id": "e"}],
            "line 2: writes its keys in snake_case, line 1 in camelCase: keep to one",
            id="two conversations",
        ),
    ],
)
def test_conversations_keep_to_the_style_of_the_file(tmp_path, rows, problem):
    assert refused(written(tmp_path, "rows.jsonl", rows)).problems == (problem,)


def test_every_row_in_the_other_style_is_named(tmp_path):
    rows = [{"output": "a", "groundTruth": 1}, *[{"output": "b", "ground_truth": 1}] * 2, {"output": "c"}]
    problems = refused(written(tmp_path, "rows.jsonl", rows)).problems
    assert [problem.split(":")[0] for problem in problems] == ["line 2", "line 3"]


def test_the_same_mistake_in_every_row_is_told_once(tmp_path):
    rows = [*[{"question": "q", "output": "a"}] * 25, {"input": "q", "output": "a", "ouput": 1}]
    error = refused(written(tmp_path, "rows.jsonl", rows))
    assert len(error.problems) == 26
    head, question, ouput = str(error).splitlines()
    assert head.startswith("26 problems in ")
    assert question.startswith("  line 1: ")
    assert question.endswith(
        " (also line 2, line 3, line 4, line 5, line 6, line 7, line 8, line 9, line 10, line 11 and 14 more)"
    )
    assert ouput.startswith("  line 26: ")


def test_metadata_of_conversations_has_no_style(tmp_path):
    rows = [{"messages": CONVERSATION, "groundTruth": 1, "my_reward": 1}, {"messages": CONVERSATION, "my_reward": 2}]
    assert [item.metadata for item in items(written(tmp_path, "rows.jsonl", rows))] == [
        {"my_reward": 1},
        {"my_reward": 2},
    ]


def test_rows_of_python_keep_to_one_style_too():
    (problem,) = refused([{"output": 1, "ground_truth": 1}, Item(output=1), {"output": 1, "groundTruth": 1}]).problems
    assert problem == "item 2: writes its keys in camelCase, item 0 in snake_case: keep to one"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        pytest.param(
            {"question": "q", "output": "a"}, "Name it input (proctor score takes --input KEY)", id="question"
        ),
        pytest.param({"role": "user", "content": "hi"}, "is a message, not an item", id="message"),
    ],
)
def test_what_is_nearly_an_item_is_told_with_its_line(tmp_path, row, said):
    (problem,) = refused(written(tmp_path, "rows.jsonl", [{"output": 1}, row])).problems
    assert problem.startswith("line 2: ")
    assert said in problem


def test_one_conversation_alone_is_to_be_put_in_a_list(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps({"messages": CONVERSATION}))
    with pytest.raises(UsageError, match=r"must hold a list of rows, not dict; put \[ \] around it"):
        read_items(path)


def test_json_over_several_lines_is_to_be_named_json(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps([{"output": 1}, {"output": 2}], indent=2))
    problems = refused(path).problems
    assert problems[0].startswith("line 1: is not JSON")
    assert "; one whole JSON value a line, or name the file .json" in problems[0]


def test_lines_that_are_no_json_are_named_with_the_others(tmp_path):
    path = written(tmp_path, "rows.jsonl", ['{"output": "a"}', '{"output": "b"', "", "nonsense", {"inptu": "c"}])
    problems = refused(path).problems
    assert [problem.split(":")[0] for problem in problems] == ["line 2", "line 4", "line 5"]
    assert "is not JSON" in problems[0]


def test_a_long_list_of_bad_rows_is_cut_in_the_message(tmp_path):
    error = refused(written(tmp_path, "rows.jsonl", [str(n) for n in range(100)]))
    assert len(error.problems) == 100
    assert str(error).startswith("100 problems")
    assert str(error).endswith(" and 80 more")


def test_other_names_of_fields_are_told(tmp_path):
    path = written(tmp_path, "rows.jsonl", [{"question": "q", "answer": "a"}])
    assert items(DataFile(path, {"input": "question", "output": "answer"})) == [Item("q", output="a")]
    (problem,) = refused(DataFile(path, {"input": "question", "output": "anser"})).problems
    assert problem.startswith("line 1: no key 'anser', which was named as the output")


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json"])
def test_an_empty_file_has_no_items(tmp_path, name):
    path = written(tmp_path, name, [])
    with pytest.raises(UsageError, match="no items") as caught:
        read_items(path)
    assert caught.value.code == "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        pytest.param(lambda folder: folder / "no.jsonl", "there is no file", id="missing"),
        pytest.param(lambda folder: folder, "is a folder", id="folder"),
        pytest.param(
            lambda folder: written(folder, "rows.xml", []), "no reader for files that end in '.xml'", id="another"
        ),
        pytest.param(lambda folder: written(folder, "rows", []), "no reader for files that end in ''", id="no ending"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, make, message):
    with pytest.raises(UsageError, match=message):
        read_items(make(tmp_path))


def test_the_endings_that_can_be_read_are_named(tmp_path):
    with pytest.raises(UsageError, match=r"there are \.csv, \.json, \.jsonl, \.yaml, \.yml"):
        read_items(written(tmp_path, "rows.csv~", []))


# ── through a run ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_takes_a_path(tmp_path):
    path = written(tmp_path, "rows.jsonl", [{"output": 1.0}, {"output": 0.5}])
    assert run_evals_sync(data=str(path), scorers=[graded()]).scores["graded"].mean == 0.75


def test_a_problem_found_in_the_plan_names_the_line_too(tmp_path):
    path = written(tmp_path, "rows.jsonl", ["", {"output": 1.0}, {"id": "x", "context": "no question"}])
    with pytest.raises(DataErrors) as caught:
        run_evals_sync(data=path, scorers=[graded()])
    assert caught.value.where == str(path)
    assert caught.value.problems[0].startswith("line 3 (x): ")


def test_a03_metadata_and_nulls_come_through(tmp_path):
    rows = [{"output": 1.0, "metadata": {"ok": True, "x": None, "n": [1, {"a": "é\ud83d"}]}, "ground_truth": None}]
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(rows[0]))
    result = run_evals_sync(data=path, scorers=[graded()])
    assert result.items[0].item.metadata == rows[0]["metadata"]
    assert result.items[0].item.ground_truth is None
