"""Clusters with Dynamic Resource Allocation to measure on: eight devices or cards a node, a running pod on each node.

As in real clusters, no two devices are equal: each has a uuid and an address.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.rows.inputs import HOST, ZONE, Object, Writer, write_list

GPU, NIC = "gpu.example.com", "nic.example.com"
RESOURCE = "example.com/gpu"
MODELS = {"A100": "40Gi", "H100": "80Gi", "L4": "24Gi"}
ROOM = {"cpu": "64", "memory": "512Gi", "pods": "110"}
STAMP = "2026-01-01T00:00:00Z"
A100 = (
    f'device.attributes["{GPU}"].model == "A100" && '
    f'device.capacity["{GPU}"].memory.compareTo(quantity("40Gi")) >= 0 && '
    f'device.attributes["{GPU}"].driverVersion.isGreaterThan(semver("1.2.3"))'
)
ENGINES = (1, 1, 1, 1, 1, 1, 1, 7)  # of the partitions of a card; a card has seven


@dataclass(frozen=True)
class DeviceShape:
    """What nodes have, and what each pod asks for.

    Attributes:
        driver: of the devices.
        slices: the slices of a node by its name and number; two devices of equal names are of different nodes.
        first: the device of the i-th running pod of a node.
        request: what a claim asks for, beside the class.
        constraints: of the claim.
        result: what an allocation has, beside the device.
        is_extended: whether pending pods ask for an extended resource and have no claim.
    """

    driver: str
    slices: Callable[[str, int], list[Object]]
    first: str
    request: Object = field(default_factory=dict)
    constraints: list[Object] = field(default_factory=list)
    result: Object = field(default_factory=dict)
    is_extended: bool = False


def devices(name: str) -> Writer:
    """A shape of SHAPES."""

    def write(path: Path, n_nodes: int, n_pending: int) -> None:
        write_list(path, [*cluster(SHAPES[name], n_nodes, n_pending)])

    return write


def claimed(path: Path, n_nodes: int, n_pending: int) -> None:
    """GPUs, three quarters of them taken by pods of 300 ReplicaSets; a claim of each pod comes from a template."""
    write_list(path, [*_claimed(n_nodes, n_pending)])


def _claimed(n_nodes: int, n_pending: int) -> Iterator[Object]:
    shape = SHAPES["gpu8-plain"]
    yield _object("DeviceClass", "gpu", {"selectors": [{"cel": {"expression": f'device.driver == "{GPU}"'}}]})
    names = [f"node-{i:05}" for i in range(n_nodes)]
    for i, node in enumerate(names):
        yield _node(node, i)
        yield from gpus(node, i)
    places = [(node, k) for i, node in enumerate(names) for k in range((5, 6, 6, 7)[i % 4])]
    for i, (node, k) in enumerate([*places, *([("", 0)] * n_pending)]):
        pod = _pod(f"pod-{i:06}", node)
        name = pod["metadata"]["name"]
        held = claim(name, shape, {"pool": node, "device": f"device-{k}"} if node else None)
        held["metadata"]["ownerReferences"] = [_owner("v1", "Pod", name, f"u-{name}")]
        pod["metadata"]["ownerReferences"] = [_owner("apps/v1", "ReplicaSet", f"set-{i % 300}", f"u-set-{i % 300}")]
        pod["spec"]["resourceClaims"] = [{"name": "d", "resourceClaimTemplateName": "one"}]
        pod["status"]["resourceClaimStatuses"] = [{"name": "d", "resourceClaimName": name}]
        yield from (held, pod)


def _owner(version: str, kind: str, name: str, uid: str) -> Object:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}


def cluster(shape: DeviceShape, n_nodes: int, n_pending: int) -> Iterator[Object]:
    """The objects: nodes with their slices, a class, and pods with their claims."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    selectors = [{"cel": {"expression": f'device.driver == "{shape.driver}"'}}]
    yield _object("DeviceClass", "gpu", {"selectors": selectors, "extendedResourceName": RESOURCE})
    names = [f"node-{i:05}" for i in range(n_nodes)]
    for i, node in enumerate(names):
        yield _node(node, i)
        yield from shape.slices(node, i)
    for i, node in enumerate(names):
        allocated = claim(f"running-{i:06}", shape, {"pool": node, "device": shape.first, **shape.result})
        yield from (allocated, _pod(f"running-{i:06}", node))
    for i in range(n_pending):
        pod = _pod(f"pending-{i:06}")
        if shape.is_extended:
            pod["spec"]["containers"][0]["resources"]["requests"][RESOURCE] = "1"
            del pod["spec"]["resourceClaims"]
        else:
            yield claim(f"pending-{i:06}", shape)
        yield pod


def claim(name: str, shape: DeviceShape, result: Object | None = None) -> Object:
    """The claim of the pod of this name; `result` is the device of its node that it has."""
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, **shape.request}
    spec = {"requests": [{"name": "r", "exactly": exactly}], "constraints": shape.constraints}
    made = _object("ResourceClaim", name, {"devices": spec}, namespace="default")
    if result is None:
        return made
    where = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [result["pool"]]}]}]
    made["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
    made["status"] = {
        "allocation": {
            "devices": {"results": [{"request": "r", "driver": shape.driver, **result}]},
            "nodeSelector": {"nodeSelectorTerms": where},
            "allocationTimestamp": STAMP,
        },
        "reservedFor": [{"resource": "pods", "name": name, "uid": f"u-{name}"}],
    }
    return made


def gpus(node: str, i: int) -> list[Object]:
    """Eight GPUs of one of three models."""
    model = list(MODELS)[i % len(MODELS)]
    listed = [
        {
            "name": f"device-{k}",
            "attributes": {
                "model": {"string": model},
                "index": {"int": k},
                "numa": {"int": k // 4},
                "driverVersion": {"version": "1.3.0"},
                **_identity(i, k),
            },
            "capacity": {"memory": {"value": MODELS[model]}},
        }
        for k in range(8)
    ]
    return [_slice(node, GPU, devices=listed)]


def nics(node: str, i: int) -> list[Object]:
    """Eight network cards, each for many pods."""
    bandwidth = {"bandwidth": {"value": "100G", "requestPolicy": {"default": "1G"}}}
    listed = [
        {"name": f"device-{k}", "allowMultipleAllocations": True, "attributes": _identity(i, k), "capacity": bandwidth}
        for k in range(8)
    ]
    return [_slice(node, NIC, devices=listed)]


def partitions(node: str, i: int) -> list[Object]:
    """Eight cards, each of which is used in seven parts or as a whole."""
    counters = [{"name": f"card-{k}", "counters": {"engines": {"value": "7"}}} for k in range(8)]
    listed = [
        {
            "name": f"device-{k}-{j}",
            "attributes": {"engines": {"int": engines}, **_identity(i, 10 * k + j)},
            "consumesCounters": [{"counterSet": f"card-{k}", "counters": {"engines": {"value": str(engines)}}}],
        }
        for k in range(8)
        for j, engines in enumerate(ENGINES)
    ]
    return [
        _slice(node, GPU, f"{node}-cards", 2, sharedCounters=counters),
        _slice(node, GPU, f"{node}-parts", 2, devices=listed),
    ]


SHAPES = {
    "gpu8": DeviceShape(GPU, gpus, "device-0", {"selectors": [{"cel": {"expression": A100}}]}),
    "gpu8-two": DeviceShape(GPU, gpus, "device-0", {"count": 2}, [{"matchAttribute": f"{GPU}/numa"}]),
    "gpu8-plain": DeviceShape(GPU, gpus, "device-0"),
    "gpu8-extended": DeviceShape(GPU, gpus, "device-0", is_extended=True),
    "shared": DeviceShape(
        NIC,
        nics,
        "device-0",
        {"capacity": {"requests": {"bandwidth": "10G"}}},
        result={"shareID": "00000000-0000-4000-8000-000000000000", "consumedCapacity": {"bandwidth": "10G"}},
    ),
    "partitions": DeviceShape(
        GPU,
        partitions,
        "device-0-0",
        {"selectors": [{"cel": {"expression": f'device.attributes["{GPU}"].engines == 1'}}]},
    ),
}


def _identity(i: int, k: int) -> dict[str, Any]:
    """The attributes that no other device of the cluster has, or of the node."""
    return {"uuid": {"string": f"GPU-{i:08x}-{k:04x}"}, "pciBusID": {"string": f"0000:{k:02x}:00.0"}}


def _slice(node: str, driver: str, name: str = "", count: int = 1, **more: Any) -> Object:
    pool = {"name": node, "generation": 1, "resourceSliceCount": count}
    return _object("ResourceSlice", name or node, {"driver": driver, "nodeName": node, "pool": pool, **more})


def _object(kind: str, name: str, spec: Object, **metadata: Any) -> Object:
    metadata = {"name": name, "uid": f"u-{kind}-{name}", "creationTimestamp": STAMP, **metadata}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def _node(name: str, i: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOST: name, ZONE: f"z{i % 3}"}},
        "status": {"capacity": ROOM, "allocatable": ROOM, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _pod(name: str, node: str = "") -> Object:
    requests = {"cpu": "100m", "memory": "500Mi"}
    container = {"name": "c", "image": "registry.example/pause:3", "resources": {"requests": requests}}
    spec: Object = {
        "schedulerName": "default-scheduler",
        "containers": [container],
        "resourceClaims": [{"name": "d", "resourceClaimName": name}],
    }
    status = {"phase": "Pending"}
    if node:
        spec["nodeName"] = node
        status = {"phase": "Running", "startTime": STAMP}
    metadata = {"name": name, "namespace": "default", "uid": f"u-{name}", "labels": {"app": "x"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}
