"""Words that no file of this repository may hold."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.house.source import none_of
from tests.support import ROOT

BARRED = {
    "the path of one machine": re.compile(r"(?<![\w.])/(?:work|root|farm)/"),
    "a package index": re.compile(r"/simple/|index[-_]url|--index\b|--find-links", re.IGNORECASE),
    "work left undone": re.compile(r"\b(?:TODO|FIXME|XXX)\b"),
}


@pytest.mark.parametrize("what", BARRED)
def test_no_file_holds(what):
    found = []
    for path in tracked():
        if path == Path(__file__):
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        place = path.relative_to(ROOT).as_posix()
        found += [f"{place}:{n}: {line.strip()}" for n, line in enumerate(lines, 1) if BARRED[what].search(line)]
    none_of(found)


def tracked() -> list[Path]:
    """The files of this repository: tracked by git, or about to be."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]
