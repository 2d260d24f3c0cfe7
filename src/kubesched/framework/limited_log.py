"""Logs at most a few lines in a window of time: for texts that clients or plugins choose, however many there are."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

_WINDOW_SECONDS: Final = 60.0


class LimitedLog:
    """Logs each text once in a window, and counts the texts that are left out.

    Args:
        log: where the lines go.
        left_out: the line after a window with too many texts, with `%d` for how many were not logged.
        monotonic: the clock.
        n_lines: how many different texts are logged in a window.
    """

    def __init__(self, log: logging.Logger, left_out: str, monotonic: Callable[[], float], n_lines: int = 8) -> None:
        self._log, self._left_out, self._monotonic, self._n_lines = log, left_out, monotonic, n_lines
        self._texts: set[str] = set()
        self._n_left_out = 0
        self._ends = 0.0

    @property
    def n_kept(self) -> int:
        """How many texts of this window are kept."""
        return len(self._texts)

    def note(self, text: str, level: int = logging.WARNING, extra: Mapping[str, Any] | None = None) -> None:
        """Log a text, or count it."""
        now = self._monotonic()
        if now >= self._ends:
            if self._n_left_out:
                self._log.warning(self._left_out, self._n_left_out)
            self._texts.clear()
            self._n_left_out, self._ends = 0, now + _WINDOW_SECONDS
        if text in self._texts or len(self._texts) >= self._n_lines:
            self._n_left_out += 1
            return
        self._texts.add(text)
        self._log.log(level, "%s", text, extra=extra)
