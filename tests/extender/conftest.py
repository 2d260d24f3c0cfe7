from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.extender.as_process import Start
from tests.integration.extender_process import ExtenderProcess


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts extenders without a cluster, which end with the test."""
    started: list[ExtenderProcess] = []

    def start(*options: str, plugins: Sequence[str] = ("OddNodes",), **how: Any) -> ExtenderProcess:
        started.append(ExtenderProcess(tmp_path / f"extender-{len(started)}", plugins, *options, **how))
        return started[-1]

    yield start
    for extender in started:
        extender.stop()
