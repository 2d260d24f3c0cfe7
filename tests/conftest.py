"""Settings of every test run."""

import gc
import logging
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.forks import Forks

# A shared machine stalls now and then, so no example is failed for its time; pytest's timeout still ends a hang.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)  # the same examples for the same source
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    """`kubesched` and `python` that start at once."""
    with Forks() as forks:
        yield forks


@pytest.fixture(autouse=True)
def _collector() -> Iterator[None]:
    """Give back what a server or a scheduler sets for its whole process.

    It freezes the heap, and a load of a cluster counts what is frozen: half a million objects in a run of all tests.
    """
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@pytest.fixture(autouse=True)
def log_levels() -> Iterator[None]:
    """Give back the levels that a command sets for its whole process, such as that of --debug."""
    loggers = [logging.getLogger(name) for name in ("", "kubesched", "kubesched.plugin", "kubesched.scheduler")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
