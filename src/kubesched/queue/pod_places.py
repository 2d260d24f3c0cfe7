"""The waiting pods by name and by place: each is in exactly one of active, backoff and unschedulable.

What waits and why is there to see as `Pending`, for reports and metrics.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec

from kubesched.api import Pod
from kubesched.framework import PodQueue, QueuedPodInfo
from kubesched.queue.active import ActiveQueue
from kubesched.queue.backoff import BackoffQueue
from kubesched.queue.unschedulable import RulesOf, UnschedulablePods

Observer = Callable[[str, str, Pod], None]
"""Called for each pod that enters a queue: `active`, `backoff` or `unschedulable`; the label of the event; the pod."""

PLACE_NAMES: Final = {
    PodQueue.ACTIVE: "the active queue",
    PodQueue.BACKOFF: "the backoff queue",
    PodQueue.ERROR_BACKOFF: "the backoff queue",
    PodQueue.UNSCHEDULABLE: "unschedulable queue",
}
"""As upstream's messages name them."""


class QueuedPod(msgspec.Struct, frozen=True):
    """One waiting pod.

    Attributes:
        key: `namespace/name`.
        queue: `active`, `backoff`, `unschedulable` or `gated`, as kube-scheduler's metrics name them.
        attempts: how often it was tried.
        since: when it was added or handed back, in the queue's seconds.
        backoff_until: the whole second in which its backoff ends, None when it is not backing off.
        rejected_by: the plugins it waits for, by name.
        gated_by: the PreEnqueue plugin that gates it, empty for none.
        message: what that plugin said.
    """

    key: str
    queue: str
    attempts: int
    since: float
    backoff_until: float | None
    rejected_by: tuple[str, ...]
    gated_by: str
    message: str


class Pending(msgspec.Struct, frozen=True):
    """All waiting pods.

    Attributes:
        counts: pods in each of the queues that QueuedPod names, also where there are none.
        pods: active ones in the order they would be popped, then backing off, unschedulable and gated.
    """

    counts: dict[str, int]
    pods: tuple[QueuedPod, ...]


class PodPlaces:
    """Moves pods from place to place. It decides nothing: SchedulingQueue chooses the queue of a pod.

    Attributes:
        active: the pods that are ready to be tried.
        backoff: those that are worth another try, but not yet.
        unschedulable: those that wait for an event, gated ones among them.
    """

    def __init__(
        self,
        key: Callable[[QueuedPodInfo], object],
        initial_backoff: float,
        max_backoff: float,
        observer: Observer | None,
        rules_of: RulesOf,
        patience: float,
    ) -> None:
        sequence = itertools.count(1)
        self._pods: dict[str, QueuedPodInfo] = {}  # by key, whatever their place
        self._observer = observer
        self.active = ActiveQueue(key, sequence, patience)
        self.backoff = BackoffQueue(key, sequence, initial=initial_backoff, maximum=max_backoff)
        self.unschedulable = UnschedulablePods(sequence, rules_of)

    def __len__(self) -> int:
        return len(self._pods)

    def find(self, key: str) -> QueuedPodInfo | None:
        """The waiting pod of that name, None when there is none."""
        return self._pods.get(key)

    def keys(self) -> list[str]:
        """The names of all waiting pods."""
        return list(self._pods)

    def pop(self) -> QueuedPodInfo | None:
        """Take out the head of active, or when active is empty the head of podBackoffQ."""
        info = self.active.pop()
        if info is None:
            info = self.backoff.pop()
            if info is None:
                return None
            self._tell("active", "PopFromBackoffQ", info)
        del self._pods[info.key]
        return info

    def remove(self, key: str) -> None:
        """Forget the pod of that name, if it waits."""
        info = self._pods.pop(key, None)
        if info is not None:
            self.withdraw(info)

    def withdraw(self, info: QueuedPodInfo) -> None:
        """Take a pod out of its place, if it is in one; it is still known by its name."""
        if info.place is PodQueue.ACTIVE:
            self.active.discard(info)
        elif info.place is PodQueue.UNSCHEDULABLE:
            self.unschedulable.discard(info)
        elif info.place is not None:
            self.backoff.discard(info)

    def to_active(self, info: QueuedPodInfo, label: str, now: float) -> None:
        """Make a pod active."""
        if info.initial_attempt_timestamp is None:
            info.initial_attempt_timestamp = now
        self._put(info, self.active, "active", label)

    def to_backoff(self, info: QueuedPodInfo, label: str) -> None:
        """Let a pod back off."""
        self._put(info, self.backoff, "backoff", label)

    def to_unschedulable(self, info: QueuedPodInfo, label: str) -> None:
        """Make a pod unschedulable; one that is so already is filed by its present rejectors."""
        if info.place is PodQueue.UNSCHEDULABLE:
            self.unschedulable.add(info)
        else:
            self._put(info, self.unschedulable, "unschedulable", label)

    def gated_again(self, info: QueuedPodInfo, label: str) -> None:
        """An unschedulable pod was to move and is gated: it counts as having left and come back."""
        self.unschedulable.renew(info)
        self._tell("unschedulable", label, info)

    def counts(self) -> dict[str, int]:
        """Pods in each queue, as the metric pending_pods names them: active, backoff, unschedulable, gated.

        Threads other than the queue's may ask, too.
        """
        gated = sum(info.is_gated for info in self.unschedulable)
        return {
            "active": len(self.active),
            "backoff": len(self.backoff),
            "unschedulable": len(self.unschedulable) - gated,
            "gated": gated,
        }

    def pending(self) -> Pending:
        """All pods with the reasons why they wait, in an order that depends on what happened alone."""
        parked = sorted(self.unschedulable, key=lambda info: info.is_gated)
        infos = itertools.chain(self.active, self.backoff, parked)
        return Pending(self.counts(), tuple(_described(info) for info in infos))

    def rejections(self) -> dict[tuple[str, str], int]:
        """How many pods each (plugin, scheduler name) rejected or gates: the metric unschedulable_pods.

        Threads other than the queue's may ask, too.
        """
        infos = list(self._pods.values())  # in one step
        return dict(Counter((p, i.pod.scheduler_name) for i in infos for p in sorted(i.rejectors)))

    def check_invariants(self) -> None:
        """Assert that every pod is in exactly one place, and that each place holds together."""
        self.active.check_invariants()
        self.backoff.check_invariants()
        self.unschedulable.check_invariants()
        placed = [*self.active, *self.backoff, *self.unschedulable]
        assert len(placed) == len(self._pods)
        assert all(self._pods[info.key] is info for info in placed)
        assert all(info.key == info.pod.key and info.place is not None for info in placed)
        assert all(info.place is PodQueue.UNSCHEDULABLE for info in placed if info.is_gated)
        assert all(info.initial_attempt_timestamp is not None for info in self.active)

    def _put(
        self, info: QueuedPodInfo, to: ActiveQueue | BackoffQueue | UnschedulablePods, queue: str, label: str
    ) -> None:
        if info.place is not None:
            self.withdraw(info)
        self._pods[info.key] = info
        to.add(info)
        self._tell(queue, label, info)

    def _tell(self, queue: str, label: str, info: QueuedPodInfo) -> None:
        if self._observer is not None:
            self._observer(queue, label, info.pod)


def _described(info: QueuedPodInfo) -> QueuedPod:
    """Describe one queued pod."""
    backs_off = info.place in (PodQueue.BACKOFF, PodQueue.ERROR_BACKOFF)
    return QueuedPod(
        key=info.key,
        queue=_queue_of(info),
        attempts=info.attempts,
        since=info.timestamp,
        backoff_until=info.backoff_expiration if backs_off else None,
        rejected_by=tuple(sorted(info.rejectors)),
        gated_by=info.gating_plugin,
        message=info.gating_message,
    )


def _queue_of(info: QueuedPodInfo) -> str:
    if info.place is PodQueue.ACTIVE:
        return "active"
    if info.place is PodQueue.UNSCHEDULABLE:
        return "gated" if info.is_gated else "unschedulable"
    return "backoff"
