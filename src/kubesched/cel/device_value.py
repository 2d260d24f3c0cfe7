"""The variable `device` of selectors."""

from collections.abc import Mapping
from typing import Any, Final

from kubesched.cel.cel_values import DeviceDomains, register_type
from kubesched.cel.exact_amounts import Quantity
from kubesched.cel.semantic_versions import Semver

AttributeValue = bool | int | str | Semver
"""What an attribute of a device may be."""


_LONGEST: Final = 64


class DeviceValue:
    """A device as an expression sees it. Build one with `device_value`; do not change it.

    Attributes:
        attributes: by domain, then by name.
        capacity: same.
        is_small: whether no text is longer than the API allows, so that a selector without loops cannot cost too much.
    """

    __slots__ = ("allow_multiple_allocations", "attributes", "capacity", "driver", "is_small")

    def __init__(
        self, driver: str, attributes: DeviceDomains, capacity: DeviceDomains, *, allow_multiple_allocations: bool
    ) -> None:
        self.driver = driver
        self.attributes = attributes
        self.capacity = capacity
        self.allow_multiple_allocations = allow_multiple_allocations
        self.is_small = len(driver) <= _LONGEST and all(map(_is_small, attributes.values()))


def _is_small(values: Mapping[str, Any]) -> bool:
    return len(values) <= _LONGEST and all(type(v) is not str or len(v) <= _LONGEST for v in values.values())


def device_value(
    driver: str,
    attributes: Mapping[str, AttributeValue],
    capacity: Mapping[str, str],
    *,
    allow_multiple_allocations: bool = False,
) -> DeviceValue:
    """Make a device for expressions.

    Args:
        attributes: by name as in a ResourceSlice. A name without a domain gets the driver's.
        capacity: quantities by name, same.
    Raises:
        CelRuntimeError: a capacity is not a quantity.
    Rule: Kubernetes v1.36 (resource.k8s.io/v1, CELDeviceSelector).
    """
    return DeviceValue(
        driver,
        _by_domain(driver, attributes),
        _by_domain(driver, {name: Quantity.parse(value) for name, value in capacity.items()}),
        allow_multiple_allocations=allow_multiple_allocations,
    )


def _by_domain(driver: str, values: Mapping[str, Any]) -> DeviceDomains:
    domains: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        domain, _, identifier = name.rpartition("/")
        domains.setdefault(domain or driver, {})[identifier] = value
    return DeviceDomains(domains)


register_type(DeviceValue, "map")
