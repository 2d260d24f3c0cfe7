"""Every fix for a pod whose claims no node can serve makes the pod fit: the change itself, and its patches."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.claiming import CLASS, claim, decoded, from_template, gpu, made_for, template
from tests.plugins.dynamic_resources.device_objects import (
    DRIVER,
    allocation,
    ask,
    resource_slice,
    selecting,
    using,
)
from tests.properties.test_fixes import check, offered
from tests.properties.test_patches import each
from tests.trials import examples

MODEL, MEMORY = f'device.attributes["{DRIVER}"].model', f'device.capacity["{DRIVER}"].memory'
SELECTORS = (
    f'{MODEL} == "H100"',
    f'{MODEL} in ["H100", "A100"]',
    f'{MEMORY}.compareTo(quantity("80Gi")) >= 0',
    f'{MEMORY}.isGreaterThan(quantity("48Gi")) && {MODEL} == "A100"',
)
TAINTS = ({"key": "lab", "effect": "NoSchedule"}, {"key": "broken", "effect": "NoExecute"})
RS = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": True}


def clusters(seed: int) -> list[KubeObject]:
    """Some nodes with a few devices, most of them taken by claims of other pods, and a pod with one claim or two."""
    r = random.Random(seed)
    nodes = [f"n{i}" for i in range(r.choice([1, 2, 3]))]
    documents: list[dict[str, Any]] = [CLASS]
    pods = []
    for node in nodes:
        devices = [a_device(f"d{i}", r) for i in range(r.choice([0, 1, 2, 2]))]
        documents += [resource_slice(node, devices)] if devices else []
        taken = [one["name"] for one in devices if r.random() < 0.5]
        pods += [a_user(f"{node}-{name}", node, name, documents, r) for name in taken]
    documents += [claim("c0", *asks(r), constraints=constraints(r))]
    written = template("t", *asks(r), constraints=constraints(r))
    documents.append(written)
    pod = make_pod("p", spec={"resourceClaims": using("c0")})
    if r.random() < 0.5:
        pod = from_template("t")
        made = template("t", *asks(r)) if r.random() < 0.2 else written
        documents.append({**made_for(pod, "t"), "spec": made["spec"]["spec"]})
    if r.random() < 0.2:
        missing = r.choice([pod.name, "t", "c0", "gpu"])
        documents = [one for one in documents if one["metadata"]["name"].split("-")[0] != missing]
    replicas = make_object("ReplicaSet", "r", spec={"replicas": len(pods)})
    return [
        *(make_node(node, allocatable={"cpu": "4", "pods": "9"}) for node in nodes),
        replicas,
        *decoded(*documents),
        *pods,
        pod,
    ]


def a_device(name: str, r: random.Random) -> dict[str, Any]:
    more: dict[str, Any] = {"taints": [r.choice(TAINTS)]} if r.random() < 0.2 else {}
    return gpu(name, r.choice(["40Gi", "80Gi"]), model=r.choice(["H100", "A100"]), numa=r.choice([0, 1]), **more)


def a_user(name: str, node: str, device: str, documents: list[dict[str, Any]], r: random.Random) -> KubeObject:
    """A pod that runs with a device of its own."""
    if r.random() < 0.5:
        pod = from_template("t", name, node=node, metadata={"ownerReferences": [RS]})
        held = made_for(pod, "t", ask())
    else:
        pod = make_pod(name, node=node, spec={"resourceClaims": using(name)}, metadata={"ownerReferences": [RS]})
        held = claim(name, ask())
    users = [{"resource": "pods", "name": name, "uid": pod.uid}] if r.random() < 0.8 else []
    documents.append({**held, "status": {**allocation(node, device), "reservedFor": users}})
    return pod


def asks(r: random.Random) -> list[dict[str, Any]]:
    def one() -> dict[str, Any]:
        more: dict[str, Any] = {}
        if r.random() < 0.5:
            more["selectors"] = selecting(*r.sample(SELECTORS, r.choice([1, 1, 2])))
        if r.random() < 0.2:
            more["capacity"] = {"requests": {"memory": "80Gi"}}
        return ask(r.choice([1, 1, 2, 3]), **more)

    return [one() for _ in range(r.choice([1, 1, 2]))]


def constraints(r: random.Random) -> tuple[dict[str, Any], ...]:
    kind = r.choice(["", "", "matchAttribute", "distinctAttribute"])
    return ({kind: f"{DRIVER}/numa"},) if kind else ()


@examples(25)
@given(st.integers(0, 2**16).map(clusters))
def test_every_fix_for_devices_makes_the_pod_fit(cluster: list[KubeObject]) -> None:
    check(cluster, None, list(offered(cluster, None)))


@examples(10)
@given(st.integers(0, 2**16).map(clusters))
def test_the_patches_of_every_fix_for_devices_make_the_pod_fit(cluster: list[KubeObject]) -> None:
    each(cluster, None, 5)
