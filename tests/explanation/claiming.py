"""Pods with resource claims, beside nodes with devices."""

import json
from typing import Any

from kubesched.api import KubeObject, Pod, decode_object
from kubesched.testing import make_node, make_pod
from tests.plugins.dynamic_resources.device_objects import (
    API,
    DRIVER,
    claim,
    device,
    device_class,
    resource_slice,
    using,
)

CLASS = device_class("gpu", f'device.driver == "{DRIVER}"')
MEMORY = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("80Gi")) >= 0'
MODEL = f'device.attributes["{DRIVER}"].model == "H100"'


def decoded(*documents: dict) -> list[KubeObject]:
    return [decode_object(one["kind"], json.dumps(one).encode()) for one in documents]


def gpu(name: str, memory: str = "40Gi", **fields: Any) -> dict:
    return device(name, {"memory": {"value": memory}}, **fields)


def nodes_with(*devices: list[dict]) -> list[KubeObject]:
    """The class, and nodes n1, n2, ... each with some devices."""
    names = [f"n{i}" for i in range(1, len(devices) + 1)]
    slices = [resource_slice(name, some) for name, some in zip(names, devices, strict=True)]
    return [*map(make_node, names), *decoded(CLASS, *slices)]


def claiming(*claims: str, **more: Any) -> Pod:
    """A pod with claims that no template makes."""
    return make_pod("p", spec={"resourceClaims": using(*claims)}, **more)


def template(name: str, *asks: dict, **more: Any) -> dict:
    spec = claim(name, *asks, **more)["spec"]
    metadata = {"name": name, "namespace": "default"}
    return {**API, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {"spec": spec}}


def made_for(pod: Pod, name: str, *asks: dict, **more: Any) -> dict:
    """The claim that the controller makes for the entry `name` of a pod."""
    made = claim(f"{pod.name}-{name}-x", *asks, **more)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod.name, "uid": pod.uid, "controller": True}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def from_template(name: str, pod: str = "p", **more: Any) -> Pod:
    """A pod with a claim that was made from a template of its entry's name."""
    status = {"resourceClaimStatuses": [{"name": name, "resourceClaimName": f"{pod}-{name}-x"}]}
    entries = [{"name": name, "resourceClaimTemplateName": name}]
    return make_pod(pod, spec={"resourceClaims": entries}, status=status, **more)
