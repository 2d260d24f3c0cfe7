"""A pod in the queue, with its data from earlier attempts."""

import enum

import msgspec

from kubesched.api import Pod
from kubesched.framework.status import Status


class PodQueue(enum.Enum):
    """The queue that a pod is in."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    ERROR_BACKOFF = "error backoff"
    UNSCHEDULABLE = "unschedulable"


class QueuedPodInfo(msgspec.Struct, eq=False):
    """One pod on its way to a node: the same object from its first queueing until it is bound or deleted.

    Rule: kube-scheduler v1.36 QueuedPodInfo. Times are the `now` given to the queue, in seconds.

    Attributes:
        pod: the pod as last seen; replaced with `replace_pod` only.
        key: `namespace/name`.
        timestamp: when it was last given to the queue: first added, or handed back after an attempt.
        pod_info: what the scheduler keeps with the pod; the queue never reads it, and drops it with the pod it
            describes.
        initial_attempt_timestamp: when it first became active, None before.
        attempts: how often it was popped.
        unschedulable_count: attempts that plugins rejected.
        consecutive_errors_count: attempts that failed without any plugin rejecting, since the last rejection.
        backoff_expiration: cached end of the backoff; None until asked for, -inf for no backoff.
        unschedulable_plugins: plugins that rejected the last attempt, or that gate the pod.
        pending_plugins: plugins whose event returns the pod to the active queue at once.
        gating_plugin: the PreEnqueue plugin that keeps the pod from becoming active, empty for none.
        gating_message: what that plugin said.
        flushed_at: when it was last moved only for having waited too long, None for never.
        sort_faults: why the queue sort plugin failed for it since it was last tried; at most one. Copies share it.
        place: the queue that holds it, None while no queue does.
        heap_key: what it is sorted by in its heap. Belongs to PodHeap.
        entry: number of its entry in its queue; older entries of heaps are void. Belongs to the queue that holds it.
    """

    pod: Pod
    key: str
    timestamp: float
    pod_info: object = None
    initial_attempt_timestamp: float | None = None
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    backoff_expiration: float | None = None
    unschedulable_plugins: set[str] = msgspec.field(default_factory=set)
    pending_plugins: set[str] = msgspec.field(default_factory=set)
    gating_plugin: str = ""
    gating_message: str = ""
    flushed_at: float | None = None
    sort_faults: list[Status] = []
    place: PodQueue | None = None
    heap_key: object = None
    entry: int = 0

    @property
    def is_gated(self) -> bool:
        """Whether a PreEnqueue plugin keeps the pod from becoming active."""
        return self.gating_plugin != ""

    @property
    def rejectors(self) -> set[str]:
        """Plugins whose events can bring the pod back: those that rejected it and those it waits for."""
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def waiting_since(self) -> float:
        """Since when it has waited without being tried or flushed."""
        return self.timestamp if self.flushed_at is None else max(self.timestamp, self.flushed_at)

    @property
    def was_flushed(self) -> bool:
        """Whether the present attempt is owed to waiting too long, and to no event."""
        return self.flushed_at is not None and self.flushed_at >= self.timestamp

    def replace_pod(self, pod: Pod) -> None:
        """Take a newer version of the pod; what was derived from the old one goes with it."""
        self.pod = pod
        self.pod_info = None

    def note_failure(self, now: float) -> None:
        """Count an attempt that failed: as an error, unless plugins rejected the pod."""
        if self.unschedulable_plugins or self.pending_plugins:
            self.unschedulable_count += 1
            self.consecutive_errors_count = 0
        else:
            self.consecutive_errors_count += 1
        self.timestamp = now
        self.backoff_expiration = None
