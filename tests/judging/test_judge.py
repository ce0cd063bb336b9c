"""What a judge can be set to."""

import pytest

from proctor.errors import UsageError
from proctor.judging.judge import Judge


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("temperature", "hot", "a number"),
        ("temperature", float("nan"), "a number"),
        ("top_p", True, "a number"),
        ("max_tokens", 1.5, "a whole number"),
        ("seed", "1", "a whole number"),
        ("extra_headers", ["a"], "a mapping"),
        ("logit_bias", 3, "a mapping"),
        ("stop_sequences", "END", "a list of texts"),
        ("stop_sequences", [1], "a list of texts"),
    ],
)
def test_a_setting_of_another_kind_is_refused_when_it_is_written(name, value, kind):
    with pytest.raises(UsageError) as raised:
        Judge("openai:m", settings={name: value})
    assert f"Judge(settings={{{name!r}: ...}}) is {kind}, not " in str(raised.value)


def test_settings_of_the_right_kind_and_those_of_a_provider_are_taken():
    settings = {
        "temperature": 0,
        "top_p": 0.5,
        "max_tokens": 9,
        "seed": None,
        "stop_sequences": ("END",),
        "thinking": "low",
        "openai_reasoning_effort": "low",
    }
    assert Judge(settings=settings).settings == settings
