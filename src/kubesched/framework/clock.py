"""The clock interface. The core never reads the machine's time; a driver passes a clock."""

from typing import Protocol


class Clock(Protocol):
    """Where time comes from; the simulator's is virtual."""

    def monotonic(self) -> float:
        """Seconds, for durations."""
        ...

    def now(self) -> float:
        """Seconds since 1970-01-01 UTC, for stamps."""
        ...


class VirtualClock(Clock):
    """A clock that moves when its driver moves it.

    Attributes:
        seconds: since the run began.

    Example:
        clock = VirtualClock()
        clock.advance_to(5)
        assert clock.monotonic() == 5
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        """Seconds since the run began."""
        return self.seconds

    def now(self) -> float:
        """The same: a run begins at the epoch, so that runs of the same input give the same stamps."""
        return self.seconds

    def advance_to(self, seconds: float) -> None:
        """Let time pass; never backwards."""
        self.seconds = max(self.seconds, seconds)
