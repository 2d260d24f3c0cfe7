"""Checks the values of an object when it is read, so that rules only get valid quantities and times.

Selectors are not looked at: one that does not parse is a matter for the rule that meets it, as in kube-scheduler.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from kubesched.admission.device_checks import DeviceChecker
from kubesched.admission.device_claim_checks import entry_faults
from kubesched.api import (
    TAINT_EFFECTS,
    Affinity,
    Container,
    ContainerStatus,
    CSINode,
    CSIStorageCapacity,
    HorizontalPodAutoscaler,
    KubeObject,
    LimitRange,
    Node,
    NodeClaim,
    NodePool,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    Quantities,
    ResourceQuota,
    Resources,
    RuntimeClass,
    Taint,
    decode_object,
    parse_quantity,
)
from kubesched.controllers import check_bounds
from kubesched.documents import RawJson, shorten
from kubesched.errors import ObjectError, QuantityError

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_MAX_PORT: Final = 65535
_INT32: Final = 2**31
_INT64: Final = 2**63

Quantity = str | int | float
Containers = tuple[Container | ContainerStatus, ...]


def decode_checked(kind: str, raw: RawJson) -> KubeObject:
    """Decode and check one object of a kind in KINDS, for callers that do not read many at once.

    Raises:
        ObjectError: the message begins with the field.
    """
    known = decode_object(kind, raw)
    ObjectChecker().check(known)
    return known


class ObjectChecker:
    """Checks objects one after another and remembers what was good: times, quantities, containers shared by pods."""

    def __init__(self) -> None:
        self._good: set[Quantity] = set()
        self._good_times: set[str | None] = {None}
        self._devices = DeviceChecker(self._check_time)
        self._checked: dict[int, object] = {}  # parts that pods share, by id; held, so that no id comes again

    def check(self, checked: KubeObject) -> None:
        """Check what a scheduler reads of an object beyond the types of its fields.

        Raises:
            ObjectError: a quantity, time or port that Kubernetes does not accept; the message begins with the field.
        """
        self._check_time(checked.metadata.creation_timestamp, "metadata.creationTimestamp")
        self._check_time(checked.metadata.deletion_timestamp, "metadata.deletionTimestamp")
        if isinstance(checked, Pod):
            self._check_pod(checked)
        elif isinstance(checked, Node):
            self._check_quantities(checked.status.allocatable, "status.allocatable")
            _check_taints(checked.taints)
            for i, image in enumerate(checked.status.images or ()):
                if not -_INT64 <= image.size_bytes < _INT64:
                    raise ObjectError(f"status.images[{i}].sizeBytes: found {image.size_bytes}; expected an int64")
        elif isinstance(checked, NodePool):
            self._check_quantities(checked.spec.limits, "spec.limits")
            self._check_quantities(checked.status.resources, "status.resources")
            _check_taints(checked.spec.template.spec.taints or (), "spec.template.spec.taints")
        elif isinstance(checked, NodeClaim):
            self._check_quantities(checked.status.allocatable, "status.allocatable")
            _check_taints(checked.spec.taints or ())
        elif isinstance(checked, PersistentVolume):
            self._check_quantities(checked.spec.capacity, "spec.capacity")
        elif isinstance(checked, PersistentVolumeClaim):
            self._check_resources(checked.spec.resources, "spec.resources")
        elif isinstance(checked, CSIStorageCapacity):
            self._check_quantity(checked.capacity, "capacity")
            self._check_quantity(checked.maximum_volume_size, "maximumVolumeSize")
        elif isinstance(checked, CSINode):
            for i, driver in enumerate(checked.spec.drivers or ()):
                count = driver.allocatable.count if driver.allocatable else None
                _check_int32(count, f"spec.drivers[{i}].allocatable.count")
        elif isinstance(checked, PriorityClass):
            _check_int32(checked.value, "value")
        elif isinstance(checked, PodDisruptionBudget):
            _check_int32(checked.status.disruptions_allowed, "status.disruptionsAllowed")
        elif isinstance(checked, HorizontalPodAutoscaler):
            _check_int32(checked.spec.min_replicas, "spec.minReplicas")
            _check_int32(checked.spec.max_replicas, "spec.maxReplicas")
            check_bounds(checked.spec.min_replicas, checked.spec.max_replicas, "spec.minReplicas", "spec.maxReplicas")
        else:
            self._check_policy(checked)

    def _check_policy(self, checked: KubeObject) -> None:
        """Check the quantities of what completes and limits new pods."""
        if isinstance(checked, RuntimeClass) and checked.overhead is not None:
            self._check_quantities(checked.overhead.pod_fixed, "overhead.podFixed")
        elif isinstance(checked, ResourceQuota):
            self._check_quantities(checked.spec.hard, "spec.hard")
            self._check_quantities(checked.status.hard, "status.hard")
            self._check_quantities(checked.status.used, "status.used")
        elif isinstance(checked, LimitRange):
            for i, limit in enumerate(checked.spec.limits or ()):
                self._check_quantities(limit.default, f"spec.limits[{i}].default")
                self._check_quantities(limit.default_request, f"spec.limits[{i}].defaultRequest")
                self._check_quantities(limit.min, f"spec.limits[{i}].min")
                self._check_quantities(limit.max, f"spec.limits[{i}].max")
                self._check_quantities(limit.max_limit_request_ratio, f"spec.limits[{i}].maxLimitRequestRatio")
        else:
            self._devices.check(checked)

    def _check_pod(self, pod: Pod) -> None:
        spec, status = pod.spec, pod.status
        if spec.containers:
            self._check_containers(spec.containers, "spec.containers")
        if spec.init_containers:
            self._check_containers(spec.init_containers, "spec.initContainers")
        self._check_resources(spec.resources, "spec.resources")
        self._check_quantities(spec.overhead, "spec.overhead")
        _check_int32(spec.priority, "spec.priority")
        if spec.affinity is not None and id(spec.affinity) not in self._checked:
            _check_weights(spec.affinity)
            self._checked[id(spec.affinity)] = spec.affinity
        for i, constraint in enumerate(spec.topology_spread_constraints or ()):
            _check_int32(constraint.max_skew, f"spec.topologySpreadConstraints[{i}].maxSkew")
            _check_int32(constraint.min_domains, f"spec.topologySpreadConstraints[{i}].minDomains")
        for fault in entry_faults(spec.resource_claims or ()):
            raise ObjectError(str(fault))
        self._check_time(status.start_time, "status.startTime")
        self._check_resources(status.resources, "status.resources")
        self._check_quantities(status.allocated_resources, "status.allocatedResources")
        if status.container_statuses:
            self._check_containers(status.container_statuses, "status.containerStatuses")
        if status.init_container_statuses:
            self._check_containers(status.init_container_statuses, "status.initContainerStatuses")

    def _check_containers(self, containers: Containers, path: str) -> None:
        if id(containers) in self._checked:
            return
        for i, container in enumerate(containers):
            self._check_resources(container.resources, f"{path}[{i}].resources")
            if isinstance(container, ContainerStatus):
                self._check_quantities(container.allocated_resources, f"{path}[{i}].allocatedResources")
            else:
                _check_ports(container, f"{path}[{i}]")
        self._checked[id(containers)] = containers

    def _check_resources(self, resources: Resources | None, path: str) -> None:
        if resources is not None:
            self._check_quantities(resources.requests, f"{path}.requests")
            self._check_quantities(resources.limits, f"{path}.limits")

    def _check_quantities(self, quantities: Quantities | None, path: str) -> None:
        if quantities and not self._good.issuperset(quantities.values()):
            for name, quantity in quantities.items():
                self._check_quantity(quantity, f"{path}.{name}")

    def _check_time(self, text: str | None, path: str) -> None:
        if text in self._good_times:
            return
        if text is None or not _is_time(text):
            raise ObjectError(f"{path}: found {shorten(text)}; expected a time such as 2026-01-31T12:00:00Z")
        self._good_times.add(text)

    def _check_quantity(self, quantity: Quantity | None, path: str) -> None:
        if quantity is None or quantity in self._good:
            return
        try:
            nano = parse_quantity(quantity)
        except QuantityError as error:
            raise ObjectError(f"{path}: {error}") from error
        if nano < 0:
            raise ObjectError(f"{path}: found {shorten(quantity)}; expected 0 or more")
        self._good.add(quantity)


def _check_taints(taints: Sequence[Taint], path: str = "spec.taints") -> None:
    """Rule: kube-apiserver v1.36 validation of core/v1: the effect is there, and one of the three."""
    for i, taint in enumerate(taints):
        if taint.effect not in TAINT_EFFECTS:
            expected = f"{', '.join(TAINT_EFFECTS[:-1])} or {TAINT_EFFECTS[-1]}"
            raise ObjectError(f'{path}[{i}].effect: found "{taint.effect}"; expected {expected}')


def _check_ports(container: Container, path: str) -> None:
    for i, port in enumerate(container.ports or ()):
        if not 0 <= port.host_port <= _MAX_PORT:
            raise ObjectError(f"{path}.ports[{i}].hostPort: found {port.host_port}; expected 1 to {_MAX_PORT}")


def _check_weights(affinity: Affinity) -> None:
    node, pod, anti = affinity.node_affinity, affinity.pod_affinity, affinity.pod_anti_affinity
    weights = {
        "nodeAffinity": [preferred.weight for preferred in (node.preferred if node else None) or ()],
        "podAffinity": [preferred.weight for preferred in (pod.preferred if pod else None) or ()],
        "podAntiAffinity": [preferred.weight for preferred in (anti.preferred if anti else None) or ()],
    }
    for rule, numbers in weights.items():
        for i, number in enumerate(numbers):
            _check_int32(number, f"spec.affinity.{rule}.preferredDuringSchedulingIgnoredDuringExecution[{i}].weight")


def _check_int32(number: int | None, path: str) -> None:
    if number is not None and not -_INT32 <= number < _INT32:
        raise ObjectError(f"{path}: found {number}; expected an int32, {-_INT32} to {_INT32 - 1}")


def _is_time(text: str) -> bool:
    """Whether a text is an RFC 3339 time."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return _TIME.fullmatch(text) is not None
