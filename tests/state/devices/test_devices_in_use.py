"""Which devices claims have, as claims come, change and go, assumed allocations among them."""

from typing import Any

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.cel import Reads
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object, make_pod

DRIVER = "gpu.example.com"
ONE, TWO = (DRIVER, "a", "one"), (DRIVER, "a", "two")
G = 10**9 * 10**9


def result(device: str, **fields: Any) -> dict[str, Any]:
    return {"request": "r", "driver": DRIVER, "pool": "a", "device": device, **fields}


def share(device: str, amount: str, number: int = 1) -> dict[str, Any]:
    return result(device, shareID=f"share-{number}", consumedCapacity={"bandwidth": amount})


def claim(name: str, *results: dict[str, Any]) -> KubeObject:
    status = {"allocation": {"devices": {"results": list(results)}}} if results else {}
    return make_object("ResourceClaim", name, namespace="default", status=status)


class Claims:
    """Two nodes, one with a pool of two devices."""

    def __init__(self) -> None:
        self.state = ClusterState()
        for name in ("a", "b"):
            self.state.apply(WatchEvent(EventType.ADDED, "Node", make_node(name)))
        pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": DRIVER, "nodeName": "a", "pool": pool, "devices": [{"name": "one"}, {"name": "two"}]}
        self.state.apply(WatchEvent(EventType.ADDED, "ResourceSlice", make_object("ResourceSlice", "s", spec=spec)))
        self.in_use = self.state.devices.in_use

    def put(self, known: KubeObject) -> None:
        self.state.apply(WatchEvent(EventType.MODIFIED, "ResourceClaim", known))

    def delete(self, known: KubeObject) -> None:
        self.state.apply(WatchEvent(EventType.DELETED, "ResourceClaim", known))


def test_an_allocation_takes_a_device_until_it_goes():
    claims = Claims()
    before = claims.state.sizes()
    claims.put(claim("c"))
    assert not claims.in_use.is_taken(ONE)
    claims.put(claim("c", result("one")))
    assert (claims.in_use.is_taken(ONE), claims.in_use.is_taken(TWO)) == (True, False)
    assert claims.in_use.holders(ONE) == ["default/c"]
    claims.put(claim("c", result("two")))
    assert (claims.in_use.is_taken(ONE), claims.in_use.is_taken(TWO)) == (False, True)
    claims.delete(claim("c"))
    assert not claims.in_use.is_taken(TWO)
    assert claims.state.sizes() == before


def test_admin_access_takes_nothing():
    claims = Claims()
    claims.put(claim("c", result("one", adminAccess=True)))
    assert not claims.in_use.is_taken(ONE)
    assert claims.in_use.holders(ONE) == []


def test_admin_access_to_a_share_takes_nothing():
    claims = Claims()
    claims.put(claim("c", {**share("one", "10G"), "adminAccess": True}))
    assert not claims.in_use.is_shared(ONE)
    assert claims.in_use.consumed(ONE) == {}


def test_a_share_takes_the_capacity_that_it_consumes():
    claims = Claims()
    before = claims.state.sizes()
    claims.put(claim("c", share("one", "10G"), share("one", "5G", 2)))
    claims.put(claim("b", share("one", "500M")))
    assert not claims.in_use.is_taken(ONE)
    assert claims.in_use.is_shared(ONE)
    assert claims.in_use.consumed(ONE) == {"bandwidth": 15 * G + G // 2}
    assert claims.in_use.holders(ONE) == ["default/b", "default/c"]
    claims.delete(claim("c"))
    assert claims.in_use.consumed(ONE) == {"bandwidth": G // 2}
    claims.delete(claim("b"))
    assert claims.in_use.consumed(ONE) == {}
    assert claims.state.sizes() == before


def test_two_claims_may_hold_one_device():
    claims = Claims()
    claims.put(claim("c", result("one")))
    claims.put(claim("d", result("one")))
    claims.delete(claim("c"))
    assert claims.in_use.is_taken(ONE)
    assert claims.in_use.holders(ONE) == ["default/d"]


def test_what_is_there_when_it_is_first_asked_for_counts():
    claims = Claims()
    claims.put(claim("c", result("one")))
    state = ClusterState()
    state.load(
        [(kind, one) for kind in ("Node", "ResourceSlice", "ResourceClaim") for one in claims.state.objects.list(kind)]
    )
    assert state.devices.in_use.is_taken(ONE)


def test_an_assumed_allocation_counts_until_it_is_forgotten():
    claims = Claims()
    claims.put(claim("c"))
    pod = make_pod("p")
    claims.state.assume(claims.state.pod_info(pod), "a", [("ResourceClaim", claim("c", result("one")))])
    assert claims.in_use.is_taken(ONE)
    claims.state.forget(pod)
    assert not claims.in_use.is_taken(ONE)


def test_an_allocation_marks_the_rows_of_its_pool():
    claims = Claims()
    log, rows = claims.state.columns.device_log, claims.state.columns.row_of
    before = log.generation
    claims.put(claim("c", result("one")))
    assert log.since(before) == [rows["a"]]
    before = log.generation
    claims.put(claim("c", result("one")))
    claims.put(claim("elsewhere", {**result("one"), "pool": "gone"}))
    assert log.since(before) == []
    with claims.state.fork():
        claims.delete(claim("c"))
        before = log.generation
    assert log.since(before) == [rows["a"]]
    assert claims.in_use.is_taken(ONE)


def test_taken_devices_use_counters_of_their_pool():
    claims = Claims()
    counters = {"counterSet": "card", "counters": {"engines": {"value": "3"}}}
    devices = [{"name": "one", "consumesCounters": [counters]}, {"name": "two", "consumesCounters": [counters]}]
    shared = {"sharedCounters": [{"name": "card", "counters": {"engines": {"value": "7"}}}]}
    pool = {"name": "a", "generation": 2, "resourceSliceCount": 2}
    for name, fields in (("devices", {"devices": devices}), ("counters", shared)):
        spec = {"driver": DRIVER, "nodeName": "a", "pool": pool, **fields}
        claims.state.apply(WatchEvent(EventType.ADDED, "ResourceSlice", make_object("ResourceSlice", name, spec=spec)))
    (pool_of_a,) = claims.state.devices.pools_of(claims.state.columns.row_of["a"])
    assert claims.state.devices.used_counters(pool_of_a) == {}
    claims.put(claim("c", result("one"), result("gone")))
    assert claims.state.devices.used_counters(pool_of_a) == {"card": {"engines": 3 * 10**9}}
    claims.put(claim("d", share("two", "1G")))
    assert claims.state.devices.used_counters(pool_of_a) == {"card": {"engines": 6 * 10**9}}


def test_devices_on_other_nodes_use_counters_of_their_pool():
    claims = Claims()
    counters = {"counterSet": "card", "counters": {"engines": {"value": "3"}}}
    pool = {"name": "a", "generation": 2, "resourceSliceCount": 3}
    shared = {"sharedCounters": [{"name": "card", "counters": {"engines": {"value": "7"}}}]}
    on_a, on_b = ([{"name": name, "consumesCounters": [counters]}] for name in ("one", "two"))
    for name, node, fields in (("1", "a", {"devices": on_a}), ("2", "b", {"devices": on_b}), ("3", "a", shared)):
        spec = {"driver": DRIVER, "nodeName": node, "pool": pool, **fields}
        claims.state.apply(WatchEvent(EventType.ADDED, "ResourceSlice", make_object("ResourceSlice", name, spec=spec)))
    nodes, reads, rows = claims.state.snapshot().nodes, Reads(), claims.state.columns.row_of
    assert len(set(claims.state.devices.alike(nodes, reads).tolist())) == 1
    claims.put(claim("c", result("two")))
    assert len(set(claims.state.devices.alike(nodes, reads).tolist())) == 2
    used = [claims.state.devices.used_counters(claims.state.devices.pools_of(rows[node])[0]) for node in "ab"]
    assert used == [{"card": {"engines": 3 * 10**9}}] * 2
