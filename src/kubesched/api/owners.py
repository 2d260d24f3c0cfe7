"""Who controls which pods: the workload that a person writes, so a Deployment and not its ReplicaSets."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Self

from kubesched.api.kinds import kind_of
from kubesched.api.meta import KubeObject
from kubesched.api.pod import Pod
from kubesched.api.workloads import ReplicaSet, ReplicationController, StatefulSet

_HASH_LABEL: Final = "pod-template-hash"


class Workload(NamedTuple):
    """What identifies a workload; a pod without a controller stands for itself, with the kind `Pod`.

    Example:
        assert str(Workload("Deployment", "shop", "web")) == "Deployment shop/web"
    """

    kind: str
    namespace: str
    name: str

    @classmethod
    def alone(cls, pod: Pod) -> Self:
        """What stands for a pod without a controller."""
        return cls("Pod", pod.namespace, pod.name)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


def workload_of(pod: Pod, replica_sets: Mapping[str, ReplicaSet]) -> Workload | None:
    """The workload that a pod belongs to; None for a pod without a controller.

    A ReplicaSet that the cluster lacks belongs to a Deployment if its name ends with the pod's `pod-template-hash`.

    Args:
        replica_sets: of the cluster by `namespace/name`.
    """
    owner = pod.metadata.controller
    if owner is None:
        return None
    if owner.kind == "ReplicaSet":
        replica_set = replica_sets.get(f"{pod.namespace}/{owner.name}")
        above = replica_set.metadata.controller if replica_set is not None else None
        if above is not None:
            return Workload(above.kind, pod.namespace, above.name)
        suffix = f"-{pod.labels.get(_HASH_LABEL, '')}"
        if replica_set is None and suffix != "-" and owner.name.endswith(suffix):
            return Workload("Deployment", pod.namespace, owner.name.removesuffix(suffix))
    return Workload(owner.kind, pod.namespace, owner.name)


class PodOwners:
    """The workloads of the pods of a cluster, by its ReplicaSets.

    Args:
        objects: the ReplicaSets, perhaps among others.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._replica_sets = {one.key: one for one in objects if isinstance(one, ReplicaSet)}

    def workload_of(self, pod: Pod) -> Workload:
        """The workload that a pod belongs to; the pod itself without a controller."""
        return workload_of(pod, self._replica_sets) or Workload.alone(pod)

    def owner_of(self, pod: Pod) -> str:
        """`Kind/name` of the workload that a pod belongs to; empty for a pod without a controller."""
        workload = workload_of(pod, self._replica_sets)
        return f"{workload.kind}/{workload.name}" if workload is not None else ""


def workloads(objects: Iterable[KubeObject]) -> dict[Workload, list[Pod]]:
    """The workloads of a cluster with their unfinished pods, in the order of the objects; some have no pods."""
    known = list(objects)
    owners = PodOwners(known)
    pods: dict[Workload, list[Pod]] = {}
    for one in known:
        if isinstance(one, Pod):
            if one.metadata.controller is not None and not one.is_finished:
                pods.setdefault(owners.workload_of(one), []).append(one)
        elif isinstance(one, ReplicaSet | ReplicationController | StatefulSet):
            above = one.metadata.controller
            kind, name = (above.kind, above.name) if above is not None else (kind_of(one), one.name)
            pods.setdefault(Workload(kind, one.namespace, name), [])
    return pods
