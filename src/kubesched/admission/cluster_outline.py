"""What a manifest needs from the cluster it is added to: nodes, uids, and the existing pods of each workload."""

from collections import defaultdict
from collections.abc import Iterable

from kubesched.api import KubeObject, Node, Pod, ReplicaSet, kind_of
from kubesched.controllers import stable_uid

Key = tuple[str, str, str]  # kind, namespace, name


def key_of(known: KubeObject) -> Key:
    """What makes an object the same as another one."""
    return kind_of(known), known.namespace, known.name


class ClusterOutline:
    """An index over the objects of a snapshot.

    Attributes:
        nodes: in the order of the snapshot.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._objects = {key_of(known): known for known in objects}
        self.nodes = [known for known in self._objects.values() if isinstance(known, Node)]
        self._dependents: dict[Key, list[KubeObject]] = defaultdict(list)
        for known in self._objects.values():
            owner = known.metadata.controller if isinstance(known, Pod | ReplicaSet) else None
            if owner is not None:
                self._dependents[owner.kind, known.namespace, owner.name].append(known)

    def __contains__(self, key: Key) -> bool:
        return key in self._objects

    def uid_of(self, key: Key) -> str:
        """The uid of the object that is there, or the one that a new object of this name gets."""
        known = self._objects.get(key)
        return (known.uid if known is not None else "") or stable_uid(*key)

    def pods_of(self, key: Key) -> list[Pod]:
        """The unfinished pods that a workload controls, also through its replica sets."""
        pods: list[Pod] = []
        for dependent in self._dependents.get(key, ()):
            if isinstance(dependent, ReplicaSet):
                pods += self.pods_of(key_of(dependent))
            elif isinstance(dependent, Pod) and not dependent.is_finished:
                pods.append(dependent)
        return pods
