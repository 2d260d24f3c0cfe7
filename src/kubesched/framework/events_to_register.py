"""The cluster events that may help a pod that a plugin rejected, with an optional hint for each.

A plugin returns these from `events_to_register`; the profile collects them and the queue asks the hints.
"""

import enum
from collections.abc import Callable
from typing import NamedTuple

from kubesched.api import ClusterEvent, KubeObject, Pod

__all__ = ["EventRegistration", "HintFunction", "QueueingHint"]


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

    Example:
        added = ClusterEvent(EventResource.NODE, ActionType.ADD)
        EventRegistration(added, lambda pod, old, new: QueueingHint.QUEUE)
    """

    event: ClusterEvent
    hint: HintFunction | None = None
