import pytest

from tests.golden.replay import replayed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if replayed:
        terminalreporter.section("replayed cases of the reference")
        for line in replayed:
            terminalreporter.line(line)
