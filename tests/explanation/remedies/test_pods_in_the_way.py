"""Placed pods in the way: what is moved, stopped, started or waited for."""

from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, affinity, bound_claim, fixes_of, replica, texts, with_claim


def test_the_holder_of_a_host_port_is_named_with_its_node():
    pod = make_pod("p", host_ports=[80])
    nodes = [make_node("n1"), make_node("n2", labels={"pool": "edge"}, taints=["edge:NoSchedule"])]
    tolerant = {"tolerations": [{"key": "edge", "operator": "Exists"}]}
    assert texts(pod, *nodes, replica("edge", host_ports=[80], node="n1", spec=tolerant)) == [
        "free host port 80/TCP on n1, held by default/edge",
        "add a node like n1",
        "tolerate edge:NoSchedule",
        "remove hostPort 80",
        "remove taint edge:NoSchedule from n2",
    ]


def test_a_cordoned_node_comes_before_a_host_port_is_freed():
    said = texts(
        make_pod("p", host_ports=[80]),
        make_node("n1"),
        make_node("n2", unschedulable=True),
        replica("edge", host_ports=[80], node="n1", spec={"tolerations": [{"operator": "Exists"}]}),
    )
    assert said[:2] == ["uncordon n2", "free host port 80/TCP on n1, held by default/edge"]


def test_the_holder_of_a_host_port_that_would_stay_pending_is_freed_last():
    pod = make_pod("p", host_ports=[80])
    fixes = fixes_of(pod, make_node("n1"), replica("edge", host_ports=[80], node="n1"))
    assert list(fixes) == [
        "add a node like n1",
        "remove hostPort 80",
        "free host port 80/TCP on n1, held by default/edge (leaves default/edge pending)",
    ]
    assert list(fixes.values())[-1].leaves_pending == ("default/edge",)


def test_a_pod_in_the_way_is_moved_out_of_the_domain():
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="a"), make_node("n3", zone="b", unschedulable=True)]
    db = replica("db", labels={"app": "db"}, node="n1", spec={"tolerations": [{"operator": "Exists"}]})
    fixes = fixes_of(make_pod("p", spec=affinity("podAntiAffinity", {"app": "db"})), *nodes, db)
    assert fixes["move default/db (n1) to another zone than a"].n_nodes == 2
    assert "make the required pod anti-affinity preferred" in fixes


def test_a_pod_that_has_nowhere_to_go_is_called_that():
    db = replica("db", node="n1", spec=affinity("podAntiAffinity", {"app": "p"}))
    fixes = fixes_of(make_pod("p", labels={"app": "p"}), make_node("n1", zone="a"), db)
    assert list(fixes) == ["move default/db (n1) to another zone than a (leaves default/db pending)"]


def test_affinity_wants_a_pod_started():
    fixes = fixes_of(make_pod("p", spec=affinity("podAffinity", {"app": "db"})), make_node("n1", zone="a"))
    assert list(fixes) == [
        "start a pod with app=db in namespace default, for example in zone a",
        "drop the required pod affinity",
    ]


def test_the_user_of_a_claim_for_one_pod_is_named():
    volume = make_object("PersistentVolume", "pv-1", spec={"capacity": {"storage": "1Gi"}})
    user = replica("first", node="n1", spec=with_claim("data").document["spec"] | {"nodeName": "n1"})
    said = texts(with_claim("data"), make_node("n1"), bound_claim(accessModes=["ReadWriteOncePod"]), volume, user)
    assert said == ["mount a clone or snapshot of claim data, or wait until default/first (n1) has ended"]
    second = replica("second", node="n1", spec=with_claim("data").document["spec"] | {"nodeName": "n1"})
    shared = bound_claim(accessModes=["ReadWriteOncePod"])
    (said,) = texts(with_claim("data"), make_node("n1"), shared, volume, user, second)
    assert said.endswith(" (n1) have ended")


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
    user = replica("first", spec={**with_claim("other").document["spec"], "nodeName": "n1"})
    said = texts(with_claim("data"), make_node("n1"), user, *objects)
    assert said == [
        "add a node like n1",
        "move default/first from n1, with its volumes (leaves default/first pending)",
    ]
    assert (
        texts(with_claim("data"), make_node("n1"), make_node("n2", unschedulable=True), user, *objects)[-1] == said[-1]
    )


def test_a_pod_with_the_same_disk_is_moved():
    disk = {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]}
    first = replica("first", node="n1", spec=disk | {"tolerations": [{"operator": "Exists"}]})
    said = texts(make_pod("p", spec=disk), make_node("n1"), make_node("n2", unschedulable=True), first)
    assert said == ["uncordon n2", "move default/first from n1 to n2"]


def test_pods_that_end_are_waited_for():
    leaving = make_pod("old", node="n1", requests={"cpu": "2"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    pod = make_pod("p", requests={"cpu": "2"})
    assert texts(pod, make_node("n1", allocatable=SMALL), leaving)[0] == "wait until default/old (n1) has ended"


def test_a_pod_that_ends_on_an_unreachable_node_is_not_waited_for():
    leaving = make_pod("old", node="n1", requests={"cpu": "2"}, metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    pod = make_pod("p", requests={"cpu": "2"}, tolerations=[{"operator": "Exists"}])
    silent = make_node("n1", allocatable=SMALL, taints=["node.kubernetes.io/unreachable:NoExecute"])
    said = texts(pod, silent, leaving)
    assert "repair n1, if its machine still exists (the kubelet does not report), so that default/old (n1) ends" in said
    assert not any("wait until" in text for text in said)


def test_pods_of_a_node_that_does_not_report_are_not_waited_for():
    """Nobody confirms their end, so they stay."""
    leaving = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    old = make_pod("old", node="n1", labels={"app": "db"}, metadata=leaving)
    pod = make_pod("p", spec=affinity("podAntiAffinity", {"app": "db"}, "topology.kubernetes.io/region"))
    region, silent = {"topology.kubernetes.io/region": "r"}, ["node.kubernetes.io/unreachable:NoSchedule"]
    nodes = [make_node("n1", labels=region, taints=silent), make_node("n2", labels=region)]
    said = texts(pod, *nodes, old)
    assert not [text for text in said if text.startswith("wait")]
    assert "repair n1, if its machine still exists (the kubelet does not report), so that default/old (n1) ends" in said


def test_room_that_is_kept_for_a_nominated_pod_is_told():
    status = {"nominatedNodeName": "n1"}
    first = make_pod("first", requests={"cpu": "2"}, priority=10, status=status)
    fixes = fixes_of(make_pod("p", requests={"cpu": "1"}), make_node("n1", allocatable=SMALL), first)
    text = "clear the nomination of default/first, for which room is kept on n1 (leaves default/first pending)"
    assert list(fixes) == ["add a node like n1", text]


OWNED = {
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "a", "uid": "a", "controller": True}]
}


def test_equal_pods_that_keep_apart_may_only_prefer_it_and_do_not_swap_places():
    spread = affinity("podAntiAffinity", {"app": "a"}, "kubernetes.io/hostname")
    a = [make_pod(f"a-{i}", labels={"app": "a"}, node=f"n{i}", spec=spread, metadata=OWNED) for i in range(2)]
    pod = make_pod("a-2", labels={"app": "a"}, spec=spread, metadata=OWNED)
    said = texts(pod, make_node("n0"), make_node("n1"), *a)
    assert said == ["make the required pod anti-affinity preferred, or run 2 replicas", "add a node like n0"]


def daemon(name: str) -> object:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": name, "controller": True}
    return make_pod(f"{name}-x", host_ports=[80], node="n1", metadata={"ownerReferences": [owner]})


def test_a_host_port_that_a_daemon_set_holds_is_not_freed():
    said = texts(make_pod("p", host_ports=[80]), make_node("n1"), daemon("agent"))
    assert said == ["remove hostPort 80"]


def test_the_ports_of_a_service_of_k3s_are_changed_at_the_service():
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "b", "uid": "b", "controller": True}
    pod = make_pod("svclb-my-web-77aa01-qmg4t", host_ports=[80], metadata={"ownerReferences": [owner]})
    said = texts(pod, make_node("n1"), daemon("svclb-traefik-3f2a1b"))
    assert said == ["give the LoadBalancer Service my-web another port than 80, or delete it"]


def test_a_move_says_that_local_data_is_lost():
    spec = {"volumes": [{"name": "cache", "emptyDir": {}}]}
    holder = replica(
        "edge", host_ports=[80], node="n1", spec={**spec, "tolerations": [{"key": "x", "operator": "Exists"}]}
    )
    nodes = [make_node("n1"), make_node("n2", taints=["x:NoSchedule"])]
    said = texts(make_pod("p", host_ports=[80]), *nodes, holder)
    assert said[0].endswith("held by default/edge (what is in emptyDir cache is lost)")


def test_pods_of_another_namespace_are_found_where_the_term_does_not_look():
    redis = make_pod("redis", namespace="a", labels={"app": "redis"}, node="n1")
    pod = make_pod("web", namespace="b", spec=affinity("podAffinity", {"app": "redis"}, "kubernetes.io/hostname"))
    nodes = [make_node(name, labels={"kubernetes.io/hostname": name}) for name in ("n1", "n2")]
    assert (
        texts(pod, *nodes, redis)[0]
        == "set namespaces: [b, a] in the required pod affinity: a/redis (n1) has such labels"
    )
    here = make_pod("redis", namespace="b", labels={"app": "redis"}, node="n2")
    full = make_pod("full", node="n2", requests={"cpu": "2"})
    nodes[1] = make_node("n2", labels={"kubernetes.io/hostname": "n2"}, allocatable=SMALL)
    pod = make_pod(
        "web",
        namespace="b",
        requests={"cpu": "1"},
        spec=affinity("podAffinity", {"app": "redis"}, "kubernetes.io/hostname"),
    )
    assert not [text for text in texts(pod, *nodes, redis, here, full) if "namespaces" in text]


def test_a_pod_that_one_fix_moves_and_another_changes_is_moved():
    """A replica takes the room and is kept apart: both fixes are about it, and they are tried together."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    spec = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": True}
    web = {"labels": {"app": "web"}, "requests": {"cpu": "3"}, "metadata": {"ownerReferences": [owner]}}
    host = {"kubernetes.io/hostname": "n1"}
    node = make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": "20"}, labels=host)
    found = texts(make_pod("web-0", spec=spec, **web), node, make_pod("web-1", node="n1", spec=spec, **web))
    assert not [text for text in found if "move" in text and "preferred" in text]
