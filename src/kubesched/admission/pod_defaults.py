"""Sets the API server's defaults of a new pod, for the fields that scheduling reads.

Rule: kube-apiserver v1.36: core/v1 defaults (requests from limits, pod-level requests, host ports of the host's
network), admission LimitRanger, Priority, DefaultTolerationSeconds and RuntimeClass, and the merge of matchLabelKeys
and mismatchLabelKeys into label selectors.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from kubesched.admission.amounts import amount_of
from kubesched.admission.cluster_outline import ClusterOutline
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.api import Pod, limits_of, requests_of

Document = dict[str, Any]

_EVICTION_SECONDS: Final = 300
_EVICTING: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_CONTAINERS: Final = ("containers", "initContainers")
_HUGE_PAGES: Final = "hugepages-"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def default_pod(pod: Document, cluster: ClusterOutline, limits: LimitRanges) -> None:
    """Fill in a new pod, in place. Its fields have the types that Kubernetes gives them.

    Args:
        limits: those of the cluster, or none.
    Raises:
        ObjectError: its PriorityClass cannot be resolved.
    """
    spec = pod["spec"]
    for container in _containers(spec):
        _default_requests(container)
        _default_ports(container, on_host=bool(spec.get("hostNetwork")))
    _default_pod_level(spec)
    limits.complete(pod["metadata"]["namespace"], spec)
    _default_pod_level(spec)  # defaults come with every reading from etcd, and limits have changed the containers
    spec["schedulerName"] = spec.get("schedulerName") or "default-scheduler"
    cluster.priorities.admit(spec)
    _default_tolerations(spec)
    cluster.runtime_classes.complete(spec)
    _merge_label_keys(spec, pod["metadata"].get("labels") or {})
    pod["status"] = {"phase": "Pending"}


def _containers(spec: Document) -> list[Document]:
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


def _default_requests(container: Document) -> None:
    """A limit without a request is a request too."""
    resources = container.get("resources") or {}
    if resources.get("limits"):
        resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def _default_ports(container: Document, *, on_host: bool) -> None:
    for port in container.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
        if on_host:
            port["hostPort"] = port.get("hostPort") or port.get("containerPort", 0)


def _default_pod_level(spec: Document) -> None:
    """Complete the requests and limits of a whole pod that has some.

    Huge pages that the containers are limited to are limits. With limits, requests are what the containers request
    together, else the limits.
    """
    resources = spec.get("resources")
    if not resources:
        return
    containers = msgspec.convert({"spec": {key: spec[key] for key in _CONTAINERS if spec.get(key)}}, Pod)
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, amount in limits_of(containers, amount_of).items():
        if name.startswith(_HUGE_PAGES):
            limits.setdefault(name, str(amount))
    if not limits:
        return
    for name, amount in requests_of(containers, amount_of).items():
        if _is_pod_level(name):
            requests.setdefault(name, str(amount))
    for name, limit in limits.items():
        if _is_pod_level(name):
            requests.setdefault(name, limit)
    resources |= {"limits": limits, "requests": requests}


def _is_pod_level(resource: str) -> bool:
    return resource in ("cpu", "memory") or resource.startswith(_HUGE_PAGES)


def _default_tolerations(spec: Document) -> None:
    tolerations = spec.get("tolerations") or []
    for key in _EVICTING:
        if not any(_covers(toleration, key) for toleration in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _EVICTION_SECONDS}
            )
    spec["tolerations"] = tolerations


def _covers(toleration: Document, key: str) -> bool:
    return (toleration.get("key") or key) == key and (toleration.get("effect") or "NoExecute") == "NoExecute"


def _merge_label_keys(spec: Document, labels: dict[str, str]) -> None:
    for term in [*_affinity_terms(spec.get("affinity") or {}), *(spec.get("topologySpreadConstraints") or ())]:
        if term.get("labelSelector") is None:
            continue
        added = [
            {"key": key, "operator": operator, "values": [labels[key]]}
            for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
            for key in term.get(field) or ()
            if key in labels
        ]
        if added:
            selector = term["labelSelector"]
            selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def _affinity_terms(affinity: Document) -> Iterator[Document]:
    for name in ("podAffinity", "podAntiAffinity"):
        rules = affinity.get(name) or {}
        yield from rules.get(_REQUIRED) or ()
        yield from (weighted.get("podAffinityTerm") or {} for weighted in rules.get(_PREFERRED) or ())
