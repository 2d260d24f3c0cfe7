"""Objects of resource.k8s.io/v1 as plain dicts, for tests of what claims get."""

from typing import Any

DRIVER = "gpu.example.com"
API = {"apiVersion": "resource.k8s.io/v1"}


def device_class(name: str = "gpu", *expressions: str, resource: str = "") -> dict:
    spec: dict[str, Any] = {"selectors": [{"cel": {"expression": one}} for one in expressions]}
    if resource:
        spec["extendedResourceName"] = resource
    return {**API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def device(name: str, capacity: dict | None = None, **fields: Any) -> dict:
    """A device; further fields are attributes: text, numbers or bools; or fields of the device in camelCase."""
    kinds = {str: "string", bool: "bool", int: "int"}
    simple = {key: value for key, value in fields.items() if type(value) in kinds}
    others = {key: value for key, value in fields.items() if key not in simple}
    attributes = {key: {kinds[type(value)]: value} for key, value in simple.items()}
    return {"name": name, "attributes": attributes, "capacity": capacity or {}, **others}


def shared(name: str, **capacity: Any) -> dict:
    """A device that may be allocated several times."""
    return {"name": name, "capacity": capacity, "allowMultipleAllocations": True}


def resource_slice(node: str, devices: list[dict], **spec: Any) -> dict:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    where = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
    return {**API, "kind": "ResourceSlice", "metadata": {"name": f"{node}-slice"}, "spec": {**where, **spec}}


def ask(count: int = 1, class_name: str = "gpu", **fields: Any) -> dict:
    """What a request asks for exactly."""
    return {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count, **fields}


def selecting(*expressions: str) -> list[dict]:
    return [{"cel": {"expression": one}} for one in expressions]


def claim(name: str, *asks: dict, constraints: tuple[dict, ...] = (), status: dict | None = None) -> dict:
    requests = [{"name": f"r{i}", "exactly": one} for i, one in enumerate(asks)]
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    devices = {"requests": requests, "constraints": list(constraints)}
    return {**API, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}, "status": status or {}}


def allocation(node: str, *devices: str) -> dict:
    """A status with devices of the pool of a node."""
    results = [{"request": "r0", "driver": DRIVER, "pool": node, "device": name} for name in devices]
    fields = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    return {"allocation": {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": fields}}}


def using(*claims: str) -> list[dict]:
    """spec.resourceClaims."""
    return [{"name": f"e{i}", "resourceClaimName": name} for i, name in enumerate(claims)]
