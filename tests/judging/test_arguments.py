"""Arguments that are not taken, and what is said of them."""

import inspect

import pytest

from proctor import Judge, Prompt, create_scorer
from proctor.errors import UsageError


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Judge("m", temperature=0), "is a setting of the model: Judge(settings={'temperature': 0})"),
        (lambda: Judge(retrys=3), "Judge takes no retrys=. Did you mean 'retries'? It takes model, instructions, "),
        (lambda: Judge("m", "Be kind."), "Judge('openai:NAME', instructions='...')"),
        (lambda: create_scorer(id="s", model="m"), "model belongs to the judge: judge=Judge(model='m')"),
        (lambda: create_scorer(id="s", instructions="Be"), "instructions belongs to the judge: judge=Judge(instr"),
        (lambda: create_scorer(id="s", temperature=0), "judge=Judge(settings={'temperature': 0})"),
        (lambda: create_scorer(id="s", descripton="d"), "Did you mean 'description'?"),
        (lambda: create_scorer("s"), "create_scorer(id='refund-policy', ...)"),
        (lambda: Prompt("d", settings={}, create=str), "settings belongs to the judge: judge=Judge(settings={})"),
        (lambda: Prompt("d", creates=str), "Prompt takes no creates=. Did you mean 'create'?"),
    ],
    ids=[
        "setting", "misspelt", "by place", "model", "instructions", "setting of a scorer", "misspelt of a scorer",
        "id by place", "of a prompt", "misspelt of a prompt",
    ],
)  # fmt: skip
def test_what_is_not_taken_is_said_with_what_is_meant(make, says):
    with pytest.raises(UsageError) as raised:
        make()
    assert says in str(raised.value)


def test_signatures_stay():
    assert list(inspect.signature(Judge).parameters)[:2] == ["model", "instructions"]
    assert list(inspect.signature(Prompt).parameters) == ["description", "output", "create", "judge", "check"]
    assert "scale" in inspect.signature(create_scorer).parameters


def test_what_is_missing_is_an_error_as_ever():
    with pytest.raises(TypeError, match="description"):
        Prompt(create=str)
