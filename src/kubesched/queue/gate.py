"""The gate before the queues: PreEnqueue says which pods may become active."""

from collections.abc import Callable

from kubesched.api import Pod
from kubesched.framework import QueuedPodInfo, Status
from kubesched.queue.pod_places import PodPlaces

PreEnqueue = Callable[[Pod, str], Status]
"""(pod, plugin to ask first or "") -> SUCCESS, or the status of the plugin that gates the pod, under its name."""


class Gate:
    """Asks PreEnqueue, and keeps the pods that do not pass.

    Args:
        places: where a pod that does not pass becomes unschedulable.
        pre_enqueue, on_fault: as for SchedulingQueue.
    """

    def __init__(
        self, places: PodPlaces, pre_enqueue: PreEnqueue | None, on_fault: Callable[[Pod, Status], None] | None
    ) -> None:
        self._places = places
        self._pre_enqueue = pre_enqueue
        self._on_fault = on_fault

    def lets_in(self, info: QueuedPodInfo, label: str) -> bool:
        """Run PreEnqueue; a pod that does not pass is gated and becomes unschedulable."""
        status = None if self._pre_enqueue is None else self._pre_enqueue(info.pod, info.gating_plugin)
        if status is None or status.is_success:
            info.gating_plugin = info.gating_message = ""
            return True
        if self._on_fault is not None and status.place and status.located != info.gating_message:
            self._on_fault(info.pod, status)
        info.gating_plugin = status.plugin
        info.gating_message = status.located
        info.unschedulable_plugins.add(info.gating_plugin)
        self._places.to_unschedulable(info, label)
        return False
