"""A pytest plugin of the campaign: notes which test executes what, or runs chosen tests in the order given."""

import json
import resource
from collections import Counter
from pathlib import Path

import coverage
import pytest

MEMORY = 6 * 2**30  # bytes; changed code may collect without end


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chosen", type=Path, help="a JSON list of node ids: these tests alone, in this order")
    parser.addoption("--outcome", type=Path, help="where to write what came of it, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Notes(config))
    if config.getoption("--chosen"):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Notes:
    """Which tests failed, in order, and how many seconds each took with its fixtures."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.seconds: Counter[str] = Counter()
        self.failed: dict[str, str] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if chosen := self.config.getoption("--chosen"):
            order = {name: i for i, name in enumerate(json.loads(chosen.read_text()))}
            items[:] = sorted((item for item in items if item.nodeid in order), key=lambda item: order[item.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        if measuring := coverage.Coverage.current():
            measuring.switch_context(item.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed[report.nodeid] = "collection"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            timed_out = "from pytest-timeout" in str(report.longrepr)
            self.failed.setdefault(report.nodeid, "timed out" if timed_out else report.when or "")

    def pytest_sessionfinish(self) -> None:
        if outcome := self.config.getoption("--outcome"):
            outcome.write_text(json.dumps({"seconds": self.seconds, "failed": self.failed}))
