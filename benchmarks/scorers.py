"""What a code scorer costs over the function that it is about, at 2,000 characters, and how it grows.

Bare: the function of rapidfuzz on the two texts, and nothing else; `textual_difference` counts changed words beside
it. Target: a scorer at most 2 times that. By pairs of characters, which rapidfuzz has not: at most 1 ms, and ten times
the text in ten times the time.
"""

import random

from rapidfuzz.distance import LCSseq, Levenshtein
from timing import judged, least, reference

from proctor import ScorerRun, scorers
from proctor.data.column import Column
from proctor.scoring.pipeline import Walk
from proctor.stats.dice import dice
from proctor.stats.words import words

SIZE = 2000
TARGET_RATIO = 2.0
TARGET_MS = 1.0
VOCABULARY = 400


def text(size, seed):
    """Prose-like: words of 2 to 9 letters, some much more often than others."""
    chance = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    known = ["".join(chance.choices(letters, range(26, 0, -1), k=chance.randint(2, 9))) for _ in range(VOCABULARY)]
    return " ".join(chance.choices(known, [1 / (1 + at) for at in range(VOCABULARY)], k=size // 3))[:size]


def changed(given, seed):
    """The same text with every tenth character or so replaced."""
    chance = random.Random(seed)
    return "".join(chance.choice("etaoin ") if chance.random() < 0.1 else letter for letter in given)


def score(scorer, given, answer):
    """The scorer on a run that nobody has looked at: its whole price, the shared views included."""
    column = Column("scorer", None, scorer.key, scorer.id)

    def once():
        run = ScorerRun(output=answer, input=given, ground_truth=given)
        return Walk(scorer, run, column=column).start()

    assert once().status == "scored"
    return once


def main():
    given = text(SIZE, 1)
    answer = changed(given, 2)
    left, right = words(given), words(answer)
    bare = {
        "textual_difference": lambda: LCSseq.similarity(given, answer),
        "edit_distance": lambda: Levenshtein.distance(given, answer),
    }
    others = {
        name: getattr(scorers, name)()
        for name in ("rouge_l", "token_f1", "content_similarity", "completeness", "keyword_coverage", "tone")
    } | {"json_diff": scorers.json_diff(), "exact_match": scorers.exact_match()}
    spent = least(
        {("scorer", name): score(getattr(scorers, name)(), given, answer) for name in bare}
        | {("bare", name): function for name, function in bare.items()}
        | {("scorer", name): score(scorer, given, answer) for name, scorer in others.items()}
        | {("bare", "rouge_l"): lambda: LCSseq.similarity(left, right), ("bare", "words"): lambda: words(given)}
        | {"reference": reference},
        rounds=40,
        seconds=0.01,  # of the scorers' 0.1 ms, so that the first ones, with cold caches, weigh little
    )
    print(f"A scorer over its function of rapidfuzz, {SIZE} characters (CPU µs; target {TARGET_RATIO:g} times)")
    print(f"  {'scorer':<20}{'scorer':>9}{'bare':>9}{'ratio':>7}")
    for name in bare:
        whole, alone = spent["scorer", name] * 1e6, spent["bare", name] * 1e6
        print(f"  {name:<20}{whole:9.1f}{alone:9.1f}{whole / alone:7.2f}  {judged(whole / alone, TARGET_RATIO)}")
    print(f"\nThe others, {SIZE} characters (CPU µs; content_similarity at most {TARGET_MS * 1e3:g})")
    for name in others:
        whole = spent["scorer", name] * 1e6
        note = judged(whole / 1e3, TARGET_MS) if name == "content_similarity" else ""
        print(f"  {name:<20}{whole:9.1f}  {note}".rstrip())
    aligned, read = spent["bare", "rouge_l"] * 1e6, spent["bare", "words"] * 1e6
    print(f"  of rouge_l: {aligned:.1f} to align, {read:.1f} to read a text")
    print(f"  {'(reference)':<20}{spent['reference'] * 1e6:9.2f}")

    print("\nPairs of characters, ten times the text each time (CPU ms; a ratio near 10 is linear)")
    sizes = (2000, 20_000, 200_000, 2_000_000)
    texts = {size: (text(size, 1), text(size, 3)) for size in sizes}
    spent = least({size: lambda size=size: dice(*texts[size]) for size in sizes}, rounds=5)
    before = None
    for size in sizes:
        ratio = "" if before is None else f"{spent[size] / before:8.1f}"
        print(f"  {size:<12}{spent[size] * 1e3:9.3f}{ratio}")
        before = spent[size]


if __name__ == "__main__":
    main()
