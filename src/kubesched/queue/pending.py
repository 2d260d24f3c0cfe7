"""What waits in the queue and why, for reports and metrics."""

import msgspec

from kubesched.framework import Place, QueuedPodInfo

__all__ = ["Pending", "PendingPod", "describe"]


class PendingPod(msgspec.Struct, frozen=True):
    """One waiting pod.

    Attributes:
        key: `namespace/name`.
        queue: `active`, `backoff`, `unschedulable` or `gated`, as kube-scheduler's metrics name them.
        attempts: how often it was tried.
        since: when it was added or handed back, in the queue's seconds.
        backoff_until: the whole second in which its backoff ends, None when it is not backing off.
        rejected_by: the plugins it waits for, by name.
        gated_by: the PreEnqueue plugin that gates it, empty for none.
        message: what that plugin said.
    """

    key: str
    queue: str
    attempts: int
    since: float
    backoff_until: float | None
    rejected_by: tuple[str, ...]
    gated_by: str
    message: str


class Pending(msgspec.Struct, frozen=True):
    """All waiting pods.

    Attributes:
        counts: pods in each of the queues that PendingPod names, also where there are none.
        pods: active ones in the order they would be popped, then backing off, unschedulable and gated.
    """

    counts: dict[str, int]
    pods: tuple[PendingPod, ...]


def describe(info: QueuedPodInfo) -> PendingPod:
    """Describe one queued pod."""
    backs_off = info.place in (Place.BACKOFF, Place.ERROR_BACKOFF)
    return PendingPod(
        key=info.key,
        queue=_queue_of(info),
        attempts=info.attempts,
        since=info.timestamp,
        backoff_until=info.backoff_expiration if backs_off else None,
        rejected_by=tuple(sorted(info.rejectors)),
        gated_by=info.gating_plugin,
        message=info.gating_message,
    )


def _queue_of(info: QueuedPodInfo) -> str:
    if info.place is Place.ACTIVE:
        return "active"
    if info.place is Place.UNSCHEDULABLE:
        return "gated" if info.is_gated else "unschedulable"
    return "backoff"
