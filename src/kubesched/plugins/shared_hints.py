"""Queueing hints that several plugins share, and the parts of pods that hints read."""

from collections.abc import Callable, Hashable

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod
from kubesched.framework import EventRegistration, HintFunction, QueueingHint
from kubesched.state import NO_VOLUMES, pod_volumes


def registration(
    resource: EventResource,
    action: ActionType,
    hint: HintFunction | None = None,
    part: Callable[[Pod], Hashable] | None = None,
) -> EventRegistration:
    """An entry of `events_to_register`."""
    return EventRegistration(ClusterEvent(resource, action), hint, part)


def queue_if(helps: bool) -> QueueingHint:
    """Another try when the event helps."""
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def is_placed(pod: Pod) -> bool:
    """Whether the pod takes room on a node, or room is kept for it there: it is bound or nominated."""
    return bool(pod.node_name or pod.status.nominated_node_name)


def nothing(pod: Pod) -> Hashable:
    """The part of a hint that reads nothing of the rejected pod, except whether the event is about it."""
    return ()


def volumes_part(pod: Pod) -> Hashable:
    """The part of a hint that reads the volumes of the rejected pod, or the claims that they name."""
    volumes = pod.spec.volumes
    return (pod.namespace, pod.name, volumes) if volumes else ()


def by_own(action: ActionType, hint: HintFunction | None = None) -> EventRegistration:
    """Updates of the rejected pod itself, with a hint or without."""
    return EventRegistration(ClusterEvent(EventResource.POD, action), hint or _on_own_update, objects=_own)


def _own(pod: Pod) -> tuple[str]:
    return (pod.key,)


def _on_own_update(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Another try when the updated pod is the waiting pod itself."""
    return queue_if(new is not None and new.uid == pod.uid)


def by_volume(hint: HintFunction) -> EventRegistration:
    """Deletions of pods that have a disk or a claim of the rejected pod."""
    event = ClusterEvent(EventResource.POD, ActionType.DELETE)
    return EventRegistration(event, hint, objects=_volume_keys, keys_of=_volume_keys)


def _volume_keys(pod: KubeObject) -> list[str]:
    volumes = pod_volumes(pod) if isinstance(pod, Pod) else NO_VOLUMES
    claims = [f"{pod.namespace}/{name}" for name in volumes.direct_claims]
    return [*claims, *(f"disk {disk.key}" for disk in volumes.disks)]


def by_claim(action: ActionType, *, ephemeral: bool) -> EventRegistration:
    """Events of the PersistentVolumeClaims that the pod uses.

    Args:
        ephemeral: whether the claims of generic ephemeral volumes count.
    Rule: kube-scheduler v1.36: Queue if the claim is in the pod's namespace and a volume of the pod uses it.
    """

    def claims(pod: Pod) -> list[str]:
        uses = pod_volumes(pod).claims
        return [f"{pod.namespace}/{use.name}" for use in uses if ephemeral or not use.is_ephemeral]

    def hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        claim = new or old
        return queue_if(claim is not None and claim.key in claims(pod))

    return EventRegistration(ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, action), hint, objects=claims)
