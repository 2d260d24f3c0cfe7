"""What makes a pod fit: each kind of fix in a small cluster, its words, its rank, and that applying it helps."""

import pytest

from kubesched.explanation import Explainer, Fix, explain
from kubesched.framework import Plugin, Status
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask, filling

ZONE = "topology.kubernetes.io/zone"


def fixes_of(pod, *objects, **more) -> dict[str, Fix]:
    """Text -> fix, best first, each of which was applied and made the pod fit on the nodes that it names."""
    objects = list(objects)
    fixes = ask(pod, *objects, **more).fixes
    for fix in fixes:
        changed, changed_pod = fix.change.apply(objects, pod)
        after = explain(changed, changed_pod, more.get("config"), more.get("plugins", ()))
        assert not after.held_back, fix.text
        assert (len(after.feasible), tuple(after.feasible[:5])) == (fix.n_nodes, fix.nodes), fix.text
    return {fix.text: fix for fix in fixes}


def texts(pod, *objects, **more) -> list[str]:
    return list(fixes_of(pod, *objects, **more))


def affinity(kind: str, labels: dict[str, str], key: str = ZONE) -> dict:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def node_affinity(*expressions: dict) -> dict:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def test_a_pod_that_fits_needs_no_fix():
    assert texts(make_pod("p"), make_node("n1")) == []


def test_a_taint_is_tolerated_or_removed():
    nodes = [make_node(f"n{i}", taints=["gpu=a100:NoSchedule", "old:NoExecute"]) for i in range(6)]
    fixes = fixes_of(make_pod("p"), *nodes)
    assert list(fixes) == [
        "tolerate gpu=a100:NoSchedule and old:NoExecute",
        "remove taint gpu=a100:NoSchedule and old:NoExecute from 6 nodes (n0, n1, n2, ...)",
    ]
    first = next(iter(fixes.values()))
    assert (first.n_nodes, first.nodes, first.kind) == (6, ("n0", "n1", "n2", "n3", "n4"), "toleration")


def test_a_toleration_keeps_the_intent_of_a_pod_that_chooses_the_nodes():
    node = make_node("n1", labels={"pool": "gpu"}, taints=["gpu:NoSchedule"])
    chosen = fixes_of(make_pod("p", node_selector={"pool": "gpu"}), node)["tolerate gpu:NoSchedule"]
    assert chosen.keeps_intent
    assert not fixes_of(make_pod("p"), node)["tolerate gpu:NoSchedule"].keeps_intent


def test_a_toleration_that_is_nearly_right_shows_the_intent_and_is_named():
    pod = make_pod("p", spec={"tolerations": [{"key": "gpu", "value": "True", "effect": "NoSchedule"}]})
    text = "tolerate gpu=true:NoSchedule (the pod tolerates gpu=True:NoSchedule)"
    fixes = fixes_of(pod, make_node("n1", taints=["gpu=true:NoSchedule"]), make_node("n2", taints=["db:NoSchedule"]))
    assert next(iter(fixes)) == text
    assert fixes[text].keeps_intent
    both = fixes_of(pod, make_node("n1", taints=["gpu=true:NoSchedule", "db:NoSchedule"]))
    assert not both[f"{text} and db:NoSchedule"].keeps_intent


def test_a_cordon_and_its_taint_are_one_cause():
    node = make_node("n1", unschedulable=True, taints=["node.kubernetes.io/unschedulable:NoSchedule"])
    assert texts(make_pod("p"), node) == ["uncordon n1"]


def test_a_node_that_is_not_ready_has_to_become_ready():
    node = make_node("n1", taints=["node.kubernetes.io/not-ready:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"])
    assert texts(make_pod("p"), node) == ["make n1 ready"]


def test_a_cordon_and_a_taint_need_a_pair():
    fixes = fixes_of(make_pod("p"), make_node("n1", unschedulable=True, taints=["gpu:NoSchedule"]))
    pair = fixes["uncordon n1 and tolerate gpu:NoSchedule"]
    assert [part.kind for part in pair.parts] == ["uncordon", "toleration"]


def test_every_pair_with_one_more_node_is_offered():
    taint = {"labels": {"pool": "spot"}, "taints": ["spot:NoSchedule"]}
    nodes = [make_node("n1", allocatable=SMALL), make_node("n2", allocatable=SMALL, **taint)]
    pod = make_pod("p", requests={"cpu": "2"}, node_selector={"pool": "spot"})
    fixes = fixes_of(pod, *nodes, filling("n1", cpu="1"), filling("n2", cpu="1"))
    assert next(iter(fixes)) == "tolerate spot:NoSchedule and add a node like n2"
    assert "drop the node selector pool=spot and add a node like n1" in fixes


def test_the_nearest_node_gets_its_pairs_although_a_single_change_opens_another_one():
    near = make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"])
    pod = make_pod("p", requests={"cpu": "2"})
    said = texts(pod, near, make_node("n2", allocatable={"cpu": "1"}), filling("n1", cpu="500m"))
    assert said.index("request 1 cpu less") < said.index("tolerate gpu:NoSchedule and request 500m cpu less")


def test_the_nearest_node_gets_pairs_with_a_pod_in_the_way():
    node = make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"])
    other = make_node("n2", allocatable={"cpu": "1"})
    db = make_pod("db", labels={"app": "db"}, node="n1")
    pod = make_pod(
        "p", requests={"cpu": "2"}, spec=affinity("podAntiAffinity", {"app": "db"}, "kubernetes.io/hostname")
    )
    said = texts(pod, node, other, db)
    assert "tolerate gpu:NoSchedule and move default/db (n1) out of node n1" in said


def test_a_pair_has_the_smaller_request_that_goes_with_the_taint():
    nodes = [
        make_node(f"{pool}{i}", allocatable=SMALL, taints=[f"{pool}:NoSchedule"]) for pool in "abcd" for i in (0, 1)
    ]
    full = [filling(node.name, cpu="1") for node in nodes if node.name != "d0"]
    said = texts(make_pod("p", requests={"cpu": "1500m"}), *nodes, *full, filling("d0", cpu="700m"))
    assert "tolerate d:NoSchedule and request 200m cpu less" in said


def test_a_value_that_no_node_has_is_corrected():
    nodes = [make_node(f"n{i}", labels={"pool": "general"}) for i in range(2)]
    fixes = fixes_of(make_pod("p", node_selector={"pool": "genral"}), *nodes)
    assert list(fixes) == [
        "correct the node selector pool=genral, which no node has, to pool=general",
        "drop the node selector pool=genral",
    ]
    assert [fix.keeps_intent for fix in fixes.values()] == [True, False]


def test_another_architecture_is_no_typing_error():
    fixes = fixes_of(
        make_pod("p", node_selector={"kubernetes.io/arch": "arm64"}),
        make_node("n1", labels={"kubernetes.io/arch": "amd64"}),
    )
    text = "change the node selector kubernetes.io/arch=arm64, which no node has, to kubernetes.io/arch=amd64"
    assert not fixes[text].keeps_intent


def test_a_key_that_no_node_has_is_corrected():
    node = make_node("n1", labels={"disktype": "ssd"})
    said = texts(make_pod("p", node_selector={"disk-type": "ssd"}), node)
    assert said[0] == "correct the node selector disk-type=ssd, which no node has, to disktype=ssd"


def test_a_label_that_nothing_resembles_can_be_put_on_a_node():
    fixes = fixes_of(make_pod("p", node_selector={"disk": "ssd"}), make_node("n1"), make_node("n2"))
    assert list(fixes) == ["label n1 with disk=ssd, which no node has", "drop the node selector disk=ssd"]


def test_a_selector_can_be_changed_to_what_the_nodes_have():
    nodes = [make_node("full", zone="a", allocatable=SMALL), make_node("free", zone="b")]
    pod = make_pod("p", requests={"cpu": "2"}, node_selector={ZONE: "a"})
    said = texts(pod, *nodes, filling("full", cpu="2"))
    assert f"change the node selector {ZONE}=a to {ZONE}=b" in said


def test_one_requirement_of_node_affinity_can_be_dropped():
    pod = make_pod(
        "p",
        spec=node_affinity(
            {"key": "pool", "operator": "In", "values": ["a", "b"]},
            {"key": "disk", "operator": "Exists"},
        ),
    )
    said = texts(pod, make_node("n1", labels={"pool": "a"}))
    assert said == ["drop disk Exists from the node affinity", "drop the node affinity"]


def test_a_wrong_value_in_node_affinity_is_corrected():
    pod = make_pod("p", spec=node_affinity({"key": "pool", "operator": "In", "values": ["genral"]}))
    said = texts(pod, make_node("n1", labels={"pool": "general"}))
    assert said == [
        "correct the node affinity pool=genral, which no node has, to pool=general",
        "drop the node affinity",
    ]


def test_the_smallest_cut_of_a_request_that_opens_a_node_is_named():
    pod = make_pod("p", requests={"cpu": "1500m", "memory": "1Gi"})
    nodes = [make_node(name, allocatable=SMALL) for name in ("n1", "n2")]
    fixes = fixes_of(pod, *nodes, filling("n1", cpu="1"), filling("n2", cpu="1200m"))
    assert fixes["request 500m cpu less"].n_nodes == 1


def test_several_short_resources_are_cut_together():
    pod = make_pod("p", requests={"cpu": "3", "memory": "5Gi"})
    assert "request 1 cpu and 1Gi memory less" in texts(pod, make_node("n1", allocatable=SMALL))


def test_requests_of_several_containers_and_init_containers_are_cut():
    def container(name: str, cpu: str) -> dict:
        return {"name": name, "resources": {"requests": {"cpu": cpu}}}

    spec = {"containers": [container("a", "2"), container("b", "1")], "initContainers": [container("i", "4")]}
    assert "request 2 cpu less" in texts(make_pod("p", spec=spec), make_node("n1", allocatable=SMALL))


def test_cores_that_no_node_has_were_meant_as_milli_cpu():
    spec = {
        "containers": [
            {"name": "a", "resources": {"requests": {"cpu": "500"}}},
            {"name": "b", "resources": {"requests": {"cpu": "1"}}},
        ]
    }
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(3)]
    said = fixes_of(make_pod("p", spec=spec), *nodes)
    assert next(iter(said)) == "correct the cpu request 500, which no node has, to 500m"
    assert said["correct the cpu request 500, which no node has, to 500m"].n_nodes == 3


def test_cores_that_some_node_has_were_meant():
    nodes = [make_node("n1", allocatable=SMALL), make_node("n2", allocatable={"cpu": "600"}, unschedulable=True)]
    assert not [text for text in texts(make_pod("p", requests={"cpu": "500"}), *nodes) if "correct" in text]


def test_one_more_node_comes_after_what_costs_nothing():
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(4)]
    full = [filling(f"n{i}", cpu="1500m") for i in range(3)]
    said = texts(
        make_pod("p", requests={"cpu": "1"}, host_ports=[80]),
        *nodes,
        *full,
        make_pod("edge", host_ports=[80], node="n3"),
    )
    assert said[:2] == ["free host port 80/TCP on n3, held by default/edge", "add a node like n0"]


def test_a_cordon_is_not_undone_where_one_more_node_does():
    nodes = [
        make_node("n1", allocatable=SMALL),
        make_node("n2", unschedulable=True),
        make_node("n3", unschedulable=True),
    ]
    said = texts(make_pod("p", requests={"cpu": "1500m"}), *nodes, filling("n1", cpu="1"))
    assert said[:2] == ["add a node like n1", "uncordon 2 nodes (n2, n3)"]


def test_the_new_node_is_like_the_nearest_one():
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(3)]
    full = [filling(f"n{i}", cpu=cpu) for i, cpu in enumerate(("2", "1", "1500m"))]
    assert "add a node like n1" in texts(make_pod("p", requests={"cpu": "1500m"}), *nodes, *full)


def test_a_node_is_not_invented_where_another_one_has_the_device():
    plain = make_node("n1", allocatable=SMALL)
    gpu = make_node("n2", allocatable={**SMALL, "example.com/gpu": "1"}, taints=["gpu:NoSchedule"])
    pod = make_pod("p", requests={"example.com/gpu": "1"})
    said = texts(pod, plain, gpu, filling("n2", **{"example.com/gpu": "1"}))
    assert "tolerate gpu:NoSchedule and add a node like n2" in said
    assert not [text for text in said if "add a node like n1" in text]
    assert "add a node like n1 but with 1 example.com/gpu" in texts(pod, plain)


def test_a_node_more_of_that_size_takes_its_daemons_along():
    daemon = make_pod(
        "agent",
        node="n1",
        requests={"cpu": "500m"},
        metadata={"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "a", "controller": True}]},
    )
    node = make_node("n1", allocatable=SMALL)
    held = filling("n1", cpu="1")
    assert "add a node like n1" in texts(make_pod("p", requests={"cpu": "1500m"}), node, daemon, held)
    said = texts(make_pod("p", requests={"cpu": "2"}), node, daemon, held)
    assert "add a node like n1 but with 3 cpu" in said


def test_the_holder_of_a_host_port_is_named_with_its_node():
    pod = make_pod("p", host_ports=[80])
    assert texts(pod, make_node("n1"), make_pod("edge", host_ports=[80], node="n1")) == [
        "free host port 80/TCP on n1, held by default/edge",
        "do without host port 80/TCP",
    ]


def test_a_pod_in_the_way_is_moved_out_of_the_domain():
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="a"), make_node("n3", zone="b", unschedulable=True)]
    db = make_pod("db", labels={"app": "db"}, node="n1", spec={"tolerations": [{"operator": "Exists"}]})
    fixes = fixes_of(make_pod("p", spec=affinity("podAntiAffinity", {"app": "db"})), *nodes, db)
    assert fixes["move default/db (n1) out of zone a"].n_nodes == 2
    assert "drop the required pod anti-affinity" in fixes


def test_a_pod_that_has_nowhere_to_go_is_called_that():
    db = make_pod("db", node="n1", spec=affinity("podAntiAffinity", {"app": "p"}))
    fixes = fixes_of(make_pod("p", labels={"app": "p"}), make_node("n1", zone="a"), db)
    assert list(fixes) == ["move default/db (n1) out of zone a, although no other node has a place for it"]


def test_affinity_wants_a_pod_started():
    fixes = fixes_of(make_pod("p", spec=affinity("podAffinity", {"app": "db"})), make_node("n1", zone="a"))
    assert list(fixes) == [
        "start a pod with app=db in namespace default, for example in zone a",
        "drop the required pod affinity",
    ]


def test_spreading_gets_another_skew_or_is_only_preferred():
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [constraint]})
    web = [make_pod(f"w{i}", labels={"app": "web"}, node="n1") for i in range(2)]
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", taints=["gpu:NoSchedule"])]
    said = texts(pod, *nodes, *web)
    assert "set maxSkew: 3 for the spread over zone" in said
    assert "set whenUnsatisfiable: ScheduleAnyway for the spread over zone" in said
    assert said[0] == "set nodeTaintsPolicy: Honor for the spread over zone, so that nodes with taints do not count"


def test_a_topology_key_that_no_node_has_is_corrected():
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    pod = make_pod("p", spec={"topologySpreadConstraints": [constraint]})
    fixes = fixes_of(pod, make_node("n1", zone="a"), make_node("n2", zone="b"))
    first = next(iter(fixes))
    assert first == f"correct the topology key zone of the spread, which no node has, to {ZONE}"
    assert fixes[first].n_nodes == 2


def test_a_key_without_its_domain_is_corrected():
    nodes = [make_node("n1", labels={"shop.example.com/pool": "db"})]
    said = texts(make_pod("p", node_selector={"pool": "db"}), *nodes)
    assert said[0] == "correct the node selector pool=db, which no node has, to shop.example.com/pool=db"


@pytest.mark.parametrize("revisions", [("old", "new"), ("new", "old")])
def test_a_pod_of_an_older_revision_is_not_moved_for_the_spread(revisions):
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["pod-template-hash"],
    }
    labels = {"app": "web", "pod-template-hash": "new"}
    pod = make_pod("p", labels=labels, requests={"cpu": "2"}, spec={"topologySpreadConstraints": [constraint]})
    web = [make_pod(name, labels=labels | {"pod-template-hash": name}, node="n1") for name in revisions]
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", allocatable=SMALL)]
    said = texts(pod, *nodes, *web, filling("n2", cpu="1"))
    assert [text for text in said if text.startswith("move ")] == ["move default/new (n1) out of zone a"]


def test_domains_that_do_not_exist_need_not_be_there():
    constraint = {
        "maxSkew": 1,
        "minDomains": 2,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [constraint]})
    web = make_pod("web", labels={"app": "web"}, node="n1")
    assert "drop minDomains: 2 from the spread over zone" in texts(pod, make_node("n1", zone="a"), web)


def with_claim(name: str, **spec: object) -> object:
    return make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}], **spec})


def claim(**spec: object) -> object:
    return make_object("PersistentVolumeClaim", "data", spec={"accessModes": ["ReadWriteOnce"], **spec})


def bound_claim(**spec: object) -> object:
    return make_object(
        "PersistentVolumeClaim",
        "data",
        annotations={"pv.kubernetes.io/bind-completed": "yes"},
        spec={"accessModes": ["ReadWriteOnce"], "volumeName": "pv-1", **spec},
        status={"phase": "Bound"},
    )


def test_a_claim_that_is_missing_is_created():
    assert texts(with_claim("data"), make_node("n1")) == ["create PersistentVolumeClaim default/data"]


def test_a_storage_class_that_is_missing_is_created():
    said = texts(with_claim("data"), make_node("n1"), claim(storageClassName="fast"))
    assert said == ["create StorageClass fast, which claim default/data names"]


def test_a_claim_that_does_not_wait_for_the_pod_is_bound():
    fast = make_object("StorageClass", "fast", provisioner="x.example.com", volumeBindingMode="Immediate")
    said = texts(with_claim("data"), make_node("n1"), claim(storageClassName="fast"), fast)
    assert said == [
        "bind PersistentVolumeClaim default/data to a volume (its StorageClass fast does not wait for the pod)"
    ]


def test_a_volume_that_is_gone_is_restored():
    said = texts(with_claim("data"), make_node("n1"), bound_claim())
    assert said == ["restore PersistentVolume pv-1, to which claim default/data is bound"]


@pytest.mark.parametrize("by_label", [True, False])
def test_a_volume_in_another_zone_is_named(by_label):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["b"]}]}]}
    where = {"labels": {ZONE: "b"}} if by_label else {}
    spec = {} if by_label else {"nodeAffinity": {"required": terms}}
    volume = make_object("PersistentVolume", "pv-1", spec={"capacity": {"storage": "1Gi"}, **spec}, **where)
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b")]
    said = texts(with_claim("data", nodeSelector={ZONE: "a"}), *nodes, bound_claim(), volume)
    assert f"change the node selector {ZONE}=a to {ZONE}=b" in said
    assert said[-1] == "move volume pv-1 (claim default/data) out of zone b"


def test_a_claim_that_finds_no_volume_gets_one():
    local = make_object(
        "StorageClass",
        "local",
        provisioner="kubernetes.io/no-provisioner",
        volumeBindingMode="WaitForFirstConsumer",
    )
    wanted = claim(storageClassName="local", resources={"requests": {"storage": "5Gi"}})
    said = texts(with_claim("data"), make_node("n1"), local, wanted)
    assert said == ["add a PersistentVolume of 5Gi of class local for claim default/data"]


def test_the_user_of_a_claim_for_one_pod_is_named():
    volume = make_object("PersistentVolume", "pv-1", spec={"capacity": {"storage": "1Gi"}})
    user = make_pod("first", node="n1", spec=with_claim("data").document["spec"] | {"nodeName": "n1"})
    said = texts(with_claim("data"), make_node("n1"), bound_claim(accessModes=["ReadWriteOncePod"]), volume, user)
    assert said == ["stop default/first (n1), which uses claim data"]
    second = make_pod("second", node="n1", spec=with_claim("data").document["spec"] | {"nodeName": "n1"})
    shared = bound_claim(accessModes=["ReadWriteOncePod"])
    (said,) = texts(with_claim("data"), make_node("n1"), shared, volume, user, second)
    assert said.endswith(" (n1), which use claim data")


def test_a_pod_with_volumes_is_moved_off_a_node_that_takes_no_more():
    driver = {"name": "ebs.example.com", "nodeID": "n1", "topologyKeys": [], "allocatable": {"count": 1}}
    objects = [make_object("CSINode", "n1", spec={"drivers": [driver]})]
    for name in ("data", "other"):
        bound = {"pv.kubernetes.io/bind-completed": "yes"}
        spec = {"accessModes": ["ReadWriteOnce"], "volumeName": f"pv-{name}"}
        source = {"driver": "ebs.example.com", "volumeHandle": name}
        objects += [
            make_object("PersistentVolumeClaim", name, annotations=bound, spec=spec, status={"phase": "Bound"}),
            make_object("PersistentVolume", f"pv-{name}", spec={"capacity": {"storage": "1Gi"}, "csi": source}),
        ]
    user = make_pod("first", spec={**with_claim("other").document["spec"], "nodeName": "n1"})
    said = texts(with_claim("data"), make_node("n1"), user, *objects)
    assert said == ["move default/first (n1) to another node, with its volumes"]


def test_a_pod_with_the_same_disk_is_moved():
    disk = {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]}
    said = texts(make_pod("p", spec=disk), make_node("n1"), make_pod("first", node="n1", spec=disk))
    assert said == ["move default/first (n1) to another node"]


def test_a_gate_is_removed_and_goes_with_every_other_fix():
    pod = make_pod("p", spec={"schedulingGates": [{"name": "quota"}]})
    assert texts(pod, make_node("n1")) == ["remove the scheduling gate quota"]
    assert texts(pod, make_node("n1", unschedulable=True)) == ["remove the scheduling gate quota and uncordon n1"]


def test_pods_that_end_are_waited_for():
    leaving = make_pod("old", node="n1", requests={"cpu": "2"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    pod = make_pod("p", requests={"cpu": "2"})
    assert texts(pod, make_node("n1", allocatable=SMALL), leaving)[0] == "wait until default/old (n1) has ended"


def test_room_that_is_kept_for_a_nominated_pod_is_told():
    status = {"nominatedNodeName": "n1"}
    first = make_pod("first", requests={"cpu": "2"}, priority=10, status=status)
    fixes = fixes_of(make_pod("p", requests={"cpu": "1"}), make_node("n1", allocatable=SMALL), first)
    assert next(iter(fixes)) == "clear the nomination of default/first, for which room is kept on n1"


def test_what_is_not_decoded_survives_a_change():
    pod = make_pod("p", spec={"dnsPolicy": "None", "containers": [{"name": "a", "command": ["run"]}]})
    (fix, *_) = ask(pod, make_node("n1", taints=["gpu:NoSchedule"])).fixes
    _, changed = fix.change.apply([], pod)
    document = changed.document
    assert document["spec"]["dnsPolicy"] == "None"
    assert document["spec"]["containers"][0]["command"] == ["run"]
    assert document["spec"]["tolerations"] == [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]


class Broken(Plugin):
    def filter(self, state, pod, node):
        raise ValueError("no")


class Never(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("never")


@pytest.mark.parametrize("plugin", [Broken, Never])
def test_a_plugin_that_fails_or_is_unknown_gets_no_fix(plugin):
    assert texts(make_pod("p"), make_node("n1", unschedulable=True), plugins=[plugin]) == []


class Holding(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable("not today")


def test_a_pod_that_a_plugin_keeps_out_of_the_queue_gets_no_fix():
    assert texts(make_pod("p"), make_node("n1", unschedulable=True), plugins=[Holding]) == []


class Talks(Plugin):
    def filter(self, state, pod, node):
        self.handle.logger.warning("node %s is odd", node.name)
        return Status.SUCCESS


def test_what_a_plugin_logs_about_a_trial_is_not_shown(caplog):
    with Explainer([make_node("n1", unschedulable=True)], set_up(plugins=[Talks])) as explainer:
        explanation = explainer.explain(make_pod("p"))
        caplog.clear()
        assert explainer.fixes(explanation)
        assert not caplog.records
        explainer.explain(make_pod("p"))
        assert caplog.records


class FailsForTolerant(Plugin):
    def filter(self, state, pod, node):
        if pod.tolerations and node.name == "n2":
            raise ValueError("no")
        return Status.SUCCESS


def test_a_change_for_which_a_plugin_fails_is_no_fix():
    nodes = [make_node(name, taints=["gpu:NoSchedule"]) for name in ("n1", "n2")]
    said = texts(make_pod("p"), *nodes, plugins=[FailsForTolerant])
    assert said == ["remove taint gpu:NoSchedule from 2 nodes (n1, n2)"]


def test_the_explanation_keeps_its_verdicts_while_fixes_are_tried():
    explanation = ask(make_pod("p"), make_node("n1", taints=["gpu:NoSchedule"]), make_node("n2", unschedulable=True))
    assert list(explanation.rejections) == ["n1", "n2"]
    assert explanation.by_plugin["NodeUnschedulable"].rejected.tolist() == [False, True]


def test_the_search_leaves_the_cluster_as_it_was():
    nodes = [make_node("n1"), make_node("n2", zone="a", unschedulable=True)]
    placed = [make_pod(f"w{i}", host_ports=[80 + i], node="n1", requests={"cpu": "500m"}) for i in range(3)]
    pod = make_pod("p", host_ports=[81])
    with Explainer([*nodes, *placed], set_up()) as explainer:
        explanation = explainer.explain(pod)
        assert any(fix.kind == "hostPort" for fix in explainer.fixes(explanation))
        explainer.cluster_state.check_invariants()
        assert [info.pod.name for info in explanation.nodes.pods(0)] == ["w0", "w1", "w2"]
        assert explainer.explain(pod).rejections == explanation.rejections
