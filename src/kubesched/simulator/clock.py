"""Time that passes when the simulator says so."""

from kubesched.framework import Clock

__all__ = ["VirtualClock"]


class VirtualClock(Clock):
    """A clock that stands still between steps.

    Attributes:
        seconds: since the simulation began.
    """

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        """Seconds since the simulation began."""
        return self.seconds

    def now(self) -> float:
        """The same: a simulation begins at the epoch, so that runs of the same input give the same stamps."""
        return self.seconds

    def advance_to(self, seconds: float) -> None:
        """Let time pass; never backwards."""
        self.seconds = max(self.seconds, seconds)
