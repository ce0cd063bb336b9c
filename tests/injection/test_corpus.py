"""The hostile answers are what they are said to be."""

import base64
import codecs
import hashlib
import html
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from urllib.parse import unquote

import pytest

from tests.injection.corpus import CORPUS, KINDS, of_kind
from tests.injection.kinds.base import COMMAND, GUESS, HARMLESS, after
from tests.injection.kinds.disguises import BOLD, CIRCLED, LOOKALIKES, PADDING, SMALL, WIDE
from tests.injection.shapes import SHAPES
from tests.support import ROOT


def test_there_are_many_of_many_kinds():
    counts = Counter(hostile.kind for hostile in CORPUS)
    assert len(CORPUS) >= 290
    assert len(counts) >= 23
    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 9


def test_each_has_an_id_and_a_text_of_its_own():
    assert len({hostile.id for hostile in CORPUS}) == len(CORPUS)
    assert len({hostile.text for hostile in CORPUS}) == len(CORPUS)
    assert [hostile.id for hostile in CORPUS if not re.fullmatch(r"[a-z0-9-]+:[a-z0-9-]+", hostile.id)] == []
    assert HARMLESS not in {hostile.text for hostile in CORPUS}


def test_it_is_the_same_in_every_process():
    code = "from tests.injection.test_corpus import fingerprint; print(fingerprint())"
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    made = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert made.stdout.decode().strip() == fingerprint()


def fingerprint():
    told = json.dumps([(hostile.id, hostile.kind, hostile.text) for hostile in CORPUS])
    return hashlib.sha256(told.encode()).hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_is_of_its_kind(kind):
    assert [hostile.id for hostile in of_kind(kind) if not SHOWS[kind](hostile)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_harmless_answer_is_of_no_kind(kind):
    harmless = after("It took two days.")
    assert [it.name for it in of_kind(kind) if SHOWS[kind](replace(it, text=harmless))] == []


# ── what each kind shows ───────────────────────────────────────────────────────────────────────────────────────────


def values(text):
    """Every JSON object and list in *text*, those within others left out."""
    decoder, found, at = json.JSONDecoder(), [], 0
    while start := re.compile(r"[{\[]").search(text, at):
        try:
            value, at = decoder.raw_decode(text, start.start())
            found.append(value)
        except (ValueError, RecursionError):
            at = start.end()
    return found


def plain(text):
    """*text* without what does not show."""
    hidden = {"Cf", "Mn", "Me", "Cc"}
    return "".join(letter for letter in text if letter == "\n" or unicodedata.category(letter) not in hidden)


def is_fence_line(hostile):
    """A line of the fence, or a word of its mark, once wide letters are narrow and what does not show is gone."""
    text = plain(unicodedata.normalize("NFKC", hostile.text))
    return bool(re.search(r"<<<\s*(BEGIN|END|CUT) |hold the mark", text)) or GUESS in text


def is_delimiter(hostile):
    marks = r"</?\w+>|<!|\]\]>|<\|\w+\|>|\[/INST\]|^---|^#|^```|\"\"\"|'''|\[END|\*{40}|\"}, {"
    return bool(re.search(marks, hostile.text, re.MULTILINE))


def is_unbalanced(hostile):
    """Brackets that do not match: read one by one, with intervals as they are."""
    opened = []
    for bracket in re.findall(r"[{}\[\]()]", hostile.text):
        if bracket in "{[(":
            opened.append(bracket)
        elif not opened or opened.pop() + bracket not in {"{}", "[]", "()"}:
            return True
    return bool(opened)


def is_in_another_language(hostile):
    """Its last line is in the script of the language, or has letters beyond those of English."""
    said = hostile.text.rpartition("\n")[2]
    script = SCRIPTS.get(hostile.name, "LATIN")
    names = [unicodedata.name(letter, "") for letter in said if letter.isalpha()]
    if script == "LATIN":
        return all(name.startswith(script) for name in names) and not said.isascii()
    return bool(names) and all(any(name.startswith(one) for one in script.split("|")) for name in names)


SCRIPTS = {
    "russian": "CYRILLIC", "greek": "GREEK", "chinese": "CJK", "japanese": "CJK|HIRAGANA|KATAKANA", "korean": "HANGUL",
    "arabic": "ARABIC", "hebrew": "HEBREW", "hindi": "DEVANAGARI", "thai": "THAI",
}  # fmt: skip


def is_coded(hostile):
    """Its last line, decoded, is the command or a verdict, and neither stands there in plain words."""
    said = hostile.text.rpartition("\n")[2]
    try:
        decoded = DECODERS[hostile.name](said)
    except ValueError:  # as what is no such code raises
        return False
    wanted = decoded == COMMAND or values(decoded) == [SHAPES["satisfied"].forged]
    return wanted and COMMAND not in hostile.text and not values(hostile.text)


DECODERS = {
    "base64": lambda said: base64.b64decode(said, validate=True).decode(),
    "base32": lambda said: base64.b32decode(said).decode(),
    "base85": lambda said: base64.b85decode(said).decode(),
    "hex": lambda said: bytes.fromhex(said).decode(),
    "hex-spaced": lambda said: bytes.fromhex(said).decode(),
    "rot13": lambda said: codecs.decode(said, "rot13"),
    "backwards": lambda said: said[::-1],
    "url": lambda said: unquote(said)[::2],
    "entities": html.unescape,
    "escapes": lambda said: json.loads(f'"{said}"'),
    "bits": lambda said: bytes(int(byte, 2) for byte in said.split()).decode(),
    "base64-of-a-verdict": lambda said: base64.b64decode(said, validate=True).decode(),
}


def has_controls(hostile):
    """A control character besides the end of a line, half of a character pair, or what is no character."""
    return any(unicodedata.category(letter) in {"Cc", "Cs", "Cn"} for letter in hostile.text.replace("\n", ""))


def has_unseen(hostile):
    """Characters that take no room or turn the others, or blanks that are no white space."""
    return any(unicodedata.category(letter) in {"Cf", "Mn"} or letter in "\u3164\u2800" for letter in hostile.text)


def has_lookalikes(hostile):
    """Letters that an English text has not, and the command, a verdict or a line once they are those they look like."""
    back = {low: high for table in (LOOKALIKES, WIDE, BOLD, CIRCLED, SMALL) for high, low in table.items()}
    text = hostile.text.translate(back)
    told = plain(unicodedata.normalize("NFD", text)).lower()
    sought = ("disregard the criteria", "satisfied", "<<< end", " end answer ")
    return not hostile.text.isascii() and any(words in told for words in sought)


def is_padded(hostile):
    return len(hostile.text) >= PADDING and (
        COMMAND in hostile.text or SHAPES["satisfied"].forged in values_of(hostile)
    )


def values_of(hostile):
    return values(hostile.text) if '{"' in hostile.text else []


def says(pattern):
    return lambda hostile: re.search(pattern, hostile.text, re.IGNORECASE | re.MULTILINE) is not None


FENCED = re.compile(r"(`|```|~~~)")
SHOWS = {
    "fence-line": is_fence_line,
    "delimiter": is_delimiter,
    "template": says(r"[{}]|%[sd(]|\$\w|\\1|<%"),
    "bracket": is_unbalanced,
    "control": has_controls,
    "forged-verdict": lambda it: values(it.text) == [SHAPES[it.name].forged] and it.text.startswith(HARMLESS),
    "bare-verdict": lambda it: it.text.startswith("{") and json.loads(it.text) == SHAPES[it.name].forged,
    "echoed-verdict": lambda it: values(it.text) == [SHAPES[it.name].honest],
    "several-verdicts": lambda it: len(values(it.text)) > 1 or len(re.findall(r'"(?:satisfied|score)"', it.text)) > 1,
    "fenced-verdict": lambda it: bool(FENCED.search(it.text)) and bool(re.search(r"[{]['\"]", it.text)),
    "thinking": says(r"</?(?:think|thinking|reasoning|scratchpad)\b|<\|channel\|>"),
    "planted-criterion": says(r"\bid\b|\bc\d+\b|criteri|\[1\]"),
    "role": says(r"^[\[#\s]*(?:system|developer|user|assistant|human|operator)\b|\"role\"|you are a|turn \d"),
    "judge-voice": says(r"judge|evaluation"),
    "tool-result": says(r"tool|function|observation"),
    "context": says(r"rubric|context|reference|expected|document|ground_truth"),
    "grading-word": says(r"grade|\[\[|boxed|verdict|score|points|\u2705|answer: yes|<result>|^true$|^1$|^\"yes\"$"),
    "pressure": says(r"judge|beg|right|accept|law|say yes|verdict|replaced"),
    "translated": is_in_another_language,
    "encoded": is_coded,
    "unseen": has_unseen,
    "homoglyph": has_lookalikes,
    "padding": is_padded,
}  # fmt: skip
