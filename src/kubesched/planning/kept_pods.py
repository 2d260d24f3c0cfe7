"""Finds the workloads of manifests whose pods stay: only a changed template makes a controller replace them.

Rule: kube-controller-manager v1.36: Deployments, StatefulSets and DaemonSets roll out a new revision of spec.template;
another number of replicas adds or removes pods of the revision that there is. What a snapshot has of a pod is compared
with what the manifest would make of it. What admission plugins and webhooks add to a pod is no difference.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubesched.api import KubeObject, Pod, ReplicaSet, StatefulSet, Workload, kind_of, parse_quantity, rewritten
from kubesched.controllers import node_of_daemon, pods_to_add, pods_to_remove
from kubesched.errors import QuantityError
from kubesched.planning.asked import Asked

_HASHES: Final = ("pod-template-hash", "controller-revision-hash", "pod-template-generation")
_FILLED_IN: Final = ("nodeName", "overhead", "preemptionPolicy", "priority", "serviceAccount")
_READ: Final = (
    "affinity",
    "hostNetwork",
    "nodeSelector",
    "priorityClassName",
    "resourceClaims",
    "resources",
    "runtimeClassName",
    "schedulerName",
    "schedulingGates",
    "tolerations",
    "topologySpreadConstraints",
)
"""Fields that every snapshot has, so that one of a pod that the manifest lacks has been removed, or the reverse."""
_OF_NODES: Final = "node.kubernetes.io/"
_KEPT_OF_CONTAINERS: Final = frozenset(("name", "image", "resources", "ports", "restartPolicy", "restartPolicyRules"))


class Kept(msgspec.Struct, frozen=True):
    """A workload whose template is that of its pods.

    Attributes:
        workload: `Kind namespace/name`.
        before, after: how many pods it has, and is to have.
        running: how many of the pods that stay have a node.
    """

    workload: str
    before: int
    after: int
    running: int


def without_kept(asked: Asked, replicas: int | None) -> tuple[Asked, tuple[Kept, ...]]:
    """What is asked where pods stay whose template is the same: of these workloads pods are only added or removed.

    Args:
        replicas: how many pods the only workload has; None for as many as the manifests have.
    """
    objects = asked.objects(replicas)
    wanted = {workload: asked.pods_of(workload, objects) for workload in asked.existing}
    same = {workload: old for workload, old in asked.existing.items() if _are_same(workload, old, wanted[workload])}
    if not same:
        return asked, ()
    cluster, added, kept = list(asked.cluster), [], []
    for workload, old in same.items():
        more, gone = _changes(workload, old, wanted[workload], cluster)
        after = len(old) + sum(isinstance(one, Pod) for one in more) - len(gone)
        running = sum(bool(pod.node_name) for pod in old if pod not in gone)
        kept.append(Kept(str(workload), len(old), after, running))
        cluster = _with_replicas([one for one in cluster if one not in gone], old[0], after)
        added += more
    left_out = {pod.key for workload in same for pod in wanted[workload]}
    new = [one for one in objects if not (isinstance(one, Pod) and one.key in left_out) and not _is_of(one, same)]
    existing = {workload: old for workload, old in asked.existing.items() if workload not in same}
    return asked.instead(cluster, [*new, *added], existing), tuple(kept)


def _is_of(one: KubeObject, workloads: Container[Workload]) -> bool:
    """Whether an object is the new ReplicaSet of one of some workloads."""
    owner = one.metadata.controller
    if owner is None or not isinstance(one, ReplicaSet):
        return False
    return Workload(owner.kind, one.namespace, owner.name) in workloads


def _changes(
    workload: Workload, old: Sequence[Pod], new: Sequence[Pod], cluster: Sequence[KubeObject]
) -> tuple[list[KubeObject], list[Pod]]:
    """The pods that are added, each after its claims, and those that are removed."""
    if workload.kind == "DaemonSet":
        taken = {node_of_daemon(pod) for pod in old}
        return [pod for pod in new if node_of_daemon(pod) not in taken], []
    return pods_to_add(workload, old, len(new), cluster), pods_to_remove(workload, old, len(new))


def _with_replicas(cluster: Iterable[KubeObject], pod: Pod, n: int) -> list[KubeObject]:
    """A cluster in which the controller of a pod has `n` replicas."""
    owner = pod.metadata.controller
    name = None if owner is None else (owner.kind, pod.namespace, owner.name)
    return [
        rewritten(one, lambda document: document["spec"].update(replicas=n))
        if isinstance(one, ReplicaSet | StatefulSet) and (kind_of(one), one.namespace, one.name) == name
        else one
        for one in cluster
    ]


def _are_same(workload: Workload, old: Sequence[Pod], new: Sequence[Pod]) -> bool:
    """Whether all pods have the new template; those with a separate place are compared with the one there."""

    def place_of(pod: Pod) -> str:
        return (
            node_of_daemon(pod) if workload.kind == "DaemonSet" else pod.name if workload.kind == "StatefulSet" else ""
        )

    by_place = {place_of(pod): pod for pod in new}
    pairs = [(pod, by_place[place]) for pod in old if (place := place_of(pod)) in by_place]
    return bool(pairs) and all(is_same(pod, other) for pod, other in pairs)


def is_same(old: Pod, new: Pod) -> bool:
    """Whether the template of a new pod is that of a running one, as far as the snapshot shows."""
    labels = {key: value for key, value in new.labels.items() if key not in _HASHES}
    if not labels.items() <= old.labels.items():
        return False
    was, comes = _spec(old), _spec(new)
    if any(not _agrees(*pair) for key in _READ for pair in _both(was.get(key), comes.get(key))):
        return False
    by_name = {one["name"]: one for one in _containers(was)}
    for one in _containers(comes):
        there = by_name.get(one["name"])
        if there is None or not all(_agrees(*pair) for pair in _both(one.get("resources"), there.get("resources"))):
            return False
    is_whole = any(one.keys() - _KEPT_OF_CONTAINERS for one in by_name.values())
    annotations = new.annotations if is_whole else {}
    return annotations.items() <= old.annotations.items() and _agrees(comes, was, is_whole=is_whole)


def _spec(pod: Pod) -> dict[str, Any]:
    """The spec as a template has it."""
    spec = {key: value for key, value in pod.document["spec"].items() if key not in _FILLED_IN and value}
    if spec.get("schedulerName") == "default-scheduler":
        del spec["schedulerName"]
    own = [one for one in spec.get("tolerations") or () if not one.get("key", "").startswith(_OF_NODES)]
    return {**spec, "tolerations": own}


def _containers(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _both(one: Any, other: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return (one, other), (other, one)


def _agrees(written: Any, stored: Any, *, is_whole: bool = True) -> bool:
    """Whether what is written is there: in another order of a list, or as another word for the same quantity.

    Args:
        is_whole: whether what is not stored is not there; else it is not known.
    """
    if written is None or written in ("", [], {}) or (stored is None and not is_whole):
        return True
    if isinstance(written, dict):
        return isinstance(stored, dict) and all(
            _agrees(value, stored.get(key), is_whole=is_whole) for key, value in written.items()
        )
    if isinstance(written, list) and any(isinstance(one, dict) for one in written):
        there = stored if isinstance(stored, list) else []
        return all(any(_agrees(one, other, is_whole=is_whole) for other in there) for one in written)
    return written == stored or _is_same_amount(written, stored)


def _is_same_amount(one: Any, other: Any) -> bool:
    try:
        return parse_quantity(one) == parse_quantity(other)
    except (QuantityError, TypeError):
        return False
