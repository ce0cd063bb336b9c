"""The options that several scorers have."""

import pytest

from proctor.errors import UsageError
from proctor.models.providers import PROVIDERS as KNOWN
from proctor.scorers.options import PROVIDERS, margin_option, scale_option, share_option, text_of


@pytest.mark.parametrize("value", ["", " \n", None, 3, ["a"]])
def test_a_text_must_say_something(value):
    with pytest.raises(UsageError, match="some_scorer: criterion is a text that is not empty"):
        text_of(value, name="criterion", scorer="some_scorer", such_as="It is kind")
    assert text_of(" a ", name="criterion", scorer="some_scorer", such_as="It is kind") == "a"


@pytest.mark.parametrize("value", ["openai:gpt-5-mini", " local:/models/tiny.gguf", "anthropic:claude-x"])
def test_the_name_of_a_model_is_no_criterion(value):
    with pytest.raises(UsageError, match="Did you mean model='"):
        text_of(value, name="criterion", scorer="some_scorer", such_as="It is kind")


@pytest.mark.parametrize("value", ["openai: it names the firm", "kind:yes", "openai:", "It says openai:gpt-5"])
def test_other_texts_with_a_colon_are_criteria(value):
    assert text_of(value, name="criterion", scorer="some_scorer", such_as="It is kind") == value


def test_every_provider_is_known_here():
    assert KNOWN.keys() | {"local"} <= PROVIDERS


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(10**400, id="more than a float"),
        pytest.param(10**5000, id="more than can be shown"),
        pytest.param(-(10**400), id="less than a float"),
        float("nan"),
        -1,
        True,
        "1",
        None,
    ],
)
def test_numbers_are_refused_and_never_overflow(value):
    with pytest.raises(UsageError, match="some_scorer: penalty must be a number, 0 or more"):
        margin_option(value, name="penalty", scorer="some_scorer")
    with pytest.raises(UsageError, match="some_scorer: scale is a number above 0"):
        scale_option(value, scorer="some_scorer")


def test_a_share_is_at_most_one():
    assert share_option(1, name="weight", scorer="some_scorer") == 1.0
    with pytest.raises(UsageError, match=r"some_scorer: weight is at most 1, what a yes counts, not 1\.5"):
        share_option(1.5, name="weight", scorer="some_scorer", of="what a yes counts")
