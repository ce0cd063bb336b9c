"""What several tests use."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).parents[1]


def shared_root() -> Path | None:
    """Where the shared data lies: $PROCTOR_SHARED, or `shared` beside the checkout; None when there is none."""
    given = os.environ.get("PROCTOR_SHARED")
    root = Path(given) if given else ROOT.parent / "shared"
    return root if root.is_dir() else None


def shared(name: str = "") -> Path:
    """The shared file or folder of that name. A test that needs one that is missing is skipped; in CI it fails."""
    root = shared_root()
    if root is not None and (root / name).exists():
        return root / name
    return missing("shared data", f": {name or 'the folder itself is missing'}")


def missing(what: str, which: str = "") -> NoReturn:
    """Skip a test that needs what is not there; in CI it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"no {what}{which}")
    pytest.skip(f"skipped: no {what}", allow_module_level=True)
