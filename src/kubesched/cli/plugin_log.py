"""The log lines about plugins of a command that answers and ends."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from typing import Final

import click

__all__ = ["log_faults_once"]

_PACKAGE: Final = Path(__file__).parents[1]


def log_faults_once() -> None:
    """Until the command that runs now ends, log each fault of a plugin once, for the first pod and node that meet it.

    What a plugin logs itself is left alone.
    """
    click.get_current_context().with_resource(_once())


@contextmanager
def _once() -> Iterator[None]:
    logger, seen = logging.getLogger("kubesched.plugin"), _Seen()
    logger.addFilter(seen)
    try:
        yield
    finally:
        logger.removeFilter(seen)


class _Seen(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._faults: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is the first of its fault, or not from kubesched."""
        if not Path(record.pathname).is_relative_to(_PACKAGE):
            return True
        error = record.exc_info[1] if record.exc_info else None
        fault = record.getMessage() + ("".join(format_exception(error)) if error else "")
        if fault in self._faults:
            return False
        self._faults.add(fault)
        return True
