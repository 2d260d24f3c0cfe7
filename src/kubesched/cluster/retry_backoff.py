"""Computes how long to wait before the next attempt."""

from kubesched.cluster.timing import Timing


class Backoff:
    """Delays that double from a first to a longest one, with up to as much again by chance.

    Rule: client-go's reflector: 0.8 s to 30 s, factor 2, jitter 1.0, from the beginning again after two minutes
    without a call. The jitter keeps the clients of a server that comes back from arriving together.
    """

    def __init__(self, timing: Timing, *, first: float = 0.8, longest: float = 30.0, quiet: float = 120.0) -> None:
        self._timing = timing
        self._first = first
        self._longest = longest
        self._quiet = quiet
        self._delay = first
        self._asked_at = timing.monotonic()

    def next(self) -> float:
        """Seconds to wait now."""
        now = self._timing.monotonic()
        if now - self._asked_at > self._quiet:
            self._delay = self._first
        self._asked_at = now
        delay = self._delay
        self._delay = min(delay * 2, self._longest)
        return delay * (1 + self._timing.rng.random())
