"""What embedding similarity costs over the model itself, and how it grows.

Bare: the runtime of the packaged model on the numbers of the word pieces, and nothing else. Target: an embedding at
most 1.25 times that, a scorer's outcome at most 1.25 times the embedding of its answer; ten times the text in ten
times the time; an answer that was scored before at most 0.5 ms. It also says whether texts are sooner read one by one,
as they are, or several at once, filled up to the longest.
"""

import asyncio
from itertools import count

import numpy as np
from timing import judged, least, once, reference

from proctor import ScorerRun
from proctor.data.column import Column
from proctor.models.embeddings import MiniLM, packaged
from proctor.scorers.code.embedding_similarity import embedding_similarity
from proctor.scoring.pipeline import Walk

TARGET_RATIO = 1.25
TARGET_AGAIN_MS = 0.5
TARGET_GROWTH = (8, 12)
SAID = "The train to Paris has been delayed by an hour, since a signal does not work, number"
TRUE = "A broken signal makes the train an hour late."
PAIRS = ((20, 20), (20, 200), (200, 200))


def bare(*lengths):
    """The runtime on texts of these many word pieces at once."""
    session = packaged()._load()._session
    row = np.full((len(lengths), max(lengths)), 3000, dtype=np.int64)
    mask = np.array([[1] * each + [0] * (max(lengths) - each) for each in lengths], dtype=np.int64)
    given = {"input_ids": row, "attention_mask": mask, "token_type_ids": np.zeros_like(row)}
    return lambda: session.run(None, given)


def in_turn(*lengths):
    """The runtime on the same texts, one by one."""
    runs = [bare(each) for each in lengths]
    return lambda: [run() for run in runs]


def pieces(text):
    """How many word pieces a text has, with those of its beginning and end."""
    return len(packaged()._load()._tokenizer.encode(text).ids)


def scoring(loop, answers):
    """The scorer on one answer after another: its whole price, thread and event loop included."""
    scorer = embedding_similarity(TRUE)
    column = Column("scorer", None, scorer.key, scorer.id)

    async def score(answer):
        walk = Walk(scorer, ScorerRun(output=answer), column=column)
        return await walk.drive(walk.start())

    def one():
        outcome = loop.run_until_complete(score(next(answers)))
        assert outcome.status == "scored"

    return one


def said():
    """Answers of which no two are equal."""
    return (f"{SAID} {number}" for number in count())


def main():
    loading = once(lambda: MiniLM()._load(), 1)
    model = packaged()
    loop = asyncio.new_event_loop()
    answers, same = said(), said()
    short, long = next(said()), {size: "train " * size for size in (254, 2540)}
    spent = least(
        {
            "runtime": bare(pieces(short)),
            "embedding": lambda: model.embed([next(answers)]),
            "outcome": scoring(loop, said()),
            "again": scoring(loop, iter(lambda: SAID, None)),
            "two": lambda: model.embed([next(same), TRUE]),
            **{size: lambda size=size: model.embed([long[size]]) for size in long},
            **{("one by one", pair): in_turn(*pair) for pair in PAIRS},
            **{("at once", pair): bare(*pair) for pair in PAIRS},
            "reference": reference,
        },
        rounds=15,
        seconds=0.02,
    )
    loop.close()
    ms = {name: seconds * 1e3 for name, seconds in spent.items()}
    print(f"An embedding over the runtime, a text of {pieces(short)} word pieces (CPU ms)")
    ratio = ms["embedding"] / ms["runtime"]
    print(f"  runtime {ms['runtime']:.2f}, embedding {ms['embedding']:.2f}: {ratio:.2f}  {judged(ratio, TARGET_RATIO)}")
    ratio = ms["outcome"] / ms["embedding"]
    print(f"  outcome {ms['outcome']:.2f}, its new text alone: {ratio:.2f}  {judged(ratio, TARGET_RATIO)}")
    print(f"  both texts anew {ms['two']:.2f}")
    print(f"  a known answer again {ms['again']:.3f}  {judged(ms['again'], TARGET_AGAIN_MS)}")
    print(f"  loading, once for a process {loading * 1e3:.0f}")

    growth = ms[2540] / ms[254]
    within = "ok" if TARGET_GROWTH[0] <= growth <= TARGET_GROWTH[1] else "not linear"
    print("\nTen times the text (CPU ms; a ratio near 10 is linear)")
    print(f"  254 word pieces {ms[254]:.1f}, 2540 {ms[2540]:.1f}: {growth:.1f}  {within}")

    print("\nTwo texts one by one, over both at once (CPU ms)")
    for pair in PAIRS:
        alone, together = ms["one by one", pair], ms["at once", pair]
        print(f"  {pair[0]:>3} and {pair[1]:>3} word pieces {alone:8.1f}{together:8.1f}{alone / together:7.2f}")
    print(f"  {'(reference)':<20}{spent['reference'] * 1e6:9.2f} µs")


if __name__ == "__main__":
    main()
