"""One control plane for all integration tests of a worker, emptied before each of them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.integration.build import BuildError, find_binary
from tests.integration.cleaning import clear
from tests.integration.control_plane import ControlPlane
from tests.integration.deploy_tools import TOOLS, can_have, find_tool, variable
from tests.integration.extender_process import ExtenderProcess
from tests.integration.scheduler_process import NO_FIELDS, SchedulerProcess

StartExtender = Callable[..., ExtenderProcess]

LONGEST = (
    "test_extender_faults",
    "test_live_scheduler",
    "test_checked_configurations",
    "test_live_weather",
    "test_one_class_two_ways",
    "test_other_scheduler",
    "test_fix_commands",
    "test_extender",
    "test_live_extenders",
    "test_article_configurations",
    "test_first_scheduler",
    "test_live_faults",
    "test_live_leader",
    "test_controlplane",
    "test_live_storm",
    "test_live_churn",
)
"""Files that take longest, the longest first: a worker that began one of them last would work on alone."""


class StartScheduler(Protocol):
    def __call__(self, config: Mapping[str, Any] = NO_FIELDS) -> SchedulerProcess: ...


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, and give each test the time to start what it shares with others."""
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(LONGEST)))
    for item in items:
        if item.get_closest_marker("integration") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(180))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build before the first test, whose time limit a build would break."""
    if any(item.get_closest_marker("integration") for item in session.items) and not session.config.option.collectonly:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        fixtures = {name for item in session.items for name in getattr(item, "fixturenames", ())}
        try:
            find_binary(reporter.write_line if reporter else lambda line: None)
            for tool in fixtures.intersection(TOOLS):
                if can_have(tool):
                    find_tool(tool)
        except BuildError as error:
            raise pytest.UsageError(str(error)) from None


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """An etcd and an API server that all tests share; see `cluster`."""
    folder = tmp_path_factory.mktemp("control-plane")
    with ControlPlane(find_binary(lambda line: None), folder, is_audited=True) as plane:
        yield plane


@pytest.fixture
def cluster(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane without any object of an earlier test."""
    clear(control_plane.client)
    return control_plane


@pytest.fixture
def start_scheduler(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartScheduler]:
    """Starts stock kube-schedulers, which end with the test: `start_scheduler({"profiles": [...]})`."""
    started = []

    def start(config: Mapping[str, Any] = NO_FIELDS) -> SchedulerProcess:
        started.append(SchedulerProcess(cluster, tmp_path_factory.mktemp("kube-scheduler"), config))
        return started[-1]

    yield start
    for scheduler in started:
        scheduler.stop()


@pytest.fixture
def start_extender(cluster: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartExtender]:
    """Starts extenders, which end with the test: `start_extender("names", ["OddNodes"])`."""
    started: list[ExtenderProcess] = []

    def start(mode: str, plugins: list[str], *options: str, **how: Any) -> ExtenderProcess:
        folder = tmp_path_factory.mktemp("extender")
        if mode == "names":
            options = (*options, "--kubeconfig", str(cluster.kubeconfig(folder / "kubeconfig")))
        started.append(ExtenderProcess(folder, plugins, *options, **how))
        return started[-1]

    yield start
    for extender in started:
        extender.stop()


@pytest.fixture(scope="session")
def helm() -> Path:
    """The program helm."""
    return ready_tool("helm")


@pytest.fixture(scope="session")
def kustomize() -> Path:
    """The program kustomize."""
    return ready_tool("kustomize")


def ready_tool(tool: str) -> Path:
    if not can_have(tool):
        pytest.skip(f"no Go to build {tool} with; install Go, or name a ready {tool} in {variable(tool)}")
    return find_tool(tool)
