"""PrioritySort: pods of higher priority first, among equals the one that has waited longer in the queue.

Rule: kube-scheduler v1.36 PrioritySort. The time is that of being put into the queue, not of the pod's creation.
"""

from typing import Any

from kubesched.framework import Plugin


class PrioritySort(Plugin):
    """Sort the queue by priority, then by time."""

    def sort_key(self, queued: Any) -> tuple[int, float]:
        """(-priority, time)."""
        return (-(queued.pod.spec.priority or 0), queued.timestamp)
