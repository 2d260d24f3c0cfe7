"""What a driver reports while it runs."""

from collections.abc import Callable, Sequence
from functools import partial

from kubesched.api import ClusterEvent, KubeObject, Pod, WatchEvent
from kubesched.framework import ActionDone, Decision, Status


class Observer:
    """Is called with what happens, for metrics, logs and traces; a subclass overrides what it needs.

    Every method is called on the driver's thread and must return at once.
    """

    def queued(self, place: str, event: str, pod: Pod) -> None:
        """A pod came into a queue: `active`, `backoff` or `unschedulable`; `event` is the label of the reason."""

    def handled(
        self, event: WatchEvent, before: KubeObject | None, changes: Sequence[ClusterEvent], seconds: float
    ) -> None:
        """An event was taken in, in so many seconds.

        Args:
            before: the object that was known.
            changes: what it changed.
        """

    def decided(self, decision: Decision, seconds: float) -> None:
        """A scheduling cycle ended, after so many seconds."""

    def called(self, done: ActionDone) -> None:
        """A call of an extender ended; `done.action` is a CallExtender."""

    def permitted(self, status: Status, seconds: float) -> None:
        """A pod that waited in Permit for so many seconds goes on, or is rejected."""

    def bound(self, decision: Decision, seconds: float, queued_seconds: float) -> None:
        """A pod was bound, so many seconds after its attempt began, and after it first became active."""

    def failed(self, decision: Decision, seconds: float) -> None:
        """A binding cycle failed, so many seconds after its attempt began."""

    def evicted(self, seconds: float) -> None:
        """The eviction of a decision's victims ended, after so many seconds."""


class Observers(Observer):
    """Passes every call on to several observers, in their order."""

    def __init__(self, *observers: Observer) -> None:
        for name in vars(Observer):
            if not name.startswith("_"):
                setattr(self, name, partial(_tell_all, [getattr(observer, name) for observer in observers]))


def _tell_all(calls: Sequence[Callable[..., None]], *happened: object) -> None:
    for call in calls:
        call(*happened)
