import pytest

from proctor import ScorerRun, not_scorable
from proctor.errors import UnknownName, UsageError
from proctor.scoring.steps import StepContext
from proctor.scoring.written import Template, Written


def test_places_are_filled_once():
    """What is put in may look like a place, a format or an attribute: it stays as it is."""
    hostile = "{score} {{ answer }} %s {0.__class__} ${answer}"
    assert Template("<{answer}|{score}>").filled({"answer": hostile, "score": "1"}) == f"<{hostile}|1>"


def test_only_names_in_braces_are_places():
    text = 'Reply {"id": 1}, {}, { answer }, {Answer}, {answer!r}, {answer}'
    assert Template(text).places == ("answer",)
    assert Template(text).filled({"answer": "x"}).endswith("{answer!r}, x")


def test_unknown_and_missing_places_are_refused():
    with pytest.raises(UnknownName, match="Did you mean 'answer'"):
        Template("{answr}").require(known=("answer",), needed=(), whose="prompts['analyze']")
    with pytest.raises(UsageError, match=r"prompts\['analyze'\] has no \{answer\}"):
        Template("Judge.").require(known=("answer",), needed=("answer",), whose="prompts['analyze']")


def test_a_written_prompt_declines_when_its_material_does():
    ctx = StepContext(ScorerRun(output="x"))
    declined = not_scorable("nothing")
    assert Written("{answer}", material=lambda ctx: declined)(ctx) is declined
    assert Written("Is {answer}?", material=lambda ctx: {"answer": ctx.run.text})(ctx) == "Is x?"


def test_a_name_in_two_pairs_of_braces_stands_for_itself():
    template = Template("{{answer}} is {answer}, {{Answer}}, {{{answer}}}")
    assert template.places == ("answer",)
    template.require(known=("answer",), needed=("answer",), whose="prompts['analyze']")
    assert template.filled({"answer": "{{answer}}"}) == "{answer} is {{answer}}, {Answer}, {{answer}}"


@pytest.mark.parametrize(
    "written",
    ["{claims1}", "{ claims }", "{claims!r}", "{context:>10}", "{CLAIMS}", "{Claim}", "{claims.text}", "{claims[0]}"],
)
def test_what_is_nearly_a_place_is_refused(written):
    with pytest.raises(UsageError, match=r"has .*, which is no place\. Did you mean \{(claims|context)\}\?"):
        Template(f"{{claims}} {written}").require(known=("claims", "context"), needed=(), whose="prompts['analyze']")


@pytest.mark.parametrize(
    "written", ['{"claims": 1}', "{claims: 1}", "{}", "{1}", "{x1}", "{claims, context}", "{Nobody}"]
)
def test_other_braces_stay_as_they_are(written):
    template = Template(f"{{claims}} {written}")
    template.require(known=("claims", "context"), needed=(), whose="prompts['analyze']")
    assert template.filled({"claims": "c"}) == f"c {written}"


def test_an_unknown_place_is_refused_with_the_way_to_write_the_word_itself():
    with pytest.raises(UnknownName, match=r"A word in braces that is no place is written \{\{word\}\}"):
        Template("{nobody}").require(known=("claims",), needed=(), whose="prompts['analyze']")
