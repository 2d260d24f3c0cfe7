"""The claim that a scheduler makes for the extended resources of a pod that device classes serve on a node.

Rule: kube-scheduler v1.36 DRAExtendedResource: a request for each container and resource. Init containers that are not
sidecars run one after another, so they use the devices of later containers again; what is missing then comes from one
more request for all of them.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from kubesched.api import (
    Container,
    ContainerDeviceRequest,
    DeviceRequest,
    DeviceSubRequest,
    Pod,
    parse_quantity,
    whole_units,
)

SPECIAL_CLAIM: Final = "<extended-resources>"
"""What the claim is called as long as it does not exist."""


class SpecialClaim(msgspec.Struct, frozen=True):
    """What a pod asks for beside its other claims.

    Attributes:
        requests: in byte order of their names.
        mappings: the requests that serve a container, by resource name.
    """

    requests: tuple[DeviceRequest, ...] = ()
    mappings: tuple[ContainerDeviceRequest, ...] = ()


class _Share(msgspec.Struct, frozen=True):
    """What one container asks of one resource."""

    position: int
    container: str
    request: str
    amount: int


def special_claim(pod: Pod, classes: Mapping[str, str]) -> SpecialClaim:
    """The claim for some resources.

    Args:
        classes: by resource, the class that serves it.
    """
    requests: list[DeviceRequest] = []
    mappings: list[ContainerDeviceRequest] = []
    for resource in sorted(classes):
        _add(requests, mappings, pod, resource, classes[resource])
    return SpecialClaim(tuple(sorted(requests, key=lambda one: one.name)), tuple(mappings))


def _add(
    requests: list[DeviceRequest], mappings: list[ContainerDeviceRequest], pod: Pod, resource: str, class_name: str
) -> None:
    """Add what one resource needs: for sidecars, containers and then the other init containers."""

    def ask(share: _Share, amount: int) -> None:
        exactly = DeviceSubRequest(device_class_name=class_name, allocation_mode="ExactCount", count=amount)
        requests.append(DeviceRequest(share.request, exactly))

    def map_to(share: _Share, request: str) -> None:
        mappings.append(ContainerDeviceRequest(share.container, resource, request))

    n_init = len(pod.init_containers)
    shares = list(_shares((*pod.init_containers, *pod.containers), resource))
    sidecars = {i for i, one in enumerate(pod.init_containers) if one.restart_policy == "Always"}
    lasting = [one for one in shares if one.position >= n_init or one.position in sidecars]
    for share in lasting:
        ask(share, share.amount)
        map_to(share, share.request)
    passing = [one for one in shares if one.position < n_init and one.position not in sidecars]
    missing = {one: one.amount - sum(_reused(one, lasting).values()) for one in passing}
    extra = max(passing, key=lambda one: missing[one], default=None)
    if extra is not None and missing[extra] > 0:
        ask(extra, missing[extra])
    for share in passing:
        for request in _reused(share, lasting):
            map_to(share, request)
        if extra is not None and missing[share] > 0:
            map_to(share, extra.request)


def _reused(share: _Share, lasting: Iterable[_Share]) -> dict[str, int]:
    """The requests of later containers whose devices an init container uses, and how many of each."""
    reused, left = {}, share.amount
    for other in lasting:
        if left > 0 and other.position > share.position:
            reused[other.request] = min(left, other.amount)
            left -= other.amount
    return reused


def _shares(containers: Iterable[Container], resource: str) -> Iterable[_Share]:
    """Who asks for a resource. A request has the number of its container, and of the resource in there."""
    for i, container in enumerate(containers):
        requests = container.requests
        amount = whole_units(resource, parse_quantity(requests.get(resource, 0)))
        if amount > 0:
            k = sorted(requests).index(resource)
            yield _Share(i, container.name, f"container-{i}-request-{k}", amount)
