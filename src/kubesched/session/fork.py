"""A stretch of changes that is taken back, or kept."""

from collections.abc import Callable


class SessionFork:
    """What has changed in a session since `fork`.

    Args:
        take_back, keep: end the stretch.
    """

    def __init__(self, take_back: Callable[[], None], keep: Callable[[], None]) -> None:
        self._take_back = take_back
        self._keep = keep
        self._is_open = True

    def revert(self) -> None:
        """Take the changes back now; those that are made afterwards stay. A second call does nothing."""
        self._end(self._take_back)

    def commit(self) -> None:
        """Keep the changes; a fork around this one can still take them back."""
        self._end(self._keep)

    def _end(self, how: Callable[[], None]) -> None:
        if self._is_open:
            self._is_open = False
            how()
