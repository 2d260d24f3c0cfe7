"""Replays what an observer saw, and finds Bindings that must not be: a second one, to no node, to a node without room.

A scheduler decides on what it knows, which is older than what the observer knows. So a node counts as it was at any
time in the last GRACE_SECONDS, and pods that others put on it in that time do not count.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from campaigns.storm.observer import Amounts, NodeSeen, PodSeen

GRACE_SECONDS = 5.0


@dataclass
class Ledger:
    """The cluster at one moment of the replay.

    Attributes:
        harm: one line for each Binding that must not be.
        n_bindings: pods that got a node after they came without one.
    """

    harm: list[str] = field(default_factory=list)
    n_bindings: int = 0
    _states: dict[str, list[NodeSeen]] = field(default_factory=lambda: defaultdict(list))
    _pods: dict[str, dict[str, PodSeen]] = field(default_factory=lambda: defaultdict(dict))  # node -> uid -> pod
    _where: dict[str, str] = field(default_factory=dict)  # uid -> node
    _ours: set[str] = field(default_factory=set)  # uids of pods that a scheduler bound

    def replay(self, nodes: Iterable[NodeSeen], pods: Iterable[PodSeen]) -> "Ledger":
        """Take everything in the order of its versions. Returns: itself."""
        both: list[NodeSeen | PodSeen] = [*nodes, *pods]
        for seen in sorted(both, key=lambda seen: seen.version):
            if isinstance(seen, NodeSeen):
                self._states[seen.name].append(seen)
            elif seen.is_gone:
                self._pods[self._where.pop(seen.uid, "")].pop(seen.uid, None)
            else:
                self._take(seen)
        return self

    def _take(self, pod: PodSeen) -> None:
        before = self._where.get(pod.uid)
        self._where[pod.uid] = pod.node
        if before:
            self.harm.append(f"pod {pod.name} is bound twice: to {before}, then to {pod.node or 'no node'}")
            self._pods[before].pop(pod.uid, None)
        elif before is not None and pod.node:
            self.n_bindings += 1
            self._ours.add(pod.uid)
            self.harm += self._judge(pod)
        if pod.node:
            self._pods[pod.node][pod.uid] = pod

    def _judge(self, pod: PodSeen) -> Iterator[str]:
        states = list(self._recent(pod))
        if not states:
            yield f"pod {pod.name} is bound to {pod.node}, which does not exist"
        elif not any(_selects(pod, state) for state in states):
            yield f"pod {pod.name} is bound to {pod.node}, whose labels its node selector does not select"
        elif not any(_selects(pod, state) and not self._short(pod, state) for state in states):
            yield f"pod {pod.name} is bound to {pod.node}, {self._short(pod, states[-1])}"

    def _recent(self, pod: PodSeen) -> Iterator[NodeSeen]:
        """The states that its node had in the time of grace, without those in which it was gone."""
        states, since = self._states[pod.node], pod.at - GRACE_SECONDS
        for i, state in enumerate(states):
            ended = states[i + 1].at if i + 1 < len(states) else pod.at
            if ended >= since and not state.is_gone:
                yield state

    def _short(self, pod: PodSeen, node: NodeSeen) -> str:
        """What the node has too little of, in words; empty where the pod fits."""
        used = self._used(pod)
        for resource, wanted in pod.requests.items():
            there, taken = node.allocatable.get(resource, 0), used.get(resource, 0)
            if wanted and taken + wanted > there:
                free = (there - taken) / 1000
                return f"which has {free:g} {resource} left of {there / 1000:g}; the pod needs {wanted / 1000:g}"
        return ""

    def _used(self, pod: PodSeen) -> Amounts:
        used: Amounts = {}
        for other in self._pods[pod.node].values():
            if other.uid in self._ours or other.at <= pod.at - GRACE_SECONDS:
                for resource, amount in other.requests.items():
                    used[resource] = used.get(resource, 0) + amount
        return used


def _selects(pod: PodSeen, node: NodeSeen) -> bool:
    return pod.selector.items() <= node.labels.items()
