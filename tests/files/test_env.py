"""Settings for the environment, one a line."""

import os

import pytest

from proctor.errors import DataErrors, UsageError
from proctor.files.env import load_env, read_env


def settings(folder, text):
    path = folder / ".env"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_env(path)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("K=v", "v"),
        ("  K =  v  ", "v"),
        ("export K=v", "v"),
        ("export\tK=v", "v"),
        ("K=", ""),
        ("K=''", ""),
        ("K=a=b", "a=b"),
        ("K=a b", "a b"),
        ("K=v # why", "v"),
        ("K= # why", ""),
        ("K=#why", ""),
        ("K=v#1", "v#1"),
        ("K=https://x.example/#part", "https://x.example/#part"),
        ("K=it's", "it's"),
        ("K=$HOME ${HOME}", "$HOME ${HOME}"),
        (r"K=C:\new", r"C:\new"),
        ("K='v # not' # why", "v # not"),
        (r"K='\d+ \n'", r"\d+ \n"),
        (r'K="a\nb\t\"c\" \\ \$x"', 'a\nb\t"c" \\ $x'),
        ('K="v"# why', "v"),
        ("K=na\u00efve \u6771\u4eac", "na\u00efve \u6771\u4eac"),
    ],
)
def test_a_value(tmp_path, line, value):
    assert settings(tmp_path, line) == {"K": value}


def test_lines_comments_and_the_mark_that_some_editors_put_first(tmp_path):
    assert settings(tmp_path, b"\xef\xbb\xbf# all\r\n\r\nA=1\r\n   # more\nB=2\rC=3") == {"A": "1", "B": "2", "C": "3"}


def test_an_empty_file_has_no_settings(tmp_path):
    assert settings(tmp_path, "") == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("secret", "a setting is written KEY=value"),
        ("=secret", "a setting is written KEY=value"),
        ("export secret", "a setting is written KEY=value"),
        ("a-b=secret", "a key has letters, digits and _"),
        ("1A=secret", "a key has letters, digits and _"),
        ('K="secret', "the quote of K is not closed on its line"),
        ("K='secret", "the quote of K is not closed on its line"),
        (r'K="secret\"', "the quote of K is not closed on its line"),
        ('K="secret" secret', "there is something behind the closing quote of K"),
        (r'K="secret\d"', r"the value of K has a \ that is no escape"),
        ("K=sec\0ret", "the value of K has a NUL character"),
        ("A=secret", "A is set already, on line 1"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_and_not_shown(tmp_path, line, said):
    with pytest.raises(DataErrors) as caught:
        settings(tmp_path, f"A=fine\n\n{line}\nB=fine")
    (problem,) = caught.value.problems
    assert problem.startswith(f"line 3: {said}")
    assert "secret" not in str(caught.value).replace("secret(", "")


def test_all_lines_are_told_at_once(tmp_path):
    with pytest.raises(DataErrors, match=r"2 problems in .*\.env") as caught:
        settings(tmp_path, "a\nB=1\nc")
    assert [problem.split(":")[0] for problem in caught.value.problems] == ["line 1", "line 3"]


@pytest.mark.parametrize(
    ("name", "said"), [("none.env", "there is no file"), (".", "cannot be read"), ("bad.env", "is not UTF-8 \\(byte 3")]
)
def test_a_file_that_cannot_be_read(tmp_path, monkeypatch, name, said):
    (tmp_path / "bad.env").write_bytes(b"K=\xff")
    with pytest.raises(UsageError, match=said):
        read_env(tmp_path / name)


def test_what_is_in_the_environment_stays(tmp_path, monkeypatch):
    for key, value in {"PROCTOR_TEST_A": "old", "PROCTOR_TEST_B": ""}.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("PROCTOR_TEST_C", "x")
    monkeypatch.delenv("PROCTOR_TEST_C")  # so that it is taken out again
    path = tmp_path / ".env"
    path.write_text("PROCTOR_TEST_A=new\nPROCTOR_TEST_B=new\nPROCTOR_TEST_C=new\n")
    load_env(path)
    assert [os.environ[f"PROCTOR_TEST_{name}"] for name in "ABC"] == ["old", "", "new"]
