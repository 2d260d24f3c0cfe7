"""Shows the metrics of a page as a version of kube-scheduler has them: which there are, their names, and event labels.

The families are made as v1.36 has them. What differs in other versions is decided here, when a client reads the page.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from kubesched.release import Release

_SINCE: Final = {
    "scheduler_resourceclaim_creates": 35,
    "scheduler_pod_scheduled_after_flush": 36,
    "scheduler_dra_bindingconditions_allocations": 36,
    "scheduler_dra_bindingconditions_wait_duration_seconds": 36,
}
"""Rule: kube-scheduler v1.33 to v1.37, the names of their metrics: the first version that has a family."""

_CACHE_SIZE: Final = "scheduler_cache_size"
_CREATES: Final = "scheduler_resourceclaim_creates"
_INCOMING: Final = "scheduler_queue_incoming_pods"
_EVENT: Final = "event"
_OLD_POD, _POD, _TARGET = "UnschedulablePod", "UnscheduledPod", "TargetPod"


class ReleasedMetrics(Collector):
    """What a collector shows, as a version of kube-scheduler shows it."""

    def __init__(self, collector: Collector, release: Release) -> None:
        self._collector = collector
        self._release = release

    def collect(self) -> Iterator[Metric]:
        """The families of the version; may be called from any thread."""
        yield from _as_released(self._collector.collect(), self._release)


def _as_released(families: Iterable[Metric], release: Release) -> Iterator[Metric]:
    """Rule: kube-scheduler v1.33 shows the cache size under a doubled prefix, too; v1.37 has another prefix for claims
    that are created, and UnscheduledPod and TargetPod in place of UnschedulablePod.
    """
    for family in families:
        if release.before(_SINCE.get(family.name, 0)):
            continue
        if not release.before(37):
            if family.name == _CREATES:
                family = _renamed(family, _CREATES.replace("scheduler", "dynamic_resource_allocation", 1))
            family.samples = [_with_new_event(sample, family.name) for sample in family.samples]
        yield family
        if release.before(34) and family.name == _CACHE_SIZE:
            yield _renamed(family, f"scheduler_{_CACHE_SIZE}")


def _renamed(family: Metric, name: str) -> Metric:
    renamed = Metric(name, family.documentation, family.type, family.unit)
    renamed.samples = [sample._replace(name=name + sample.name.removeprefix(family.name)) for sample in family.samples]
    return renamed


def _with_new_event(sample: Sample, family: str) -> Sample:
    """Rule: kube-scheduler v1.37 ClusterEvent.Label: to a pod that waits, its own update is one of TargetPod."""
    event = sample.labels.get(_EVENT, "")
    if not event.startswith(_OLD_POD):
        return sample
    action = event.removeprefix(_OLD_POD)
    resource = _TARGET if family == _INCOMING and action.startswith("Update") else _POD
    return sample._replace(labels={**sample.labels, _EVENT: resource + action})
