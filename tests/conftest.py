import os
import platform

import pytest
from hypothesis import is_hypothesis_test, settings

from tests.support import ROOT, shared_root

# A loaded machine is slow, not wrong.
settings.register_profile("proctor", deadline=None)
settings.load_profile("proctor")


def pytest_report_header() -> str:
    machine = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    without = "fail" if os.environ.get("CI") == "true" else "are skipped"
    return f"proctor: {machine}; shared data {'found' if shared_root() else f'not found: tests that need it {without}'}"


@pytest.hookimpl(tryfirst=True)  # before pytest looks at -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_slow(item):
            item.add_marker(pytest.mark.slow)


def is_slow(item: pytest.Item) -> bool:
    """Whether `./check fast` leaves it out without being told: it tries many values or cases, or starts a process."""
    place = item.path.relative_to(ROOT)
    return (
        place.suffix == ".md"
        or place.parts[:2] in {("tests", "golden"), ("tests", "real")}
        or "start_proctor" in getattr(item, "fixturenames", ())
        or is_hypothesis_test(getattr(item, "obj", None))
    )
