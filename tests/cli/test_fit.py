"""`kubesched fit` as a user runs it."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.device_cluster import GPU, NOT_DECIDED, device_cluster
from tests.planning.drain_clusters import owned_by

NODES = [make_node(f"n{i}", allocatable={"cpu": "4", "memory": "8Gi", "pods": "10"}) for i in range(3)]
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "2"}}}]}
"""
HOST = "kubernetes.io/hostname"


@pytest.fixture
def cluster(tmp_path):
    return write(tmp_path, *NODES)


@pytest.fixture
def manifest(tmp_path):
    path = tmp_path / "deploy.yaml"
    path.write_text(DEPLOYMENT)
    return path


def test_a_cluster_without_nodes_can_be_asked_how_many_it_needs(tmp_path, manifest):
    model = tmp_path / "node.json"
    model.write_bytes(bytes(NODES[0].raw))
    (tmp_path / "empty").mkdir()
    empty = write(tmp_path / "empty")
    result = run("fit", empty, "-f", manifest, "--nodes-like", model)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "4 of 4 would fit with 2 more nodes like n0 (0 without).",
    )
    assert "the snapshot has no node and no pod" in run("fit", empty, "-f", manifest).stderr


def test_notes_on_a_manifest_begin_with_the_name_of_its_file(cluster, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(DEPLOYMENT.replace('cpu: "2"', 'memory: "400m"'))
    for command in (("fit", cluster, "-f", path), ("explain", cluster, "--pod", path)):
        result = run(*command)
        lines = " ".join((result.stderr + result.stdout).split())
        assert f"{path}, document 1: spec.template.spec.containers[0].resources.requests[memory]" in lines


FULL = "all nodes: cpu is short by 2: requests 2, 0 of 4 free. Fix: add a node like n0 (1 node)."


def test_kinds_that_the_snapshot_lacks_for_the_new_pods_are_named_as_in_simulate(cluster, tmp_path):
    path = tmp_path / "db.yaml"
    volume = "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}], containers:"
    path.write_text(DEPLOYMENT.replace("containers:", volume))
    fitted, simulated = run("fit", cluster, "-f", path), run("simulate", cluster, "--manifest", path)
    lines = [line for line in simulated.stderr.splitlines() if "the snapshot has no" in line]
    assert [("CSINode or StorageClass" in line, "Service" in line) for line in lines] == [(True, False), (False, True)]
    assert [line for line in fitted.stderr.splitlines() if "the snapshot has no" in line] == lines


def test_the_first_line_is_the_verdict(cluster, manifest):
    result = run("fit", cluster, "-f", manifest)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "4 of 4 would fit.")
    assert "Not modelled: autoscalers and the timing of controllers." in result.stdout


def test_the_first_pod_that_does_not_fit_is_named_with_its_reason(cluster, manifest):
    result = run("fit", cluster, "-f", manifest, "--replicas", 8)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"6 of 8 would fit; the 7th: {FULL}"
    assert run("fit", cluster, "-f", manifest, "--replicas", 8, "--fail-on-pending").exit_code == 1


def test_max_names_the_number_and_what_stops_the_next(cluster, manifest):
    result = run("fit", cluster, "-f", manifest, "--max", "--fail-on-pending")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"6 would fit; the 7th: {FULL}"


def test_requests_alone_are_a_question(cluster):
    result = run("fit", cluster, "--resource", "cpu=1", "--resource", "memory=4Gi", "--replicas", 6)
    assert result.stdout.splitlines()[0] == "6 of 6 would fit."


def test_a_manifest_comes_from_standard_input(cluster):
    result = run("fit", cluster, "-f", "-", input=DEPLOYMENT)
    assert result.stdout.splitlines()[0] == "4 of 4 would fit."


@pytest.mark.parametrize("number", [("--max",), ("--replicas", "3")])
def test_a_number_of_several_workloads_leads_to_a_command_that_works(cluster, tmp_path, number):
    path = tmp_path / "chart.yaml"
    daemons = DEPLOYMENT.replace("Deployment", "DaemonSet").replace("  replicas: 4\n", "").replace("web", "agent")
    path.write_text(f"{daemons}\n---\n{DEPLOYMENT}\n---\n{DEPLOYMENT.replace('web', 'api')}")
    result = run("fit", cluster, "-f", path, *number)
    assert (result.exit_code, result.stdout) == (2, "")
    found = "found 3: shop/daemonset/agent, shop/deployment/web, shop/deployment/api"
    assert f"{number[0]} needs one workload; {found}; choose one, such as --only shop/deployment/web" in result.stderr
    result = run("fit", cluster, "-f", path, *number, "--only", "shop/deployment/web")
    assert result.exit_code == 0
    assert "2 other workloads of the manifests are left out." in result.stdout


def test_the_next_command_is_about_the_chosen_workload(cluster, tmp_path):
    path = tmp_path / "chart.yaml"
    path.write_text(f"{DEPLOYMENT}\n---\n{DEPLOYMENT.replace('web', 'api')}")
    result = run("fit", cluster, "-f", path, "--only", "deploy/api")
    assert result.stdout.splitlines()[0] == "4 of 4 would fit."
    following = f"Next: kubesched fit {cluster} -f {path} --only deploy/api --max"
    assert result.stdout.splitlines()[-1] == following
    assert run(*following.removeprefix("Next: kubesched ").split()).stdout.startswith("6 would fit; the 7th: ")


def test_victims_are_listed(tmp_path):
    low = [make_pod(f"low{i}", node=f"n{i}", requests={"cpu": "3"}, priority=-5) for i in range(3)]
    result = run("fit", write(tmp_path, *NODES, *low), "--resource", "cpu=3", "--replicas", 2)
    assert result.stdout.splitlines()[0] == "2 of 2 would fit."
    assert "Would be evicted to make room: 2" in result.stdout
    assert "- default/low0" in result.stdout


def test_the_document_has_the_answer(cluster, manifest):
    document = json.loads(run("fit", cluster, "-f", manifest, "--replicas", 7, "-o", "json").stdout)
    assert document["schema"] == "kubesched/fit/v1"
    assert (document["asked"], document["fit"], document["workloads"]) == (7, 6, ["Deployment shop/web"])
    assert document["firstLeft"]["pod"] == document["pods"][6]["pod"]
    assert len(run("fit", cluster, "-f", manifest, "-o", "jsonl").stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name the pods with -f FILE, or with --resource NAME=QUANTITY and --device CLASS=N; neither is given"),
        (
            ("-f", "x", "--resource", "cpu=1"),
            "name the pods with -f FILE, or with --resource NAME=QUANTITY and --device CLASS=N; both are",
        ),
        (("--resource", "cpu"), "found 'cpu'; write NAME=QUANTITY, such as cpu=2 or memory=4Gi"),
        (("--resource", "cpu=1", "--resource", "cpu=2"), "cpu is given twice"),
        (("--resource", "cpu=one"), "error: resource cpu: 'one' is not a quantity"),
        (("--resource", "cpu=-1"), "error: resource cpu: found -1; expected 0 or more"),
        (("--resource", "cpus=2"), 'error: resource cpus: Invalid value: "cpus": must be a standard resource for'),
        (("--resource", "cpus=2"), '; did you mean "cpu"?'),
        (("--resource", "a.io/gpu=0.5"), 'error: resource a.io/gpu: Invalid value: "0.5": must be an integer'),
        (("--resource", "hugepages-2Mi=2Mi"), "error: resources: Forbidden: HugePages require cpu or memory"),
        (("--resource", "cpu=1", "--max", "--replicas", "2"), "--max and --replicas are mutually exclusive"),
        (("--resource", "cpu=1", "--replicas", "0"), "'--replicas': 0 is not in the range x>=1"),
        (
            ("--resource", "cpu=1", "--nodes-like", "n0=x"),
            "'--nodes-like': found 'n0=x'; write NODE or NODE=N, such as",
        ),
        (
            ("--resource", "cpu=1", "--max", "--nodes-like", "n0"),
            "--max needs the number of new nodes: --nodes-like NODE=N",
        ),
        (("--resource", "cpu=1", "--only", "deploy/web"), "--only and --resource are mutually exclusive"),
    ],
)
def test_a_wrong_question_is_one_sentence(cluster, arguments, message):
    result = run("fit", cluster, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_missing_nodes_are_counted(cluster, manifest):
    result = run("fit", cluster, "-f", manifest, "--replicas", 9, "--nodes-like", "n0", "--fail-on-pending")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "9 of 9 would fit with 2 more nodes like n0 (6 without).",
    )
    result = run("fit", cluster, "-f", manifest, "--max", "--nodes-like", "n0=1")
    assert " ".join(result.stdout.split()).startswith(f"8 would fit with 1 more node like n0; the 9th: {FULL}")


def test_nodes_that_are_too_small_would_not_help(cluster):
    result = run("fit", cluster, "--resource", "cpu=9", "--nodes-like", "n0")
    words = "The pod does not fit on a new one: requests 9 cpu; the whole node has 4."
    assert f"0 of 1 would fit, and more nodes like n0 would not help. {words}" in " ".join(result.stdout.split())


def test_the_next_command_explains_the_pod_of_the_manifest_that_does_not_fit(tmp_path, manifest):
    small = write(tmp_path, make_node("n0", allocatable={"cpu": "1"}))
    next_line = run("fit", small, "-f", manifest).stdout.splitlines()[-1]
    assert next_line.startswith(f"Next: kubesched explain {small} --manifest {manifest} --pod shop/web-")
    assert run(*next_line.removeprefix("Next: kubesched ").split()).exit_code == 0


def test_pods_are_counted_by_pool(tmp_path, manifest):
    nodes = [make_node(f"n{i}", labels={"pool": "ab"[i % 2]}, allocatable={"cpu": "4", "pods": "9"}) for i in range(4)]
    out = run("fit", write(tmp_path, *nodes), "-f", manifest, "--max", "-o", "markdown").stdout
    assert "| a | 4 |" in out
    assert "| b | 4 |" in out


def of_deployment(n):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-old", "uid": "o", "controller": True}
    about = {"metadata": {"ownerReferences": [owner]}, "labels": {"app": "web", "pod-template-hash": "old"}}
    return [make_pod(f"web-old-{i}", namespace="shop", node=f"n{i}", requests={"cpu": "2"}, **about) for i in range(n)]


def test_a_workload_that_runs_already_is_replaced_or_added(tmp_path, manifest):
    cluster = write(tmp_path, *NODES, *of_deployment(3))
    added = run("fit", cluster, "-f", manifest, "--add").stdout
    assert added.startswith(f"Beside the 3 pods of Deployment shop/web: 3 of 4 would fit; the 4th: {FULL}"[:100])
    result = run("fit", cluster, "-f", manifest)
    assert run("fit", cluster, "-f", manifest, "--rollout").stdout == result.stdout
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "A rollout of Deployment shop/web, which has 3 pods (--add keeps the old pods): 4 of 4 would fit."
    )
    running = "with 3 pods running at the lowest point and 5 at the highest."
    assert f"The rollout of Deployment shop/web would replace 3 pods in 4 steps, {running}" in " ".join(lines)
    document = json.loads(run("fit", cluster, "-f", manifest, "--rollout", "-o", "json").stdout)
    counts = {"steps": 4, "old": 3, "oldLeft": 0, "kept": 0, "lowest": 3, "highest": 5}
    assert document["rollouts"] == [{"workload": "Deployment shop/web", **counts, "wayOut": "", "wayOutLowest": 0}]


def test_a_search_beside_existing_pods_adds(tmp_path, manifest):
    cluster = write(tmp_path, *NODES, *of_deployment(3))
    error = run("fit", cluster, "-f", manifest, "--max").stderr
    assert "already has 3 pods in the cluster; use --add to keep the old pods and add the new ones" in error
    assert run("fit", cluster, "-f", manifest, "--max", "--add").stdout.startswith(
        "Beside the 3 pods of Deployment shop/web: 3 would fit; the 4th"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rollout", "--add"), "--rollout and --add are mutually exclusive"),
        (
            ("--rollout", "--max"),
            "--rollout and a search are mutually exclusive: use --replicas N and --nodes-like NODE=N",
        ),
        (("--rollout", "--nodes-like", "n0"), "--rollout and a search are mutually exclusive"),
        (("--rollout", "--extenders", "call"), "--rollout and --extenders call are mutually exclusive"),
    ],
)
def test_options_that_exclude_each_other(cluster, manifest, arguments, message):
    result = run("fit", cluster, "-f", manifest, *arguments)
    assert (result.exit_code, message in result.stderr) == (2, True)


def said(result: Result) -> str:
    return " ".join(result.stdout.split())


PODS = (("gpu", GPU), ("plain", "cpu"))
MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: c, image: i, resources: {{limits: {{{resource}: 1}}}}}}]}}
"""
ASKS_FOR_GPU = ("--resource", f"{GPU}=1")


@pytest.mark.usefixtures("no_search")
def test_how_many_served_pods_fit_is_not_known(tmp_path: Path):
    path = write(tmp_path, *device_cluster())
    result = run("fit", path, *ASKS_FOR_GPU, "--max")
    assert said(result).startswith(f"It is not known how many would fit: {NOT_DECIDED}.")
    assert result.exit_code == 1
    document = json.loads(run("fit", path, *ASKS_FOR_GPU, "--max", "-o", "json").stdout)
    assert (document["fit"], document["undecided"]) == (None, [NOT_DECIDED])
    assert document["firstLeft"]["state"] == "notDecided"


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("options", [["--replicas", "2"], ["--nodes-like", "plugin-1"], ["--nodes-like", "dra-1=2"]])
def test_whether_served_pods_fit_is_not_known_on_new_nodes_either(tmp_path: Path, options: list[str]):
    result = run("fit", write(tmp_path, *device_cluster()), *ASKS_FOR_GPU, *options)
    pods = "the pods fit" if "--replicas" in options else "the pod fits"
    assert said(result).startswith(f"It is not known whether {pods}: {NOT_DECIDED}.")
    assert "would not help" not in said(result)
    assert "Would stay pending" not in said(result)
    assert result.exit_code == 1


@pytest.mark.usefixtures("no_search")
def test_served_pods_that_are_pending_already_are_told_beside_a_known_answer(tmp_path: Path):
    path = write(tmp_path, *device_cluster(), make_pod("waits", priority=9, requests={GPU: 1}))
    result = run("fit", path, "--resource", "cpu=1")
    assert said(result).startswith("1 of 1 would fit.")
    assert "1 pod was pending before and takes part in the queue; 1 of them cannot be decided" in said(result)
    assert result.exit_code == 0


@pytest.mark.usefixtures("no_search")
def test_a_manifest_of_served_and_other_pods_has_both_answers(tmp_path: Path):
    manifest = tmp_path / "new.yaml"
    manifest.write_text("---".join(MANIFEST.format(name=name, resource=resource) for name, resource in PODS))
    result = run("fit", write(tmp_path, *device_cluster()), "-f", manifest)
    assert said(result).startswith(f"1 of 2 would fit. It is not known whether 1 more fits: {NOT_DECIDED}.")
    assert result.exit_code == 1


SUSPENDED = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: shop}
spec: {suspend: true, parallelism: 3, template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
"""
ROLLOUT = """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: shop, namespace: shop}
spec: {template: {spec: {containers: [{name: c, image: i}]}}}
"""
SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 5, maxReplicas: 9}
"""
SLEEPS = "it is suspended (spec.suspend: true)"


def test_a_file_without_pods_to_place_is_not_an_error(cluster, tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(SUSPENDED)
    for options in ((), ("--fail-on-pending",), ("--nodes-like", "n0"), ("--add",)):
        result = run("fit", cluster, "-f", path, *options)
        assert result.exit_code == 0, result.stderr
        assert said(result).startswith(
            "The manifests have no pod to place: Job shop/train is suspended (spec.suspend: true)."
        )
    result = run("fit", cluster, "-f", path, "--replicas", "3", "--fail-on-pending")
    assert (result.exit_code, said(result).startswith("3 of 3 would fit.")) == (0, True)


def test_a_file_with_only_kinds_that_are_not_read_is_an_error(cluster, tmp_path):
    path = tmp_path / "rollout.yaml"
    path.write_text(ROLLOUT)
    result = run("fit", cluster, "-f", path)
    assert (result.exit_code, "Rollout.argoproj.io shop/shop may have pods" in result.stderr) == (2, True)
    path.write_text("---".join((ROLLOUT, SUSPENDED)))
    assert run("fit", cluster, "-f", path).exit_code == 0


def test_what_is_said_of_the_manifests_is_in_every_format(cluster, tmp_path):
    path = tmp_path / "all.yaml"
    path.write_text("---".join((DEPLOYMENT, SUSPENDED, ROLLOUT, SCALER)))
    document = json.loads(run("fit", cluster, "-f", path, "-o", "json").stdout)
    reasons = {one["workload"]: one["why"] for one in document["withoutPods"]}
    assert reasons["Job shop/train"] == "is suspended (spec.suspend: true)"
    assert "Rollout.argoproj.io shop/shop" in reasons
    assert any("replicas are minReplicas 5 to maxReplicas 9, tried with 5" in note for note in document["notes"])
    rows = run("fit", cluster, "-f", path, "-o", "csv").stdout.splitlines()
    assert f",Job shop/train,,no pod is added: {SLEEPS}" in rows
    junit = run("fit", cluster, "-f", path, "-o", "junit").stdout
    assert 'skipped="2"' in junit
    assert f'name="Job train"><skipped message="no pod is added: {SLEEPS}"/>' in junit
    for output in ("csv", "jsonl", "junit"):
        assert "note: " + document["notes"][0] in run("fit", cluster, "-f", path, "-o", output).stderr


def first_line(*arguments: object) -> str:
    result = run("fit", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout.splitlines()[0]


def test_the_first_line_says_under_which_changes_it_is_answered(cluster, manifest):
    assert first_line(cluster, "-f", manifest, "--without-nodes", "n2") == "If n2 were removed: 4 of 4 would fit."
    assert first_line(
        cluster, "-f", manifest, "--cordon", "n2", "--replicas", "5", "--add-nodes", "2", "--like", "n0"
    ) == ("If n2 were cordoned, and 2 nodes like n0 were added: 5 of 5 would fit.")
    assert first_line(cluster, "-f", manifest, "--cordon", "n1", "--cordon", "n2", "--max").startswith(
        "If n1 and n2 were cordoned: 2 would fit; the 3rd: "
    )
    document = json.loads(run("fit", cluster, "-f", manifest, "--cordon", "n2", "-o", "json").stdout)
    assert document["assumed"] == ["n2 were cordoned"]


def test_no_fix_takes_the_change_back(cluster, manifest):
    for more in ([], ["--max"], ["--nodes-like", "n2"]):
        options = ("--cordon", "n0", "--cordon", "n1", "--cordon", "n2", *more)
        assert "uncordon" not in run("fit", cluster, "-f", manifest, *options).stdout
        assert "uncordon" not in run("simulate", cluster, "-f", manifest, *options[:6], "-o", "jsonl").stdout


def test_the_pods_of_removed_nodes_take_room_and_lost_ones_are_named(tmp_path, manifest):
    pods = [
        make_pod(f"old-{i}", node="n2", requests={"cpu": "2"}, metadata=owned_by("ReplicaSet", "old")) for i in (1, 2)
    ]
    path = write(tmp_path, *NODES, *pods, make_pod("bare", node="n1"))
    out = run("fit", path, "-f", manifest, "--without-nodes", "n1", "--without-nodes", "n2").stdout
    assert out.startswith("If n1 and n2 were removed: 0 of 4 would fit; the queue takes the room of 2 more")
    assert "2 pods of the removed nodes would be re-created." in out
    assert "1 pod would be lost: default/bare" in " ".join(out.split())


def test_the_next_command_is_about_the_same_changes(cluster, manifest):
    last = run("fit", cluster, "-f", manifest, "--without-nodes", "n2", "--replicas", "9").stdout.splitlines()[-1]
    assert last == f"Next: kubesched fit {cluster} -f {manifest} --without-nodes n2 --replicas 9 --nodes-like n0"


def test_what_if_options_need_each_other_in_fit_too(cluster, manifest):
    for options, words in ((["--add-nodes", "2"], "--add-nodes and --like need each other"), (["-l", "a=b"], "-l and")):
        result = run("fit", cluster, "-f", manifest, *options)
        assert (result.exit_code, words in result.stderr) == (2, True)


def test_the_patch_of_a_pod_of_a_manifest_is_for_the_manifest(tmp_path):
    cluster = write(tmp_path, make_node("n1", taints=["db:NoSchedule"]))
    manifest = tmp_path / "web.json"
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "app"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    document = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    manifest.write_text(json.dumps(document))
    printed = run("fit", cluster, "-f", manifest, "-o", "patch").stdout
    assert "# In the manifest of Deployment default/web, as a strategic merge patch: " in printed
    assert "kubectl" not in printed


@pytest.mark.parametrize(
    ("image", "replicas", "change"),
    [
        ("app:2", 1, 'merge patch: {"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0,'),
        ("app:1", 2, 'strategic merge patch: {"spec": {"template": {"spec": {"topologySpreadConstraints":'),
    ],
    ids=["rollout", "scaled"],
)
def test_the_patch_of_a_workload_that_runs_is_for_the_manifest_too(tmp_path, image, replicas, change):
    """Not for the Deployment that runs: the next apply would take that back."""
    app = {"name": "app", "image": "app:1", "command": ["run"], "resources": {"requests": {"cpu": "1500m"}}}
    selector = {"matchLabels": {"app": "web"}}
    spread = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-5d", "uid": "rs", "controller": True}
    metadata = {"ownerReferences": [owner], "labels": {"app": "web", "pod-template-hash": "5d"}}
    constrained = {"containers": [app], "topologySpreadConstraints": [spread]}
    old = make_pod("web-5d-a", node="n1", metadata=metadata, spec=constrained)
    containers = [{**app, "image": image}]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {**constrained, "containers": containers}}
    strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    spec = {"replicas": replicas, "strategy": strategy, "selector": selector, "template": template}
    document = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(document))
    large = "2" if image == "app:2" else "4"
    nodes = [make_node(name, allocatable={"cpu": cpu, "pods": "9"}) for name, cpu in (("n1", large), ("n2", "1"))]
    printed = run("fit", write(tmp_path, *nodes, old), "-f", manifest, "-o", "patch").stdout
    assert f"In the manifest of Deployment default/web, as a {change}" in " ".join(printed.replace("\n# ", " ").split())
    assert "kubectl" not in printed


def test_a_gang_that_would_not_run_fails(cluster, tmp_path):
    manifest = tmp_path / "ring.yaml"
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "ring"}}
    pod = json.loads(make_pod("w", requests={"cpu": "1"}, labels={"scheduling.x-k8s.io/pod-group": "ring"}).raw)
    whole = [{**group, "spec": {"minMember": n}} for n in (1, 2)]
    for one, code in zip(whole, (0, 1), strict=True):
        manifest.write_text(json.dumps(one) + "\n---\n" + json.dumps({**pod, "apiVersion": "v1", "kind": "Pod"}))
        assert run("fit", cluster, "-f", manifest, "--fail-on-pending").exit_code == code
