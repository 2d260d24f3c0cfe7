"""The log lines about plugins and configurations of a command that answers and ends."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import format_exception
from typing import Final

import click

_LOGGERS: Final = ("kubesched.plugin", "kubesched.config")
_PACKAGE: Final = Path(__file__).parents[1]


def log_once() -> None:
    """Until the command that runs now ends, log each fault of a plugin and each note on a configuration once.

    A fault is logged for the first pod and node that meet it. A command may read one file for each of its runs. What a
    plugin logs itself is left alone.
    """
    click.get_current_context().with_resource(_once())


@contextmanager
def _once() -> Iterator[None]:
    loggers, seen = [logging.getLogger(name) for name in _LOGGERS], _Seen()
    for logger in loggers:
        logger.addFilter(seen)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(seen)


class _Seen(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._lines: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is the first of its text and its fault, or not from kubesched."""
        if not Path(record.pathname).is_relative_to(_PACKAGE):
            return True
        error = record.exc_info[1] if record.exc_info else None
        line = record.getMessage() + ("".join(format_exception(error)) if error else "")
        if line in self._lines:
            return False
        self._lines.add(line)
        return True
