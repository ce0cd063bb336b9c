"""Cases U01 and U03: text that is not ASCII, and text that is hardly text."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proctor import Item, checks, run_evals
from proctor.data.codec import dumps, loads

LONE = "It is sunny \udc00 in Brooklyn."
LANGUAGES = {
    "thai": "วันนี้อากาศแจ่มใสในกรุงเทพฯ อุณหภูมิ ๓๑ องศา",
    "chinese": "布鲁克林今天天气晴朗，气温二十一度。",
    "arabic": "الطقس مشمس اليوم في بروكلين، ودرجة الحرارة ٢١ مئوية.",
}


async def test_u01_a_lone_surrogate_in_the_output_ends_no_run():
    result = await run_evals(
        data=[Item("Weather?", id="lone \udc01")],
        target=lambda question: LONE,
        gates=[checks.includes("Brooklyn"), checks.equals(LONE), checks.matches("sunny . in")],
        scorers=[(checks.similarity(LONE), 1), (checks.includes("rain \udc02"), 1)],
    )
    assert [outcome.status for outcome in result.items[0].outcomes] == ["scored"] * 5
    assert [outcome.score for outcome in result.items[0].gates] == [1, 1, 1]
    assert result.verdict == "scored"
    assert result.items[0].output == LONE


async def test_u01_what_is_shown_can_be_written_anywhere():
    result = await run_evals(
        data=[Item("Weather?", id="lone \udc01")], target=lambda question: LONE, gates=[checks.equals("rain \udc02")]
    )
    shown = str(result)
    assert shown.encode()
    assert r"\udc00" in shown
    assert r"\udc02" in shown


async def test_u01_a_result_is_written_and_read_back():
    result = await run_evals(data=[Item("Weather?")], target=lambda question: LONE, scorers=[checks.includes("sun")])
    text = dumps(result)
    assert text.encode()
    assert dumps(loads(text)) == text
    assert loads(text).items[0].output == LONE


@pytest.mark.slow
def test_u01_the_command_prints_the_escape(tmp_path):
    data = tmp_path / "saved.jsonl"
    data.write_text(json.dumps({"id": "lone", "input": "Weather?", "output": LONE}), encoding="utf-8")
    ended = subprocess.run(
        [Path(sys.executable).with_name("proctor"), "score", data, "--gate", 'equals("rain")'],
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 1
    assert r"\udc00" in ended.stdout.decode()


@pytest.mark.parametrize("text", LANGUAGES.values(), ids=LANGUAGES)
def test_u03_identical_text_in_any_language_scores_one(text):
    exact = [
        checks.equals(text),
        checks.includes(text),
        checks.similarity(text),
        checks.similarity(text, ignore_case=False),
        checks.matches(re.escape(text), exact=True),
        checks.excludes(text + "!"),
    ]
    assert [check.run_sync(output=text).score for check in exact] == [1.0] * len(exact)


@pytest.mark.parametrize("text", LANGUAGES.values(), ids=LANGUAGES)
def test_u03_a_part_is_found_and_quoted_as_it_is_written(text):
    part = text[3:9]
    outcome = checks.includes(part).run_sync(output=text)
    assert outcome.score == 1.0
    assert part in outcome.reason


@pytest.mark.parametrize("text", LANGUAGES.values(), ids=LANGUAGES)
def test_u03_other_text_scores_below_one(text):
    other = text[:-4] + "?" + text[-3:]
    assert checks.equals(text).run_sync(output=other).score == 0.0
    assert 0.0 < checks.similarity(text).run_sync(output=other).score < 1.0
