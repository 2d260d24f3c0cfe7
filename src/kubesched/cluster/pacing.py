"""When a request may be sent: the rate, like `clientConnection` of kube-scheduler, and the wait before a retry."""

import asyncio

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


class RateLimit:
    """A token bucket: `burst` requests at once, `qps` a second after that; requests keep their order.

    Patient requests have a separate order: only the first of them takes its place among the others, so that
    another request has one of them before it at most.

    Args:
        qps: requests per second; 0 or less means no limit.
        burst: how many may go out at once, at least 1.
    """

    def __init__(self, qps: float, burst: int, timing: Timing) -> None:
        self._qps = qps
        self._burst = max(burst, 1)
        self._timing = timing
        self._tokens = float(self._burst)
        self._filled_at = timing.monotonic()
        self._patient = asyncio.Lock()

    async def acquire(self, *, is_patient: bool = False) -> None:
        """Wait for this request's turn."""
        if self._qps <= 0:
            return
        if is_patient:
            async with self._patient:
                await self.acquire()
            return
        now = self._timing.monotonic()
        self._tokens = min(self._tokens + (now - self._filled_at) * self._qps, self._burst)
        self._filled_at = now
        self._tokens -= 1  # taken at once, below zero if need be: the next request waits behind this one
        if self._tokens < 0:
            await self._timing.sleep(-self._tokens / self._qps)
