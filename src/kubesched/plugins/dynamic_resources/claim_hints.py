"""Which changes are worth another try for a pod that devices keep waiting.

Rule: kube-scheduler v1.36 DynamicResources EventsToRegister: nodes, slices and classes always; of claims the pod's own
when they come or their status changes, others when they are deallocated; the pod itself when the names of its claims
are known.
"""

from collections.abc import Hashable

from kubesched.api import EXTENDED_RESOURCE_CLAIM, ActionType, EventResource, KubeObject, Pod, ResourceClaim
from kubesched.framework import EventRegistration, QueueingHint, Status
from kubesched.plugins.dynamic_resources.pod_claims import claim_name, claims_of
from kubesched.plugins.shared_hints import queue_if, registration
from kubesched.state import ObjectStore


def claim_events(objects: ObjectStore, *, tries_at_once: bool) -> list[EventRegistration]:
    """The events, with hints that look at the claims as they are then.

    Args:
        tries_at_once: whether a pod is tried as soon as the claim is deleted that an earlier attempt left for it;
            kube-scheduler v1.36.3 tries it again within five minutes.
    """
    change = ActionType.ADD | ActionType.UPDATE

    def has_claims(pod: Pod) -> bool:
        return not isinstance(claims_of(pod, objects), Status)

    def on_claim(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        if not isinstance(new, ResourceClaim):
            return QueueingHint.SKIP
        before = old if isinstance(old, ResourceClaim) else None
        if new.key in _own(pod):
            helps = before is None or before.status != new.status
        else:
            was_allocated = before is not None and before.status.allocation is not None
            helps = was_allocated and new.status.allocation is None
        return queue_if(helps and has_claims(pod))

    def on_pod(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        return queue_if(isinstance(new, Pod) and new.uid == pod.uid and has_claims(new))

    def on_left_over(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        return queue_if(old is not None and EXTENDED_RESOURCE_CLAIM in old.annotations and old.is_made_for(pod))

    node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
    further = [registration(EventResource.RESOURCE_CLAIM, ActionType.DELETE, on_left_over, lambda pod: pod.uid)]
    return [
        *(further if tries_at_once else ()),
        registration(EventResource.NODE, node),
        registration(EventResource.RESOURCE_CLAIM, change, on_claim, _part),
        registration(EventResource.POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM, on_pod, _part),
        registration(EventResource.DEVICE_CLASS, change),
        registration(EventResource.RESOURCE_SLICE, change),
    ]


def _own(pod: Pod) -> set[str]:
    """The claims of a pod, as far as their names are known."""
    return {f"{pod.namespace}/{claim_name(pod, entry)[0]}" for entry in pod.spec.resource_claims or ()}


def _part(pod: Pod) -> Hashable:
    claims = pod.spec.resource_claims
    return (pod.key, pod.uid, claims, pod.status.resource_claim_statuses) if claims else ()
