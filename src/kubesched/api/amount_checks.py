"""Checks that the quantities of an object can be read, before anything is counted with them.

An API server has no others. An object of a broken one must not be half counted when the first quantity that cannot be
read shows up. What is good is remembered by `parse_quantity`, so a check costs about two microseconds.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from kubesched.api.meta import KubeObject
from kubesched.api.node import Node
from kubesched.api.pod import Pod
from kubesched.api.pod_fields import Container, ContainerStatus, Quantities
from kubesched.api.quantity import parse_quantity
from kubesched.api.resource_claims import (
    DeviceCapacity,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubesched.api.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim
from kubesched.errors import ObjectError, QuantityError

Found = Iterator[tuple[str, Quantities | None]]


def check_amounts(checked: KubeObject) -> None:
    """Read every quantity that a scheduler counts with.

    Raises:
        ObjectError: one is not a quantity; the message begins with its field.
    """
    found = _FOUND.get(type(checked))
    if found is None:
        return
    for field, quantities in found(checked):
        for name, text in quantities.items() if quantities else ():
            try:
                parse_quantity(text)
            except QuantityError as error:
                raise ObjectError(f"{field}.{name}: {error}".lstrip(".")) from error


def _of_node(node: Node) -> Found:
    yield "status.allocatable", node.status.allocatable


def _of_pod(pod: Pod) -> Found:
    spec, status = pod.spec, pod.status
    yield from _of_containers("spec.containers", spec.containers)
    if spec.init_containers:
        yield from _of_containers("spec.initContainers", spec.init_containers)
    if spec.overhead:
        yield "spec.overhead", spec.overhead
    if spec.resources is not None:
        yield "spec.resources.requests", spec.resources.requests
    if status.resources is not None:
        yield "status.resources.requests", status.resources.requests
    if status.allocated_resources:
        yield "status.allocatedResources", status.allocated_resources
    yield from _of_containers("status.containerStatuses", status.container_statuses)
    yield from _of_containers("status.initContainerStatuses", status.init_container_statuses)


def _of_containers(place: str, containers: tuple[Container | ContainerStatus, ...] | None) -> Found:
    for container in containers or ():
        if container.resources is not None:
            yield f"{place}[{container.name}].resources.requests", container.resources.requests
        if isinstance(container, ContainerStatus) and container.allocated_resources:
            yield f"{place}[{container.name}].allocatedResources", container.allocated_resources


def _of_volume(volume: PersistentVolume) -> Found:
    yield "spec.capacity", volume.spec.capacity


def _of_claim(claim: PersistentVolumeClaim) -> Found:
    if claim.spec.resources is not None:
        yield "spec.resources.requests", claim.spec.resources.requests


def _of_storage(storage: CSIStorageCapacity) -> Found:
    sizes = {"capacity": storage.capacity, "maximumVolumeSize": storage.maximum_volume_size}
    yield "", {name: size for name, size in sizes.items() if size is not None}


def _of_slice(devices: ResourceSlice) -> Found:
    for i, counter_set in enumerate(devices.spec.shared_counters or ()):
        counters = (counter_set.counters or {}).items()
        yield f"spec.sharedCounters[{i}].counters", {name: counter.amount for name, counter in counters}
    for i, device in enumerate(devices.spec.devices or ()):
        for j, consumed in enumerate(device.consumes_counters or ()):
            counters = (consumed.counters or {}).items()
            place = f"spec.devices[{i}].consumesCounters[{j}].counters"
            yield place, {name: counter.amount for name, counter in counters}
        for name, capacity in (device.capacity or {}).items():
            yield f"spec.devices[{i}].capacity.{name}", _of_capacity(capacity)


def _of_capacity(capacity: DeviceCapacity) -> Quantities:
    written: dict[str, str | int | float | None] = {"value": capacity.amount}
    if (policy := capacity.request_policy) is not None:
        written["requestPolicy.default"] = policy.default
        written |= {f"requestPolicy.validValues[{i}]": value for i, value in enumerate(policy.valid_values or ())}
        if (allowed := policy.valid_range) is not None:
            written |= {f"requestPolicy.validRange.{name}": getattr(allowed, name) for name in ("min", "max", "step")}
    return {name: amount for name, amount in written.items() if amount is not None}


def _of_devices(claim: ResourceClaim) -> Found:
    yield from _of_requests(claim.spec, "spec")
    results = (claim.status.allocation.devices.results or ()) if claim.status.allocation else ()
    for i, result in enumerate(results):
        yield f"status.allocation.devices.results[{i}].consumedCapacity", result.consumed_capacity


def _of_template(template: ResourceClaimTemplate) -> Found:
    yield from _of_requests(template.spec.spec, "spec.spec")


def _of_requests(spec: ResourceClaimSpec, path: str) -> Found:
    for i, request in enumerate(spec.devices.requests or ()):
        place = f"{path}.devices.requests[{i}]"
        exactly = [(f"{place}.exactly", request.exactly)] if request.exactly else []
        listed = [(f"{place}.firstAvailable[{j}]", one) for j, one in enumerate(request.first_available or ())]
        for where, one in (*exactly, *listed):
            if one.capacity is not None:
                yield f"{where}.capacity.requests", one.capacity.requests


_FOUND: Final[dict[type, Callable[[Any], Found]]] = {
    Node: _of_node,
    Pod: _of_pod,
    PersistentVolume: _of_volume,
    PersistentVolumeClaim: _of_claim,
    CSIStorageCapacity: _of_storage,
    ResourceSlice: _of_slice,
    ResourceClaim: _of_devices,
    ResourceClaimTemplate: _of_template,
}
