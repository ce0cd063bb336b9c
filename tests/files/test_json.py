import pytest

from proctor.errors import UsageError
from proctor.files.json import read_rows


def rows(tmp_path, content):
    path = tmp_path / "rows.json"
    path.write_bytes(content)
    return list(read_rows(path))


def test_each_element_is_a_row_with_its_number(tmp_path):
    assert rows(tmp_path, b'[{"a": 1},\n [2], null]') == [("row 1", {"a": 1}), ("row 2", [2]), ("row 3", None)]


def test_a_byte_order_mark_is_skipped(tmp_path):
    assert rows(tmp_path, b'\xef\xbb\xbf[{"a": 1}]') == [("row 1", {"a": 1})]


def test_an_empty_list_has_no_rows(tmp_path):
    assert rows(tmp_path, b"[]") == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b'[{"a": 1}', r"is not JSON: .* \(line 1\)", id="cut off"),
        pytest.param(b"", "is not JSON", id="empty"),
        pytest.param(b'{"a": 1}\n{"a": 2}', r"is not JSON: .*name it \.jsonl", id="lines"),
        pytest.param(b'{"data": []}', r"must hold a list of rows, not dict; put \[ \] around it$", id="mapping"),
        pytest.param(b"5", "must hold a list of rows, not int$", id="number"),
        pytest.param('["é"]'.encode("latin-1"), r"is not UTF-8 \(byte 3\)", id="another encoding"),
        pytest.param(b"[" * 100_000, "is nested too deeply", id="too deep"),
        pytest.param(b"[1" + b"0" * 5000 + b"]", "is not JSON", id="a number of too many digits"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_name(tmp_path, content, message):
    with pytest.raises(UsageError, match=rf"rows\.json {message}"):
        rows(tmp_path, content)
