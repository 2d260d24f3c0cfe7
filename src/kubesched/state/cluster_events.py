"""Derives the cluster events from the change of an object.

Rule: kube-scheduler v1.36 event handlers: a node update gives one event per changed property, in upstream's order; a
pod update gives specific events, or plain Update where none applies; other kinds give Add, Update, Delete.
"""

from functools import lru_cache
from typing import Final

import msgspec

from kubesched.api import (
    ActionType,
    ClusterEvent,
    EventResource,
    KubeObject,
    Node,
    Pod,
    PodRequests,
    Unstructured,
    custom_resource,
    has_same_requests,
)


class StateChange(msgspec.Struct, frozen=True):
    """A cluster event with the object before (None for Add) and after (None for Delete)."""

    event: ClusterEvent
    old: KubeObject | None
    new: KubeObject | None


_RESOURCE_OF_KIND: Final = {resource.value.rpartition("/")[2]: resource for resource in EventResource}


def object_change(kind: str, old: KubeObject | None, new: KubeObject | None) -> list[StateChange]:
    """Add, Update or Delete of an object of a kind that plugins may register for; nothing for other kinds."""
    events = _events_of(kind)
    if events is None or (old is None and new is None):
        return []
    if old is not None and isinstance(new, Unstructured) and old == new:
        return []
    return [StateChange(events[0 if old is None else 1 if new is None else 2], old, new)]


@lru_cache(maxsize=256)
def _events_of(kind: str) -> tuple[ClusterEvent, ClusterEvent, ClusterEvent] | None:
    """Add, Delete and Update of a kind, one object each, so that it is hashed once; None for other kinds."""
    resource = _RESOURCE_OF_KIND.get(kind) or custom_resource(kind)
    if not resource:
        return None
    actions = ActionType.ADD, ActionType.DELETE, ActionType.UPDATE
    added, deleted, updated = (ClusterEvent(resource, action) for action in actions)
    return added, deleted, updated


def is_unchanged_node(old: Node, new: Node) -> bool:
    """Whether a node update, such as a heartbeat, changes nothing that is read of nodes."""
    return old.status == new.status and old.spec == new.spec and old.metadata.is_same_but_for_version(new.metadata)


def node_updates(old: Node, new: Node) -> list[StateChange]:
    """The properties of a node that changed, an event each."""
    changed = {
        ActionType.UPDATE_NODE_TAINT: (old.unschedulable and not new.unschedulable) or old.taints != new.taints,
        ActionType.UPDATE_NODE_ALLOCATABLE: old.status.allocatable != new.status.allocatable,
        ActionType.UPDATE_NODE_LABEL: old.labels != new.labels,
        ActionType.UPDATE_NODE_CONDITION: _conditions(old) != _conditions(new),
        ActionType.UPDATE_NODE_ANNOTATION: old.annotations != new.annotations,
        ActionType.UPDATE_NODE_DECLARED_FEATURE: old.status.declared_features != new.status.declared_features,
    }
    order = [
        *([ActionType.UPDATE_NODE_TAINT] if old.unschedulable and not new.unschedulable else []),
        ActionType.UPDATE_NODE_ALLOCATABLE,
        ActionType.UPDATE_NODE_LABEL,
        *([] if old.unschedulable and not new.unschedulable else [ActionType.UPDATE_NODE_TAINT]),
        ActionType.UPDATE_NODE_CONDITION,
        ActionType.UPDATE_NODE_ANNOTATION,
        ActionType.UPDATE_NODE_DECLARED_FEATURE,
    ]
    return [StateChange(ClusterEvent(EventResource.NODE, action), old, new) for action in order if changed[action]]


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions or ()}


def pod_updates(resource: EventResource, old: Pod, new: Pod) -> list[StateChange]:
    """What changed in a pod, an event each; plain Update when no change has a separate event."""
    actions = []
    if old.labels != new.labels:
        actions.append(ActionType.UPDATE_POD_LABEL)
    if _is_scaled_down(old, new):
        actions.append(ActionType.UPDATE_POD_SCALE_DOWN)
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        actions.append(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    if len(old.tolerations) != len(new.tolerations):
        actions.append(ActionType.UPDATE_POD_TOLERATION)
    if (old.status.resource_claim_statuses or ()) != (new.status.resource_claim_statuses or ()):
        actions.append(ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return [StateChange(ClusterEvent(resource, action), old, new) for action in actions or [ActionType.UPDATE_OTHER]]


def _is_scaled_down(old: Pod, new: Pod) -> bool:
    """Whether some request of a pod became smaller or disappeared."""
    if old.spec == new.spec and has_same_requests(old.status, new.status):
        return False
    before, after = PodRequests(old).held, PodRequests(new).held
    return any(after.get(name, -1) < amount for name, amount in before.items())
