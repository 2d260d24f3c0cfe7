"""A heap of queued pods whose entries can be withdrawn or re-sorted without a search."""

import copy
import heapq
from collections.abc import Callable, Iterator

from kubesched.errors import StateError
from kubesched.framework import PodQueue, QueuedPodInfo

Less = Callable[[QueuedPodInfo, QueuedPodInfo], bool]

_SPARE = 64  # void entries that a heap may hold beyond its valid ones


class PodHeap:
    """Pods by sort key; those with equal keys come out in the order they came in.

    Withdrawing leaves the entry in the heap and makes it void: an entry counts while its number is the pod's. Numbers
    come from one sequence for all heaps of a queue, so that an entry left behind stays void when the pod is in another
    heap.
    """

    __slots__ = ("_count", "_entries", "_key", "_place", "_sequence")

    def __init__(self, place: PodQueue, key: Callable[[QueuedPodInfo], object], sequence: Iterator[int]) -> None:
        self._place = place
        self._key = key
        self._sequence = sequence
        self._entries: list[tuple[object, int, QueuedPodInfo]] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """The pods in the order they would be popped."""
        return (info for _, entry, info in sorted(self._entries) if info.entry == entry)

    def add(self, info: QueuedPodInfo) -> None:
        """Add a pod that is in no queue."""
        key = info.heap_key = self._key(info)
        entry = info.entry = next(self._sequence)
        info.place = self._place
        heapq.heappush(self._entries, (key, entry, info))
        self._count += 1

    def discard(self, info: QueuedPodInfo) -> None:
        """Take out a pod that this heap holds."""
        info.entry = 0
        info.place = None
        self._count -= 1
        if len(self._entries) > 2 * self._count + _SPARE:
            self._entries = [item for item in self._entries if item[2].entry == item[1]]
            heapq.heapify(self._entries)

    def refresh(self, info: QueuedPodInfo) -> None:
        """Sort a pod of this heap again after it changed; with an equal key it keeps its turn."""
        if self._key(info) != info.heap_key:
            self.discard(info)
            self.add(info)

    def head(self) -> QueuedPodInfo | None:
        """The pod that comes next, None when there is none."""
        entries = self._entries
        while entries:
            _, entry, info = entries[0]
            if info.entry == entry:
                return info
            heapq.heappop(entries)
        return None

    def pop(self) -> QueuedPodInfo | None:
        """Take out the pod that comes next, None when there is none."""
        entries = self._entries
        while entries:
            _, entry, info = heapq.heappop(entries)
            if info.entry == entry:
                info.entry = 0
                info.place = None
                self._count -= 1
                return info
        return None

    def check_invariants(self) -> None:
        """Assert that the heap is one and counts its valid entries."""
        entries = self._entries
        valid = [item for item in entries if item[2].entry == item[1]]
        assert len(valid) == self._count
        assert all(item[0] == item[2].heap_key and item[2].place is self._place for item in valid)
        assert all(not entries[i] < entries[(i - 1) // 2] for i in range(1, len(entries)))


class LessKey:
    """A sort key from a plugin's `less`. It keeps the pod as it was: a heap must not see keys change."""

    __slots__ = ("_info", "_less")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, info: QueuedPodInfo, less: Less) -> None:
        self._info = copy.copy(info)
        self._less = less

    def __lt__(self, other: "LessKey") -> bool:
        return self._less(self._info, other._info)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LessKey) and not self < other and not other < self


def sort_key_of_less(less: Less) -> Callable[[QueuedPodInfo], LessKey]:
    """Make a sort key of a plugin's `less`; slower than a tuple, which needs no call per comparison."""
    return lambda info: LessKey(info, less)


def chosen_sort_key(
    sort_key: Callable[[QueuedPodInfo], tuple[object, ...]] | None, less: Less | None
) -> Callable[[QueuedPodInfo], object]:
    """The sort key, or one made of `less`.

    Raises:
        StateError: not exactly one of the two is given.
    """
    if sort_key is not None and less is None:
        return sort_key
    if less is not None and sort_key is None:
        return sort_key_of_less(less)
    given = "neither" if less is None else "both"
    raise StateError(f"SchedulingQueue needs either sort_key or less, found {given}; give exactly one of them")
