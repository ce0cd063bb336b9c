import json

import pytest

from proctor.judging.unseen import squeezed, without_unseen


@pytest.mark.parametrize("unseen", ["\u200b", "\u202e", "\0", "\x1b", "\u0301", "\ufeff", "\U000e0041"], ids=ascii)
def test_what_does_not_show_is_left_out(unseen):
    assert without_unseen(f"a{unseen}b") == "ab"
    assert squeezed(f"a{unseen} b") == "ab"


def test_json_within_json_is_the_same_as_what_it_says():
    said = {"verdict": "yes", "reason": 'He said "so".\n\u2028'}
    once = json.dumps(said, ensure_ascii=False)
    assert len({squeezed(text) for text in (once, json.dumps(once)[1:-1], json.dumps(json.dumps(once))[3:-3])}) == 1


def test_what_shows_stays():
    assert without_unseen("a b\n\tc é 天気 عربي") == "a b\n\tc é 天気 عربي"
    assert squeezed("\u201ea\u201c 'b'") == "\"a\"'b'"
