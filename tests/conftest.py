"""Settings of every test run."""

import gc
import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from kubesched.setup import registry
from tests.forks import Forks
from tests.trials import TIMES

TESTS = Path(__file__).parent

# A shared machine stalls now and then, so no example is failed for its time; pytest's timeout still ends a hang.
settings.register_profile("local", deadline=None, max_examples=40 * TIMES)
LOCAL = settings.get_profile("local")
settings.register_profile("ci", LOCAL, derandomize=True)  # the same examples for the same source
settings.load_profile("ci" if os.environ.get("CI") else "local")

# Thousands of tests build profiles, and each time it reads a file of every installed package.
registry.entry_points = cache(registry.entry_points)


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """`kubesched` and `python` that start at once."""
    with Forks() as forks:
        yield forks


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every search for devices takes too long: no pod that needs some is decided."""
    monkeypatch.setattr("kubesched.plugins.dynamic_resources.patience.MOST_LOOKS", 0)
    monkeypatch.setattr("kubesched.plugins.dynamic_resources.device_search._FEW_LOOKS", 0)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect the tests without the garbage collector, and have it never look at them again.

    They are more than a million objects, and many a test asks for a full collection, or for all objects.
    """
    gc.disable()
    try:
        import_share(session.config)
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Have the garbage collector never look again at what a file of tests leaves, such as recordings that were read."""
    try:
        return (yield)
    finally:
        if nextitem is not None and nextitem.path != item.path:
            gc.collect()
            gc.freeze()


def import_share(config: pytest.Config) -> None:
    """Import some of the test files first, where several processes collect all of them.

    The first process that imports a file compiles it for all. In the same order, each process would compile every file.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or [Path(argument).resolve() for argument in config.args] != [TESTS]:
        return
    files = sorted(file for file in TESTS.rglob("test_*.py") if "integration" not in file.parts)
    for file in files[int(worker["workerid"][2:]) :: worker["workercount"]]:
        with suppress(Exception):  # which pytest reports when it collects the file
            importlib.import_module(".".join(file.relative_to(TESTS.parent).with_suffix("").parts))


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Give back what a server or a scheduler sets for its whole process.

    What it freezes with itself would never be freed: the objects of a test are not frozen.
    """
    thresholds, freeze = gc.get_threshold(), gc.freeze
    gc.freeze = lambda: None
    yield
    gc.freeze = freeze
    gc.set_threshold(*thresholds)


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    """Give back the levels that a command sets for its whole process, such as that of --debug."""
    loggers = [logging.getLogger(name) for name in ("", "kubesched", "kubesched.plugin", "kubesched.scheduler")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
