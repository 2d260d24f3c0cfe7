"""Pods that wait for the end of their backoff: how long, and in which order they come back."""

import math
from collections.abc import Callable, Iterator

from kubesched.framework import PodQueue, QueuedPodInfo
from kubesched.queue.heap import PodHeap

_NO_BACKOFF = -math.inf


class BackoffQueue:
    """Two heaps: podBackoffQ for pods that plugins rejected, podErrorBackoffQ for pods that failed for another reason.

    Rule: kube-scheduler v1.36 backoffQueue with SchedulerPopFromBackoffQ. Ends of backoffs are floored to whole
    seconds, and so is the time they are compared with: a pod backs off until the second after the one its backoff
    ends in. Within a second, pods of podBackoffQ are in the order of the active queue.
    """

    def __init__(
        self,
        sort_key: Callable[[QueuedPodInfo], object],
        sequence: Iterator[int],
        *,
        initial: float,
        maximum: float,
    ) -> None:
        self._initial = initial
        self._maximum = maximum
        self._rejected = PodHeap(PodQueue.BACKOFF, lambda info: (self.expiration(info), sort_key(info)), sequence)
        self._failed = PodHeap(PodQueue.ERROR_BACKOFF, self.expiration, sequence)

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """The pods of podBackoffQ in order, then of podErrorBackoffQ."""
        yield from self._rejected
        yield from self._failed

    @property
    def can_pop(self) -> bool:
        """Whether podBackoffQ holds a pod."""
        return len(self._rejected) > 0

    def expiration(self, info: QueuedPodInfo) -> float:
        """When the pod's backoff ends, in whole seconds; -inf for no backoff. Cached until it is handed back."""
        if info.backoff_expiration is None:
            count = info.consecutive_errors_count or info.unschedulable_count
            backs_off = count > 0 and self._maximum > 0
            end = math.floor(info.timestamp + self._duration(count)) if backs_off else _NO_BACKOFF
            info.backoff_expiration = float(end)
        return info.backoff_expiration

    def is_backing_off(self, info: QueuedPodInfo, now: float) -> bool:
        """Whether the pod has to wait: also through the second in which its backoff ends."""
        return self.expiration(info) >= math.floor(now)

    def add(self, info: QueuedPodInfo) -> None:
        """Add a pod that is in no queue."""
        heap = self._rejected if info.unschedulable_plugins or info.pending_plugins else self._failed
        heap.add(info)

    def discard(self, info: QueuedPodInfo) -> None:
        """Remove a pod of this queue."""
        self._heap(info).discard(info)

    def refresh(self, info: QueuedPodInfo) -> None:
        """Sort a pod of this queue again after it changed."""
        self._heap(info).refresh(info)

    def pop(self) -> QueuedPodInfo | None:
        """Take out the head of podBackoffQ, whether or not its backoff has ended."""
        return self._rejected.pop()

    def pop_completed(self, now: float) -> Iterator[QueuedPodInfo]:
        """Take out all pods whose backoff is over: first podBackoffQ, then podErrorBackoffQ."""
        for heap in (self._rejected, self._failed):
            while (info := heap.head()) is not None and not self.is_backing_off(info, now):
                heap.pop()
                yield info

    def next_completion(self) -> float | None:
        """The whole second at which the next pod is done, None when no pod waits."""
        heads = [info for heap in (self._rejected, self._failed) if (info := heap.head()) is not None]
        return min((self.expiration(info) + 1.0 for info in heads), default=None)

    def check_invariants(self) -> None:
        """Assert that both heaps are valid and that each pod is in the right one and does back off."""
        for heap, place in ((self._rejected, PodQueue.BACKOFF), (self._failed, PodQueue.ERROR_BACKOFF)):
            heap.check_invariants()
            for info in heap:
                assert bool(info.rejectors) == (place is PodQueue.BACKOFF)
                assert self.expiration(info) > _NO_BACKOFF

    def _heap(self, info: QueuedPodInfo) -> PodHeap:
        return self._rejected if info.place is PodQueue.BACKOFF else self._failed

    def _duration(self, count: int) -> float:
        """Double the initial backoff with each attempt; comparing with the halved maximum cannot overflow."""
        if self._initial > math.ldexp(self._maximum, 1 - count):
            return self._maximum
        return math.ldexp(self._initial, count - 1)
