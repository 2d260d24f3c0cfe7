"""Ask the queueing hints of a plugin about an event."""

from kubesched.api import ActionType, ClusterEvent, EventResource, Node, Pod
from kubesched.framework import Plugin, QueueingHint

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)


def node_event(action: ActionType) -> ClusterEvent:
    return ClusterEvent(EventResource.NODE, action)


def pod_event(action: ActionType) -> ClusterEvent:
    return ClusterEvent(EventResource.UNSCHEDULABLE_POD, action)


def hint(
    plugin: Plugin, event: ClusterEvent, waiting: Pod, old: Pod | Node | None, new: Pod | Node | None
) -> QueueingHint | None:
    """What the plugin says to the event; None when it did not ask to hear of it."""
    for registered in plugin.events_to_register():
        if registered.event.covers(event):
            return QueueingHint.QUEUE if registered.hint is None else registered.hint(waiting, old, new)
    return None
