"""Random objects of Dynamic Resource Allocation: slices of every kind, classes, and claims with and without devices."""

import copy
import random
from collections.abc import Iterable, Iterator
from typing import Any

from kubesched.cel import Reads

ZONE = "topology.kubernetes.io/zone"
DRIVERS = ("gpu.example.com", "nic.example.com")
KINDS = ("DeviceClass", "ResourceClaim", "ResourceSlice")


READS = (
    Reads(attributes=frozenset({"gpu.example.com/model"}), capacity=frozenset({"memory"})),
    Reads(),
    Reads(attributes=None, capacity=None),
)


def document(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "uid": f"u-{name}", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def device_objects(nodes: Iterable[str], r: random.Random) -> Iterator[dict[str, Any]]:
    """Two classes, slices of some nodes and of several at once, and claims."""
    names = list(nodes)
    for name in ("gpu", "nic"):
        yield document("DeviceClass", name, {"extendedResourceName": f"example.com/{name}"})
    slices = [slice_of(name, r) for name in names if r.random() < 0.7] + [*network_slices(names, r)]
    yield from slices
    for i in range(6):
        yield claim(f"devices-{i}", slices, r)


def slice_of(node: str, r: random.Random) -> dict[str, Any]:
    driver, n = r.choice([*DRIVERS, DRIVERS[0]]), r.choice([1, 2, 2, 2, 3])
    spec = {"driver": driver, "nodeName": node, "pool": pool(node, r), "devices": [device(i, r) for i in range(n)]}
    return document("ResourceSlice", f"{node}-{driver}", spec)


def network_slices(nodes: list[str], r: random.Random) -> Iterator[dict[str, Any]]:
    counters = {"sharedCounters": [{"name": "card", "counters": {"engines": {"value": "7"}}}]}
    yield document(
        "ResourceSlice", "counters", {"driver": DRIVERS[0], "allNodes": True, "pool": pool("shared", r), **counters}
    )
    for i in range(3):
        where: dict[str, Any] = r.choice(
            [{"allNodes": True}, {"nodeSelector": in_zone(r)}, {"perDeviceNodeSelection": True}]
        )
        devices = [device(10 * i + j, r) for j in range(2)]
        for one in devices if "perDeviceNodeSelection" in where else ():
            one |= r.choice([{"allNodes": True}, {"nodeSelector": in_zone(r)}, {"nodeName": r.choice(nodes)}])
        spec = {
            "driver": r.choice(DRIVERS),
            "pool": pool(r.choice(["shared", "other"]), r),
            "devices": devices,
            **where,
        }
        yield document("ResourceSlice", f"network-{i}", spec)


def pool(name: str, r: random.Random) -> dict[str, Any]:
    return {"name": name, "generation": r.choice([1, 1, 1, 2]), "resourceSliceCount": r.choice([1, 1, 2])}


def in_zone(r: random.Random) -> dict[str, Any]:
    requirement = {
        "key": ZONE,
        "operator": r.choice(["In", "In", "NotIn"]),
        "values": [r.choice(["z0", "z1", "zone-a"])],
    }
    return {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}


def device(i: int, r: random.Random) -> dict[str, Any]:
    attributes = {"model": {"string": r.choice("AAB")}, "uuid": {"string": str(r.random())}}
    made: dict[str, Any] = {
        "name": f"d{i}",
        "attributes": attributes,
        "capacity": {"memory": {"value": r.choice(["40Gi", "80Gi"])}},
    }
    if r.random() < 0.6:
        return made
    if r.random() < 0.5:
        made["allowMultipleAllocations"] = True
    if r.random() < 0.2:
        made["taints"] = [{"key": "broken", "effect": "NoSchedule"}]
    if r.random() < 0.2:
        made["consumesCounters"] = [{"counterSet": "card", "counters": {"engines": {"value": r.choice("12")}}}]
    if r.random() < 0.1:
        made["bindingConditions"] = ["ready"]
    return made


def claim(name: str, slices: list[dict[str, Any]], r: random.Random) -> dict[str, Any]:
    """A claim that has been given some devices, one of which may be gone, or none."""
    made = document(
        "ResourceClaim",
        name,
        {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
        "default",
    )
    results = [result(r.choice(slices), i, r) for i in range(r.choice([0, 1, 1, 2]))]
    return {**made, "status": {"allocation": {"devices": {"results": results}}} if results else {}}


def result(known: dict[str, Any], i: int, r: random.Random) -> dict[str, Any]:
    spec = known["spec"]
    devices = [one["name"] for one in spec.get("devices", ())] or ["gone"]
    made = {"request": "r", "driver": spec["driver"], "pool": spec["pool"]["name"], "device": r.choice(devices)}
    share = {"shareID": f"share-{i}", "consumedCapacity": {"memory": r.choice(["1Gi", "2048Mi"])}}
    return made | r.choice([{}, {}, {"adminAccess": True}, share])


def changed(item: dict[str, Any], slices: list[dict[str, Any]], r: random.Random) -> dict[str, Any]:
    """The same object with something else in it."""
    item = copy.deepcopy(item)
    spec = item["spec"]
    if item["kind"] == "ResourceClaim":
        return {**item, "status": claim("", slices, r)["status"]} if slices else item
    if item["kind"] == "DeviceClass":
        spec["extendedResourceName"] = r.choice(["example.com/gpu", "example.com/fpga"])
    elif r.random() < 0.5:
        spec["pool"] = pool(spec["pool"]["name"], r)
    elif "devices" in spec:
        spec["devices"] = [device(r.randrange(4), r) for _ in range(r.randrange(3))]
    return item
