"""What is written is read back equal, in every format that can hold it; what a format cannot hold is refused."""

import math
import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import Item
from proctor.data.compare import differences
from proctor.errors import UsageError
from proctor.files import csv, json, jsonl, yaml
from proctor.running.source import read_items

FORMATS = {"csv": csv, "json": json, "jsonl": jsonl, "yaml": yaml}
every_format = pytest.mark.parametrize("ending", FORMATS)

TRICKY = [
    *("", " ", " x ", "\t", "a|b", "a;b", "a,b", '"', '""', "'", "'a'", "a\nb", "a\r\nb", "\n", "\r", "\na", "a\n\n"),
    *(
        "N/A",
        "None",
        "null",
        "NaN",
        "007",
        "1e5",
        "TRUE",
        "true",
        "no",
        "~",
        "1:30",
        "2024-01-01",
        "0x1F",
        "12",
        "-1.5",
    ),
    *(
        "- a",
        "a: b",
        "a #b",
        "# a",
        "&a",
        "*a",
        "!a",
        "%a",
        "@a",
        "`a`",
        "[1]",
        "{a: 1}",
        "? a",
        ">",
        "|",
        "---",
        "...",
    ),
    *(
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\ufeffa",
        "\x00",
        "\x1b[31m",
        "\x7f",
        "\x9b",
        "\ue000",
        "\ufffe",
        "\uffff",
    ),
    *(
        "é",
        "e\u0301",
        "天気",
        "👩‍👩‍👧‍👦",
        "\U0010ffff",
        "<<",
        "=",
        "a\\b",
        "a\tb\nc",
        "  a\nb",
        "a \nb",
        "x" * 300,
        "word " * 100,
    ),
    *("\u00a0a\nb", "a\n\u2028b", "a\n\tb", "\n\n", "a:\n", "a\x0bb", "a\x0cb", "+", "_", ":json", "$"),
]
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(TRICKY)
scalars = texts | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=8
)
names = st.sampled_from(
    ["id", "input", "output", "tags", "metadata", "x:json", "a;b", "a,b", " a ", "no", "1", "\ufeffa"]
)
tables = st.lists(
    st.fixed_dictionaries({"id": texts}, optional={}).flatmap(
        lambda row: st.dictionaries(names, texts | values, max_size=4).map(lambda more: {**row, **more})
    ),
    max_size=4,
)


def there_and_back(folder, ending, rows):
    path = folder / f"rows.{ending}"
    FORMATS[ending].write_rows(path, rows)
    return [row for _, row in FORMATS[ending].read_rows(path)] if rows or ending != "csv" else []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


@every_format
@given(rows=tables)
def test_a02_a03_rows_come_back_equal(folder, ending, rows):
    found = there_and_back(folder, ending, rows)
    assert differences(rows, found, rule="exact") == []


@pytest.mark.parametrize("ending", ["json", "jsonl", "yaml"])
@given(rows=st.lists(values, max_size=4))
def test_rows_of_any_kind_come_back_equal(folder, ending, rows):
    assert differences(rows, there_and_back(folder, ending, rows), rule="exact") == []


@every_format
@pytest.mark.parametrize("text", TRICKY, ids=ascii)
def test_a02_text_comes_back_equal(folder, ending, text):
    rows = [{"id": "1", "input": text, "metadata": {"list": [text, text], text: 1}}, {"id": "2", "input": text}]
    assert there_and_back(folder, ending, rows) == rows


@every_format
def test_a03_metadata_and_calls_come_back_equal(folder, ending):
    call = {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": '{"n": 1}'}}
    rows = [
        {"id": "a", "input": "x", "metadata": {"ok": True, "x": None, "n": [1, 1.0, -0.0]}, "tags": ["a", "b|c"]},
        {"id": "b", "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]},
        {"id": "c", "input": "y", "output": {"answer": ["z"]}, "ground_truth": "1"},
    ]
    assert differences(rows, there_and_back(folder, ending, rows), rule="exact") == []


@every_format
def test_what_was_written_is_data_of_a_run(folder, ending):
    rows = [{"id": "a", "input": "007", "ground_truth": "N/A", "tags": ["x"], "metadata": {"ok": True}}]
    path = folder / f"data.{ending}"
    FORMATS[ending].write_rows(path, rows)
    expected = Item("007", id="a", ground_truth="N/A", tags=("x",), metadata={"ok": True})
    assert read_items(path).items == [expected]


@every_format
@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param(math.nan, "has no nan", id="NaN"),
        pytest.param(-math.inf, "has no -inf", id="infinity"),
        pytest.param(b"x", "has no bytes; give it as text", id="bytes"),
        pytest.param(Decimal(1), "has no Decimal", id="Decimal"),
        pytest.param({1: 2}, "a key must be text", id="a number as a key"),
        pytest.param(object(), "has no object", id="an object"),
        pytest.param(Item("x"), "has no Item", id="an item"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_by_row_and_path(folder, ending, value, said):
    path = folder / f"none.{ending}"
    with pytest.raises(UsageError, match=rf"row 2: a\.b\[1\].*{said}"):
        FORMATS[ending].write_rows(path, [{"id": "1"}, {"id": "2", "a": {"b": [0, value]}}])
    assert not path.exists()


@every_format
def test_files_are_written_and_read_in_linear_time(folder, ending):
    rows = [{"id": str(n), "input": 'say "it"\n' * 5, "metadata": {"n": [n]}} for n in range(10_000)]
    began = time.process_time()
    assert there_and_back(folder, ending, rows) == rows
    assert time.process_time() - began < 5


@every_format
def test_what_has_no_end_is_refused(folder, ending):
    endless = {"id": "1"}
    endless["self"] = endless
    with pytest.raises(UsageError, match=r"row 1: .*nested deeper"):
        FORMATS[ending].write_rows(folder / f"none.{ending}", [endless])


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_half_a_character_is_held_by_json_alone(folder, ending):
    rows = [{"a": "x\ud83d"}, {"a": "é"}]
    assert there_and_back(folder, ending, rows) == rows
    with pytest.raises(UsageError, match="row 1: JSON cannot hold two halves"):
        there_and_back(folder, ending, [{"a": "\ud83d\ude00"}])


@pytest.mark.parametrize("ending", ["csv", "yaml"])
def test_half_a_character_is_refused_by_the_others(folder, ending):
    with pytest.raises(UsageError, match=r"row 1: a: \w+ cannot hold half a character"):
        there_and_back(folder, ending, [{"a": "x\ud83d"}])


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl"])
def test_a_number_of_too_many_digits_is_refused(folder, ending):
    with pytest.raises(UsageError, match="row 1"):
        there_and_back(folder, ending, [{"a": 10**5000}])
