import platform

from hypothesis import settings

from tests.support import shared_root

# A loaded machine is slow, not wrong.
settings.register_profile("proctor", deadline=None)
settings.load_profile("proctor")


def pytest_report_header() -> str:
    machine = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    return (
        f"proctor: {machine}; shared data {'found' if shared_root() else 'not found: tests that need it are skipped'}"
    )
