"""Pods, events and a queue with recorders, for the tests of this room."""

from collections.abc import Callable, Iterable

from kubesched.api import ActionType, ClusterEvent, EventResource, ObjectMeta, Pod, PodSpec, PodStatus
from kubesched.framework import Status
from kubesched.queue import QueuedPodInfo, Registration, SchedulingQueue
from kubesched.queue.backoff import BackoffQueue

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_TAINT = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
POD_DELETE = ClusterEvent(EventResource.POD, ActionType.DELETE)
ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
LABEL_CHANGED = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_LABEL)
TOLERATION_ADDED = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_TOLERATION)


def make_pod(
    name: str = "a",
    *,
    priority: int = 0,
    uid: str | None = None,
    version: str = "",
    node: str = "",
    nominated: str = "",
    profile: str = "",
) -> Pod:
    return Pod(
        metadata=ObjectMeta(
            name=name, namespace="ns", uid=f"uid-{name}" if uid is None else uid, resource_version=version
        ),
        spec=PodSpec(priority=priority, node_name=node, scheduler_name=profile),
        status=PodStatus(nominated_node_name=nominated),
    )


def make_info(name: str = "a", *, timestamp: float = 0.0, **fields) -> QueuedPodInfo:
    pod = make_pod(name)
    return QueuedPodInfo(pod=pod, key=pod.key, timestamp=timestamp, **fields)


def by_priority(info: QueuedPodInfo) -> tuple[int, float]:
    """What PrioritySort sorts by."""
    return -info.pod.priority, info.timestamp


def make_backoff(initial: float = 1.0, maximum: float = 10.0) -> BackoffQueue:
    return BackoffQueue(by_priority, iter(range(1, 1000)), initial=initial, maximum=maximum)


class Gate:
    """PreEnqueue plugins in the order of `closed`: plugin name -> keys of the pods it gates."""

    def __init__(self, **closed: set[str]) -> None:
        self.closed = closed
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pod: Pod, first: str) -> Status:
        self.asked.append((pod.name, first))
        for plugin in sorted(self.closed, key=lambda name: name != first):
            if pod.name in self.closed[plugin]:
                return Status.unresolvable(f"{plugin} is closed").by(plugin)
        return Status.SUCCESS


def make_queue(
    *hints: tuple, pre_enqueue: Callable[[Pod, str], Status] | None = None, **options
) -> tuple[SchedulingQueue, list[tuple[str, str, str]]]:
    """A queue for the profile default-scheduler, sorted by priority, and the record of what its observer was told."""
    told: list[tuple[str, str, str]] = []
    queue = SchedulingQueue(
        sort_key=by_priority,
        hints={"default-scheduler": [Registration(*hint) for hint in hints]},
        pre_enqueue=pre_enqueue,
        observer=lambda name, label, pod: told.append((name, label, pod.name)),
        **options,
    )
    return queue, told


def hand_back(
    queue: SchedulingQueue,
    info: QueuedPodInfo,
    now: float,
    *plugins: str,
    pending: Iterable[str] = (),
) -> None:
    """End an attempt as a failure: rejected by the plugins, or as an error without any."""
    info.unschedulable_plugins.update(plugins)
    info.pending_plugins.update(pending)
    queue.add_unschedulable_if_not_present(info, now)
    queue.check_invariants()


def reject(queue: SchedulingQueue, pod: Pod, now: float, *plugins: str, pending: Iterable[str] = ()) -> QueuedPodInfo:
    """Add a pod to a queue in which nothing can be popped, and let its first attempt fail at once."""
    queue.add(pod, now)
    info = queue.pop()
    assert info is not None
    assert info.pod is pod
    hand_back(queue, info, now, *plugins, pending=pending)
    return info


def places(queue: SchedulingQueue) -> dict[str, str]:
    """Name of each waiting pod -> the queue it is in."""
    queue.check_invariants()
    return {pod.key.removeprefix("ns/"): pod.queue for pod in queue.pending().pods}


def pop_names(queue: SchedulingQueue) -> list[str]:
    """Pop until there is nothing to try."""
    names = []
    while (info := queue.pop()) is not None:
        names.append(info.pod.name)
    return names
