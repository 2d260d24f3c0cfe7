"""The cluster events that may help a pod that a plugin rejected, with an optional hint for each.

A plugin returns these from `events_to_register`; the profile collects them and the queue asks the hints.
"""

import enum
from collections.abc import Callable, Collection, Hashable
from typing import NamedTuple

from kubesched.api import ClusterEvent, KubeObject, Pod


class QueueingHint(enum.Enum):
    """A hint's answer; the values are the labels of kube-scheduler's metrics.

    Example:
        def hint(pod, old, new):
            return QueueingHint.QUEUE if new is not None and "gpu" in new.labels else QueueingHint.SKIP
    """

    QUEUE = "Queue"
    """The event may make the pod schedulable: try it again."""
    SKIP = "QueueSkip"
    """The event does not help the pod: let it wait."""


HintFunction = Callable[[Pod, KubeObject | None, KubeObject | None], QueueingHint]
"""(rejected pod, object before, object after) -> hint. There is no object before an Add and none after a Delete."""


class EventRegistration(NamedTuple):
    """One entry of `events_to_register`: the events, and a hint for them; without a hint every event triggers a retry.

    Thousands of pods may wait, and a hint alone is asked about each of them at each event. `part` and `objects` say
    what it depends on, and save nearly all of that; the answers must be the same as without them.

    Attributes:
        event: the events.
        hint: answers for one pod.
        part: what the hint reads of the rejected pod. Pods with equal parts are asked about once, with any one of
            them, and share the answer; where the event is about a rejected pod itself, that pod is asked about too.
        objects: the keys (`namespace/name`, or `name` in no namespace) of the only objects for which the hint can
            say Queue; events of others are not put to it.
        keys_of: the keys that the object of an event has for `objects`, before or after it; without, its own key.

    Example:
        added = ClusterEvent(EventResource.NODE, ActionType.ADD)
        EventRegistration(added, lambda pod, old, new: QueueingHint.QUEUE)

        def has_wanted_rack(pod, old, new):
            return QueueingHint.QUEUE if new.labels.get("rack") == pod.labels.get("rack") else QueueingHint.SKIP

        EventRegistration(added, has_wanted_rack, part=lambda pod: pod.labels.get("rack"))
    """

    event: ClusterEvent
    hint: HintFunction | None = None
    part: Callable[[Pod], Hashable] | None = None
    objects: Callable[[Pod], Collection[str]] | None = None
    keys_of: Callable[[KubeObject], Collection[str]] | None = None
