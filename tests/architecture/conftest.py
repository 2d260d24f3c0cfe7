"""The sources are parsed once for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.architecture.sources import MODULES


@pytest.fixture(scope="package", autouse=True)
def _sources() -> Iterator[None]:
    """Forget them afterwards: they are half of all objects that the garbage collector would look through."""
    yield
    MODULES.forget()
