import sys

import pytest

from proctor import ScorerRunError, UsageError, scorers
from proctor.scorers.code import tone as module


def scored(output, **options):
    return scorers.tone(**options).run_sync(output=output).score


@pytest.mark.parametrize(
    "output",
    [
        pytest.param("", id="empty"),
        pytest.param("...", id="no words"),
        pytest.param("I love this, it is wonderful!", id="one sentence"),
        pytest.param("Great! Great! Great!", id="always the same"),
        pytest.param("The meeting is at noon. It takes an hour.", id="neutral"),
        pytest.param([], id="no messages"),
    ],
)
def test_what_does_not_change_is_steady(output):
    assert scored(output) == 1


def test_the_more_the_tone_changes_the_less_steady_it_is():
    steady = "This is great. I like it. Good work."
    wavering = "This is great. It is fine. It could be worse."
    torn = "This is wonderful, I love it! This is horrible, I hate it!"
    assert 1 > scored(steady) > scored(wavering) > scored(torn) > 0


def test_a_last_sentence_without_a_stop_counts():
    assert scored("Great work. terrible awful horrible") < 0.5


def test_each_message_has_its_own_sentences():
    apart = [{"role": "assistant", "content": text} for text in ("wonderful", "horrible")]
    assert scored(apart) < scored("wonderful horrible") == 1


@pytest.mark.parametrize(
    ("nearer", "farther"),
    [
        ("I love this, it is wonderful!", "The meeting is at noon."),
        ("The meeting is at noon.", "I hate this, it is terrible."),
        ("good", "bad"),
        ("good", "not good"),
        ("😀", "😡"),
    ],
)
def test_near_to_a_reference(nearer, farther):
    happy = "I am very happy and pleased"
    assert 1 >= scored(nearer, reference_tone=happy) > scored(farther, reference_tone=happy) >= 0


def test_the_reference_itself_is_nearest():
    assert scored("Sadly we cannot. Sorry!", reference_tone="Sadly we cannot. Sorry!") == 1


def test_an_empty_reference_is_none():
    assert scorers.tone(reference_tone="").key == scorers.tone().key == "tone-scorer"


@pytest.mark.parametrize(
    "output", ["今日はとても楽しい。", "วันนี้มีความสุขมาก", "Я очень рад!", "I said 今日はとても楽しい。"]
)
def test_u03_other_scripts_are_not_scorable(output):
    outcome = scorers.tone().run_sync(output=output)
    assert outcome.status == "not_scorable"
    assert "English" in outcome.reason


@pytest.mark.parametrize(
    ("reference", "message"), [(3, "must be text, not 3"), ("とても嬉しい", "must be English, not 'とても嬉しい'")]
)
def test_a_reference_that_cannot_be_used_is_refused(reference, message):
    with pytest.raises(UsageError, match=message):
        scorers.tone(reference_tone=reference)


def test_the_reason_has_the_numbers():
    assert scorers.tone().run_sync(output="Good. Bad.").reason == "feeling -0.05 over 2 sentences, variance 0.24"
    outcome = scorers.tone(reference_tone="Good.").run_sync(output="Bad.")
    assert outcome.reason == "feeling -0.54 over 1 sentence, +0.44 in the reference"


def test_none_is_unreadable():
    with pytest.raises(ScorerRunError) as caught:
        scored(None)
    assert caught.value.__cause__.code == "UNREADABLE_OUTPUT"


def test_without_the_word_list_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    module._analyzer.cache_clear()
    with pytest.raises(UsageError, match=r'pip install "proctor\[tone\]"') as caught:
        scorers.tone()
    assert caught.value.code == "MISSING_DEPENDENCY"
