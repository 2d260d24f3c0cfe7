"""Devices that others have, or that are out of order: free claims, move pods, repair devices."""

from kubesched.api import KubeObject, ResourceClaim
from kubesched.explanation import explain
from kubesched.testing import make_node, make_object, make_pod
from tests.device_cluster import GPU, device_class, device_cluster, nodes
from tests.explanation.asking import fixes_of, texts
from tests.explanation.claiming import CLASS, MODEL, claim, claiming, decoded, from_template, gpu, made_for, nodes_with
from tests.plugins.dynamic_resources.device_objects import DRIVER, allocation, ask, resource_slice, selecting, using

OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "rs", "controller": True}
SET = make_object("ReplicaSet", "rs", spec={"replicas": 3})


def user(name: str, node: str, device: str = "a", **more: object) -> list[KubeObject]:
    """A pod of a ReplicaSet that runs with a device, and its claim."""
    pod = from_template("gpu", name, node=node, metadata={"ownerReferences": [OWNER]}, **more)
    users = [{"resource": "pods", "name": pod.name, "uid": pod.uid}]
    held = made_for(pod, "gpu", ask(), status={**allocation(node, device), "reservedFor": users})
    return [pod, *decoded(held)]


def helped(*objects: KubeObject, kind: str = "movePod") -> list[str]:
    pod = claiming("c")
    every = fixes_of(pod, SET, *objects, *decoded(claim("c", ask(selectors=[]))))
    return [str(fix) for fix in every.values() if fix.kind == kind]


def test_a_pod_moves_to_where_it_gets_another_device():
    other = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    objects = [*nodes_with([gpu("a")], [gpu("a")]), *user("x", "n1")]
    pod = make_pod("p", spec={"resourceClaims": using("c"), **other})
    (fix,) = [
        one for one in fixes_of(pod, SET, *objects, *decoded(claim("c", ask()))).values() if one.kind == "movePod"
    ]
    assert str(fix) == "move default/x from n1 to n2 -> 1 node"
    after, _ = fix.change.apply([*objects, *decoded(claim("c", ask()))], pod)
    (held,) = [one for one in after if isinstance(one, ResourceClaim) and one.name == "x-gpu-x"]
    assert [one.pool for one in held.status.allocation.devices.results] == ["n2"]
    assert [(one.action, one.target.kind) for one in fix.patches] == [("move", "Pod")]


def test_a_pod_that_would_get_no_other_device_does_not_move():
    assert helped(*nodes_with([gpu("a")], []), *user("x", "n1")) == []


def test_a_pod_of_a_higher_priority_does_not_move():
    here = {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    pod = make_pod("p", spec={"resourceClaims": using("c"), **here})
    objects = [*nodes_with([gpu("a")], [gpu("a")]), *user("x", "n1", priority=10), *decoded(claim("c", ask()))]
    assert not any(text.startswith("move") for text in texts(pod, SET, *objects))


def test_one_device_of_a_network_pool_does_not_serve_two_pods():
    fabric = resource_slice("net", [gpu("a"), gpu("b")], nodeName="", allNodes=True)
    objects = [make_node("n1"), make_node("n2"), *decoded(CLASS, fabric)]
    for name, node, device in (("x", "n1", "a"), ("y", "n2", "b")):
        pod, _ = user(name, node)
        users = [{"resource": "pods", "name": pod.name, "uid": pod.uid}]
        results = [{"request": "r0", "driver": DRIVER, "pool": "net", "device": device}]
        status = {"allocation": {"devices": {"results": results}}, "reservedFor": users}
        objects += [pod, *decoded(made_for(pod, "gpu", ask(), status=status))]
    assert helped(*objects) == []


def in_zone(zone: str) -> dict:
    expression = {"key": "zone", "operator": "In", "values": [zone]}
    return {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}


def test_a_pod_of_another_node_moves_that_has_a_device_of_the_network():
    nodes = [make_node(f"n{i}", labels={"zone": zone}) for i, zone in enumerate(["a", "a", "b"], 1)]
    fabrics = [resource_slice(zone, [gpu("port")], nodeName="", nodeSelector=in_zone(zone)) for zone in "ab"]
    status = allocation("a", "port")
    status["allocation"]["nodeSelector"] = in_zone("a")
    running, _ = user("x", "n2")
    status["reservedFor"] = [{"resource": "pods", "name": running.name, "uid": running.uid}]
    held = made_for(running, "gpu", ask(), status=status)
    pod = make_pod("p", spec={"resourceClaims": using("c"), "nodeSelector": {"kubernetes.io/hostname": "n1"}})
    found = fixes_of(pod, SET, *nodes, running, *decoded(CLASS, *fabrics, held, claim("c", ask())))
    assert [str(fix) for fix in found.values() if fix.kind == "movePod"] == ["move default/x from n2 to n3 -> 1 node"]


def test_a_claim_that_no_pod_uses_gives_its_devices_back():
    old = claim("old", ask(), status=allocation("n1", "a"))
    pod = claiming("c")
    found = fixes_of(pod, *nodes_with([gpu("a")]), *decoded(claim("c", ask()), old))
    fix = next(iter(found.values()))
    assert str(fix) == "free the devices of claim default/old, which no pod uses -> 1 node"
    (step,) = fix.patches
    assert step.patch == {"status": {"allocation": None, "devices": None}}
    (command,) = step.commands
    assert command.startswith("kubectl patch resourceclaim old -n default --subresource status --type merge -p ")


def test_several_such_claims_do_together():
    old = [claim(name, ask(), status=allocation("n1", name)) for name in "ab"]
    (fix, *_) = fixes_of(claiming("c"), *nodes_with([gpu("a"), gpu("b")]), *decoded(claim("c", ask(2)), *old)).values()
    assert fix.text == "free the devices of claims default/a and default/b, which no pod uses"
    assert len(fix.patches) == 2


def test_kube_scheduler_frees_a_claim_of_the_pod_that_is_in_the_way():
    lost = claim("c", ask(), status=allocation("n9", "a"))
    (fix,) = fixes_of(claiming("c"), *nodes_with([gpu("a")]), *decoded(lost)).values()
    assert fix.text == "let kube-scheduler free claim c, which is allocated elsewhere and no other pod uses"
    assert [one.target for one in fix.patches] == [None]


def test_devices_that_are_out_of_order_are_repaired():
    taint = {"key": f"{DRIVER}/unhealthy", "effect": "NoExecute"}
    found = fixes_of(claiming("c"), *nodes_with([gpu("a", taints=[taint])]), *decoded(claim("c", ask())))
    assert list(found) == [
        f"repair the devices of n1, which taint {DRIVER}/unhealthy:NoExecute fences off",
        "add a node like n1",
    ]


def test_the_maintenance_of_devices_is_to_end_before_others_use_them():
    taint = {"key": "example.com/maintenance", "value": "firmware", "effect": "NoSchedule"}
    first, *_ = fixes_of(claiming("c"), *nodes_with([gpu("a", taints=[taint])]), *decoded(claim("c", ask())))
    which = "which taint example.com/maintenance=firmware:NoSchedule fences off"
    assert first == f"end the maintenance of the devices of n1, {which}"


def incomplete(node: str, *devices: dict) -> dict:
    """A slice of a pool that has another one, which is not there."""
    return resource_slice(node, [*devices], pool={"name": node, "generation": 1, "resourceSliceCount": 2})


def test_a_driver_publishes_the_rest_of_a_pool_before_another_model_is_accepted():
    slices = [incomplete("n1", gpu("a", model="H100")), resource_slice("n2", [gpu("a", model="A100")])]
    wanted = claim("c", ask(selectors=selecting(MODEL)))
    found = fixes_of(claiming("c"), make_node("n1"), make_node("n2"), *decoded(CLASS, *slices, wanted))
    assert list(found) == [
        f"repair driver {DRIVER} on n1, which publishes 1 of 2 slices of pool n1",
        "accept model H100 or A100 in request r0: create a new claim in place of c",
    ]
    fix = next(iter(found.values()))
    assert (fix.kind, fix.nodes, fix.keeps_intent) == ("devicePool", ("n1",), True)
    assert [one.target for one in fix.patches] == [None]


def test_a_pool_whose_devices_would_not_do_needs_no_repair():
    slices = [incomplete("n1", gpu("a", model="A100"))]
    wanted = claim("c", ask(selectors=selecting(MODEL)))
    assert not fixes_of(claiming("c"), make_node("n1"), *decoded(CLASS, *slices, wanted))


def test_several_pools_of_a_driver_are_one_repair():
    nodes_of = [f"n{i}" for i in range(1, 6)]
    slices = [incomplete(name, gpu("a")) for name in nodes_of]
    found = fixes_of(claiming("c"), *map(make_node, nodes_of), *decoded(CLASS, *slices, claim("c", ask())))
    (fix,) = found.values()
    assert fix.n_nodes == 5
    lacks = ", ".join(f"1 of 2 slices of pool {name}" for name in nodes_of[:3])
    where = "5 nodes (n1, n2, n3 and 2 more)"
    assert fix.text == f"repair driver {DRIVER} on {where}, which publishes {lacks}, ..."


def test_a_node_is_added_whose_devices_would_do():
    large = claim("large", ask(), status=allocation("n2", "a"))
    memory = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("80Gi")) >= 0'
    wanted = claim("c", ask(selectors=[{"cel": {"expression": memory}}]))
    found = fixes_of(claiming("c"), *nodes_with([gpu("a")], [gpu("a", "80Gi")], [gpu("a")]), *decoded(wanted, large))
    assert [text for text in found if text.startswith("add")] == ["add a node like n2"]


def test_extended_resources_that_devices_serve_are_asked_for_in_smaller_numbers():
    pod = make_pod("p", requests={"cpu": "1", GPU: "3"})
    found = texts(pod, *device_cluster())
    assert found == [
        "move default/on-dra-1 from dra-1 to dra-2",
        "add a node like dra-1",
        f"lower the request to 2 {GPU}",
    ]
    empty = explain([*nodes(), device_class()], make_pod("p", requests={GPU: "8"}))
    assert f"lower the request to 3 {GPU}" in [fix.text for fix in empty.fixes]
