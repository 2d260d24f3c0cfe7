import json
import shlex

import pytest

from kubesched.api import Pod
from kubesched.explanation import Fix, explain
from kubesched.testing import make_node, make_object, make_pod

REPLICA_SET = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "rs", "controller": True}
STATEFUL_SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "sts", "controller": True}
JOB = {"apiVersion": "batch/v1", "kind": "Job", "name": "nightly-1", "uid": "job", "controller": True}
HASH = {"pod-template-hash": "5d"}


def owned(name: str, owner: dict[str, object], labels: dict[str, str] | None = None, **more: object) -> Pod:
    return make_pod(name, labels=labels or {}, metadata={"ownerReferences": [owner]}, **more)


def fix_of(kind: str, pod: Pod, *objects: object) -> Fix:
    fixes = explain([*objects, pod], pod.key).fixes
    return next(fix for fix in fixes if fix.kind == kind)


def commands(fix: Fix) -> list[str]:
    return [line for patch in fix.patches for line in patch.commands if not line.startswith("# ")]


def node(**more: object) -> object:
    return make_node("n1", allocatable={"cpu": "2", "pods": "9"}, **more)


def test_a_cordon_is_removed_with_one_command():
    fix = fix_of("uncordon", make_pod("p"), node(unschedulable=True))
    assert commands(fix) == ["kubectl uncordon n1"]
    (patch,) = fix.patches
    assert (patch.target.kind, patch.target.name, patch.type) == ("Node", "n1", "merge")
    assert patch.patch["spec"]["unschedulable"] is None


def test_a_taint_is_removed_by_its_key_value_and_effect():
    fix = fix_of("taint", make_pod("p"), node(taints=["db=x:NoSchedule"]))
    assert commands(fix) == ["kubectl taint nodes n1 db=x:NoSchedule-"]


def test_a_label_is_added_to_a_node():
    fix = fix_of("label", make_pod("p", node_selector={"team": "red"}), node())
    assert commands(fix) == ["kubectl label nodes n1 team=red"]


@pytest.mark.parametrize(
    ("owner", "labels", "rest"),
    [
        (REPLICA_SET, HASH, []),
        (STATEFUL_SET, {}, ["kubectl delete pod p -n default"]),
        ({**REPLICA_SET, "kind": "DaemonSet", "name": "web"}, {}, []),
        (REPLICA_SET, {}, ["kubectl delete pod p -n default"]),
    ],
)
def test_the_template_of_a_workload_changes_in_the_containers_that_it_names(owner, labels, rest):
    pod = owned("p", owner, labels, requests={"cpu": "3"})
    fix = fix_of("requests", pod, node())
    first, *others = commands(fix)
    kind, name = (fix.patches[0].target.kind.lower(), fix.patches[0].target.name)
    container = pod.spec.containers[0].name
    body = {
        "spec": {"template": {"spec": {"containers": [{"name": container, "resources": {"requests": {"cpu": "2"}}}]}}}
    }
    assert shlex.split(first)[:6] == ["kubectl", "patch", kind, name, "-n", "default"]
    assert json.loads(shlex.split(first)[-1]) == body == fix.patches[0].patch
    assert others == rest


def test_the_deployment_of_a_replica_set_that_is_not_there_is_known_by_the_hash():
    fix = fix_of("toleration", owned("p", REPLICA_SET, HASH), node(taints=["db:NoSchedule"]))
    assert (fix.patches[0].target.kind, fix.patches[0].target.name) == ("Deployment", "web")


def test_tolerations_that_the_api_server_added_are_not_in_the_template():
    added = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    pod = owned("p", REPLICA_SET, HASH, spec={"tolerations": [added, {"key": "mine", "operator": "Exists"}]})
    (patch,) = fix_of("toleration", pod, node(taints=["db:NoSchedule"])).patches
    assert [one["key"] for one in patch.patch["spec"]["template"]["spec"]["tolerations"]] == ["mine", "db"]


def test_a_job_is_created_again_without_what_its_controller_wrote():
    (patch,) = fix_of("toleration", owned("p", JOB), node(taints=["db:NoSchedule"])).patches
    assert (patch.action, patch.target.kind) == ("recreate", "Job")
    assert patch.patch["spec"]["selector"] is None
    assert patch.commands[0].startswith("# the template of a Job cannot be changed")
    assert patch.commands[1].endswith(" | kubectl replace --force -f -")


def test_the_next_jobs_of_a_cron_job_have_the_new_template():
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "c", "controller": True}
    job = make_object("Job", "nightly-1", uid="job", metadata={"ownerReferences": [cron]})
    first, second = fix_of("toleration", owned("p", JOB), node(taints=["db:NoSchedule"]), job).patches
    assert first.target.kind == "CronJob"
    assert "tolerations" in first.patch["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert [line for line in second.commands if not line.startswith("# ")] == [
        "kubectl delete job nightly-1 -n default",
        "kubectl create job nightly-1 --from=cronjob/nightly -n default",
    ]


def test_a_pod_alone_can_get_tolerations_and_is_else_created_again():
    (added,) = fix_of("toleration", make_pod("p"), node(taints=["db:NoSchedule"])).patches
    assert (added.action, added.type) == ("patch", "merge")
    (again,) = fix_of("requests", make_pod("p", requests={"cpu": "3"}), node()).patches
    assert again.action == "recreate"
    assert again.commands[1].startswith("kubectl get pod p -n default -o yaml | kubectl patch --local -f - ")


def test_a_gate_is_removed_from_the_pod_and_not_from_its_template():
    pod = owned("p", REPLICA_SET, HASH, spec={"schedulingGates": [{"name": "example.com/wait"}]})
    (patch,) = fix_of("schedulingGate", pod, node()).patches
    assert (patch.target.kind, patch.patch) == ("Pod", {"spec": {"schedulingGates": None}})
    assert "kubectl patch pod p" in patch.commands[-1]
    assert all(line.startswith("# ") for line in patch.commands)


def test_nobody_removes_the_gate_of_a_queue():
    pod = make_pod("p", spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]})
    (patch,) = fix_of("schedulingGate", pod, node()).patches
    assert (patch.target, patch.commands) == (None, ())


def test_a_new_node_has_no_patch_and_says_what_to_do():
    (patch,) = fix_of(
        "addNode", make_pod("p", requests={"cpu": "2"}), node(), make_pod("q", node="n1", requests={"cpu": "1"})
    ).patches
    assert (patch.target, patch.patch, patch.commands) == (None, None, ())
    assert patch.text.startswith("add a node like n1")


def test_a_pod_moves_while_the_node_that_it_leaves_is_cordoned():
    small = make_node("n2", allocatable={"cpu": "1", "pods": "9"})
    mover = owned(
        "web-5d-1",
        REPLICA_SET,
        HASH,
        node="n1",
        requests={"cpu": "1"},
        spec={"volumes": [{"name": "tmp", "emptyDir": {}}]},
    )
    pods = make_object("ReplicaSet", "web-5d", uid="rs", spec={"replicas": 1})
    fix = fix_of("movePod", make_pod("p", requests={"cpu": "2"}), node(), small, mover, pods)
    (patch,) = fix.patches
    assert commands(fix) == [
        "kubectl cordon n1",
        "kubectl delete pod web-5d-1 -n default",
        "sleep 10",
        "kubectl uncordon n1",
    ]
    assert "kube-scheduler chooses the node, n2 has room for it; what is in emptyDir tmp is lost" in patch.commands[2]
    assert (patch.action, patch.patch) == ("move", {"spec": {"nodeName": "n2"}})


def test_a_budget_that_a_deletion_does_not_ask_is_named():
    small = make_node("n2", allocatable={"cpu": "1", "pods": "9"})
    mover = owned("web-5d-1", REPLICA_SET, {"app": "web"}, node="n1", requests={"cpu": "1"})
    pods = make_object("ReplicaSet", "web-5d", uid="rs", spec={"replicas": 1})
    spec, status = {"selector": {"matchLabels": {"app": "web"}}}, {"disruptionsAllowed": 1}
    budget = make_object("PodDisruptionBudget", "web", spec=spec, status=status)
    (patch,) = fix_of("movePod", make_pod("p", requests={"cpu": "2"}), node(), small, mover, pods, budget).patches
    assert patch.commands[2].endswith("; budget default/web allows it now, which a deletion does not ask")


def test_a_name_that_kubernetes_does_not_allow_is_in_no_command():
    evil = make_node("n1\nrm", allocatable={"cpu": "2", "pods": "9"}, unschedulable=True)
    fix = fix_of("uncordon", make_pod("p"), evil)
    assert commands(fix) == []
    assert fix.patches[0].target.name == "n1\nrm"


def test_nobody_changes_the_daemon_set_that_another_controller_writes():
    owner = {**REPLICA_SET, "kind": "DaemonSet", "name": "svclb-web-1a"}
    pod = owned("svclb-web-1a-x", owner, host_ports=[80])
    fix = fix_of("hostPort", pod, node(), make_pod("q", node="n1", host_ports=[80]))
    assert [patch.target for patch in fix.patches] == [None]


def test_a_value_that_a_person_fills_in_is_marked():
    spread = {"maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule"}
    pod = make_pod("p", spec={"topologySpreadConstraints": [{**spread, "labelSelector": {}}]})
    (patch,) = fix_of("label", pod, node()).patches
    assert patch.commands == ("# fill in the value", "kubectl label nodes n1 'rack=<rack of n1>'")


def test_the_keys_that_the_api_server_merged_into_a_selector_are_not_in_the_template():
    merged = [{"key": "pod-template-hash", "operator": "In", "values": ["5d"]}]
    selector = {"matchLabels": {"app": "web"}, "matchExpressions": merged}
    spread = {"maxSkew": 5, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    spread |= {"topologyKey": "topology.kubernetes.io/zome", "matchLabelKeys": ["pod-template-hash"]}
    zone = {"topology.kubernetes.io/zone": "a"}
    pod = owned("p", REPLICA_SET, HASH, spec={"topologySpreadConstraints": [spread]})
    (patch,) = fix_of("topologyKey", pod, node(labels=zone)).patches
    replaced, constraint = patch.patch["spec"]["template"]["spec"]["topologySpreadConstraints"]
    assert replaced == {"$patch": "replace"}
    assert constraint["topologyKey"] == "topology.kubernetes.io/zone"
    assert constraint["labelSelector"] == {"matchLabels": {"app": "web"}, "matchExpressions": []}


def test_the_tolerations_that_the_daemon_set_controller_added_are_not_in_the_template():
    added = {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule"}
    owner = {**REPLICA_SET, "kind": "DaemonSet", "name": "agent"}
    (patch,) = fix_of(
        "toleration", owned("p", owner, spec={"tolerations": [added]}), node(taints=["db:NoSchedule"])
    ).patches
    assert [one["key"] for one in patch.patch["spec"]["template"]["spec"]["tolerations"]] == ["db"]


def test_the_template_of_a_controller_that_is_not_known_is_changed_by_hand():
    owner = {**REPLICA_SET, "apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "name": "pg"}
    (patch,) = fix_of("toleration", owned("p", owner), node(taints=["db:NoSchedule"])).patches
    assert (patch.text, patch.target) == ("tolerate db:NoSchedule, in the pods of Cluster default/pg", None)
