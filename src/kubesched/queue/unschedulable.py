"""Pods that wait for an event, indexed by the plugins whose events can help them."""

import math
from collections.abc import Iterable, Iterator
from operator import attrgetter

from kubesched.framework import Place, QueuedPodInfo

__all__ = ["UnschedulablePods"]

_by_arrival = attrgetter("entry")


class UnschedulablePods:
    """The pods in no heap: rejected ones that no event has helped yet, and gated ones.

    Filing them by rejector makes an event cost what it may help: binding a pod raises an event that concerns
    inter-pod affinity, and ten thousand pods that only lack CPU are not looked at.

    Attributes:
        waiting_since: no pod here has waited since before this time; inf when there is none. Pods that leave do not
            raise it, so it may lag behind until the next `mark_overdue`.
    """

    def __init__(self, sequence: Iterator[int]) -> None:
        self._sequence = sequence
        self._filed: dict[str, tuple[QueuedPodInfo, frozenset[str]]] = {}
        self._by_rejector: dict[str, dict[str, QueuedPodInfo]] = {}
        self.waiting_since = math.inf

    def __len__(self) -> int:
        return len(self._filed)

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """All pods in the order they arrived."""
        return iter(sorted((info for info, _ in list(self._filed.values())), key=_by_arrival))

    def add(self, info: QueuedPodInfo) -> None:
        """Add a pod that is in no queue, or file one again whose rejectors changed."""
        if info.place is Place.UNSCHEDULABLE:
            if self._filed[info.key][1] == info.rejectors:
                return
            self._unfile(info)
        else:
            info.place = Place.UNSCHEDULABLE
            info.entry = next(self._sequence)
        rejectors = frozenset(info.rejectors)
        self._filed[info.key] = (info, rejectors)
        for plugin in rejectors:
            self._by_rejector.setdefault(plugin, {})[info.key] = info
        self.waiting_since = min(self.waiting_since, info.waiting_since)

    def renew(self, info: QueuedPodInfo) -> None:
        """Let a pod of this queue count as the last that arrived."""
        info.entry = next(self._sequence)

    def discard(self, info: QueuedPodInfo) -> None:
        """Remove a pod of this queue."""
        self._unfile(info)
        info.entry = 0
        info.place = None
        if not self._filed:
            self.waiting_since = math.inf

    def rejected_by(self, plugins: Iterable[str]) -> list[QueuedPodInfo]:
        """Pods that at least one of the plugins rejected or gates, in the order they arrived."""
        rejected: dict[str, QueuedPodInfo] = {}
        for plugin in plugins:
            rejected |= self._by_rejector.get(plugin, {})
        return sorted(rejected.values(), key=_by_arrival)

    def mark_overdue(self, duration: float, now: float) -> list[QueuedPodInfo]:
        """Mark pods that have waited longer than `duration` as flushed now; gives them in the order they arrived."""
        if now - self.waiting_since <= duration:
            return []
        overdue = [info for info in self if now - info.waiting_since > duration]
        for info in overdue:
            info.flushed_at = now
        self.waiting_since = min((info.waiting_since for info, _ in self._filed.values()), default=math.inf)
        return overdue

    def check_invariants(self) -> None:
        """Assert that each pod is filed under each of its rejectors and nowhere else."""
        for key, (info, rejectors) in self._filed.items():
            assert key == info.key
            assert info.place is Place.UNSCHEDULABLE
            assert info.entry > 0
            assert rejectors == info.rejectors
            assert rejectors, "a pod that no plugin rejected has no event to wait for"
            assert not info.is_gated or info.gating_plugin in rejectors
            assert info.waiting_since >= self.waiting_since
        filed = {(plugin, key) for key, (_, rejectors) in self._filed.items() for plugin in rejectors}
        assert filed == {(plugin, key) for plugin, pods in self._by_rejector.items() for key in pods}

    def _unfile(self, info: QueuedPodInfo) -> None:
        _, rejectors = self._filed.pop(info.key)
        for plugin in rejectors:
            pods = self._by_rejector[plugin]
            del pods[info.key]
            if not pods:
                del self._by_rejector[plugin]
