"""Which nodes have devices that no search can tell apart."""

from typing import Any

import numpy as np
import pytest

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.cel import Reads
from kubesched.state import ClusterState
from kubesched.testing import make_node
from tests.state.devices.test_device_slices import DRIVER, ZONE, in_zone, slice_
from tests.state.devices.test_devices_in_use import claim

NODES = "abcd"


MODEL = Reads(attributes=frozenset({f"{DRIVER}/model"}))
EVERYTHING = Reads(attributes=None, capacity=None)


def gpu(node: str, i: int, **fields: Any) -> dict[str, Any]:
    """A device that no other one is equal to."""
    attributes = {"model": {"string": "A100"}, "uuid": {"string": f"{node}-{i}"}, **fields.pop("attributes", {})}
    return {"name": f"gpu-{i}", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}, **fields}


def gpus(node: str, *devices: dict[str, Any], n: int = 2, **fields: Any) -> KubeObject:
    listed = [*devices] or [gpu(node, i) for i in range(n)]
    return slice_(f"{node}-gpus", listed, nodeName=node, pool=f"{node}-pool", **fields)


def result(node: str, i: int, **fields: Any) -> dict[str, Any]:
    return {"request": "r", "driver": DRIVER, "pool": f"{node}-pool", "device": f"gpu-{i}", **fields}


class Cluster:
    """Four nodes with two devices each; a and b are in zone 1, c and d in zone 2."""

    def __init__(self) -> None:
        self.state = ClusterState()
        for i, name in enumerate(NODES):
            self.put("Node", make_node(name, labels={ZONE: str(1 + i // 2)}))
            self.put("ResourceSlice", gpus(name))

    def put(self, kind: str, known: KubeObject) -> None:
        self.state.apply(WatchEvent(EventType.MODIFIED, kind, known))

    def delete(self, kind: str, known: KubeObject) -> None:
        self.state.apply(WatchEvent(EventType.DELETED, kind, known))

    def alike(self, reads: Reads = MODEL) -> list[str]:
        """The nodes by what they are alike with, such as `abc d`."""
        numbers = self.state.devices.alike(self.state.snapshot().nodes, reads).tolist()
        names = self.state.snapshot().nodes.names
        return sorted("".join(sorted(n for n, m in zip(names, numbers, strict=True) if m == i)) for i in set(numbers))


def test_devices_that_differ_only_in_what_is_not_read_are_alike():
    cluster = Cluster()
    assert cluster.alike() == ["abcd"]
    assert cluster.alike(EVERYTHING) == ["a", "b", "c", "d"]
    assert cluster.alike(Reads(attributes=frozenset({f"{DRIVER}/uuid"}))) == ["a", "b", "c", "d"]
    assert cluster.alike(Reads(attributes=frozenset({"uuid"}))) == ["a", "b", "c", "d"]
    assert cluster.alike(Reads(attributes=frozenset({"other.com/uuid"}))) == ["abcd"]


@pytest.mark.parametrize(
    "device",
    [
        {"attributes": {"model": {"string": "H100"}}},
        {"attributes": {"model": {"version": "1.0.0"}}},
        {"taints": [{"key": "broken", "effect": "NoSchedule"}]},
        {"allowMultipleAllocations": True},
        {"consumesCounters": [{"counterSet": "card", "counters": {"engines": {"value": "1"}}}]},
    ],
)
def test_what_decides_sets_them_apart(device: dict[str, Any]):
    cluster = Cluster()
    cluster.put("ResourceSlice", gpus("b", gpu("b", 0), gpu("b", 1, **device)))
    assert cluster.alike() == ["acd", "b"]
    cluster.put("ResourceSlice", gpus("c", gpu("c", 0), gpu("c", 1, **device)))
    assert cluster.alike() == ["ad", "bc"]
    cluster.put("ResourceSlice", gpus("c", gpu("c", 1, **device), gpu("c", 0)))
    assert cluster.alike() == ["ad", "b", "c"]


@pytest.mark.parametrize(
    "fields", [{"capacity": {"memory": {"value": "40Gi"}}}, {"bindsToNode": True}, {"bindingConditions": ["x"]}]
)
def test_what_decides_nothing_keeps_them_alike(fields: dict[str, Any]):
    cluster = Cluster()
    cluster.put("ResourceSlice", gpus("b", gpu("b", 0), gpu("b", 1, **fields)))
    assert cluster.alike() == ["abcd"]


def test_capacities_count_that_are_read_and_all_of_shared_devices():
    cluster = Cluster()
    cluster.put("ResourceSlice", gpus("b", gpu("b", 0), gpu("b", 1, capacity={"memory": {"value": "40Gi"}})))
    assert cluster.alike(Reads(capacity=frozenset({f"{DRIVER}/memory"}))) == ["acd", "b"]
    assert cluster.alike(Reads(capacity=frozenset({"memory"}))) == ["acd", "b"]
    assert cluster.alike(Reads(capacity=frozenset({"bandwidth"}))) == ["abcd"]
    policy = {"memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi"}}}
    for node, capacity in (("a", policy), ("b", policy), ("c", {"memory": {"value": "80Gi"}})):
        cluster.put("ResourceSlice", gpus(node, gpu(node, 0, allowMultipleAllocations=True, capacity=capacity)))
    assert cluster.alike() == ["ab", "c", "d"]


@pytest.mark.parametrize("pool", [{"count": 2}, {"driver": "other.example.com"}])
def test_the_driver_and_the_state_of_the_pool_count(pool: dict[str, Any]):
    cluster = Cluster()
    cluster.put("ResourceSlice", gpus("b", **pool))
    assert cluster.alike() == ["acd", "b"]


def test_an_invalid_pool_is_not_like_a_valid_one():
    cluster = Cluster()
    cluster.put("ResourceSlice", gpus("b", gpu("b", 0), gpu("b", 0)))
    assert cluster.alike() == ["acd", "b"]


def test_a_device_that_is_taken_sets_its_node_apart_until_it_is_free():
    cluster = Cluster()
    assert cluster.alike() == ["abcd"]
    cluster.put("ResourceClaim", claim("x", result("b", 1)))
    assert cluster.alike() == ["acd", "b"]
    cluster.put("ResourceClaim", claim("y", result("c", 1)))
    assert cluster.alike() == ["ad", "bc"]
    cluster.put("ResourceClaim", claim("y", result("c", 0)))
    assert cluster.alike() == ["ad", "b", "c"]
    cluster.put("ResourceClaim", claim("y", result("c", 0, adminAccess=True)))
    assert cluster.alike() == ["acd", "b"]
    cluster.delete("ResourceClaim", claim("x"))
    assert cluster.alike() == ["abcd"]


def test_the_amount_that_is_consumed_of_a_device_counts():
    cluster = Cluster()

    def share(node: str, amount: str) -> dict[str, Any]:
        return result(node, 0, shareID="s", consumedCapacity={"memory": amount})

    for node in NODES:
        cluster.put("ResourceSlice", gpus(node, gpu(node, 0, allowMultipleAllocations=True)))
    cluster.put("ResourceClaim", claim("x", share("a", "2Gi")))
    cluster.put("ResourceClaim", claim("y", share("b", "2048Mi")))
    cluster.put("ResourceClaim", claim("z", share("c", "3Gi")))
    assert cluster.alike() == ["ab", "c", "d"]


def test_a_pool_of_several_nodes_sets_all_of_them_apart_when_it_changes():
    cluster = Cluster()

    def shared(*devices: str) -> KubeObject:
        return slice_("s", [{"name": name} for name in devices], nodeSelector=in_zone("2"), pool="shared")

    cluster.put("ResourceSlice", shared("x", "y"))
    assert cluster.alike() == ["ab", "cd"]
    log = cluster.state.columns.device_log
    before = log.generation
    taken = {"request": "r", "driver": DRIVER, "pool": "shared", "device": "x"}
    cluster.put("ResourceClaim", claim("x", taken))
    assert [cluster.state.columns.names[row] for row in log.since(before) or ()] == ["c", "d"]
    assert cluster.alike() == ["ab", "cd"]
    pools = [cluster.state.devices.pools_of(row) for row in range(4)]
    assert pools[2][1] is pools[3][1]
    cluster.put("ResourceClaim", claim("z", result("c", 0)))
    assert cluster.alike() == ["ab", "c", "d"]
    cluster.put("Node", make_node("b", labels={ZONE: "2"}))
    assert cluster.alike() == ["a", "bd", "c"]
    cluster.put("ResourceSlice", shared("y"))
    cluster.delete("ResourceClaim", claim("z"))
    assert cluster.alike() == ["a", "bcd"]
    cluster.delete("ResourceSlice", shared())
    assert cluster.alike() == ["abcd"]


def test_nodes_that_come_and_go_keep_the_others_as_they_are():
    cluster = Cluster()
    cluster.put("ResourceClaim", claim("x", result("b", 1)))
    assert cluster.alike() == ["acd", "b"]
    cluster.delete("Node", make_node("c"))
    assert cluster.alike() == ["ad", "b"]
    for name in (f"n{i}" for i in range(200)):
        cluster.put("Node", make_node(name))
    cluster.put("Node", make_node("c"))
    assert cluster.alike()[0:2] == ["acd", "b"]
    few = cluster.state.snapshot().nodes.select(np.array([0, 1]))
    assert len(set(cluster.state.devices.alike(few, MODEL).tolist())) == 2


def test_what_changed_in_a_fork_is_as_before():
    cluster = Cluster()
    cluster.put("ResourceClaim", claim("x", result("b", 1)))
    with cluster.state.fork():
        cluster.delete("ResourceClaim", claim("x"))
        cluster.put("ResourceSlice", gpus("c", n=1))
        cluster.delete("Node", make_node("d"))
        assert cluster.alike() == ["ab", "c"]
        cluster.state.check_invariants()
    assert cluster.alike() == ["acd", "b"]


def test_values_that_no_row_has_any_more_are_given_back():
    cluster = Cluster()
    cluster.alike()
    before = cluster.state.sizes()
    for i in range(600):
        cluster.put("ResourceSlice", gpus("b", n=1 + i % 40))
        cluster.put("ResourceClaim", claim("x", *(result("b", j) for j in range(i % 37))))
        cluster.alike()
    cluster.put("ResourceSlice", gpus("b"))
    cluster.delete("ResourceClaim", claim("x"))
    cluster.alike()
    cluster.state.devices.pools_of(0)
    sizes = cluster.state.sizes()
    assert sizes["alike devices, contents"] + sizes["alike devices, pools"] <= 2 + 512
    for i in range(200):
        cluster.alike(Reads(attributes=frozenset({f"attribute-{i}"})))
    assert cluster.state.sizes()["alike devices, contents"] == 64
    cluster.state.devices.forget_all()
    cluster.alike()
    assert cluster.state.sizes() == before


def number_of(cluster: Cluster, node: str) -> int:
    nodes = cluster.state.snapshot().nodes
    return int(cluster.state.devices.alike(nodes, MODEL)[nodes.names.index(node)])


def test_what_is_kept_for_a_node_is_there_again_when_a_claim_was_freed_and_taken_again():
    cluster = Cluster()
    for value in ("free", "taken", "free", "taken"):
        if value == "taken":
            cluster.put("ResourceClaim", claim("x", result("b", 1)))
        else:
            cluster.put("ResourceClaim", claim("x"))
        number = number_of(cluster, "b")
        assert cluster.state.devices.results(MODEL, "key").setdefault(number, value) == value
        assert "other" not in cluster.state.devices.results(MODEL, "other key").values()


def test_what_is_kept_goes_with_the_content_that_it_is_kept_for():
    cluster = Cluster()
    for i in range(1200):
        model = f"model-{i % 600}"
        cluster.put("ResourceSlice", gpus("b", gpu("b", 0, attributes={"model": {"string": model}})))
        number = number_of(cluster, "b")
        assert cluster.state.devices.results(MODEL, "key").setdefault(number, model) == model
    assert cluster.state.sizes()["alike devices, results"] <= 512


def test_what_is_kept_is_not_found_while_a_pool_without_its_node_is_broken():
    cluster = Cluster()
    number = number_of(cluster, "b")
    cluster.state.devices.results(MODEL, "key")[number] = "found"
    counters = [{"name": "card", "counters": {"engines": {"value": "7"}}}]
    cards = slice_("cards", [], nodeName="z", pool="z-pool", count=2, sharedCounters=counters)
    cluster.put("ResourceSlice", cards)
    assert number_of(cluster, "b") == number
    assert not cluster.state.devices.results(MODEL, "key")
    cluster.delete("ResourceSlice", cards)
    assert cluster.state.devices.results(MODEL, "key")


def test_only_the_last_used_tables_are_kept():
    cluster = Cluster()
    for i in range(100):
        cluster.state.devices.alike(cluster.state.snapshot().nodes, MODEL)
        cluster.state.devices.results(MODEL, i)[0] = "found"
    assert cluster.state.sizes()["alike devices, results"] == 16
