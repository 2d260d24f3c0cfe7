"""The sources are parsed once for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.architecture.sources import MODULES


@pytest.fixture(scope="package", autouse=True)
def _sources() -> Iterator[None]:
    """Not longer: they are more than half of all objects that the garbage collector looks through."""
    with MODULES.kept():
        yield
