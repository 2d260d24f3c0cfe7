"""Weak spots of running workloads: each rule, on a cluster where it finds something and on one where it is silent."""

import io
import json
import random

import pytest

from kubesched.api import rewritten, workloads
from kubesched.config import CLUSTER_RULES
from kubesched.pages.plans import check_page
from kubesched.planning import check, fit
from kubesched.session import Session
from kubesched.testing import make_node, make_object, make_pod
from tests.device_cluster import NOT_DECIDED, device_cluster

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
TAINT = "maintenance=yes:NoSchedule"


def node(name, zone="a", cpu="4", **more):
    labels = {HOSTNAME: name, ZONE: zone} | more.pop("labels", {})
    return make_node(name, labels=labels, allocatable={"cpu": cpu, "memory": "8Gi", "pods": "20"}, **more)


def pods(name, *nodes, kind="ReplicaSet", cpu="1", namespace="shop", **more):
    """Running pods of a workload, one on each of some nodes."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": f"{name}-1", "uid": f"uid-{name}", "controller": True}
    if kind == "StatefulSet":
        owner["name"] = name
    if kind == "Job":
        owner["apiVersion"] = "batch/v1"
    hashed = {"pod-template-hash": "1"} if kind == "ReplicaSet" else {}
    about = {"labels": {"app": name} | hashed, "requests": {"cpu": cpu}} | more
    metadata = {"ownerReferences": [owner]} | about.pop("metadata", {})
    names = [f"{name}-{i}" if kind == "StatefulSet" else f"{name}-1-{i}" for i in range(len(nodes))]
    return [
        make_pod(pod, namespace=namespace, node=where, metadata=dict(metadata), **about)
        for pod, where in zip(names, nodes, strict=True)
    ]


def spread(key=ZONE, app="web", **more):
    selector = {"matchLabels": {"app": app}}
    one = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector} | more
    return {"topologySpreadConstraints": [one]}


def budget(app="web", allowed=0, expected=2, selects="", **spec):
    status = {"disruptionsAllowed": allowed, "expectedPods": expected, "currentHealthy": 2, "desiredHealthy": 2}
    body = {"selector": {"matchLabels": {"app": selects or app}}, **spec}
    return make_object("PodDisruptionBudget", app, namespace="shop", spec=body, status=status)


def deployment(name="web", **strategy):
    spec = {"replicas": 2, "strategy": strategy}
    return make_object("Deployment", name, namespace="shop", spec=spec)


def apart(app="web"):
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOSTNAME}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def on(key, value):
    return {"nodeSelector": {key: value}}


def stateful_set(replicas, name="web"):
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}}
    return make_object("StatefulSet", name, namespace="shop", spec=spec)


def at_most(n):
    """A quota of so many pods."""
    return make_object("ResourceQuota", "few", namespace="shop", spec={"hard": {"pods": str(n)}})


def local_data():
    """A claim whose volume is on n1."""
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["n1"]}]}
    volume = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "claimRef": {"namespace": "shop", "name": "data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
    }
    claim = {"volumeName": "pv", "storageClassName": "local", "accessModes": ["ReadWriteOnce"]}
    done = {"pv.kubernetes.io/bind-completed": "yes"}
    return [
        make_object("PersistentVolume", "pv", spec=volume, status={"phase": "Bound"}),
        make_object("PersistentVolumeClaim", "data", namespace="shop", annotations=done, spec=claim),
    ]


def zonal_data():
    """A claim whose disk any node can attach, one at a time."""
    volume, claim = local_data()
    spec = {key: value for key, value in volume.document["spec"].items() if key != "nodeAffinity"}
    spec |= {"csi": {"driver": "disk.example.com", "volumeHandle": "d"}}
    return [make_object("PersistentVolume", "pv", spec=spec, status={"phase": "Bound"}), claim]


def with_claim():
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}


BROKEN_ZONE = [node("n1"), node("n2", "b"), node("n3", "c", taints=[TAINT])]
THREE = [node("n1"), node("n2", "b"), node("n3", "c")]
SMALL = [node("n1", cpu="1"), node("n2", cpu="1")]
LOST = "node.kubernetes.io/unreachable:NoExecute"
SILENT = [node("n1", taints=[LOST]), node("n2")]
LEAVING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}

SPOT = {"karpenter.sh/capacity-type": "spot"}
ON_SPOT = [node("n1", labels=SPOT), node("n2", labels=SPOT)]


def job(name="import", **spec):
    return make_object("Job", f"{name}-1", namespace="shop", spec=spec)


CASES = {
    "cannot-come-back": (
        [*BROKEN_ZONE, *pods("web", "n1", "n1", "n2", "n2", spec=spread())],
        [*THREE, *pods("web", "n1", "n1", "n2", "n2", spec=spread())],
    ),
    "pods-refused": (
        [*THREE, *pods("web", "n1", "n2", kind="StatefulSet"), stateful_set(3), at_most(2)],
        [*THREE, *pods("web", "n1", "n2", kind="StatefulSet"), stateful_set(3), at_most(3)],
    ),
    "rollout-hangs": (
        [*SMALL, *pods("web", "n1", "n2", spec=apart())],
        [*SMALL, *pods("web", "n1", "n2", spec=apart()), deployment(type="Recreate")],
    ),
    "zone-out": (
        [node("n3", "b"), *(node(f"n{i}", taints=[LOST]) for i in (1, 2)), *pods("web", "n1")],
        [node("n3", "b"), node("n1", taints=[LOST]), node("n2"), *pods("web", "n1")],
    ),
    "never-ends": (
        [*SILENT, *pods("db", "n1", kind="StatefulSet", metadata=LEAVING)],
        [*SILENT, *pods("db", "n1", kind="StatefulSet"), *pods("web", "n1", metadata=LEAVING)],
    ),
    "several-budgets": (
        [*THREE, *pods("web", "n1", "n2"), budget(allowed=1), budget("second", allowed=1, selects="web")],
        [*THREE, *pods("web", "n1", "n2"), budget(allowed=1), budget("second", allowed=1)],
    ),
    "not-created-again": (
        [*THREE, make_pod("shell", namespace="shop", node="n1")],
        [*THREE, *pods("web", "n1")],
    ),
    "budget-allows-nothing": (
        [*THREE, *pods("web", "n1", "n2"), budget(minAvailable=2)],
        [*THREE, *pods("web", "n1", "n2"), budget(allowed=1, minAvailable=1)],
    ),
    "job-on-spot": (
        [*ON_SPOT, *pods("import", "n1", kind="Job"), job(backoffLimit=0)],
        [*ON_SPOT, *pods("import", "n1", kind="Job"), job(backoffLimit=2)],
    ),
    "idle-budget": (
        [*THREE, *pods("web", "n1", "n2"), budget("wbe", minAvailable=1)],
        [*THREE, *pods("web", "n1", "n2"), budget("db", minAvailable=1), stateful_set(0, "db")],
    ),
    "one-node": ([*THREE, *pods("web", "n1", "n1")], [*THREE, *pods("web", "n1", "n2")]),
    "rollout-shares-disk": (
        [*THREE, *zonal_data(), *pods("web", "n1", spec=with_claim())],
        [*THREE, *zonal_data(), *pods("web", "n1", spec=with_claim()), deployment(type="Recreate")],
    ),
    "invalid-strategy": (
        [*THREE, *pods("web", "n1", "n2"), deployment(rollingUpdate={"maxSurge": "many"})],
        [*THREE, *pods("web", "n1", "n2"), deployment(rollingUpdate={"maxSurge": "50%"})],
    ),
    "selector-pins": (
        [node("n1", labels={"disk": "ssd"}), node("n2"), *pods("web", "n1", spec=on("disk", "ssd"))],
        [*(node(f"n{i}", labels={"disk": "ssd"}) for i in (1, 2)), *pods("web", "n1", spec=on("disk", "ssd"))],
    ),
    "claim-pins": (
        [*THREE, *local_data(), *pods("db", "n1", kind="StatefulSet", spec=with_claim())],
        [*THREE, *pods("db", "n1", kind="StatefulSet")],
    ),
    "whole-machine": (
        [*THREE, *pods("big", "n1", cpu="3"), *pods("web", "n2", "n3", cpu="2")],
        [*THREE, *pods("big", "n1", cpu="3")],
    ),
    "no-other-node": (
        [*SMALL, *pods("web", "n1", cpu="400m"), *pods("other", "n2", cpu="700m")],
        [*SMALL, *pods("web", "n1", cpu="400m")],
    ),
    "evicts-others": (
        [
            node("n1", unschedulable=True),
            node("n2", cpu="1"),
            *pods("web", "n1", priority=9),
            *pods("other", "n2", cpu="700m"),
        ],
        [*SMALL, *pods("web", "n1", priority=9)],
    ),
    "idle-constraint": (
        [*THREE, *pods("web", "n1", "n2", spec=spread(app="wbe"))],
        [*THREE, *pods("web", "n1", "n2", spec=spread())],
    ),
    "one-zone": (
        [node("n1"), node("n2"), node("n3", "b"), *pods("web", "n1", "n2")],
        [node("n1"), node("n2"), node("n3", "b"), *pods("web", "n1", "n3")],
    ),
    "single-replica": ([*THREE, *pods("web", "n1")], [*THREE, *pods("web", "n1", "n2")]),
    "unknown-rule": (
        [*THREE, *pods("web", "n1", "n2", metadata={"annotations": {"kubesched/ignore": "one-nod"}})],
        [*THREE, *pods("web", "n1", "n2")],
    ),
    "unused-silence": (
        [*THREE, *pods("web", "n1", "n2", metadata={"annotations": {"kubesched/ignore": "one-node"}})],
        [*THREE, *pods("web", "n1", "n1", metadata={"annotations": {"kubesched/ignore": "one-node"}})],
    ),
}
"""By rule: a cluster where it finds something, and one like it where it is silent."""


def found(objects, rule, **chosen):
    return [one for one in check(objects, **chosen).findings if one.rule == rule]


def test_every_rule_has_a_case():
    assert set(CASES) == set(CLUSTER_RULES)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_finds_what_is_fragile_and_is_silent_elsewhere(rule):
    fragile, sound = CASES[rule]
    (finding,) = found(fragile, rule)
    assert finding.message
    assert finding.help
    assert len(finding.about) == 1
    assert found(sound, rule) == []


def test_a_zone_that_only_tainted_nodes_have_keeps_a_pod_from_coming_back():
    (finding,) = found(CASES["cannot-come-back"][0], "cannot-come-back")
    assert finding.about == ("Deployment shop/web",)
    assert (finding.n_pods, finding.is_tried, finding.severity) == (4, True, "error")
    assert finding.help.startswith(("set nodeTaintsPolicy: Honor", "tolerate maintenance"))


def test_a_quota_that_became_smaller_keeps_a_pod_from_coming_back():
    """And one that is full keeps a rollout from a further pod."""
    web = pods("web", "n1", "n2", "n3")
    (smaller,) = found([*THREE, *web, at_most(2)], "cannot-come-back")
    assert smaller.message.startswith("re-created, it would be refused by the API server: exceeded quota: few")
    full = [*THREE, *web, at_most(3)]
    assert found(full, "cannot-come-back") == []
    assert "is refused by the API server" in found(full, "rollout-hangs")[0].message
    assert found([*THREE, *web, at_most(4)], "rollout-hangs") == []


def test_a_priority_class_that_is_gone_keeps_a_pod_from_coming_back():
    def priority(name):
        return make_object("PriorityClass", name, value=5)

    web = pods("web", "n1", "n2", spec={"priorityClassName": "high"})
    (finding,) = found([*THREE, *web, priority("low")], "cannot-come-back")
    assert "no PriorityClass with name high" in finding.message
    assert found([*THREE, *web, priority("low"), priority("high")], "cannot-come-back") == []
    assert found([*THREE, *web], "cannot-come-back") == [], "they may be left out of the snapshot"


def test_a_daemon_does_not_come_back_on_a_node_that_was_tainted_since():
    agent = pods("agent", "n1", "n3", kind="DaemonSet")
    (finding,) = found([*BROKEN_ZONE, *agent], "cannot-come-back")
    assert (finding.about, finding.n_pods) == (("DaemonSet shop/agent-1",), 1)
    assert finding.help == f"tolerate {TAINT}"
    assert found([*THREE, *agent], "cannot-come-back") == []
    cordoned = [node("n1"), node("n3", taints=["node.kubernetes.io/unschedulable:NoSchedule"])]
    assert found([*cordoned, *agent], "cannot-come-back") == []


def test_a_static_pod_comes_back_whatever_taints_its_node_has():
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n3", "uid": "n3", "controller": True}
    metadata = {"ownerReferences": [owner]}
    hashed = {"kubernetes.io/config.mirror": "5f"}
    static = make_pod("etcd-n3", namespace="kube-system", node="n3", annotations=hashed, metadata=metadata)
    assert check([*BROKEN_ZONE, static]).findings == ()


def test_nodes_with_the_label_of_zones_before_1_17_have_a_zone():
    old = "failure-domain.beta.kubernetes.io/zone"
    nodes = [
        make_node(name, labels={HOSTNAME: name, old: zone}) for name, zone in (("n1", "a"), ("n2", "a"), ("n3", "b"))
    ]
    (finding,) = found([*nodes, *pods("web", "n1", "n2", cpu="0")], "one-zone")
    assert finding.about == ("Deployment shop/web",)


def test_one_invalid_strategy_does_not_end_the_check():
    other, strategy = pods("api", "n3"), {"rollingUpdate": {"maxSurge": "many"}}
    result = check([*THREE, *pods("web", "n1", "n2"), *other, deployment(**strategy)])
    assert {"invalid-strategy", "single-replica"} <= {finding.rule for finding in result.findings}


def test_how_many_groups_are_not_explained_is_known(monkeypatch):
    monkeypatch.setattr("kubesched.planning.created_again._MOST_EXPLAINED", 1)
    gone = [pod for name in ("a", "b", "c") for pod in pods(name, "n1", spec=on("disk", name))]
    result = check([*THREE, *gone])
    assert result.n_unexplained == 2
    assert [bool(finding.is_tried) for finding in result.findings if finding.severity == "error"].count(False) >= 1
    assert check([*THREE, *pods("a", "n1", spec=on("disk", "a"))]).n_unexplained == 0


def test_the_fix_of_a_rollout_that_hangs_lets_an_old_pod_go_first():
    (finding,) = found(CASES["rollout-hangs"][0], "rollout-hangs")
    assert finding.help.startswith("set maxSurge: 0 and maxUnavailable: 1")
    ended = [*CASES["rollout-hangs"][0], deployment(rollingUpdate={"maxSurge": 0, "maxUnavailable": 1})]
    assert found(ended, "rollout-hangs") == []


def test_a_rollout_counts_only_its_own_revision_where_the_pods_say_so():
    """With matchLabelKeys, the pods of the new revision are not kept from the nodes of the old ones."""
    spec = spread(HOSTNAME, matchLabelKeys=["pod-template-hash"])
    assert found([*THREE[:2], *pods("web", "n1", "n2", spec=spec)], "rollout-hangs") == []


def test_a_rule_that_is_found_for_several_workloads_is_one_finding():
    (finding,) = found([*THREE, *pods("web", "n1"), *pods("api", "n2")], "single-replica")
    assert finding.about == ("Deployment shop/api", "Deployment shop/web")
    assert finding.n_pods == 2


def test_what_differs_only_in_amounts_is_one_finding():
    two = [*SMALL, *pods("web", "n1", cpu="600m"), *pods("api", "n2", cpu="700m")]
    (finding,) = found(two, "rollout-hangs")
    assert finding.about == ("Deployment shop/api", "Deployment shop/web")
    assert "700m" in finding.message
    assert finding.message.endswith(" (numbers of Deployment shop/api)")


def test_pods_of_the_nodes_and_workloads_of_the_cluster_are_no_noise():
    daemons = pods("agent", "n1", "n2", kind="DaemonSet", spec=on("disk", "ssd"))
    assert check([*THREE, *daemons, *pods("dns", "n1", namespace="kube-system")]).findings == ()


def test_a_workload_of_which_a_pod_waits_has_not_one_replica():
    waiting = pods("web", "n1", "", spec=on(HOSTNAME, "n1"))
    assert found([*THREE, *waiting], "single-replica") == []


def test_an_annotation_silences_a_rule_on_a_workload_and_on_a_namespace():
    quiet = {"annotations": {"kubesched/ignore": "single-replica"}}
    result = check([*THREE, *pods("web", "n1", metadata=quiet), *pods("api", "n2")])
    assert [(one.rule, one.about) for one in result.silenced] == [("single-replica", ("Deployment shop/web",))]
    assert [one.about for one in result.findings] == [("Deployment shop/api",)]
    namespace = make_object("Namespace", "shop", annotations=quiet["annotations"])
    result = check([*THREE, namespace, *pods("web", "n1"), *pods("api", "n2")])
    assert result.findings == ()


def test_an_error_cannot_be_silenced():
    quiet = {"annotations": {"kubesched/ignore": "cannot-come-back"}}
    result = check([*BROKEN_ZONE, *pods("web", "n1", "n1", "n2", "n2", spec=spread(), metadata=quiet)])
    rules = {one.rule: one.message for one in result.findings}
    assert "cannot-come-back" in rules
    assert rules["unknown-rule"] == "cannot-come-back cannot be silenced"


def test_only_the_chosen_pods_are_looked_at():
    objects = [*THREE, *pods("web", "n1"), *pods("api", "n2")]
    result = check(objects, pods=["shop/api-1-0"])
    assert [one.about for one in result.findings] == [("Deployment shop/api",)]
    assert (result.n_pods, result.n_workloads) == (1, 1)


def test_a_pod_of_another_scheduler_is_not_tried():
    result = check([*SMALL, *pods("web", "n1", "n2", spec={"nodeSelector": {"a": "b"}, "schedulerName": "other"})])
    assert result.n_foreign == 2
    assert [one.rule for one in result.findings] == []


def test_a_budget_names_the_pods_that_wait():
    waiting = [*THREE, *pods("web", "n1", "n2", "", spec=apart()), budget(expected=3, minAvailable=2)]
    (finding,) = found(waiting, "budget-allows-nothing")
    assert finding.n_pods == 2
    assert "web-1-2" in finding.help
    assert found([*waiting, *pods("api", "n1")], "budget-allows-nothing", pods=["shop/api-1-0"]) == []


def test_a_job_without_retries_is_safe_off_spot_nodes_or_where_its_policy_ignores_disruptions():
    running = pods("import", "n1", kind="Job")
    assert len(found([*ON_SPOT, *running, job(backoffLimit=0)], "job-on-spot")) == 1
    assert found([*THREE, *running, job(backoffLimit=0)], "job-on-spot") == []
    ignored = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    kept = job(backoffLimit=0, podFailurePolicy={"rules": ignored})
    assert found([*ON_SPOT, *running, kept], "job-on-spot") == []
    assert found([*ON_SPOT, *running], "job-on-spot") == []  # its limit is not known


def test_a_budget_is_idle_where_all_pods_of_its_namespace_are_looked_at():
    objects = [*THREE, *pods("web", "n1", "n2"), *pods("api", "n2", "n3"), budget("wbe", minAvailable=1)]
    web, api = ([f"shop/{name}-1-{i}" for i in (0, 1)] for name in ("web", "api"))
    assert found(objects, "idle-budget", pods=web) == []
    assert len(found(objects, "idle-budget", pods=[*web, *api])) == 1


def test_a_pod_that_nobody_creates_again_is_not_tried_again():
    shell = make_pod("shell", namespace="shop", node="n1", spec=on("disk", "ssd"))
    assert [one.rule for one in check([*THREE, shell]).findings] == ["not-created-again"]


def test_the_findings_are_a_frame():
    frame = check(CASES["one-node"][0]).findings_frame()
    assert frame[["severity", "rule", "pods", "tried"]].values.tolist() == [["warning", "one-node", 2, False]]


def test_the_order_of_the_objects_does_not_matter():
    objects = [one for fragile, _ in CASES.values() for one in fragile]
    objects = list({(type(one), one.key): one for one in objects}.values())
    first = check(objects)
    assert first.counts["error"]
    for seed in range(3):
        random.Random(seed).shuffle(objects)
        assert check(objects).findings == first.findings


def cluster(seed):
    """A few workloads with rules of every kind on a few nodes, of which some got taints or cordons afterwards."""
    draw = random.Random(seed)
    nodes = [
        node(f"n{i}", "abc"[i % 3], cpu=draw.choice("234"), labels={"disk": "ssd"} if i % 2 else {}) for i in range(6)
    ]
    objects = list(nodes)
    for app in ("web", "api", "db", "job"):
        spec = draw.choice([{}, spread(app=app), spread(HOSTNAME, app), apart(app), on("disk", "ssd")])
        new = pods(app, *[""] * draw.randint(1, 5), cpu=draw.choice(["500m", "1", "2"]), spec=spec)
        with Session([*objects, *new]) as session:
            session.schedule()
            objects = session.objects()
    objects = [one for one in objects if type(one).__name__ != "Pod" or one.node_name]
    for _ in range(3):
        i = draw.randrange(6)
        change = draw.choice([{"taints": [TAINT]}, {"unschedulable": True}, {"labels": {}}])
        objects[i] = node(f"n{i}", "abc"[i % 3], **change)
    return objects


@pytest.mark.parametrize("seed", range(25))
def test_a_pod_cannot_come_back_if_and_only_if_a_simulation_without_it_leaves_it_pending(seed):
    objects = cluster(seed)
    result = check(objects)
    claimed = sum(one.n_pods for one in result.findings if one.rule == "cannot-come-back")
    running = [one for one in objects if type(one).__name__ == "Pod"]
    pending = 0
    for pod in running:
        again = make_pod(pod.name, namespace=pod.namespace, labels=pod.labels, spec=unplaced(pod))
        with Session([one for one in objects if one is not pod] + [again]) as session:
            (placement,) = session.schedule().placements
            pending += not placement.node
    assert claimed == pending


@pytest.mark.parametrize("seed", range(15))
def test_a_rollout_hangs_if_and_only_if_fit_leaves_old_pods_of_it(seed):
    objects = cluster(seed)
    hang = {name for one in found(objects, "rollout-hangs") for name in one.about}
    lost = {name for one in found(objects, "cannot-come-back") for name in one.about}
    assert hang.isdisjoint(lost), "one error is enough"
    old = workloads(objects)
    assert old
    for workload, running in old.items():
        spec = {"containers": [{"name": "c", "image": "i"}]} | unplaced(running[0])
        template = {"metadata": {"labels": {"app": running[0].labels["app"]}}, "spec": spec}
        body = {
            "replicas": len(running),
            "selector": {"matchLabels": template["metadata"]["labels"]},
            "template": template,
        }
        about = {"name": workload.name, "namespace": "shop"}
        manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": body}
        (rollout,) = fit(objects, io.BytesIO(json.dumps(manifest).encode()), rollout=True).rollouts
        if len(running) < 4 and str(workload) not in lost:  # of fewer than 4, no old pod may go first
            assert (str(workload), bool(rollout.n_old_left)) == (str(workload), str(workload) in hang)


def unplaced(pod):
    return {key: value for key, value in pod.document["spec"].items() if key != "nodeName"}


def test_the_fix_of_a_rollout_that_hangs_already_is_the_same():
    """The pod of the new ReplicaSet that waits takes the place of no old one."""
    (new,) = pods("web", "", spec=apart())
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-2", "uid": "uid-new", "controller": True}
    new = rewritten(new, lambda document: document["metadata"].update(name="web-2-0", ownerReferences=[owner]))
    (finding,) = found(
        [*CASES["rollout-hangs"][0], new, deployment(rollingUpdate={"maxUnavailable": 0})], "rollout-hangs"
    )
    assert finding.help.startswith("set maxSurge: 0 and maxUnavailable: 1")


def test_the_large_pod_of_a_pool_is_measured_by_the_machines_of_that_pool():
    pool = [node(f"s{i}", cpu="4", labels={"pool": "small"}) for i in (1, 2)]
    full = [*pods("web", "s1", cpu="3", spec=on("pool", "small")), *pods("other", "s2", cpu="3")]
    (finding,) = found([*pool, node("big", cpu="64"), *full], "whole-machine")
    assert "the largest machine that it selects" in finding.message


def test_pods_that_wait_are_counted_among_those_that_are_looked_at():
    waiting = [*pods("web", ""), *pods("api", "", "", namespace="auth", cpu="9")]
    assert check([*THREE, *waiting]).n_pending == 3
    assert check([*THREE, *waiting], pods=["shop/web-1-0"]).n_pending == 1


@pytest.mark.usefixtures("no_search")
def test_pods_that_cannot_be_decided_are_counted_with_the_reason():
    """Those on dra-1 to dra-3, and the one on plugin-1, whose copy may go to any of these."""
    result = check(device_cluster())
    assert (result.n_undecided, result.why_undecided, result.findings) == (4, (NOT_DECIDED,), ())
    page = check_page(result)
    assert f"4 pods cannot be decided: {NOT_DECIDED}" in page.notes
    assert (page.document["undecided"], page.document["whyUndecided"]) == (4, [NOT_DECIDED])
