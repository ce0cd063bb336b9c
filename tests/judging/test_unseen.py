import pytest

from proctor.judging.unseen import squeezed, without_unseen


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\0", "\x1b", "\u0301", "\ufeff", "\U000e0041"], ids=ascii)
def test_what_does_not_show_is_left_out(unseen):
    assert without_unseen(f"a{unseen}b") == "ab"
    assert squeezed(f"a{unseen} b") == "ab"


def test_what_shows_stays():
    assert without_unseen("a b\n\tc é 天気 عربي") == "a b\n\tc é 天気 عربي"
    assert squeezed("\u201ea\u201c 'b'") == "\"a\"'b'"
