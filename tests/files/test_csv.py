import pytest

from proctor.errors import UsageError
from proctor.files.csv import read_rows, write_rows


def rows(tmp_path, content):
    path = tmp_path / "rows.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_rows(path))


def test_each_line_is_a_row_with_its_number(tmp_path):
    assert rows(tmp_path, "a,b\n1,2\nx,y\n") == [("line 2", {"a": "1", "b": "2"}), ("line 3", {"a": "x", "b": "y"})]


@pytest.mark.parametrize(
    "cell",
    [
        "N/A",
        "None",
        "null",
        "NaN",
        "nan",
        "007",
        "1e5",
        "TRUE",
        "true",
        " x ",
        "-",
        "#N/A",
        "1.50",
        "2024-01-01",
        "[1]",
    ],
)
def test_a01_text_stays_text(tmp_path, cell):
    assert rows(tmp_path, f"a,b\n{cell},1\n") == [("line 2", {"a": cell, "b": "1"})]


def test_a01_only_an_empty_cell_is_missing(tmp_path):
    assert [row for _, row in rows(tmp_path, 'a,b\n,1\n1,\n"",2\n,\n')] == [
        {"b": "1"},
        {"a": "1"},
        {"a": "", "b": "2"},
        {},
    ]


@pytest.mark.parametrize(
    ("content", "row"),
    [
        pytest.param('a,b\n"x,y",1\n', {"a": "x,y", "b": "1"}, id="a comma"),
        pytest.param('a,b\n"say ""hi""",1\n', {"a": 'say "hi"', "b": "1"}, id="quotes"),
        pytest.param('a,b\n"""",1\n', {"a": '"', "b": "1"}, id="a quote alone"),
        pytest.param('a,b\n"one\ntwo\r\nthree\n",1\n', {"a": "one\ntwo\r\nthree\n", "b": "1"}, id="line ends"),
        pytest.param('a,b\n"\n\n",1\n', {"a": "\n\n", "b": "1"}, id="nothing but line ends"),
        pytest.param('"a,b",c\n1,2\n', {"a,b": "1", "c": "2"}, id="a comma in a name"),
        pytest.param("a,b\r\n1,2\r\n", {"a": "1", "b": "2"}, id="line ends of Windows"),
        pytest.param("a,b\n1,2", {"a": "1", "b": "2"}, id="no last line end"),
        pytest.param("a,b\n1,2\r", {"a": "1", "b": "2"}, id="a carriage return at the end"),
        pytest.param("a,b\n\n\r\n1,2\n\n", {"a": "1", "b": "2"}, id="empty lines"),
        pytest.param(b"\xef\xbb\xbfa,b\n1,2\n", {"a": "1", "b": "2"}, id="byte order mark"),
        pytest.param(b'\xef\xbb\xbf"a",b\n1,2\n', {"a": "1", "b": "2"}, id="byte order mark and quotes"),
        pytest.param("a;b,c\n1;2,3\n", {"a;b": "1;2", "c": "3"}, id="semicolons among commas"),
        pytest.param("a\n1;2\n", {"a": "1;2"}, id="a semicolon in the only column"),
        pytest.param("é\n天気\u2028x\n", {"é": "天気\u2028x"}, id="other characters"),
    ],
)
def test_what_a_row_holds(tmp_path, content, row):
    assert [found for _, found in rows(tmp_path, content)] == [row]


def test_a_row_is_placed_where_it_begins(tmp_path):
    found = rows(tmp_path, 'a,b\n"1\n2",3\n\n4,5\n')
    assert [place for place, _ in found] == ["line 2", "line 5"]


def test_columns_that_cannot_hold_text_hold_json(tmp_path):
    content = 'input,tags,metadata,extra:json\n1,"[""x""]","{""ok"": true, ""x"": null}",5\n"[1]",,,"""[1]"""\n'
    assert [row for _, row in rows(tmp_path, content)] == [
        {"input": "1", "tags": ["x"], "metadata": {"ok": True, "x": None}, "extra": 5},
        {"input": "[1]", "extra": "[1]"},
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param("1", "has 1 cell, the first line names 2 columns", id="too few"),
        pytest.param("1,2,3", "has 3 cells, the first line names 2 columns", id="too many"),
        pytest.param('a "b",2', "has a quote inside the cell", id="a quote in the middle"),
        pytest.param('"a" b,2', "has 'b,2' after a closing quote", id="text after a quote"),
        pytest.param("a\rb,2", "has a carriage return in the middle", id="carriage return"),
    ],
)
def test_a_row_that_cannot_be_read_is_a_problem_in_its_place(tmp_path, line, said):
    found = rows(tmp_path, f"a,b\n1,2\n{line}\n3,4\n")
    assert [place for place, _ in found] == ["line 2", "line 3", "line 4"]
    assert isinstance(found[1][1], UsageError)
    assert said in str(found[1][1])
    assert found[2][1] == {"a": "3", "b": "4"}


def test_json_that_is_none_is_a_problem_of_its_row(tmp_path):
    found = rows(tmp_path, "a,tags\n1,geo\n2,\n")
    assert str(found[0][1]).startswith("tags: 'geo' is not JSON")
    assert found[1][1] == {"a": "2"}


def test_a_quote_that_never_closes_takes_the_rest(tmp_path):
    found = rows(tmp_path, 'a,b\n1,2\n"3,4\n5,6\n')
    assert found[0] == ("line 2", {"a": "1", "b": "2"})
    assert str(found[1][1]) == "opens a quote that is never closed"
    assert len(found) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("", "is empty", id="empty"),
        pytest.param("\n\n", "is empty", id="empty lines"),
        pytest.param("a,,b\n1,2,3\n", r"column 2 has no name \(line 1\)", id="no name"),
        pytest.param("a,b,a\n1,2,3\n", r"two columns are named 'a' \(line 1\)", id="a name twice"),
        pytest.param("a,a:json\n1,2\n", "two columns are named 'a'", id="a name twice, once as JSON"),
        pytest.param("a;b\n1;2\n", "stand between semicolons; save it with commas", id="semicolons"),
        pytest.param("a\tb\n1\t2\n", "stand between tabs; save it with commas", id="tabs"),
        pytest.param('a,"b\n1,2\n', "line 1 opens a quote that is never closed", id="a quote that never closes"),
        pytest.param("a,b\n1,é\n".encode("latin-1"), r"is not UTF-8 \(line 2, byte 3\)", id="another encoding"),
        pytest.param("a,b\n1,2\n".encode("utf-16"), "is not UTF-8", id="UTF-16"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path, content, said):
    with pytest.raises(UsageError, match=rf"rows\.csv.*{said}"):
        rows(tmp_path, content)


def test_rows_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,b\n1,2\n\xff\n")
    reading = read_rows(path)
    assert next(reading) == ("line 2", {"a": "1", "b": "2"})
    with pytest.raises(UsageError, match="is not UTF-8"):
        next(reading)


def test_a_cell_may_be_long(tmp_path):
    text = 'x"y\n' * 1_000_000
    path = tmp_path / "rows.csv"
    write_rows(path, [{"a": text}])
    assert [row for _, row in read_rows(path)] == [{"a": text}]


# ── writing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_written(tmp_path):
    path = tmp_path / "rows.csv"
    write_rows(path, [{"id": "1", "n": 5, "tags": ["a"]}, {"id": "", "n": None}, {"id": "x, y"}])
    assert path.read_bytes().decode() == 'id,n:json,tags\r\n1,5,"[""a""]"\r\n"",null,\r\n"x, y",,\r\n'


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param([{"a": "1"}, {}], "row 2: a row of CSV is a mapping that is not empty", id="an empty row"),
        pytest.param([[1]], "row 1: a row of CSV is a mapping", id="a list"),
        pytest.param([{"": "1"}], "the key '' cannot be written", id="no name"),
        pytest.param([{"a;b": "1"}], "would be taken for several between semicolons", id="a name with a semicolon"),
    ],
)
def test_what_csv_cannot_hold_is_refused(tmp_path, rows, said):
    with pytest.raises(UsageError, match=said):
        write_rows(tmp_path / "rows.csv", rows)
    assert not (tmp_path / "rows.csv").exists()
