"""The steps of scripts with devices: nodes with slices, classes, claims, templates, and pods that ask for them."""

from collections.abc import Mapping
from typing import Any, Final

from campaigns.live.claims import GUARD
from campaigns.live.volumes import Step, create, if_there
from kubesched.testing import make_node, make_object, make_pod
from tests.integration.api_client import ApiClient, Document
from tests.integration.processes import wait_until

GPU, NIC, PARTS, FABRIC = "gpu.example.com", "nic.example.com", "parts.example.com", "fabric.example.com"
GPUS: Final = "example.com/gpu"
IMPLICIT: Final = "deviceclass.resource.kubernetes.io/gpu"
BANDS: Final = {"low": 10, "high": 1_000}
ATTACHED: Final = {"bindingConditions": ["attached"], "bindingFailureConditions": ["broken"]}


def node(name: str, cpu: str = "8", zone: str = "a", plugin: str = "") -> Step:
    """A node; `plugin` is how many GPUS its device plugin has."""
    room = {"cpu": cpu, "memory": "32Gi", "pods": "110", **({GPUS: plugin} if plugin else {})}
    return create_any(make_node(name, zone=zone, allocatable=room))


def create_any(thing: Any) -> Step:
    return f"create {type(thing).__name__} {thing.name}", lambda client: client.create(thing)


def device(name: str, model: str = "H100", numa: int = 0, **fields: Any) -> Document:
    """A GPU with an uuid of its own."""
    attributes = {
        "model": {"string": model},
        "numa": {"int": numa},
        "uuid": {"string": f"GPU-{name}"},
        "driverVersion": {"version": "1.2.3"},
    }
    memory = {"H100": "80Gi", "A100": "40Gi", "L4": "24Gi"}[model]
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": memory}}, **fields}


def taint(effect: str = "NoSchedule") -> Document:
    return {"taints": [{"key": "sick", "value": "yes", "effect": effect}]}


def slice_spec(driver: str, pool: str, generation: int = 1, count: int = 1, **spec: Any) -> Document:
    where = (
        {} if any(key in spec for key in ("allNodes", "nodeSelector", "perDeviceNodeSelection")) else {"nodeName": pool}
    )
    pool_of = {"name": pool, "generation": generation, "resourceSliceCount": count}
    return {"driver": driver, "pool": pool_of, **where, **spec}


def gpus(on: str, *devices: Document | int, name: str = "", driver: str = GPU, **spec: Any) -> Step:
    """A slice of a node's own pool; a number stands for that many equal GPUs."""
    made: list[Document] = []
    for one in devices:
        made += [device(f"gpu-{i}", numa=i // 2) for i in range(one)] if isinstance(one, int) else [one]
    return create("ResourceSlice", name or f"{on}-slice", spec=slice_spec(driver, on, devices=made, **spec))


def republish(on: str, *devices: Document, name: str = "", generation: int = 2, count: int = 1) -> Step:
    """The driver publishes other devices under the next generation."""
    pool = {"name": on, "generation": generation, "resourceSliceCount": count}
    name = name or f"{on}-slice"
    changes = {"spec": {"pool": pool, "devices": list(devices)}}
    return f"republish {name}", lambda client: client.patch("ResourceSlice", name, changes)


def device_class(name: str = "gpu", *tests: str, driver: str = GPU, **spec: Any) -> Step:
    """A class of the devices of a driver for which CEL expressions hold."""
    texts = (f'device.driver == "{driver}"', *tests)
    return create("DeviceClass", name, spec={"selectors": selectors(*texts), **spec})


def selectors(*texts: str) -> list[Document]:
    return [{"cel": {"expression": text}} for text in texts]


def of_gpu(test: str) -> str:
    """A test of a GPU's attributes, which it calls `a`."""
    return test.replace("a.", f'device.attributes["{GPU}"].')


def wants(*requests: Document, **devices: Any) -> Document:
    """The spec of a claim."""
    return {"devices": {"requests": list(requests), **devices}}


def exactly(count: int = 1, *tests: str, of: str = "gpu", name: str = "r", **fields: Any) -> Document:
    return {"name": name, "exactly": body(count, *tests, of=of, **fields)}


def body(count: int = 1, *tests: str, of: str = "gpu", **fields: Any) -> Document:
    made = {"deviceClassName": of, **fields}
    if count:
        made["count"] = count
    return made | ({"selectors": selectors(*tests)} if tests else {})


def first_of(*bodies: Document, name: str = "r") -> Document:
    subs = [{"name": f"s{i}", **one} for i, one in enumerate(bodies)]
    return {"name": name, "firstAvailable": subs}


ALL: Final = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}


def claim(name: str, spec: Document | None = None) -> Step:
    return create("ResourceClaim", name, spec=spec or wants(exactly()))


def template(name: str, spec: Document | None = None) -> Step:
    return create("ResourceClaimTemplate", name, spec={"spec": spec or wants(exactly())})


def bands() -> Step:
    """The priority classes of pods."""
    return together(*(create("PriorityClass", name, value=value) for name, value in BANDS.items()))


def pod(name: str, *claims: str, of: str | tuple[str, ...] = (), cpu: str = "1", on: str = "", **more: Any) -> Step:
    """A pod.

    Args:
        claims: that it names.
        of: templates of further claims.
        on: the node that it selects.
        more: `extended`, what its container asks for besides; `band`; `spec`, other fields.
    """
    templates = (of,) if isinstance(of, str) else of
    entries = [{"name": f"c{i}", "resourceClaimName": one} for i, one in enumerate(claims)]
    entries += [{"name": f"t{i}", "resourceClaimTemplateName": one} for i, one in enumerate(templates)]
    container = wanting("main", more.get("extended", {}), cpu)
    spec: dict[str, Any] = {"containers": [container], "terminationGracePeriodSeconds": 0, **more.get("spec", {})}
    if entries:
        spec["resourceClaims"] = entries
    if band := more.get("band"):
        spec |= {"priorityClassName": band, "priority": BANDS[band]}
    return create_any(make_pod(name, node_selector={"kubernetes.io/hostname": on} if on else {}, spec=spec))


def wanting(name: str, extended: Mapping[str, str], cpu: str = "1", **fields: Any) -> Document:
    """A container."""
    resources = {"requests": {"cpu": cpu, **extended}, "limits": dict(extended)}
    return {"name": name, "image": "app", "resources": resources, **fields}


def delete(kind: str, name: str) -> Step:
    return f"delete {kind} {name}", lambda client: if_there(client.delete, kind, name)


def together(*steps: Step) -> Step:
    """Several steps between which the scheduler is not waited for."""

    def do(client: ApiClient) -> None:
        for _, one in steps:
            one(client)

    return " and ".join(text for text, _ in steps), do


def until_allocated(name: str) -> Step:
    """Wait until a claim has its devices."""

    def do(client: ApiClient) -> None:
        wait_until(lambda: client.get("ResourceClaim", name)["status"].get("allocation"), f"devices for {name}")

    return f"{name} is allocated", do


def update(kind: str, name: str, changes: Document, part: str = "") -> Step:
    return f"change {kind} {name}", lambda client: client.patch(kind, name, changes, part=part)


IN_ADMIN_NAMESPACE: Final = update(
    "Namespace", "default", {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
)


def report(name: str, condition: str, status: str = "True", reason: str = "Driver", message: str = "says so") -> Step:
    """The driver reports a condition of all devices of a claim."""

    def do(client: ApiClient) -> None:
        allocation = client.get("ResourceClaim", name)["status"].get("allocation") or {}
        time_now = "2026-01-01T00:00:00Z"
        shown = {"type": condition, "status": status, "reason": reason, "message": message}
        devices = [
            {key: one[key] for key in ("driver", "pool", "device", "shareID") if key in one}
            | {"conditions": [{**shown, "lastTransitionTime": time_now}]}
            for one in allocation.get("devices", {}).get("results", ())
        ]
        client.patch("ResourceClaim", name, {"status": {"devices": devices}}, part="status")

    return f"{condition} of {name} is {status}", do


def left_over(of: str) -> Step:
    """A claim for extended resources that a scheduler has created for a pod before it ended."""

    def do(client: ApiClient) -> None:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": of, "uid": _uid(client, of), "controller": True}
        owned = {"ownerReferences": [owner], "finalizers": [GUARD]}
        name, special = f"{of}-extended-resources-abcde", {"resource.kubernetes.io/extended-resource-claim": "true"}
        spec = wants(exactly(name="container-0-request-1"))
        client.create(make_object("ResourceClaim", name, annotations=special, metadata=owned, spec=spec))

    return f"a claim is left over for {of}", do


def report_all(condition: str) -> Step:
    """Drivers report the condition of all devices that have to be attached, and of which nothing is known yet."""

    def do(client: ApiClient) -> None:
        for found in client.read_all("ResourceClaim", "default"):
            results = ((found["status"].get("allocation") or {}).get("devices") or {}).get("results") or ()
            if any("bindingConditions" in one for one in results) and not found["status"].get("devices"):
                report(found["metadata"]["name"], condition)[1](client)

    return f"all devices are {condition}", do


def allocate(name: str, pool: str, device_name: str, *, users: tuple[str, ...] = (), driver: str = GPU) -> Step:
    """Somebody has allocated a claim on a node of its own."""

    def do(client: ApiClient) -> None:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [pool]}]}
        result = {"request": "r", "driver": driver, "pool": pool, "device": device_name}
        allocation = {
            "devices": {"results": [result]},
            "nodeSelector": {"nodeSelectorTerms": [term]},
            "allocationTimestamp": "2026-01-01T00:00:00Z",
        }
        reserved = [{"resource": "pods", "name": one, "uid": _uid(client, one)} for one in users]
        status: Document = {"allocation": allocation} | ({"reservedFor": reserved} if users else {})
        client.patch("ResourceClaim", name, {"metadata": {"finalizers": [GUARD]}})
        client.patch("ResourceClaim", name, {"status": status}, part="status")

    return f"allocate {name}: {pool}/{device_name}", do


def _uid(client: ApiClient, pod_name: str) -> str:
    uid: str = client.get("Pod", pod_name)["metadata"]["uid"]
    return uid
