"""Pods that are made for a question from plain requests, and from a number of devices."""

import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from kubesched.admission import byte_notes, huge_page_faults, known_resources, quantity_faults
from kubesched.api import (
    DeviceClass,
    KubeObject,
    LimitRange,
    Node,
    Pod,
    Resources,
    ResourceSlice,
    Taint,
    is_extended_resource,
    parse_quantity,
    rewritten,
)
from kubesched.config import did_you_mean
from kubesched.documents import listed
from kubesched.errors import InputError, QuantityError
from kubesched.planning.device_list import devices as device_list
from kubesched.snapshot import admit_manifests

Amounts = Mapping[str, str | int | float]
"""Resource -> amount."""

_NAME: Final = "pod"
_ENTRY: Final = "devices"
_OF_CONDITIONS: Final = "node.kubernetes.io/"
_MOST_DEVICES: Final = 32
"""Rule: resource.k8s.io/v1, AllocationResultsMaxSize: a claim has at most so many devices."""
_RESOURCE: Final = "resource {}".format


def pods_of_requests(
    requests: Amounts, devices: Mapping[str, int], cluster: Sequence[KubeObject], taints: Iterable[Taint] = ()
) -> list[KubeObject]:
    """A pod with some requests; before it, the template and the claim of its devices.

    Args:
        devices: DeviceClass -> how many devices of it.
        taints: those that it tolerates.
    Raises:
        InputError: an amount is not valid, or a class is not in the cluster.
    """
    _check_requests(requests, cluster)
    _check_devices(devices, cluster)
    taken = {one.key for one in cluster}
    names = (f"{_NAME}-{i}" if i else _NAME for i in itertools.count())
    name = next(name for name in names if f"default/{name}" not in taken)
    known = [one for one in cluster if not isinstance(one, Pod | LimitRange)]
    pod = _pod(name, requests, devices)
    pod["spec"]["tolerations"] = [{"operator": "Equal", **msgspec.to_builtins(one)} for one in taints]
    written = [_template(name, devices), pod] if devices else [pod]
    new = admit_manifests(known, [io.BytesIO(msgspec.json.encode({"kind": "List", "items": written}))])
    return [_of_no_manifest(one) for one in new.objects]


def taints_at_devices(devices: Mapping[str, int], cluster: Sequence[KubeObject]) -> list[Taint]:
    """The NoSchedule taints that keep other pods off the nodes with devices of some classes.

    Those of conditions and of cordons are left out: no pod that asks for a device tolerates them. So are those of all
    nodes, where devices belong to no node.
    """
    if not devices:
        return []
    nodes = {one.name: one for one in cluster if isinstance(one, Node)}
    known = device_list(one for one in cluster if isinstance(one, Node | DeviceClass | ResourceSlice))
    uses = (one for one in known.devices if not devices.keys().isdisjoint(one.classes))
    names = dict.fromkeys(name for one in uses if len(one.nodes) < max(len(nodes), 2) for name in one.nodes)
    taints = dict.fromkeys(taint for name in names for taint in nodes[name].taints)
    return [one for one in taints if one.effect == "NoSchedule" and not one.key.startswith(_OF_CONDITIONS)]


def notes_on_requests(requests: Amounts) -> list[str]:
    """Notes on amounts that are probably not what was meant."""
    return list(byte_notes(_RESOURCE, requests))


def _pod(name: str, requests: Amounts, devices: Mapping[str, int]) -> dict[str, Any]:
    limits = {resource: amount for resource, amount in requests.items() if _needs_limit(resource)}
    resources: dict[str, Any] = {"requests": dict(requests), "limits": limits}
    spec: dict[str, Any] = {"containers": [{"name": _NAME, "image": _NAME, "resources": resources}]}
    if devices:
        resources["claims"] = [{"name": _ENTRY}]
        spec["resourceClaims"] = [{"name": _ENTRY, "resourceClaimTemplateName": name}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _template(template: str, devices: Mapping[str, int]) -> dict[str, Any]:
    asks = [{"deviceClassName": one, "count": n} for one, n in devices.items()]
    names = [f"{_ENTRY}-{i}" for i in range(len(asks))] if len(asks) > 1 else [_ENTRY]
    requests = [{"name": name, "exactly": ask} for name, ask in zip(names, asks, strict=True)]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": template},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }


def _of_no_manifest(one: KubeObject) -> KubeObject:
    """A pod that is asked about by its requests alone: limits and quotas of its namespace do not count."""

    def forget(document: dict[str, Any]) -> None:
        document["metadata"].pop("uid", None)
        for owner in document["metadata"].get("ownerReferences") or ():
            owner["uid"] = f"Pod/{one.namespace}/{owner['name']}"

    return rewritten(one, forget)


def _check_requests(requests: Amounts, cluster: Sequence[KubeObject]) -> None:
    """Check the requests of one container as an API server does; a message names the resource.

    Raises:
        InputError: the first fault.
    """
    for name, amount in requests.items():
        try:
            parsed = parse_quantity(amount)
        except QuantityError as error:
            raise InputError(f"{_RESOURCE(name)}: {error}") from error
        if parsed < 0:
            raise InputError(f"{_RESOURCE(name)}: found {amount}; expected 0 or more")
    known = known_resources(one for one in cluster if isinstance(one, Node))
    container = Resources(requests=dict(requests))
    for fault in (*quantity_faults(_RESOURCE, requests, known), *huge_page_faults("resources", container)):
        raise InputError(f"{fault}; {fault.help}" if fault.help else str(fault))


def _check_devices(devices: Mapping[str, int], cluster: Sequence[KubeObject]) -> None:
    classes = sorted(one.name for one in cluster if isinstance(one, DeviceClass))
    for name, number in devices.items():
        if name not in classes:
            there = f"found: {listed(classes, first=5)}" if classes else "it has no DeviceClass"
            raise InputError(f"the cluster has no DeviceClass {name}; {did_you_mean(name, classes) or there}")
        if number < 1:
            raise InputError(f"devices of {name}: found {number}; expected 1 or more")
    if (total := sum(devices.values())) > _MOST_DEVICES:
        raise InputError(f"found {total} devices; expected at most {_MOST_DEVICES}, which is what one claim can have")


def _needs_limit(resource: str) -> bool:
    """Whether an API server accepts a request for it only with an equal limit."""
    return is_extended_resource(resource) or resource.startswith("hugepages-")
