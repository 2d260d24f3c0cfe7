"""Queueing hints that several plugins share."""

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod
from kubesched.framework import EventRegistration, HintFunction, QueueingHint
from kubesched.state import pod_volumes

__all__ = ["claim_hint", "is_placed", "on_own_update", "queue_if", "registration"]


def registration(resource: EventResource, action: ActionType, hint: HintFunction | None = None) -> EventRegistration:
    """An entry of `events_to_register`."""
    return EventRegistration(ClusterEvent(resource, action), hint)


def queue_if(helps: bool) -> QueueingHint:
    """Another try when the event helps."""
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def is_placed(pod: Pod) -> bool:
    """Whether the pod takes room on a node, or room is kept for it there: it is bound or nominated."""
    return bool(pod.node_name or pod.status.nominated_node_name)


def on_own_update(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Another try when the updated pod is the waiting pod itself."""
    return queue_if(new is not None and new.uid == pod.uid)


def claim_hint(*, ephemeral: bool) -> HintFunction:
    """A hint function for PersistentVolumeClaim events: does the pod use the claim?

    Args:
        ephemeral: whether the claims of generic ephemeral volumes count.
    Rule: kube-scheduler v1.36: Queue if the claim is in the pod's namespace and a volume of the pod uses it.
    """

    def hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        claim = new or old
        if claim is None or claim.namespace != pod.namespace:
            return QueueingHint.SKIP
        uses = pod_volumes(pod).claims
        return queue_if(any(use.name == claim.name and (ephemeral or not use.is_ephemeral) for use in uses))

    return hint
