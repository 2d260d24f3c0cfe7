"""What the queueing hints of several plugins ask of a pod that changed."""

from kubesched.api import KubeObject, Pod
from kubesched.framework import QueueingHint

__all__ = ["is_placed", "on_own_update"]


def is_placed(pod: Pod) -> bool:
    """Whether the pod takes room on a node, or room is kept for it there: it is bound or nominated."""
    return bool(pod.node_name or pod.status.nominated_node_name)


def on_own_update(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Another try when the updated pod is the waiting pod itself."""
    return QueueingHint.QUEUE if new is not None and new.uid == pod.uid else QueueingHint.SKIP
