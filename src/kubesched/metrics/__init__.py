"""kube-scheduler's metrics: counted from decisions, read off the queue and the state when a page asks for them."""

from kubesched.metrics.observer import Observer
from kubesched.metrics.pod_resources import PodResources
from kubesched.metrics.scheduler_metrics import SchedulerMetrics

__all__ = ["Observer", "PodResources", "SchedulerMetrics"]
