"""How many of the equal pods a fix for devices helps: each of them needs devices of its own."""

import pytest

from kubesched.api import KubeObject
from kubesched.explanation import explain
from kubesched.planning import drain, simulate
from kubesched.testing import make_node, make_object
from tests.explanation.claiming import CLASS, MEMORY, decoded, from_template, gpu, made_for, template
from tests.plugins.dynamic_resources.device_objects import allocation, ask, resource_slice, selecting

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
LARGE = ask(selectors=selecting(MEMORY))
TAINTED = {"taints": [{"key": "spare", "effect": "NoSchedule"}]}


def cluster(*there: dict, node: str = "", wanted: dict = LARGE) -> list[KubeObject]:
    """Three pods of a ReplicaSet with a claim each, and two nodes: n1 has what they want, n2 something else."""
    objects = [make_node("n1"), make_node("n2"), make_object("ReplicaSet", "rs", spec={"replicas": 3})]
    large = [gpu(name, memory="80Gi") for name in ("a", "b", "c")] if node else []
    objects += decoded(CLASS, template("gpu", wanted), resource_slice("n1", large), resource_slice("n2", [*there]))
    for i, device in enumerate("abc"):
        pod = from_template("gpu", f"w-{i}", node=node, metadata={"ownerReferences": [OWNER]})
        users = [{"resource": "pods", "name": pod.name, "uid": pod.uid}]
        status = {**allocation("n1", device), "reservedFor": users} if node else {}
        objects += [pod, *decoded(made_for(pod, "gpu", wanted, status=status))]
    return objects


@pytest.mark.parametrize(("n", "words"), [(2, "2 of 3 pods"), (3, "1 node")])
def test_a_fix_of_the_template_says_how_many_pods_it_helps(n: int, words: str):
    (fix, *_) = [
        one
        for one in explain(cluster(*(gpu(f"g{i}") for i in range(n))), "default/w-0").fixes
        if one.kind == "deviceRequest"
    ]
    assert str(fix).startswith("ask for memory >= 40Gi instead of 80Gi in request r0")
    assert str(fix).endswith(f" -> {words}")
    assert [one.target.kind for one in fix.patches if one.target] == ["ResourceClaimTemplate", "Pod"]


def test_so_do_simulate_and_drain():
    small = [gpu("g0"), gpu("g1")]
    fixes = {one.fix for one in simulate(cluster(*small)).placements}
    assert len(fixes) == 1
    assert fixes.pop().endswith("-> 2 of 3 pods")
    drained = drain(cluster(*small, node="n1"), ["n1"])
    assert [one.fix.rpartition(" -> ")[2] for one in drained.pods] == ["2 of 3 pods"] * 3


def test_a_toleration_of_a_device_taint_counts_too():
    spare = gpu("g0", memory="80Gi", **TAINTED)
    fixes = [str(one) for one in explain(cluster(spare), "default/w-0").fixes if one.text.startswith("tolerate")]
    assert [one.rpartition(" -> ")[2] for one in fixes] == ["1 of 3 pods"]
