"""Pods that wait for an event, filed by the rules whose events can help them."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from kubesched.api import Pod
from kubesched.framework import PodQueue, QueuedPodInfo
from kubesched.queue.requeueing import HintRule

RulesOf = Callable[[str, Collection[str]], Iterable[HintRule]]
"""(profile, plugins) -> what these plugins registered."""

_by_arrival = attrgetter("entry")
_NO_GROUPS: Final = MappingProxyType[Hashable, "Group"]({})


class Group:
    """Pods that a rule asks about together.

    Attributes:
        pods: by name.
        is_helped: whether an event helped all of them, and none has come since: they only wait to be moved.
    """

    __slots__ = ("is_helped", "pods")

    def __init__(self) -> None:
        self.pods: dict[str, QueuedPodInfo] = {}
        self.is_helped = False


class _Filing(NamedTuple):
    """How a pod is filed, from its version and its rejectors at that time."""

    info: QueuedPodInfo
    pod: Pod
    rejectors: frozenset[str]
    groups: list[tuple[HintRule, Hashable]]


class UnschedulablePods:
    """The pods in no heap: rejected ones that no event has helped yet, and gated ones.

    Each is filed under the rules of the plugins that rejected it, there by what the rule reads of a pod. So an event
    costs what it may help: binding a pod raises an event that concerns inter-pod affinity, and ten thousand pods that
    only lack CPU are not looked at; ten thousand replicas of forty workloads are forty questions.

    Args:
        sequence: numbers for entries, which grow.
        rules_of: what plugins registered.

    Attributes:
        waiting_since: no pod here has waited since before this time; inf when there is none. Pods that leave do not
            raise it, so it may lag behind until the next `mark_overdue`.
        last_entry: the highest number of an entry so far.
    """

    def __init__(self, sequence: Iterator[int], rules_of: RulesOf) -> None:
        self._sequence = sequence
        self._rules_of = rules_of
        self._filed: dict[str, _Filing] = {}
        self._by_rule: dict[HintRule, dict[Hashable, Group]] = {}
        self.waiting_since = math.inf
        self.last_entry = 0

    def __len__(self) -> int:
        return len(self._filed)

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """All pods in the order they arrived."""
        return iter(sorted((filing.info for filing in list(self._filed.values())), key=_by_arrival))

    def add(self, info: QueuedPodInfo) -> None:
        """Add a pod that is in no queue, or file one again whose rejectors or whose pod changed."""
        if info.place is PodQueue.UNSCHEDULABLE:
            filed = self._filed[info.key]
            if filed.rejectors == info.rejectors and filed.pod is info.pod:
                return
            self._unfile(info)
        else:
            info.place = PodQueue.UNSCHEDULABLE
            self.renew(info)
        self._file(info)
        self.waiting_since = min(self.waiting_since, info.waiting_since)

    def renew(self, info: QueuedPodInfo) -> None:
        """Let a pod of this queue count as the last that arrived."""
        self.last_entry = info.entry = next(self._sequence)
        if (filing := self._filed.get(info.key)) is not None:
            for rule, name in filing.groups:
                self._by_rule[rule][name].is_helped = False

    def discard(self, info: QueuedPodInfo) -> None:
        """Remove a pod of this queue."""
        self._unfile(info)
        info.entry = 0
        info.place = None
        if not self._filed:
            self.waiting_since = math.inf

    def find(self, key: str) -> QueuedPodInfo | None:
        """The pod of that name, None when it is not here."""
        filing = self._filed.get(key)
        return None if filing is None else filing.info

    def groups(self, rule: HintRule) -> list[Hashable]:
        """The names of the groups of a rule."""
        return list(self._by_rule.get(rule, _NO_GROUPS))

    def group(self, rule: HintRule, name: Hashable) -> Group | None:
        """A group of a rule, None when no pod is in it."""
        return self._by_rule.get(rule, _NO_GROUPS).get(name)

    def mark_overdue(self, duration: float, now: float) -> list[QueuedPodInfo]:
        """Mark pods that have waited longer than `duration` as flushed now; gives them in the order they arrived."""
        if now - self.waiting_since <= duration:
            return []
        overdue = [info for info in self if now - info.waiting_since > duration]
        for info in overdue:
            info.flushed_at = now
        self.waiting_since = min((filing.info.waiting_since for filing in self._filed.values()), default=math.inf)
        return overdue

    def check_invariants(self) -> None:
        """Assert that each pod is filed as its rejectors' rules say, and nowhere else."""
        for key, (info, pod, rejectors, groups) in self._filed.items():
            assert key == info.key
            assert info.place is PodQueue.UNSCHEDULABLE
            assert 0 < info.entry <= self.last_entry
            assert pod is info.pod
            assert rejectors == info.rejectors
            assert rejectors, "a pod that no plugin rejected has no event to wait for"
            assert not info.is_gated or info.gating_plugin in rejectors
            assert info.waiting_since >= self.waiting_since
            assert {rule for rule, _ in groups} <= set(self._rules_of(pod.scheduler_name, rejectors))
        filed = {(rule, name, key) for key, filing in self._filed.items() for rule, name in filing.groups}
        held = [(rule, name, group) for rule, groups in self._by_rule.items() for name, group in groups.items()]
        assert filed == {(rule, name, key) for rule, name, group in held for key in group.pods}
        assert all(group.pods for _, _, group in held), "an empty group is given back"
        assert all(self._by_rule.values())

    def _file(self, info: QueuedPodInfo) -> None:
        pod, rejectors = info.pod, frozenset(info.rejectors)
        known: dict[object, set[Hashable]] = {}
        groups = []
        for rule in self._rules_of(pod.scheduler_name, rejectors):
            names = known.get(rule.reads)
            if names is None:
                names = known[rule.reads] = set(rule.groups(pod))
            groups += [(rule, name) for name in names]
        self._filed[info.key] = _Filing(info, pod, rejectors, groups)
        for rule, name in groups:
            by_name = self._by_rule.setdefault(rule, {})
            group = by_name.get(name)
            if group is None:
                group = by_name[name] = Group()
            group.pods[info.key] = info
            group.is_helped = False

    def _unfile(self, info: QueuedPodInfo) -> None:
        for rule, name in self._filed.pop(info.key).groups:
            by_name = self._by_rule[rule]
            pods = by_name[name].pods
            del pods[info.key]
            if not pods:
                del by_name[name]
                if not by_name:
                    del self._by_rule[rule]
