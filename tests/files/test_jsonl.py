import json

import pytest

from proctor.errors import UsageError
from proctor.files.jsonl import read_rows


def rows(tmp_path, content):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    return list(read_rows(path))


def test_each_line_is_a_row_with_its_number(tmp_path):
    assert rows(tmp_path, b'{"a": 1}\n[2]\n"x"') == [("line 1", {"a": 1}), ("line 2", [2]), ("line 3", "x")]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b'\n{"a": 1}\n  \n\t\n{"a": 2}\n\n', id="empty lines"),
        pytest.param(b'\r\n{"a": 1}\r\n\r\n\r\n{"a": 2}\r\n', id="line ends of Windows"),
    ],
)
def test_empty_lines_are_skipped_and_counted(tmp_path, content):
    assert rows(tmp_path, content) == [("line 2", {"a": 1}), ("line 5", {"a": 2})]


def test_a_byte_order_mark_is_skipped(tmp_path):
    assert rows(tmp_path, b'\xef\xbb\xbf{"a": 1}\n') == [("line 1", {"a": 1})]


def test_the_text_is_utf_8(tmp_path):
    assert rows(tmp_path, '{"a": "天気 é"}'.encode()) == [("line 1", {"a": "天気 é"})]


@pytest.mark.parametrize("text", ["\u2028", "\u2029", "\x85", "\x0b", "\ud83d"], ids=ascii)
def test_only_a_line_feed_ends_a_line(tmp_path, text):
    made = json.dumps({"a": text}, ensure_ascii=text == "\ud83d").encode()
    assert rows(tmp_path, made) == [("line 1", {"a": text})]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b'{"a": 1', "is not JSON", id="cut off"),
        pytest.param(b"nonsense", "is not JSON", id="no JSON"),
        pytest.param(b'{"a": 1} {"a": 2}', "is not JSON: Extra data", id="two values"),
        pytest.param(b'{"a": "\xff"}', "is not UTF-8", id="another encoding"),
        pytest.param('{"a": 1}'.encode("utf-16"), "is not UTF-8", id="UTF-16"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "is nested too deeply", id="too deep"),
        pytest.param(b'{"a": 1' + b"0" * 5000 + b"}", "is not JSON", id="a number of too many digits"),
    ],
)
def test_a_line_that_cannot_be_read_is_a_problem_in_its_place(tmp_path, line, message):
    found = rows(tmp_path, b'{"a": 1}\n' + line.replace(b"\n", b"") + b'\n{"a": 3}\n')
    assert [place for place, _ in found] == ["line 1", "line 2", "line 3"]
    assert isinstance(found[1][1], UsageError)
    assert message in str(found[1][1])
    assert found[2][1] == {"a": 3}


@pytest.mark.parametrize(
    ("content", "hinted"),
    [
        pytest.param(b'{\n  "a": 1\n}\n', True, id="an object over several lines"),
        pytest.param(b'[\r\n  {"a": 1}\r\n]\r\n', True, id="a list over several lines"),
        pytest.param(b'{"a": 1\n', False, id="an object cut off"),
    ],
)
def test_a_value_over_several_lines_is_hinted_at(tmp_path, content, hinted):
    problem = rows(tmp_path, content)[0][1]
    assert ("; one whole JSON value a line, or name the file .json" in str(problem)) == hinted
