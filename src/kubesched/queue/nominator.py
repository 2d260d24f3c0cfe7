"""Pods that are nominated to a node, usually because preemption evicts others there."""

from collections.abc import Callable, Iterator

from kubesched.api import Pod
from kubesched.framework import QueuedPodInfo


class Nominator:
    """Which pods are nominated to which node. A pod is nominated to one node at most.

    Rule: kube-scheduler v1.36 nominator.

    Args:
        find_pod: gives the pod as the cluster has it now, None when it is gone. A pod that is gone or assigned is not
            nominated. Without it every pod is taken to be as given.

    Attributes:
        generation: grows with every change.
    """

    def __init__(self, find_pod: Callable[[Pod], Pod | None] | None = None) -> None:
        self._find_pod = find_pod
        self._by_node: dict[str, dict[str, QueuedPodInfo]] = {}
        self._node_of: dict[str, str] = {}
        self.generation = 0

    def __len__(self) -> int:
        """How many pods are nominated."""
        return len(self._node_of)

    def __iter__(self) -> Iterator[tuple[str, tuple[QueuedPodInfo, ...]]]:
        """Each node that has nominated pods, with them."""
        return ((node, tuple(pods.values())) for node, pods in self._by_node.items())

    def pairs(self) -> list[tuple[str, QueuedPodInfo]]:
        """Every nominated pod with its node."""
        return [(node, info) for node, pods in self._by_node.items() for info in pods.values()]

    def pods_on(self, node_name: str) -> tuple[QueuedPodInfo, ...]:
        """The pods nominated to a node, in the order they were nominated."""
        pods = self._by_node.get(node_name)
        return tuple(pods.values()) if pods else ()

    def add(self, info: QueuedPodInfo, node_name: str | None = None) -> None:
        """Nominate a pod; an earlier nomination of it ends in any case.

        Args:
            node_name: the node; "" for none; None for what the pod's status.nominatedNodeName says.
        """
        self.delete(info.pod)
        node = info.pod.status.nominated_node_name if node_name is None else node_name
        if not node or not self._may_be_nominated(info.pod):
            return
        self.generation += 1
        self._node_of[info.pod.uid] = node
        self._by_node.setdefault(node, {})[info.pod.uid] = info

    def update(self, old: Pod, info: QueuedPodInfo) -> None:
        """Follow an update of the pod; `info` holds the new version.

        An update without a nominated node before and after may have been sent before a nomination that is known here
        only, so such a nomination stays.
        """
        known = None
        if not old.status.nominated_node_name and not info.pod.status.nominated_node_name:
            known = self._node_of.get(old.uid)
        self.delete(old)
        self.add(info, known)

    def delete(self, pod: Pod) -> None:
        """End the pod's nomination, if it has one: it is deleted, assumed, or no longer nominated."""
        node = self._node_of.pop(pod.metadata.uid, None)
        if node is not None:
            self.generation += 1
            pods = self._by_node[node]
            del pods[pod.uid]
            if not pods:
                del self._by_node[node]

    def check_invariants(self) -> None:
        """Assert that both directions agree."""
        both = {uid: node for node, pods in self._by_node.items() for uid in pods}
        assert both == self._node_of
        assert sum(map(len, self._by_node.values())) == len(both)
        assert all(self._by_node.values())

    def _may_be_nominated(self, pod: Pod) -> bool:
        if self._find_pod is None:
            return True
        current = self._find_pod(pod)
        return current is not None and not current.node_name
