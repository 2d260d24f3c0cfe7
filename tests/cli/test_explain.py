import csv
import io
import json
import shlex
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return write(tmp_path, *shop())


def test_all_pending_pods_come_in_the_order_of_the_decisions_without_foreign_ones(cluster):
    result = run("explain", cluster, "--all", "-o", "jsonl")
    lines = list(map(json.loads, result.stdout.splitlines()))
    assert [line["pod"] for line in lines] == ["default/fits", "default/huge", "default/urgent", "default/gated"]
    assert all(list(line) == sorted(line) for line in lines)
    assert lines[0]["feasible"] == ["n1", "n2"]  # default/cheap has left for default/urgent
    assert [line.get("node") for line in lines] == ["n1", None, "n1", None]


def test_all_pending_pods_as_one_document(cluster):
    document = json.loads(run("explain", cluster, "--all", "-o", "json").stdout)
    assert len(document["pods"]) == 4
    assert document["schema"] == "kubesched/explain-pods/v1"


@pytest.mark.parametrize("options", [(), ("--all",), ("-A",), ("-n", "default")])
def test_all_pending_pods_as_text_say_where_or_why_nowhere(cluster, options):
    text = run("explain", cluster, *options).stdout
    assert text.startswith(
        "4 pending pods: 1 fits nowhere, 1 would preempt others, 1 held back, 1 fits. 1 pod of other "
    )
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "1 Pod default/fits 2 n1" in rows
    assert "1 Pod default/huge: all nodes: requests 64 cpu; the whole node has 2" in rows
    assert any(row.startswith("1 Pod default/gated: gated by plugin SchedulingGates: waiting") for row in rows)
    foreign = "default/foreign (volcano)"
    assert f"1 more pod is for schedulers that no profile of the configuration serves: {foreign}." in rows
    assert rows[-1] == f"Next: kubesched explain {cluster} default/huge"


def test_the_pods_that_would_be_evicted_are_named_beside_all_pending_pods(cluster):
    document = json.loads(run("explain", cluster, "-o", "json").stdout)
    assert [(one["pod"], one["node"], one["preemptor"]) for one in document["victims"]] == [
        ("default/cheap", "n1", "default/urgent")
    ]
    urgent = "default/urgent: Preemption would make room on n1 by evicting default/cheap (priority -1, then pending)"
    assert urgent in run("explain", cluster).stdout


@pytest.mark.parametrize("output", ["wide", "json", "jsonl", "csv", "markdown", "html", "junit"])
def test_a_pod_of_a_manifest_that_names_its_node_is_not_among_the_pending_ones(cluster, tmp_path, output):
    pod = tmp_path / "bound.yaml"
    pod.write_text(json.dumps(bound_pod()))
    alone, beside = run("explain", cluster, "-o", output), run("explain", cluster, "--manifest", pod, "-o", output)
    assert beside.exit_code == alone.exit_code == 0
    assert "huge" in beside.stdout
    assert "bound" not in beside.stdout.replace(str(pod), "")


def test_a_pod_of_a_manifest_that_names_its_node_is_not_tried_before_others(cluster, tmp_path):
    pod = tmp_path / "bound.yaml"
    pod.write_text(json.dumps(bound_pod()))
    asked = ("explain", cluster, "default/huge", "-o", "json", "--queue")
    alone, beside = (json.loads(run(*asked, *more).stdout)["queue"] for more in ((), ("--manifest", pod)))
    assert beside["nBefore"] == alone["nBefore"]


@pytest.mark.parametrize("pods", [(), ("default/new",)])
def test_a_pod_of_a_manifest_that_is_refused_is_not_said_to_go_to_a_node(tmp_path, pods):
    quota = make_object("ResourceQuota", "q", namespace="default", spec={"hard": {"pods": "0"}})
    cluster, pod = write(tmp_path, make_node("n1"), quota), tmp_path / "new.yaml"
    pod.write_text(json.dumps(bound_pod(nodeName="") | {"metadata": {"name": "new"}}))
    result = run("explain", cluster, *pods, "--manifest", pod)
    assert "exceeded quota: q" in result.stdout
    assert bool(pods) or "fix: raise pods of ResourceQuota default/q" in result.stdout
    assert "would go to n1" not in result.stdout
    assert "API server" not in result.stderr


LATE = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"}, "provisioner": "p"}
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data"},
    "spec": {"storageClassName": "late", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}},
}
LARGE = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "9"}}}


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"nodeName": "nowhere"}, "node nowhere does not exist"),
        ({"nodeSelector": {"disk": "ssd"}}, "the kubelet of n2 rejects it: Predicate NodeAffinity failed: node(s)"),
        (
            {"containers": [LARGE]},
            "the kubelet of n2 rejects it: Node didn't have enough resource: cpu",
        ),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]},
            "claim default/data is not bound, and WaitForFirstConsumer leaves that to the scheduler",
        ),
    ],
    ids=["node", "selector", "room", "claim"],
)
def test_a_pod_of_a_manifest_that_does_not_start_is_stuck_with_the_words_of_a_simulation(cluster, tmp_path, spec, why):
    documents = [LATE | {"volumeBindingMode": "WaitForFirstConsumer"}, CLAIM, bound_pod(**spec)]
    pod = tmp_path / "bound.yaml"
    pod.write_text("\n---\n".join(map(json.dumps, documents)))
    placed = map(json.loads, run("simulate", cluster, "--manifest", pod, "-o", "jsonl").stdout.splitlines())
    (simulated,) = [line for line in placed if line["pod"] == "default/bound"]
    lines = map(json.loads, run("explain", cluster, "--manifest", pod, "-o", "jsonl").stdout.splitlines())
    (explained,) = [line for line in lines if line["pod"] == "default/bound"]
    assert (simulated["state"], explained["state"]) == ("unschedulable", "stuck")
    assert simulated["message"].startswith(f"spec.nodeName is set, so kube-scheduler does not see the pod; {why}")
    assert explained["why"].partition(" names: ")[2] == simulated["message"].partition("; ")[2]


def bound_pod(**spec: object) -> dict[str, object]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    spec = {"nodeName": "n2", "containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bound"}, "spec": spec}


def test_one_pod_as_a_document(cluster):
    document = json.loads(run("explain", cluster, "--pod", "huge", "-o", "json").stdout)
    assert document["pod"] == "default/huge"
    assert [near["node"] for near in document["nearest"]] == ["n2", "n1"]
    assert document.pop("schema") == "kubesched/explain/v1"
    assert json.loads(run("explain", cluster, "--pod", "huge", "-o", "jsonl").stdout) == document


def test_a_pod_that_runs_is_explained_as_if_it_did_not(cluster):
    text = run("explain", cluster, "--pod", "default/cheap").stdout
    assert text.startswith("Pod default/cheap runs on n1, rank 1 of 1 nodes that fit, with ")
    assert "a new decision would take it again." in " ".join(text.split())


def test_a_pod_may_come_in_a_file(cluster, tmp_path):
    pod = tmp_path / "new.yaml"
    pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c, image: app}]}\n")
    result = run("explain", cluster, "--pod", pod)
    assert "Pod default/new" in result.stdout
    assert "would go to" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-A", "-n", "default"], "-n and -A are mutually exclusive"),
        (["-l", "app=web"], "-l app=web: none of 7 pods has these labels"),
        (["-l", "app in web"], "-l app in web: "),
        (["-n", "nowhere", "huge"], '-n: nothing in this cluster is in namespace "nowhere"; -A looks in all'),
        (["--pod", "default/hug"], 'no pod has the name "default/hug"; did you mean "default/huge"?'),
        (["--pod", "missing.yaml"], "missing.yaml: no such file"),
        (["--pod", "foreign"], 'no profile has the scheduler name "volcano"; found: default-scheduler'),
        (["--pod", "huge", "--all"], "--all and --pod are mutually exclusive"),
        (["--all", "--node", "n1"], "--node and --all-nodes need one pod"),
        (["huge", "--all"], "--all and POD are mutually exclusive"),
        (["-l", "a=b", "--all"], "--all and -l are mutually exclusive"),
        (["huge", "fits", "--node", "n1"], "--node and --all-nodes need one pod; 2 are chosen"),
        (["--pod", "huge", "--node", "n3"], "--node: no node has the name n3; found: n1, n2"),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_message(cluster, options, words):
    result = run("explain", cluster, *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("kubesched: error: ")
    assert words in result.stderr


def test_rows_may_be_plugins_or_all_nodes(cluster):
    assert "NodeResourcesFit" in run("explain", cluster, "--pod", "huge", "--by", "plugin").stdout
    text = run("explain", cluster, "--pod", "fits", "--all-nodes").stdout
    assert "cpu is short by 500m" in text


def test_a_node_may_be_named_without_its_domain(tmp_path):
    nodes = [make_node("n1.eu.internal"), make_node("n2.eu.internal", unschedulable=True)]
    cluster = write(tmp_path, *nodes, make_pod("p"))
    text = run("explain", cluster, "--pod", "p", "--node", "n2").stdout
    assert (
        run("explain", cluster, "--pod", "p", "--node", "node/n2").stdout.split("\nNext:")[0]
        == text.split("\nNext:")[0]
    )
    assert "Node n2, free: " in text
    assert "the node is cordoned" in text


def test_a_cluster_without_pending_pods_says_so(tmp_path):
    result = run("explain", write(tmp_path, make_node("n1")))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "No pod is pending."


def test_an_extender_that_does_not_answer_is_explained_in_the_words_of_kube_scheduler(tmp_path):
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- urlPrefix: http://127.0.0.1:1\n  filterVerb: filter\n"
    )
    snapshot = write(tmp_path, make_node("n1"), make_pod("p"))
    text = run("explain", snapshot, "--pod", "p", "--config", config, "--extenders", "call").stdout
    assert '\nPost "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused\n' in text


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: app, resources: {requests: {cpu: "64"}}}]}
"""


def test_a_file_with_a_workload_is_explained_by_its_first_pod(cluster, tmp_path):
    manifest = tmp_path / "dep.yaml"
    manifest.write_text(DEPLOYMENT)
    result = run("explain", cluster, "--pod", manifest)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Pod prod/web-")
    assert ' would not be created: namespaces "prod" not found.' in result.stdout
    assert "0/2 nodes are available: 2 Insufficient cpu." in result.stdout
    assert "dep.yaml has 3 pods that are alike; prod/web-" in result.stderr


def test_a_file_with_several_workloads_names_the_command_for_them(cluster, tmp_path):
    manifest = tmp_path / "two.yaml"
    manifest.write_text(f"{DEPLOYMENT}---{DEPLOYMENT.replace('name: web', 'name: api')}")
    result = run("explain", cluster, "--pod", manifest)
    assert result.exit_code == 2
    assert "two.yaml: found 6 pods; expected a file with one Pod or one workload. kubesched fit -f" in result.stderr


def test_a_pod_in_a_file_stands_in_for_the_one_of_that_name(cluster, tmp_path):
    pod = tmp_path / "huge.yaml"
    pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: huge}\nspec: {containers: [{name: c, image: app}]}\n")
    assert run("explain", cluster, "--pod", pod).stdout.startswith("Pod default/huge fits on 2 of 2 nodes")


def test_pods_are_arguments_beside_the_snapshot(cluster):
    first = run("explain", cluster, "huge").stdout
    assert first.startswith("Pod default/huge fits on none of 2 nodes.\n")
    assert run("explain", "pod/huge", cluster, "-n", "default").stdout == first
    assert run("explain", cluster, "huge", "fits").stdout.startswith("2 chosen pods: 1 fits nowhere, 1 fits.\n")


def test_the_queue_is_part_of_the_answer_where_it_is_cheap_or_asked_for(cluster, tmp_path):
    said = "In a full simulation"
    assert said in run("explain", cluster, "fits").stdout
    assert said not in run("explain", cluster, "fits", "--no-queue").stdout
    assert said not in run("explain", cluster, "cheap", "--queue").stdout  # it runs


@pytest.mark.parametrize("output", ["csv", "markdown", "wide"])
def test_the_formats_of_reports_are_there(cluster, output):
    one, several = (run("explain", cluster, *pod, "-o", output).stdout for pod in (["huge"], []))
    heads = {"csv": "nodes,obstacles,nearest\n", "markdown": "**Pod default/huge", "wide": "Pod default/huge"}
    assert heads[output] in one
    heads = {"csv": "pod,workload,state,", "markdown": "**4 pending pods:", "wide": "0/2 nodes are available"}
    assert heads[output] in several


def test_the_next_command_can_be_run_as_it_is(cluster, tmp_path):
    config = tmp_path / "a config.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    manifest = tmp_path / "dep.yaml"
    manifest.write_text(DEPLOYMENT)
    for asked in (["fits"], ["--pod", manifest], []):
        text = run("explain", cluster, "--config", config, *asked).stdout
        words = shlex.split(text.partition("Next: ")[2])
        assert words[:2] == ["kubesched", "explain"]
        assert words[words.index("--config") + 1] == str(config)
        result = run(*words[1:])
        assert result.exit_code == 0, result.output


def test_a_folder_with_the_name_of_a_workload_is_one_clear_sentence(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deploy" / "web").mkdir(parents=True)
    result = run("explain", cluster, "deploy/web")
    assert result.exit_code == 2
    assert '"deploy/web" is a path and may be a workload; write ./deploy/web for the path, or --pod' in result.stderr
    result = run("explain", cluster, "--pod", "deploy/web")
    assert "deploy/web: the cluster has no Deployment web" in result.stderr


def test_the_only_pod_of_a_workload_is_explained_in_full_in_every_format(tmp_path):
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db", "controller": True}
    pod = make_pod("db-0", requests={"cpu": "64"}, metadata={"ownerReferences": [owner]})
    snapshot = write(tmp_path, make_node("n1"), pod)
    assert run("explain", snapshot, "sts/db").stdout.startswith("Pod default/db-0 does not fit on the only node.\n")
    assert "REJECTS" in run("explain", snapshot, "sts/db", "--by", "plugin").stdout
    for options in ((), ("--all-nodes",), ("--node", "n1"), ("--by", "plugin")):
        for output in ("json", "jsonl"):
            line = json.loads(run("explain", snapshot, "sts/db", *options, "-o", output).stdout)
            assert line["pod"] == "default/db-0"
            assert {"fixes", "advice", "nearest"} <= line.keys()


def test_the_lines_of_several_pods_have_what_csv_has(cluster):
    rows = list(csv.DictReader(io.StringIO(run("explain", cluster, "-o", "csv").stdout)))
    lines = [json.loads(line) for line in run("explain", cluster, "-o", "jsonl").stdout.splitlines()]
    document = json.loads(run("explain", cluster, "-o", "json").stdout)
    version = {name: document[name] for name in ("kubernetesVersion", "clusterVersion")}
    assert lines == [{**version, **one} for one in document["pods"]]
    for row in rows:
        (line,) = (one for one in lines if one["pod"] == row["pod"])
        assert {key: line.get(key, "") for key in ("workload", "state", "why", "fix")} == {
            key: row[key] for key in ("workload", "state", "why", "fix")
        }
    (nowhere,) = (line for line in lines if line["state"] == "no node")
    assert nowhere["fix"].endswith(" -> 1 node")


def test_a_node_that_is_asked_about_has_its_verdict_in_json(cluster):
    for output in ("json", "jsonl"):
        (fits,) = json.loads(run("explain", cluster, "fits", "--node", "n2", "-o", output).stdout)["asked"]
        assert (fits["node"], fits["fits"], fits["total"]) == ("n2", True, sum(fits["scores"].values()))
        assert fits["verdict"] == "Pod default/fits fits on n2 and would go there."
    several = json.loads(run("explain", cluster, "fits", "--node", "n1", "--node", "n2", "-o", "json").stdout)["asked"]
    assert [(one["node"], one["fits"]) for one in several] == [("n1", False), ("n2", True)]
    assert several[0]["short"] == {"cpu": 500}
    assert several[0]["rejections"][0]["plugin"] == "NodeResourcesFit"


def test_what_the_queue_makes_of_the_pod_is_in_json(cluster):
    for options in ((), ("--node", "n1")):
        queue = json.loads(run("explain", cluster, "fits", *options, "-o", "json").stdout)["queue"]
        assert queue["nBefore"] == 1
        assert queue["text"].startswith("Taken alone. In a full simulation 1 pod is tried before it")
    assert "queue" not in json.loads(run("explain", cluster, "fits", "--no-queue", "-o", "json").stdout)


def test_a_new_pod_that_the_api_server_refuses_is_said_to_be_refused(tmp_path):
    limits = {"limits": [{"type": "Container", "max": {"memory": "1Gi"}}]}
    cluster = write(tmp_path, make_node("n1"), make_object("LimitRange", "l", spec=limits))
    container = {"name": "c", "image": "i", "resources": {"limits": {"memory": "2Gi"}}}
    manifest = tmp_path / "big.json"
    manifest.write_text(
        json.dumps(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "big"}, "spec": {"containers": [container]}}
        )
    )
    fault = "maximum memory usage per Container is 1Gi, but limit is 2Gi"
    for options in (("--pod", manifest), ("--manifest", manifest, "--pod", "default/big")):
        assert run("explain", cluster, *options).stdout.startswith(f"Pod default/big would not be created: {fault}")
        document = json.loads(run("explain", cluster, *options, "-o", "json").stdout)
        assert document["refused"].startswith(fault)


def test_a_file_without_a_pod_to_explain_has_the_reason(tmp_path):
    cluster = write(tmp_path, make_node("n1"))
    manifest = tmp_path / "job.json"
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"suspend": True, "template": template}
    manifest.write_text(json.dumps({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "s"}, "spec": spec}))
    result = run("explain", cluster, "--pod", manifest)
    assert result.exit_code == 2
    assert "no pod to explain" in result.stderr
    assert "Job default/s is suspended (spec.suspend: true)" in result.stderr


def test_patch_prints_commands_and_the_lines_of_json_have_them(tmp_path):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "rs", "controller": True}
    metadata = {"ownerReferences": [owner], "labels": {"pod-template-hash": "5d"}}
    pods = [make_pod(f"web-5d-{i}", metadata=metadata) for i in "ab"]
    cluster = write(tmp_path, make_node("n1", taints=["db:NoSchedule"]), *pods)
    body = '{"spec":{"template":{"spec":{"tolerations":[{"effect":"NoSchedule","key":"db","operator":"Exists"}]}}}}'
    command = f"kubectl patch deployment web -n default --type strategic -p '{body}'"
    for question in ((), ("deploy/web",), ("default/web-5d-a",)):
        assert command in run("explain", cluster, *question, "-o", "patch").stdout.splitlines()
    lines = [json.loads(line) for line in run("explain", cluster, "deploy/web", "-o", "jsonl").stdout.splitlines()]
    assert lines[0]["fixes"][0]["patches"][0]["commands"] == ["# replaces all of its pods", command]
    assert "fixes" not in lines[1]
    assert "Any one of these makes a pod of Deployment default/web fit:" in run("explain", cluster, "deploy/web").stdout


def test_reports_without_fixes_have_no_patch(tmp_path):
    result = run("drain", write(tmp_path, make_node("n1")), "n1", "-o", "patch")
    assert result.exit_code == 2
    assert "'patch' is not one of" in result.stderr
