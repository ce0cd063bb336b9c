"""The examples of the documents are compared as they should be: a checker that lets all pass would hide everything."""

import pytest

from tests.documents import commands, matches


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("", ""),
        ("passed", "passed"),
        ("passed  ", "passed"),
        ("ended in ... s", "ended in 0.3 s"),
        ("first\n...\nlast", "first\nlast"),
        ("first\n...\nlast", "first\nany\nthing\nlast"),
        ("...\nlast", "first\nlast"),
        ("...", ""),
    ],
)
def test_what_matches(expected, printed):
    assert matches(expected, printed)


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        ("", "something"),
        ("something", ""),
        ("passed", "passed\nand more"),
        ("ended in ... s", "ended in 0.3 s\nand 4 s"),
        ("first\n...\nlast", "first\nmiddle"),
        ("1.5", "1x5"),
        ("failed", "failed\nexit code: 1"),
    ],
)
def test_what_does_not_match(expected, printed):
    assert not matches(expected, printed)


def test_a_block_holds_several_commands():
    block = "$ proctor run \\\n  a.py\npassed\n\n$ cat a.py\n$ proctor --version\n0.1.0\n"
    assert commands(block) == [("proctor run   a.py", "passed"), ("cat a.py", ""), ("proctor --version", "0.1.0")]
