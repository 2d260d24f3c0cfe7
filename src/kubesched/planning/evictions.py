"""What an eviction means for a pod: who stays, who is lost, and what its controller makes in its place.

Rule: `kubectl drain` v1.36. Pods of DaemonSets are skipped with --ignore-daemonsets, mirror pods always. Pods without a
controller need --force, pods with an emptyDir volume need --delete-emptydir-data. Finished pods need neither.
"""

from collections.abc import Callable
from typing import Final

from kubesched.api import KubeObject, PersistentVolume, PersistentVolumeClaim, Pod
from kubesched.planning.replicas import fresh_claim, fresh_pod

__all__ = ["Replacement", "has_local_data", "leaves_because", "replacement_of", "stays_because"]

_MIRROR: Final = "kubernetes.io/config.mirror"

Find = Callable[[str, str], KubeObject | None]
"""An object by kind and key."""

Replacement = tuple[list[KubeObject], list[KubeObject]]
"""The objects that come in the place of an evicted pod, and those that go with it."""


def stays_because(pod: Pod) -> str:
    """Why a pod stays on a drained node; empty if it leaves."""
    owner = pod.metadata.controller
    if _MIRROR in pod.annotations or (owner is not None and owner.kind == "Node"):
        return "static pod"
    return "DaemonSet" if owner is not None and owner.kind == "DaemonSet" and not pod.is_finished else ""


def leaves_because(pod: Pod) -> str:
    """Why a pod leaves without an eviction that a disruption budget could hold up; empty if it has to be evicted."""
    if pod.is_finished:
        return "finished"
    return "is being deleted" if pod.is_terminating else ""


def has_local_data(pod: Pod) -> bool:
    """Whether the pod has data that is deleted with it: an emptyDir volume."""
    return any(volume.empty_dir is not None for volume in pod.volumes)


def replacement_of(pod: Pod, find: Find) -> Replacement:
    """What changes when a pod has gone: its controller makes a new one of the same template.

    The new pod has the old one's name, so that reports can be followed; only those of a StatefulSet have it in fact. It
    keeps its claims, except those of generic ephemeral volumes: these are deleted with the pod and created again,
    unbound. A pod without a controller does not come back. Neither does one that is being deleted, except in a
    StatefulSet: any other controller has created the new pod already.
    """
    owner = pod.metadata.controller
    is_expected = owner is not None and (not pod.is_terminating or owner.kind == "StatefulSet") and not pod.is_finished
    made: list[KubeObject] = []
    gone: list[KubeObject] = [pod]
    new = fresh_pod(pod)
    for volume in pod.volumes:
        if volume.ephemeral is None:
            continue
        claim = find("PersistentVolumeClaim", f"{pod.namespace}/{pod.name}-{volume.name}")
        if not isinstance(claim, PersistentVolumeClaim):
            continue
        gone.append(claim)
        bound = find("PersistentVolume", claim.spec.volume_name)
        if isinstance(bound, PersistentVolume):
            gone.append(bound)
        made.append(fresh_claim(claim, pod, new))
    return ([*made, new] if is_expected else []), gone
