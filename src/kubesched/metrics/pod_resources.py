"""/metrics/resources: what each pod requests and is limited to.

Rule: kube-scheduler v1.36: pods of all schedulers that have not finished, also those without a node; the larger of what
the init containers and the containers take, from the spec; amounts of 0 are left out. Recorded from v1.36.3.
"""

from collections.abc import Callable, Iterable
from typing import Final

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from kubesched.api import NANO, Pod
from kubesched.state import ClusterState, limits_of, requests_of

_LABELS: Final = ("namespace", "pod", "node", "scheduler", "priority", "resource", "unit")
_UNITS: Final = {"cpu": "cores", "memory": "bytes", "ephemeral-storage": "bytes"}
_TEXT: Final = (
    "{}, broken down by pod. This shows the resource usage the scheduler and kubelet expect per pod for resources "
    "along with the unit for the resource if any."
)


class PodResources(Collector):
    """Collects kube_pod_resource_request and kube_pod_resource_limit when the page is read, in that thread.

    Args:
        is_leader: whether this process leads; a follower's page is empty. None without leader election.
    """

    def __init__(self, cluster_state: ClusterState, is_leader: Callable[[], bool] | None = None) -> None:
        self._cluster_state = cluster_state
        self._is_leader = is_leader

    def collect(self) -> Iterable[Metric]:
        """The resources of all pods as they are now."""
        if self._is_leader is not None and not self._is_leader():
            return
        requests = GaugeMetricFamily(
            "kube_pod_resource_request", _TEXT.format("Resources requested by workloads on the cluster"), labels=_LABELS
        )
        limits = GaugeMetricFamily(
            "kube_pod_resource_limit", _TEXT.format("Resources limit for workloads on the cluster"), labels=_LABELS
        )
        for pod in list(self._cluster_state.objects.list("Pod")):
            if isinstance(pod, Pod) and not pod.is_finished:
                _add(requests, pod, requests_of(pod))
                _add(limits, pod, limits_of(pod))
        yield from (limits, requests)


def _add(family: GaugeMetricFamily, pod: Pod, amounts: dict[str, int]) -> None:
    of_pod = [pod.namespace, pod.name, pod.node_name, pod.scheduler_name, str(pod.priority)]
    for name, nano in sorted(amounts.items()):
        if nano:
            family.add_metric([*of_pod, name, _unit(name)], nano / NANO)


def _unit(resource: str) -> str:
    """The unit of a resource; empty for extended resources, which are counted."""
    return "bytes" if resource.startswith("hugepages-") else _UNITS.get(resource, "")
