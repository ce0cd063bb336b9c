"""What is promised is in the documents."""

import re

import proctor
from tests.support import ROOT


def test_every_name_of_the_front_door_is_on_its_page():
    page = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(proctor.__all__)


def test_every_check_is_on_its_page():
    page = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE)) == sorted(proctor.checks.__all__)
