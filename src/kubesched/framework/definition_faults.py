"""When a plugin class that cannot work is an error: where it is defined, or not before it is taken from its module."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_KEPT: Final = ContextVar("are faults kept", default=False)


def are_faults_kept() -> bool:
    """Whether a class keeps its fault, which is raised when the class is taken from its module."""
    return _KEPT.get()


@contextmanager
def keeping_definition_faults() -> Iterator[None]:
    """Let a module with such a class be imported inside the block, so that its other classes can be used."""
    token = _KEPT.set(True)
    try:
        yield
    finally:
        _KEPT.reset(token)
