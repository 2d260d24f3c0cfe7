"""The pods that are ready to be tried: in the order of the queue sort plugin, and patient with those that just came."""

import heapq
from collections.abc import Callable, Iterator

from kubesched.framework import PodQueue, QueuedPodInfo
from kubesched.queue.heap import PodHeap


class ActiveQueue:
    """Two heaps of one order: pods that were never tried, and pods that are tried again.

    Thousands that are tried again are older than a pod that just came, and sorted before it. Once `patience` of them
    went before a pod that was never tried, it and they take turns, unless they have the higher priority. Otherwise the
    order is that of one heap, which is kube-scheduler's.

    Args:
        key: the sort key.
        sequence: numbers for entries, of all heaps of a queue.
        patience: how many pods that are tried again may go first; infinite for always.
    """

    def __init__(self, key: Callable[[QueuedPodInfo], object], sequence: Iterator[int], patience: float) -> None:
        self._new = PodHeap(PodQueue.ACTIVE, key, sequence)
        self._again = PodHeap(PodQueue.ACTIVE, key, sequence)
        self._patience = patience
        self._n_before = 0  # pods tried again that went before the present head of the new ones

    def __len__(self) -> int:
        return len(self._new) + len(self._again)

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """The pods in the order of the sort key."""
        return heapq.merge(self._new, self._again, key=_rank)

    def add(self, info: QueuedPodInfo) -> None:
        """Add a pod that is in no queue."""
        self._heap(info).add(info)

    def discard(self, info: QueuedPodInfo) -> None:
        """Take out a pod of this queue."""
        self._heap(info).discard(info)

    def refresh(self, info: QueuedPodInfo) -> None:
        """Sort a pod of this queue again after it changed."""
        self._heap(info).refresh(info)

    def pop(self) -> QueuedPodInfo | None:
        """Take out the pod that comes next, None when there is none."""
        again = self._again.head()
        new = None if again is None else self._new.head()
        if new is None or again is None:
            self._n_before = 0
            return (self._new if again is None else self._again).pop()
        is_owed = self._n_before >= self._patience and new.pod.priority >= again.pod.priority
        if is_owed or _rank(new) < _rank(again):
            self._n_before = max(self._n_before - 1, 0)
            return self._new.pop()
        self._n_before += self._n_before < self._patience
        return self._again.pop()

    def check_invariants(self) -> None:
        """Assert that both heaps hold together and hold their own sort of pod."""
        for heap, is_again in ((self._new, False), (self._again, True)):
            heap.check_invariants()
            assert all((info.attempts > 0) == is_again for info in heap)

    def _heap(self, info: QueuedPodInfo) -> PodHeap:
        return self._again if info.attempts else self._new


def _rank(info: QueuedPodInfo) -> tuple[object, int]:
    return info.heap_key, info.entry
