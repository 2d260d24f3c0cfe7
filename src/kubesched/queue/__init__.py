"""Pods that wait for a node: active, backing off, unschedulable; in flight; nominated."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.framework import PodQueue as PodQueue, QueuedPodInfo as QueuedPodInfo
    from kubesched.queue.gate import PreEnqueue as PreEnqueue
    from kubesched.queue.nominator import Nominator as Nominator
    from kubesched.queue.pod_places import Observer as Observer, Pending as Pending, QueuedPod as QueuedPod
    from kubesched.queue.requeueing import Registration as Registration
    from kubesched.queue.scheduling_queue import SchedulingQueue as SchedulingQueue
