"""What is different in a cluster after a change, and what a simulation makes of it."""

import msgspec
import pytest

from kubesched.api import CSINode, Node, PersistentVolumeClaim, Pod, ResourceSlice, edited
from kubesched.controllers import note_on_model
from kubesched.errors import InputError
from kubesched.pages.plans.fit_verdict import first_line
from kubesched.planning import (
    WhatIf,
    cordoned,
    fit,
    scaled,
    uncordoned,
    with_nodes_like,
    without_nodes,
)
from kubesched.session import Simulator
from kubesched.testing import make_node, make_object, make_pod


def owner(kind, name):
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"{kind}-{name}", "controller": True}
    return {"ownerReferences": [reference]}


def web(i, node="", **fields):
    labels = {"app": "web", "pod-template-hash": "7d9f"}
    metadata = owner("ReplicaSet", "web-7d9f") | fields.pop("metadata", {})
    return make_pod(f"web-7d9f-{i}", labels=labels, requests={"cpu": "1"}, node=node, metadata=metadata, **fields)


N1 = make_node(
    "n1.example", labels={"pool": "a", "kubernetes.io/hostname": "n1"}, allocatable={"cpu": "2", "pods": "9"}
)
N2 = make_node("n2.example", labels={"pool": "b"}, allocatable={"cpu": "2", "pods": "9"})
LOGS = make_pod("logs-x1", node="n1.example", requests={"cpu": "500m"}, metadata=owner("DaemonSet", "logs"))
LIMITS = make_object(
    "CSINode", "n1.example", spec={"drivers": [{"name": "d", "nodeID": "n1", "allocatable": {"count": 3}}]}
)
CLUSTER = [N1, N2, LOGS, LIMITS, web(1, "n1.example"), web(2, "n2.example")]


def names(objects, type=Pod):
    return [one.name for one in objects if isinstance(one, type)]


def placements(objects):
    return {one.pod: one.node for one in Simulator(objects).run().placements}


def test_a_cordoned_node_gets_no_pod_and_keeps_its_pods():
    changed = cordoned(CLUSTER, ["n2"])
    assert names(changed) == names(CLUSTER)
    (placement,) = Simulator([*changed, make_pod("p", requests={"cpu": "1"})]).run().placements
    assert placement.message.startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")
    assert not N2.unschedulable


def test_a_node_that_is_cordoned_already_stays_as_it_is():
    once = cordoned(CLUSTER, ["n1"])
    assert cordoned(once, ["n1.example"]) == once


def test_a_removed_node_takes_its_pods_and_volumes_limits_along():
    changed = without_nodes(CLUSTER, ["n1.example"])
    assert (names(changed, Node), names(changed), names(changed, CSINode)) == (["n2.example"], ["web-7d9f-2"], [])


def test_new_nodes_have_the_labels_taints_daemons_and_limits_of_their_model():
    taints = [
        {"key": "pool", "value": "a", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    ]
    model = make_node(
        "n1.example", labels=N1.labels, allocatable={"cpu": "2"}, spec={"unschedulable": True, "taints": taints}
    )
    changed = with_nodes_like([model, *CLUSTER[1:]], "n1", 2)
    first, second = (one for one in changed if isinstance(one, Node) and one.name.startswith("new-"))
    assert (first.name, second.name) == ("new-1.example", "new-2.example")
    assert first.labels == {"pool": "a", "kubernetes.io/hostname": "new-1"}
    assert [taint.key for taint in first.taints] == ["pool"]
    assert not first.unschedulable
    assert [(pod.name, pod.node_name) for pod in changed if isinstance(pod, Pod)][3:] == [
        ("logs-x1-new-1.example", "new-1.example"),
        ("logs-x1-new-2.example", "new-2.example"),
    ]
    assert names(changed, CSINode) == ["n1.example", "new-1.example", "new-2.example"]


PASSING = [
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    {"key": "team", "value": "a", "effect": "NoSchedule"},
]


@pytest.mark.parametrize(
    ("spec", "note"),
    [
        ({"taints": PASSING[2:]}, ""),
        ({"unschedulable": True}, "new nodes like n would not have its cordon"),
        ({"taints": PASSING[:1]}, "new nodes like n would not have its cordon"),
        ({"taints": PASSING[1:]}, "new nodes like n would not have its taint node.kubernetes.io/not-ready:NoExecute"),
        (
            {"taints": PASSING},
            "new nodes like n would not have its cordon and its taint node.kubernetes.io/not-ready:NoExecute",
        ),
    ],
)
def test_what_passes_on_a_model_is_not_on_new_nodes_and_is_said(spec, note):
    model = make_node("n", spec=spec)
    assert note_on_model(model) == note
    assert WhatIf(add_nodes=1, like="n").applied([model]).notes == [note] * bool(note)
    new = with_nodes_like([model], "n", 1)[1]
    assert (new.spec.unschedulable, [taint.key for taint in new.spec.taints]) == (
        False,
        ["team"] if PASSING[2] in spec.get("taints", []) else [],
    )


def test_new_nodes_of_a_second_shape_have_further_names():
    changed = with_nodes_like(with_nodes_like(CLUSTER, "n1", 1), "n2", 1)
    assert names(changed, Node)[2:] == ["new-1.example", "new-2.example"]


def test_pods_go_to_new_nodes():
    pending = [make_pod(f"p{i}", requests={"cpu": "1500m"}) for i in range(2)]
    placed = placements(with_nodes_like([*CLUSTER, *pending], "n1", 2))
    assert placed == {"default/p0": "new-1.example", "default/p1": "new-2.example"}


def test_a_workload_grows_by_copies_of_its_newest_pod():
    newest = web(3, "n2.example", metadata={"creationTimestamp": "2026-05-01T00:00:00Z"}, priority=7)
    changed = scaled([*CLUSTER, newest], "deploy/web", 5)
    added = [one for one in changed if isinstance(one, Pod)][4:]
    assert [(pod.name, pod.node_name, pod.priority) for pod in added] == [
        ("web-7d9f-new-1", "", 7),
        ("web-7d9f-new-2", "", 7),
    ]
    assert added[0].labels == newest.labels
    assert added[0].metadata.owner_references == newest.metadata.owner_references


def test_pods_leave_in_the_order_of_their_controller():
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    pods = [
        web("ready", "n1.example", status=ready),
        web("unready", "n1.example", status={"phase": "Running"}),
        web("pending"),
        web("cheap", "n2.example", status=ready, annotations={"controller.kubernetes.io/pod-deletion-cost": "-1"}),
    ]
    left = [names(scaled([N1, N2, *pods], "deploy/web", n)) for n in (3, 2, 1, 0)]
    assert [sorted(name.removeprefix("web-7d9f-") for name in one) for one in left] == [
        ["cheap", "ready", "unready"],
        ["cheap", "ready"],
        ["ready"],
        [],
    ]


def db(i, node=""):
    labels = {"statefulset.kubernetes.io/pod-name": f"db-{i}", "apps.kubernetes.io/pod-index": str(i)}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-db-{i}"}}]
    return make_pod(f"db-{i}", node=node, labels=labels, metadata=owner("StatefulSet", "db"), spec={"volumes": volumes})


def claim(i):
    return make_object(
        "PersistentVolumeClaim",
        f"data-db-{i}",
        annotations={"pv.kubernetes.io/bind-completed": "yes", "team": "a"},
        spec={"storageClassName": "ssd", "volumeName": f"pv-{i}", "resources": {"requests": {"storage": "1Gi"}}},
        status={"phase": "Bound"},
    )


def test_a_stateful_set_grows_by_the_missing_numbers_with_unbound_claims():
    changed = scaled([N1, claim(0), db(0, "n1.example"), claim(2), db(2, "n1.example"), claim(3)], "sts/db", 4)
    *_, one, three = (pod for pod in changed if isinstance(pod, Pod))
    assert (one.name, three.name) == ("db-1", "db-3")
    assert one.labels["statefulset.kubernetes.io/pod-name"] == "db-1"
    assert one.volumes[0].persistent_volume_claim.claim_name == "data-db-1"
    claims = {one.name: one for one in changed if isinstance(one, PersistentVolumeClaim)}
    assert list(claims) == ["data-db-0", "data-db-2", "data-db-3", "data-db-1"]
    assert claims["data-db-1"].spec.volume_name == ""
    assert claims["data-db-1"].annotations == {"team": "a"}
    assert claims["data-db-3"].spec.volume_name == "pv-3"


def test_a_stateful_set_loses_its_highest_numbers():
    assert names(scaled([N1, db(0, "n1.example"), db(10, "n1.example"), db(9)], "statefulset/db", 1)) == ["db-0"]


def test_a_pod_that_no_controller_made_can_have_copies():
    assert names(scaled([N1, make_pod("api-1", node="n1.example")], "pod/api-1", 3)) == [
        "api-1",
        "api-1-1",
        "api-1-2",
    ]


BAD_CHANGES = [
    (lambda: scaled(CLUSTER, "deploy/wbe", 3), 'deploy/wbe: the cluster has no Deployment wbe; did you mean "web"?'),
    (
        lambda: scaled(CLUSTER, "web", 3),
        '"web" is not a workload; did you mean "deployment/web"?',
    ),
    (
        lambda: scaled(CLUSTER, "cron", 3),
        '"cron" is not a workload; expected for example deploy/web or shop/statefulset/db',
    ),
    (
        lambda: scaled(CLUSTER, "sts/web", 3),
        'sts/web: the cluster has no StatefulSet web; did you mean "deployment/web"?',
    ),
    (
        lambda: scaled([make_pod("api-12"), make_pod("api-1")], "deploy/api", 3),
        'deploy/api: the cluster has no Deployment api; did you mean "pod/api-1"?',
    ),
    (
        lambda: scaled([make_pod("api-5f-x", metadata=owner("ReplicaSet", "api-5f"))], "deploy/api", 3),
        'deploy/api: the cluster has no Deployment api; did you mean "replicaset/api-5f"?',
    ),
    (
        lambda: scaled(CLUSTER, "wbe", 3),
        '"wbe" is not a workload; expected for example deploy/web or shop/statefulset/db',
    ),
    (lambda: scaled(CLUSTER, "depoy/web", 3), 'depoy/web: "depoy" is not a kind of workload; did you mean "deploy"?'),
    (
        lambda: scaled(CLUSTER, "ds/logs", 3),
        "DaemonSet default/logs has one pod on each node and no replicas; add nodes instead",
    ),
    (lambda: scaled(CLUSTER, "deploy/web", -1), "deploy/web: found -1 replicas; expected 0 or more"),
    (
        lambda: scaled([make_object("StatefulSet", "db", spec={})], "sts/db", 1),
        "StatefulSet default/db has no pod in the snapshot to copy; add its manifest with replicas: 1 instead",
    ),
    (lambda: with_nodes_like(CLUSTER, "n1", -1), "number of new nodes: found -1; expected 0 to 100000"),
]


@pytest.mark.parametrize(("change", "message"), BAD_CHANGES)
def test_a_bad_change_is_one_sentence_with_what_is_near(change, message):
    with pytest.raises(InputError) as caught:
        change()
    assert str(caught.value) == message


def test_a_name_that_two_namespaces_have_needs_one():
    other = make_pod("web-7d9f-1", namespace="shop", labels=web(1).labels, metadata=owner("ReplicaSet", "web-7d9f"))
    with pytest.raises(
        InputError, match=r"deploy/web: namespaces default, shop have a Deployment web; write NAMESPACE/deploy/web"
    ):
        scaled([*CLUSTER, other], "deploy/web", 3)
    assert len(names(scaled([*CLUSTER, other], "shop/deploy/web", 3))) == len(names(CLUSTER)) + 3


CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
TEAM = {"key": "team", "value": "a", "effect": "NoSchedule"}


@pytest.mark.parametrize("spec", [{"unschedulable": True, "taints": [CORDON, TEAM]}, {"taints": [TEAM, CORDON]}])
def test_an_uncordoned_node_has_no_cordon_and_keeps_its_other_taints(spec):
    (node,) = uncordoned([make_node("n1.example", spec=spec)], ["n1"])
    assert (node.unschedulable, [taint.key for taint in node.taints]) == (False, ["team"])


def test_uncordon_takes_back_what_cordon_set():
    (placement,) = Simulator([*uncordoned(cordoned([N1], ["n1"]), ["n1"]), make_pod("p")]).run().placements
    assert placement.node == "n1.example"


def test_only_a_cordoned_node_can_be_uncordoned():
    with pytest.raises(InputError, match=r"^node n1.example is not cordoned$"):
        uncordoned(CLUSTER, ["n1"])
    with pytest.raises(InputError, match=r"^none of the 2 nodes n1.example, n2.example is cordoned$"):
        uncordoned(CLUSTER, ["n1", "n2"])
    changed = uncordoned(cordoned(CLUSTER, ["n1"]), ["n1", "n2"])
    assert not any(one.unschedulable for one in changed if isinstance(one, Node))


def test_each_node_to_uncordon_is_cordoned():
    once = cordoned(CLUSTER, ["n1"])
    with pytest.raises(InputError, match=r"node n2\.example is not cordoned"):
        WhatIf(uncordon=("n1", "n2")).applied(once)
    assert WhatIf(uncordon=("n1",), cordon=("n1",)).applied(once).objects == tuple(once)


def slice_on(node, name, pool, **device):
    devices = [{"name": "gpu-0", "attributes": {"model": {"string": "A100"}}, **device}]
    pool = {"name": pool, "generation": 1, "resourceSliceCount": 1}
    return make_object("ResourceSlice", name, spec={"driver": "d", "nodeName": node, "pool": pool, "devices": devices})


def test_the_pools_of_new_nodes_are_whole():
    """The model has one of two slices of a pool, and one that a newer generation has replaced."""
    half, old = slice_on("n1.example", "half", "rack"), slice_on("n1.example", "old", "rack")
    pools = [msgspec.structs.replace(half.spec.pool, generation=n, resource_slice_count=2) for n in (2, 1)]
    known = [
        edited(one, spec=msgspec.structs.replace(one.spec, pool=pool))
        for one, pool in zip((half, old), pools, strict=True)
    ]
    cluster = [*CLUSTER, *known]
    (copy,) = (one for one in with_nodes_like(cluster, "n1", 1)[len(cluster) :] if isinstance(one, ResourceSlice))
    assert (copy.name, copy.spec.pool.name, copy.spec.pool.resource_slice_count) == (
        "half-new-1.example",
        "rack-new-1.example",
        1,
    )


def test_new_nodes_have_the_devices_of_their_model_in_pools_of_their_own():
    taint = {"key": "broken", "effect": "NoSchedule"}
    cluster = [*CLUSTER, slice_on("n1.example", "a", "n1.example", taints=[taint]), slice_on("n1.example", "b", "gpus")]
    added = with_nodes_like(cluster, "n1", 2)[len(cluster) :]
    slices = [one for one in added if isinstance(one, ResourceSlice)]
    assert {(one.name, one.spec.node_name, one.spec.pool.name) for one in slices} == {
        ("a-new-1.example", "new-1.example", "new-1.example"),
        ("b-new-1.example", "new-1.example", "gpus-new-1.example"),
        ("a-new-2.example", "new-2.example", "new-2.example"),
        ("b-new-2.example", "new-2.example", "gpus-new-2.example"),
    }
    assert not any(device.taints for one in slices for device in one.spec.devices)
    assert without_nodes([*cluster, *added], ["new-1.example", "new-2.example"]) == cluster


def network(where, n=2, *, each=False, count=1):
    """A slice of a fabric with devices that it assigns together, or each of them by itself."""
    devices = [{"name": f"f{i}", **(where if each else {})} for i in range(n)]
    pool = {"name": "fabric", "generation": 1, "resourceSliceCount": count}
    place = {"perDeviceNodeSelection": True} if each else where
    return make_object("ResourceSlice", "fabric", spec={"driver": "net", "pool": pool, "devices": devices, **place})


def by_label(key, value):
    return {
        "nodeSelector": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]
        }
    }


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize(
    ("where", "is_lacking"),
    [
        ({"allNodes": True}, False),
        (by_label("zone", "a"), False),
        (by_label("kubernetes.io/hostname", "n"), True),
        (by_label("zone", "b"), False),
    ],
)
def test_devices_that_a_slice_assigns_to_the_model_are_not_on_new_nodes_and_a_note_says_so(where, is_lacking, each):
    model = make_node("n", labels={"kubernetes.io/hostname": "n", "zone": "a"})
    cluster = [model, network(where, each=each)]
    note = "new nodes like n would not have its 2 devices of driver net, which slices assign to nodes by name"
    assert WhatIf(add_nodes=1, like="n").applied(cluster).notes == [note] * is_lacking


def test_a_device_that_names_its_node_is_assigned_to_it():
    model = make_node("n")
    cluster = [model, network({"nodeName": "n"}, 1, each=True)]
    (note,) = WhatIf(add_nodes=1, like="n").applied(cluster).notes
    assert note == "new nodes like n would not have its 1 device of driver net, which slices assign to nodes by name"


def test_a_pool_of_the_model_with_missing_slices_is_copied_as_it_is_and_a_note_says_so():
    whole, half = slice_on("n1.example", "a", "a"), slice_on("n1.example", "b", "b")
    half = edited(
        half,
        spec=msgspec.structs.replace(half.spec, pool=msgspec.structs.replace(half.spec.pool, resource_slice_count=2)),
    )
    cluster = [*CLUSTER, whole, half]
    notes = WhatIf(add_nodes=1, like="n1.example").applied(cluster).notes
    only = "only the 1 slice of 2 that driver d has published of pool b (repair driver d on n1.example)"
    assert notes == [f"new nodes like n1.example would have {only}"]
    assert notes[0] in fit(cluster, [make_pod("p")], nodes_like="n1.example").notes


@pytest.mark.parametrize(
    ("n_slices", "asks", "said"),
    [(2, 1, "at most 2 more nodes"), (1, 1, "2 more nodes"), (2, 0, "3 more nodes")],
)
def test_a_model_with_missing_slices_gives_the_most_nodes_that_pods_with_devices_need(n_slices, asks, said):
    """The driver of the model may publish more devices, so that fewer nodes do."""
    known = slice_on("n", "a", "a")
    pool = msgspec.structs.replace(known.spec.pool, resource_slice_count=n_slices)
    known = edited(known, spec=msgspec.structs.replace(known.spec, pool=pool))
    gpu = make_object("DeviceClass", "gpu", spec={"selectors": [{"cel": {"expression": 'device.driver == "d"'}}]})
    full = make_node("n", allocatable={"cpu": "2", "memory": "8Gi", "pods": "9"}, spec={"unschedulable": True})
    pods = {"cpu": "1"} if asks else {"cpu": "2"}
    answer = fit([full, known, gpu], pods, devices={"gpu": 1} if asks else {}, replicas=2 + (not asks), nodes_like="n")
    assert answer.may_need_fewer_nodes == said.startswith("at most")
    assert f" would fit with {said} like n" in first_line(answer)
    given = fit([full, known, gpu], pods, devices={"gpu": 1} if asks else {}, nodes_like="n", n_nodes=3)
    assert " with 3 more nodes like n" in first_line(given)
