"""What is promised is in the documents."""

import re

import proctor
from proctor.data.secret_rules import DEFAULT_RULES
from tests.support import ROOT


def test_every_name_of_the_front_door_is_on_its_page():
    page = (ROOT / "docs" / "names.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(proctor.__all__)


def test_every_check_is_on_its_page():
    page = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE)) == sorted(proctor.checks.__all__)


def test_every_rule_about_secrets_is_on_its_page():
    page = (ROOT / "docs" / "secrets.md").read_text(encoding="utf-8")
    cells = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    told = {row[0].removeprefix("| "): set(re.findall(r"`([*\w]+)`", row[1])) for row in cells[2:]}
    rules: dict[str, set[str]] = {}
    for rule in DEFAULT_RULES:
        rules.setdefault(rule.name, set()).update(rule.keys)
    assert told == rules


def test_every_file_of_a_judged_step_is_on_its_map():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "src" / "proctor" / "judging").glob("*.py")} - {"__init__.py"}
    assert sorted(name for name in files if f"`{name}`" not in page and f"judging/{name}" not in page) == []
