"""What an eviction means for a pod: who stays and who is lost.

Rule: `kubectl drain` v1.36. Pods of DaemonSets are skipped with --ignore-daemonsets, mirror pods always. Pods without a
controller need --force, pods with an emptyDir volume need --delete-emptydir-data. Finished pods need neither.
"""

from typing import Final

from kubesched.api import Pod

__all__ = ["has_local_data", "leaves_because", "stays_because"]

_MIRROR: Final = "kubernetes.io/config.mirror"


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
