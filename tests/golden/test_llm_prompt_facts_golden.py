"""The judge is shown what the reference's judge is shown of a run, and nothing else of it.

In these cases everything that could be shown is a word of its own, such as ZZuser1ZZ. The words that reach the prompt
of a step are compared as a set: which facts are there, not where, since our prompts are other prompts. A judge that
speaks of fewer things than it is shown is made to speak of all, and where a context is needed and there is none, there
is one that says nothing: without it nobody would be asked.
"""

import re

from tests.golden.deviations import changes_reading
from tests.golden.llm_cases import run_of, subject
from tests.golden.llm_shown import filled, is_declined, results_in, texts_in, with_context
from tests.golden.replay import Report, cases, snake

JUDGED = (
    "33 equal, 6 by deviation (7: 3, 11: 2, 26: 1), 6 quirks (context-only-from-legacy-tool-field: 1, "
    "judge-called-for-nothing: 5), 0 not yet"
)
REASONS = "27 equal, 2 by deviation (11: 2), 0 quirks, 0 not yet"


def test_prompts_show_what_the_reference_s_show():
    report = Report("llm_prompt_facts: what is judged", RULES)
    for case in cases("llm_prompt_facts.jsonl"):
        ended, theirs = run_of(filled(with_context(case))), shown_there(case)
        ours = {step: words_in(prompt) for step, prompt in ended.prompts.items()}
        ours.pop("generate_reason", None)
        theirs.pop("generate_reason", None)
        report.compare({**case, "ended": ended, "ours": ours, "theirs": theirs}, ours=ours, theirs=theirs)
    report.check(JUDGED)


def test_reasons_are_asked_for_with_all_that_was_found_and_nothing_new_of_the_run():
    """What a judge listed or was shown before may be shown again."""
    report = Report("llm_prompt_facts: reasons", RULES)
    for case in cases("llm_prompt_facts.jsonl"):
        theirs = shown_there(case).get("generate_reason")
        if theirs is None:
            continue
        ended = run_of(filled(with_context(case)))
        found, before = words_in(case["judgeOutputs"]), words_in([*ended.prompts.values()][:-1])
        ours = words_in(ended.prompts.get("generate_reason", "")) - ((found | before) - theirs)
        given = {"ended": ended, "ours": {"reason": ours}, "theirs": {"reason": theirs}}
        report.compare({**case, **given}, ours=ours, theirs=theirs)
    report.check(REASONS)


def shown_there(case):
    return {snake(step): set(words) for step, words in case["expected"]["tokensInPrompts"].items()}


def words_in(value):
    return set(re.findall(r"ZZ\w+?ZZ", str(value)))


# ── rules ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def shows_more(case, more):
    """Whether ours shows all that theirs shows, and besides nothing but *more*."""
    ours, theirs = case["ours"], case["theirs"]
    return ours.keys() == theirs.keys() and all(theirs[s] <= ours[s] <= theirs[s] | words_in(more) for s in ours)


def shows_every_text(case):
    output = case["run"]["output"]
    return changes_reading(output) and shows_more(case, texts_in(output))


def shows_every_result(case):
    return subject(case) == "faithfulness" and shows_more(case, results_in(case["run"]))


RULES = {7: shows_every_text, 11: is_declined, 26: shows_every_result}
