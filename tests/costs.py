"""Prints the CPU seconds of each test file after a run: `make test ARGS="-p tests.costs"`.

The seconds of `--durations` depend on what else the machine does; these do not. They contain those of child processes
that have ended. What a shared fixture takes counts for the test that starts or stops it.
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

NAME = "CPU seconds"
SHOWN = 40


def spent() -> float:
    return sum(os.times()[:4])


class Clock:
    """The CPU seconds of this process and of its children."""

    def __init__(self) -> None:
        self.read = spent()

    def lap(self) -> float:
        """The seconds since the last call."""
        before, self.read = self.read, spent()
        return self.read - before


CLOCK = Clock()


def pytest_runtest_logstart() -> None:
    CLOCK.lap()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report: Any = yield
    report.user_properties.append((NAME, CLOCK.lap()))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    files, tests = Counter[str](), Counter[str]()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds = sum(value for name, value in report.user_properties if name == NAME)
                files[report.nodeid.partition("::")[0]] += seconds
                tests[report.nodeid] += seconds
    for title, costs in (("files", files), ("tests", tests)):
        terminalreporter.section(f"{NAME}: {costs.total():.0f}, the most expensive {title}")
        for name, seconds in costs.most_common(SHOWN):
            terminalreporter.write_line(f"{seconds:7.2f}  {name}")
