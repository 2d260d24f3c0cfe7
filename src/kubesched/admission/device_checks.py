"""Checks what is read of slices, claims and their templates in a snapshot, so that no rule meets what it cannot read.

What kube-scheduler itself has a message for is let through: a search reports it, and for the one claim only.
"""

from collections.abc import Callable, Iterator
from typing import Final

import kubesched.cel  # the door alone: its modules are loaded for the first selector
from kubesched.admission.device_claim_checks import structure_faults, too_many
from kubesched.api import (
    MAX_INT64,
    DeviceAttribute,
    DeviceRequest,
    KubeObject,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    ResourceSliceSpec,
    check_amounts,
)
from kubesched.config import FieldError
from kubesched.documents import shorten
from kubesched.errors import CelRuntimeError, ObjectError

_MAX_USERS: Final = 256
_PLACES: Final = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE: Final = f"exactly one of {', '.join(f'`{name}`' for name in _PLACES)} is required"


class DeviceChecker:
    """Checks objects of resource.k8s.io one after another.

    Args:
        check_time: is given a time and its field.
    """

    def __init__(self, check_time: Callable[[str | None, str], None]) -> None:
        self._check_time = check_time
        self._good_versions: set[str | None] = {None}

    def check(self, checked: KubeObject) -> None:
        """Check one object; one of another kind is good.

        Raises:
            ObjectError: something cannot be read; the message begins with its field.
        """
        if isinstance(checked, ResourceSlice):
            check_amounts(checked)
            _raise_first(_slice_faults(checked.spec))
            self._check_attributes(checked)
        elif isinstance(checked, ResourceClaim):
            check_amounts(checked)
            _check_requests(checked.spec.devices.requests or (), "spec.devices.requests")
            if (allocation := checked.status.allocation) is not None:
                self._check_time(allocation.allocation_timestamp, "status.allocation.allocationTimestamp")
            _raise_first(too_many("status.reservedFor", checked.status.reserved_for or (), _MAX_USERS))
        elif isinstance(checked, ResourceClaimTemplate):
            check_amounts(checked)
            _check_requests(checked.spec.spec.devices.requests or (), "spec.spec.devices.requests")

    def _check_attributes(self, checked: ResourceSlice) -> None:
        for i, device in enumerate(checked.spec.devices or ()):
            for name, attribute in (device.attributes or {}).items():
                if attribute.integer is not None or attribute.version not in self._good_versions:
                    self._check_attribute(attribute, f"spec.devices[{i}].attributes.{name}")

    def _check_attribute(self, attribute: DeviceAttribute, path: str) -> None:
        if attribute.integer is not None and not -MAX_INT64 - 1 <= attribute.integer <= MAX_INT64:
            raise ObjectError(f"{path}.int: found {attribute.integer}; expected an int64")
        if attribute.version is not None:
            try:
                kubesched.cel.Semver.parse(attribute.version)
            except CelRuntimeError as error:
                found = shorten(attribute.version)
                raise ObjectError(f"{path}.version: found {found}; expected a version such as 1.2.3") from error
            self._good_versions.add(attribute.version)


def _slice_faults(spec: ResourceSliceSpec) -> Iterator[FieldError]:
    """Rule: kube-apiserver v1.36 validation of resource.k8s.io/v1. Amounts may be negative."""
    if not spec.driver:
        yield FieldError.required("spec.driver")
    if not spec.pool.name:
        yield FieldError.required("spec.pool.name")
    n, generation = spec.pool.resource_slice_count, spec.pool.generation
    if n <= 0:
        yield FieldError.invalid("spec.pool.resourceSliceCount", n, "must be greater than zero")
    if generation < 0:
        yield FieldError.invalid("spec.pool.generation", generation, "must be greater than or equal to zero")
    places = (spec.node_name, spec.node_selector, spec.all_nodes, spec.per_device_node_selection)
    given = [f"`{name}`" for name, place in zip(_PLACES, places, strict=True) if place]
    if not given:
        yield FieldError.required("spec", _ONE_PLACE)
    elif len(given) > 1:
        detail = f"{_ONE_PLACE}, but multiple fields are set"
        yield FieldError.invalid("spec", f"{{{', '.join(given)}}}", detail)


def _raise_first(faults: Iterator[FieldError]) -> None:
    for fault in faults:
        raise ObjectError(str(fault))


def _check_requests(requests: tuple[DeviceRequest, ...], path: str) -> None:
    """Rule: kube-apiserver v1.36 validation of resource.k8s.io/v1. A count of 0 has not got its default yet."""
    _raise_first(structure_faults(path, requests))
    for i, request in enumerate(requests):
        for place, count in _counts(request):
            if not 0 <= count <= MAX_INT64:
                detail = "must be greater than zero" if count < 0 else f"must be at most {MAX_INT64}"
                raise ObjectError(str(FieldError.invalid(f"{path}[{i}].{place}.count", count, detail)))


def _counts(request: DeviceRequest) -> Iterator[tuple[str, int]]:
    if request.exactly is not None:
        yield "exactly", request.exactly.count
    for i, one in enumerate(request.first_available or ()):
        yield f"firstAvailable[{i}]", one.count
