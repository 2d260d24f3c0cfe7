from collections.abc import Iterable

import pytest

from kubesched import explain
from kubesched.api import KubeObject, Node, Pod, ResourceSlice
from kubesched.capture import smallest_around
from kubesched.errors import InputError
from kubesched.setup import set_up
from kubesched.snapshot import ClusterObjects
from kubesched.testing import make_node, make_object, make_pod
from tests.device_cluster import GPU, device_class, device_cluster


def around(pod: str, *objects: KubeObject) -> ClusterObjects:
    return smallest_around(ClusterObjects(objects), pod, set_up())


def _owned(kind: str, name: str) -> dict:
    return {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}]}


def keys(cluster: ClusterObjects) -> list[str]:
    return [known.key for known in cluster]


def test_as_many_nodes_are_left_as_the_reasons_and_the_order_of_the_fixes_need() -> None:
    full = [make_node(f"full-{i}", allocatable={"cpu": "1", "pods": "9"}) for i in range(6)]
    tainted = [make_node(f"tainted-{i}", allocatable={"cpu": "9", "pods": "9"}, taints=["a:NoSchedule"]) for i in "012"]
    cluster = around(
        "default/p",
        *full,
        *tainted,
        make_object("Service", "unrelated", spec={}),
        *(make_pod(f"other-{i}", node="full-0") for i in range(5)),
        make_pod("p", requests={"cpu": "4"}),
    )
    names = [node.name for node in cluster.of(Node)]
    assert [name.partition("-")[0] for name in names] == ["full", "tainted"]
    assert [pod.key for pod in cluster.of(Pod)] == ["default/p"]
    assert len(cluster) == 3


def test_the_pods_that_take_the_room_are_kept() -> None:
    small = {"cpu": "2", "pods": "9"}
    cluster = around(
        "default/p",
        *(make_node(name, allocatable=small) for name in ("n1", "n2")),
        *(make_pod(f"{node}-{i}", node=node, requests={"cpu": "1"}, priority=9) for node in ("n1", "n2") for i in "01"),
        make_pod("p", requests={"cpu": "2"}),
    )
    assert len(cluster.of(Node)) == 1
    assert len(cluster.of(Pod)) == 3
    assert [fix.text for fix in explain(cluster, "default/p").fixes] != []


def test_a_pod_that_fits_still_goes_to_its_node() -> None:
    busy = [make_pod(f"busy-{i}", node="n1", requests={"cpu": "1"}) for i in range(2)]
    nodes = [make_node(name, allocatable={"cpu": "4", "memory": "8Gi", "pods": "9"}) for name in ("n1", "n2", "n3")]
    cluster = around("default/p", *nodes, *busy, make_pod("p", requests={"cpu": "1"}))
    assert keys(cluster) == ["n2", "default/p"]


def test_victims_of_preemption_stay() -> None:
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in range(4)]
    placed = [make_pod(f"low-{i}", node=f"n{i}", requests={"cpu": "2"}, priority=i) for i in range(4)]
    cluster = around("default/p", *nodes, *placed, make_pod("p", requests={"cpu": "2"}, priority=100))
    assert keys(cluster) == ["n0", "default/low-0", "default/p"]


def test_a_running_pod_is_kept_with_its_verdict() -> None:
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2", "pods": "9"}) for i in range(4)]
    cluster = around("p", *nodes, make_pod("p", node="n3", requests={"cpu": "1"}))
    (pod,) = cluster.of(Pod)
    assert pod.node_name == "n3"
    assert explain(cluster, "p").best[0] == "n0"


def test_any_pod_that_can_move_is_enough_for_a_fix_that_moves_one() -> None:
    nodes = [make_node(f"n{i}", allocatable={"cpu": f"{4000 + 13 * i}m", "pods": "9"}) for i in range(30)]
    placed = [
        make_pod(f"{kind}-{i}", node=f"n{i}", requests={"cpu": cpu}, metadata=_owned("ReplicaSet", kind), priority=9)
        for i in range(30)
        for kind, cpu in (("large", "2500m"), ("small", f"{500 + 7 * (i * 11 % 30)}m"))
    ]
    objects = [*nodes, *placed, make_pod("p", requests={"cpu": "1600m"})]
    small = around("default/p", *objects)
    kinds = [[fix.kind for fix in explain(one, "default/p").fixes[:3]] for one in (objects, list(small))]
    assert "movePod" in kinds[0]
    assert kinds[1] == kinds[0]
    assert len(small) < 10


def test_the_controller_of_the_pod_is_kept() -> None:
    sets = [
        make_object("ReplicaSet", name, metadata=_owned("Deployment", "web"), spec={"selector": {}})
        for name in ("web-1", "web-2")
    ]
    pods = [make_pod(f"p{i}", requests={"cpu": "9"}, metadata=_owned("ReplicaSet", f"web-{i}")) for i in (1, 2)]
    cluster = around("default/p2", make_node("n1", allocatable={"cpu": "1", "pods": "9"}), *sets, *pods)
    assert keys(cluster) == ["n1", "default/web-2", "default/p2"]


def test_a_pod_that_names_its_node_needs_this_node_and_another_one() -> None:
    pinned = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": pinned}}}
    nodes = [make_node(f"n{i}", allocatable={"cpu": "1", "pods": "9"}) for i in range(3)]
    cluster = around("default/p", *nodes, make_pod("p", requests={"cpu": "2"}, spec={"affinity": affinity}))
    assert keys(cluster) == ["n1", "n2", "default/p"]


def test_an_unknown_pod_is_refused() -> None:
    with pytest.raises(InputError, match='no pod has the name "nobody"'):
        around("nobody", make_node("n1"))


def test_a_pod_with_devices_keeps_its_claim_its_class_and_the_slices_of_a_node() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    own = make_object("ResourceClaim", "own", spec={"devices": {"requests": [request]}})
    other = make_object("ResourceClaim", "other")
    served = make_pod("served", requests={GPU: 1})
    with_claim = make_pod("with-claim", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "own"}]})
    objects = [*device_cluster(), own, other, served, with_claim]
    assert {"dra-1", "dra-1-gpu.nvidia.com", "gpu.nvidia.com", "default/own"} <= set(
        keys(around("default/with-claim", *objects))
    )
    kept = keys(around("default/served", *objects))
    assert {"plugin-1", "dra-1", "dra-1-gpu.nvidia.com", "gpu.nvidia.com", "default/served"} <= set(kept)
    assert not {"default/own", "default/other", "dra-2", "dra-2-gpu.nvidia.com"} & set(kept)


def claim(name: str, *selectors: str, **more: object) -> KubeObject:
    wanted = [{"cel": {"expression": text}} for text in selectors]
    exactly = {"deviceClassName": "gpu.nvidia.com", "selectors": wanted, **more}
    return make_object("ResourceClaim", name, spec={"devices": {"requests": [{"name": "r", "exactly": exactly}]}})


def with_claim(name: str) -> Pod:
    return make_pod(name, spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": name}]})


def shared(name: str, pool: str, count: int, **where: object) -> KubeObject:
    devices = [{"name": f"{name}-{i}"} for i in range(2)]
    spec = {"driver": "fabric", "pool": {"name": pool, "generation": 1, "resourceSliceCount": count}}
    return make_object("ResourceSlice", name, spec={**spec, **where, "devices": devices})


def device_details(cluster: Iterable[KubeObject], pod: str) -> list[tuple[str, ...]]:
    """What is in the way on the nodes, without the pods that hold devices there: a smaller cluster has fewer."""
    rows = (row for row in explain(cluster, pod).rows if row.plugins == ("DynamicResources",))
    return [tuple(text.partition("; held by ")[0] for text in row.texts) for row in rows]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (claim("p", 'device.attributes["gpu.nvidia.com"].model == "A100"'), "model is H100, the claim wants == A100"),
        (claim("p", count=3), "2 of 3 devices will do, 3 are wanted (1 device is taken)"),
        (claim("p", allocationMode="All"), "1 device is taken"),
    ],
    ids=["another model", "too many", "all"],
)
def test_a_pod_whose_claims_no_node_can_serve_keeps_a_node_with_its_slices(wanted: KubeObject, text: str) -> None:
    objects = [*device_cluster(), wanted, with_claim("p")]
    small = around("default/p", *objects)
    kept = keys(small)
    assert {"gpu.nvidia.com", "default/p"} <= set(kept)
    assert [f"{node.name}-gpu.nvidia.com" in kept for node in small.of(Node)].count(True) == 1
    assert device_details(small, "default/p") == device_details(objects, "default/p")
    assert any(text in one for texts in device_details(small, "default/p") for one in texts)


@pytest.mark.parametrize(("n_devices", "pool"), [(3, "all"), (5, "halves")])
def test_a_pool_stays_complete_wherever_its_slices_are(n_devices: int, pool: str) -> None:
    """The slices of one pool reach every node; those of the other have a node each."""
    fabric = [shared(f"all-{i}", "all", 2, allNodes=True) for i in "12"]
    halves = [shared(f"half-{i}", "halves", 2, nodeName=f"dra-{i}") for i in "12"]
    result = {"request": "r", "driver": "fabric", "pool": "all", "device": "all-1-0"}
    taken = make_object("ResourceClaim", "taken", status={"allocation": {"devices": {"results": [result]}}})
    wanted = claim("p", 'device.driver == "fabric"', count=n_devices)
    objects = [*device_cluster(), *fabric, *halves, taken, wanted, with_claim("p")]
    before, small = explain(objects, "default/p"), around("default/p", *objects)
    after = explain(small, "default/p")
    assert after.best[0] == before.best[0]
    assert after.allocations[after.best[0]] == before.allocations[before.best[0]]
    assert [one.spec.pool.name for one in small.of(ResourceSlice)].count(pool) == 2


def test_classes_that_the_claim_names_are_kept_though_nothing_needs_them() -> None:
    alternatives = [{"name": name, "deviceClassName": name} for name in ("gpu.nvidia.com", "spare")]
    own = make_object(
        "ResourceClaim", "p", spec={"devices": {"requests": [{"name": "r", "firstAvailable": alternatives}]}}
    )
    spare, other = device_class("spare", ""), device_class("other", "")
    kept = keys(around("default/p", *device_cluster(), spare, other, own, with_claim("p")))
    assert "spare" in kept
    assert "other" not in kept


def test_slices_are_noise_for_a_pod_that_needs_no_devices() -> None:
    small = around("default/p", *device_cluster(), make_pod("p", requests={"cpu": "99"}))
    assert not small.of(ResourceSlice)
