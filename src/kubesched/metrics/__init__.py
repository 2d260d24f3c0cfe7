"""kube-scheduler's metrics: counted from decisions, read off the queue and the state when a page asks for them."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.metrics.gauges import EventMetrics as EventMetrics
    from kubesched.metrics.metrics_of_plugins import MetricsOfPlugins as MetricsOfPlugins
    from kubesched.metrics.observer import Observer as Observer, Observers as Observers
    from kubesched.metrics.pod_resources import PodResources as PodResources
    from kubesched.metrics.scheduler_metrics import SchedulerMetrics as SchedulerMetrics
    from kubesched.metrics.shadow_metrics import ShadowMetrics as ShadowMetrics
