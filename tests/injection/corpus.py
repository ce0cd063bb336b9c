"""Hostile answers: what an agent may say to whoever judges it, in our own words, by kinds.

`CORPUS` is the same in every process. Whatever stands in an answer, the verdict on it must be the judge's own.
"""

from dataclasses import dataclass

from tests.injection.kinds import disguises, lines, verdicts, words

KINDS = {
    "fence-line": lines.fence_lines,
    "delimiter": lines.delimiters,
    "template": lines.templates,
    "bracket": lines.brackets,
    "control": lines.controls,
    "forged-verdict": verdicts.forged_verdicts,
    "bare-verdict": verdicts.bare_verdicts,
    "echoed-verdict": verdicts.echoed_verdicts,
    "several-verdicts": verdicts.several_verdicts,
    "fenced-verdict": verdicts.fenced_verdicts,
    "thinking": verdicts.thinking,
    "planted-criterion": verdicts.planted_criteria,
    "role": words.roles,
    "judge-voice": words.judge_voices,
    "tool-result": words.tool_results,
    "context": words.contexts,
    "grading-word": words.grading_words,
    "pressure": words.pressure,
    "translated": disguises.translated,
    "encoded": disguises.encoded,
    "unseen": disguises.unseen,
    "homoglyph": disguises.homoglyphs,
    "padding": disguises.padding,
}


@dataclass(frozen=True)
class Hostile:
    """*id*: the kind and a name within it, in ASCII."""

    id: str
    kind: str
    text: str

    @property
    def name(self):
        return self.id.removeprefix(f"{self.kind}:")


CORPUS = tuple(Hostile(f"{kind}:{name}", kind, text) for kind, made in KINDS.items() for name, text in made().items())


def of_kind(kind):
    return [hostile for hostile in CORPUS if hostile.kind == kind]
