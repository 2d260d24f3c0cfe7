"""Pods that wait for a node: active, backing off, unschedulable; in flight; nominated."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.framework import PodQueue, QueuedPodInfo
    from kubesched.queue.gate import PreEnqueue
    from kubesched.queue.nominator import Nominator
    from kubesched.queue.pod_places import Observer, Pending, QueuedPod
    from kubesched.queue.requeueing import Registration
    from kubesched.queue.scheduling_queue import SchedulingQueue

__all__ = [
    "Nominator",
    "Observer",
    "Pending",
    "PodQueue",
    "PreEnqueue",
    "QueuedPod",
    "QueuedPodInfo",
    "Registration",
    "SchedulingQueue",
]
