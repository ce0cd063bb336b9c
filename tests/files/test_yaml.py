import time

import pytest

from proctor.errors import UsageError
from proctor.files.yaml import read_rows


def rows(tmp_path, content):
    path = tmp_path / "rows.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_rows(path))


def value(tmp_path, text):
    [(_, row)] = rows(tmp_path, f"- a: {text}\n")
    return row["a"] if isinstance(row, dict) else row


def test_each_element_is_a_row_with_its_line(tmp_path):
    content = "# cases\n- a: 1\n  b: [x, {c: y}]\n\n- 5\n-\n  a: |\n    one\n    two\n"
    assert rows(tmp_path, content) == [
        ("line 2", {"a": 1, "b": ["x", {"c": "y"}]}),
        ("line 5", 5),
        ("line 7", {"a": "one\ntwo\n"}),
    ]


@pytest.mark.parametrize(
    "word",
    [
        *("no", "yes", "on", "off", "y", "n", "No", "TRUE", "True", "Null", "NULL", "None", "N/A", "nan"),
        *("2024-01-01", "2024-01-01T10:00:00Z", "1:30", "12:30:45", "007", "0o7", "0x1F", "1_000", "+1", ".5", "1."),
        *(".inf", ".nan", "1e", "1.2.3", "３"),
    ],
)
def test_words_that_json_does_not_know_are_text(tmp_path, word):
    assert value(tmp_path, word) == word


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("true", True), ("false", False), ("null", None), ("~", None), ("", None)),
        *(("0", 0), ("-12", -12), ("1.50", 1.5), ("1e5", 100000.0), ("-2.5E-3", -0.0025)),
        *(("'true'", "true"), ('"12"', "12"), ("''", ""), ("! 12", "12"), ("!!str 12", "12")),
    ],
)
def test_words_that_json_knows(tmp_path, word, expected):
    found = value(tmp_path, word)
    assert (type(found), found) == (type(expected), expected)


def test_keys_are_text(tmp_path):
    assert rows(tmp_path, "- {no: 1, 5: 2, null: 3, 2024-01-01: 4}\n")[0][1] == {
        "no": 1,
        "5": 2,
        "null": 3,
        "2024-01-01": 4,
    }


def test_an_anchor_is_read_as_copies(tmp_path):
    found = rows(tmp_path, "- {a: &x [1, {b: 2}], c: *x}\n- {d: *x}\n")
    assert [row for _, row in found] == [{"a": [1, {"b": 2}], "c": [1, {"b": 2}]}, {"d": [1, {"b": 2}]}]
    assert found[0][1]["a"] is not found[0][1]["c"]


def test_copies_of_copies_are_bounded(tmp_path):
    bomb = "- a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    began = time.process_time()
    found = rows(tmp_path, bomb + "- 1\n")
    assert time.process_time() - began < 2
    assert "for more than 100000 values in all" in str(found[0][1])
    assert found[1][1] == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        pytest.param("{a: 1, a: 2}", "has the key 'a' twice (line 2)", id="a key twice"),
        pytest.param('{a: 1, "a": 2}', "has the key 'a' twice", id="a key twice, once in quotes"),
        pytest.param("{1: a, '1': b}", "has the key '1' twice", id="a number and its text"),
        pytest.param("{a: !!timestamp 2024-01-01}", "tag tag:yaml.org,2002:timestamp, which is not read", id="tag"),
        pytest.param("{a: !env HOME}", "has the tag !env", id="a tag of somebody's own"),
        pytest.param("!!python/object/apply:os.system [true]", "which is not read", id="a tag that calls"),
        pytest.param("{<<: {a: 1}}", "has a merge key (<<)", id="merge key"),
        pytest.param("{[1]: 2}", "has a key that is no plain text", id="a list as a key"),
        pytest.param("{a: *b}", "no value before it is named &b", id="an unknown anchor"),
        pytest.param("&b [*b]", "no value before it is named &b", id="itself"),
        pytest.param("[" * 300 + "]" * 300, "is nested too deeply", id="too deep"),
        pytest.param("1" * 5000, "has a number of 5000 digits", id="a number of too many digits"),
    ],
)
def test_a_row_that_cannot_be_read_is_a_problem_in_its_place(tmp_path, row, said):
    found = rows(tmp_path, f"- 1\n- {row}\n- [{row}, 2]\n- 3\n")
    assert [place for place, _ in found] == ["line 1", "line 2", "line 3", "line 4"]
    assert isinstance(found[1][1], UsageError)
    assert said in str(found[1][1])
    assert isinstance(found[2][1], UsageError)
    assert found[3][1] == 3


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("# nothing\n", "is empty", id="a comment"),
        pytest.param("a: 1\n", "must hold a list of rows; begin each row with -", id="mapping"),
        pytest.param("just words\n", "must hold a list of rows", id="text"),
        pytest.param("- 1\n---\n- 2\n", r"holds several documents \(line 2\)", id="documents"),
        pytest.param("- a: [1\n- b\n", r"is not YAML: .*\(line 3\)", id="not closed"),
        pytest.param("- a: 1\n\t- b\n", "is not YAML", id="a tab"),
        pytest.param("- a: b: c\n", r"is not YAML: .*\(line 1\)", id="a colon"),
        pytest.param(b"- \xff\n", "is not YAML", id="another encoding"),
        pytest.param(b"- \x00\n", "is not YAML", id="NUL"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content, said):
    with pytest.raises(UsageError, match=rf"rows\.yaml {said}"):
        rows(tmp_path, content)


def test_an_empty_list_has_no_rows(tmp_path):
    assert rows(tmp_path, "[]\n") == []


def test_rows_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "rows.yaml"
    path.write_text("- a: 1\n" * 100_000 + "- [\n")
    reading = read_rows(path)
    began = time.process_time()
    assert next(reading) == ("line 1", {"a": 1})
    assert time.process_time() - began < 0.5
    reading.close()


def test_a_byte_order_mark_and_utf_16_are_read(tmp_path):
    assert rows(tmp_path, b"\xef\xbb\xbf- a: 1\n") == [("line 1", {"a": 1})]
    assert rows(tmp_path, "- a: é\n".encode("utf-16")) == [("line 1", {"a": "é"})]
