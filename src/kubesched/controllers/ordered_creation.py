"""StatefulSets that create their pods one after another: the podManagementPolicy OrderedReady, which is the default.

Rule: kube-controller-manager v1.36: a pod is created, or replaced, once the pods of all lower numbers are ready. Here a
pod counts as ready as soon as it has a node.
"""

from collections.abc import Iterable, Sequence, Set

from kubesched.api import Pod, StatefulSet
from kubesched.controllers.kept_replicas import ordinal_of
from kubesched.state import ObjectStore


class OrderedCreation:
    """Creates the new pods of a cluster: those of an ordered StatefulSet in their order, all others at once.

    Args:
        pending: the pods without a node.
        new: `namespace/name` of those that do not exist yet.
        objects: of the cluster; a StatefulSet that it does not have counts as ordered, which is the default.
    """

    def __init__(self, pending: Iterable[Pod], new: Set[str], objects: ObjectStore) -> None:
        self._new = new
        self._objects = objects
        self._waiting: dict[str, list[Pod]] = {}  # StatefulSet -> its pods without a node, the last number first
        if new:
            for pod in pending:
                if key := self._ordered_set_of(pod):
                    self._waiting.setdefault(key, []).append(pod)
        self._waiting = {key: pods for key, pods in self._waiting.items() if any(pod.key in new for pod in pods)}
        for pods in self._waiting.values():
            pods.sort(key=ordinal_of, reverse=True)

    def exist(self, pending: Sequence[Pod]) -> list[Pod]:
        """The pods that exist from the beginning, in the same order."""
        return [pod for pod in pending if not self.awaits(pod)] if self._waiting else list(pending)

    def placed(self, pod: Pod) -> Pod | None:
        """Note that a pod has a node. Returns: the pod that is created now, if there is one."""
        waiting = self._waiting.get(self._ordered_set_of(pod), []) if self._waiting else []
        if not waiting:
            return None
        first = waiting[-1]
        waiting[:] = [one for one in waiting if one.key != pod.key]
        return waiting[-1] if waiting and waiting[-1] is not first and waiting[-1].key in self._new else None

    def awaits(self, pod: Pod) -> str:
        """`namespace/name` of the pod of a lower number that keeps a pod from being created; empty if it is created."""
        waiting = self._waiting.get(self._ordered_set_of(pod), []) if pod.key in self._new else []
        return waiting[-1].key if waiting and ordinal_of(pod) > ordinal_of(waiting[-1]) else ""

    def why_not(self, pod: Pod) -> str:
        """Why a pod is not created; empty if it is."""
        first = self.awaits(pod)
        return first and f"its StatefulSet would not create it before {first} is ready ({self._policy(pod)})"

    def _ordered_set_of(self, pod: Pod) -> str:
        """`namespace/name` of the ordered StatefulSet that a pod belongs to; empty for none."""
        owner = pod.metadata.controller
        if owner is None or owner.kind != "StatefulSet":
            return ""
        known = self._stateful_set(pod)
        return "" if known is not None and known.is_parallel else f"{pod.namespace}/{owner.name}"

    def _stateful_set(self, pod: Pod) -> StatefulSet | None:
        owner = pod.metadata.controller
        found = self._objects.get("StatefulSet", f"{pod.namespace}/{owner.name}") if owner is not None else None
        return found if isinstance(found, StatefulSet) else None

    def _policy(self, pod: Pod) -> str:
        if self._stateful_set(pod) is not None:
            return "podManagementPolicy OrderedReady"
        return "podManagementPolicy OrderedReady is assumed: the snapshot does not have the StatefulSet"
