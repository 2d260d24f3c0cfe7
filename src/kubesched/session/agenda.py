"""What is known beforehand to happen in a cluster while a run goes on, with its times."""

from typing import Protocol

from kubesched.api import Pod


class Agenda(Protocol):
    """Events of a cluster in the order of time. A run lets time pass until the next one, and no further.

    The cluster is at rest when `carry_out` is called: no pod is being decided. `bound` and `left` are called in the
    middle of an event, and change nothing of the cluster.
    """

    def next_time(self) -> float | None:
        """When something happens next; None if nothing does, which ends the run once no pod can be tried."""
        ...

    def carry_out(self, now: float) -> None:
        """Have everything happen that is due."""
        ...

    def bound(self, pod: Pod) -> None:
        """Note that a pod is on its node; may come several times for one pod."""
        ...

    def left(self, pod: Pod) -> None:
        """Note that a pod has gone, for whatever reason."""
        ...

    def counts(self) -> tuple[int, int]:
        """How much has happened, and how much there is, for a progress bar."""
        ...
