"""The what-if options of `kubesched simulate`: the tables are those of the changed cluster."""

import json

import pytest

from kubesched.session import Session
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.device_cluster import GPU, NOT_DECIDED, device_cluster

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "10"}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d9f", "uid": "r", "controller": True}
DAEMON = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "logs", "uid": "d", "controller": True}


def web(i, node):
    labels = {"pod-template-hash": "7d9f"}
    metadata = {"ownerReferences": [OWNER]}
    return make_pod(f"web-7d9f-{i}", node=node, labels=labels, requests={"cpu": "1"}, metadata=metadata)


@pytest.fixture
def cluster(tmp_path):
    return write(
        tmp_path,
        make_node("n1", allocatable=SMALL, labels={"pool": "a"}),
        make_node("n2", allocatable=SMALL, labels={"pool": "b"}),
        web(1, "n1"),
        web(2, "n2"),
        make_pod("logs-1", node="n1", requests={"cpu": "500m"}, metadata={"ownerReferences": [DAEMON]}),
        make_pod("alone", node="n1"),
    )


def simulated(cluster, *options):
    result = run("simulate", cluster, "-o", "json", *options)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    return {pod["pod"]: pod.get("node", "") for pod in document["pods"]}, document.get("whatIf", {})


@pytest.mark.parametrize(
    "options", [("--without-nodes", "n1"), ("--without-nodes", "-l", "pool=a"), ("--without-nodes", "pool in (a)")]
)
def test_pods_of_removed_nodes_are_placed_again(cluster, options):
    placed, found = simulated(cluster, *options)
    assert placed == {"default/web-7d9f-1": "n2"}
    assert found["notes"] == [
        "1 pod of the removed node would be re-created",
        "1 pod would be lost: default/alone (no controller would create it again)",
    ]


@pytest.mark.parametrize("output", ["wide", "summary", "json"])
def test_a_lost_pod_fails_on_pending_and_is_told_in_every_form(cluster, output):
    result = run("simulate", cluster, "--without-nodes", "n1", "--fail-on-pending", "-o", output)
    assert (result.exit_code, "1 pod would be lost" in result.stdout) == (1, True)


def test_several_nodes_can_be_removed(cluster):
    placed, _ = simulated(cluster, "--without-nodes", "n1", "--without-nodes", "n2")
    assert placed == {"default/web-7d9f-1": "", "default/web-7d9f-2": ""}


def test_a_scaled_workload_has_new_pods(cluster):
    placed, _ = simulated(cluster, "--scale", "deploy/web=4")
    assert placed == {"default/web-7d9f-new-1": "n2", "default/web-7d9f-new-2": ""}


def test_pods_go_to_added_nodes(cluster):
    placed, _ = simulated(cluster, "--scale", "deploy/web=4", "--add-nodes", "1", "--like", "n1")
    assert set(placed.values()) == {"n2", "new-1"}


def test_a_node_is_described_by_a_file(cluster, tmp_path):
    path = tmp_path / "big.yaml"
    path.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: big}\nstatus: {allocatable: {cpu: '9', pods: '9'}}\n")
    placed, _ = simulated(cluster, "--scale", "deploy/web=9", "--add-nodes", "1", "--like", path)
    assert sorted(placed.values()) == ["n2"] + ["new-1"] * 6


def test_a_cordoned_node_gets_nothing(cluster):
    placed, _ = simulated(cluster, "--scale", "deploy/web=3", "--cordon", "pool=b")
    assert placed == {"default/web-7d9f-new-1": ""}


@pytest.mark.parametrize("which", ["n1", "pool in (a, b)"])
def test_an_uncordoned_node_gets_pods(tmp_path, which):
    node = make_node("n1", allocatable=SMALL, labels={"pool": "a"}, spec={"unschedulable": True})
    other = make_node("n2", allocatable=SMALL | {"cpu": "1"}, labels={"pool": "b"})
    cluster = write(tmp_path, node, other, make_pod("big", requests={"cpu": "2"}))
    assert simulated(cluster)[0] == {"default/big": ""}
    assert simulated(cluster, "--uncordon", which)[0] == {"default/big": "n1"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--add-nodes", "1"), "--add-nodes and --like need each other: --add-nodes 3 --like worker-1"),
        (("--like", "n1"), "--add-nodes and --like need each other: --add-nodes 3 --like worker-1"),
        (("-l", "pool=a"), "-l and --without-nodes need each other: --without-nodes -l pool=spot"),
        (("--without-nodes",), "-l and --without-nodes need each other: --without-nodes -l pool=spot"),
        (("--scale", "deploy/web"), "found 'deploy/web'; write WORKLOAD=N, such as deploy/web=20"),
        (("--scale", "deploy/web=1", "--scale", "deploy/web=2"), "deploy/web is given twice"),
        (("--uncordon", "n1"), "node n1 is not cordoned"),
        (("--uncordon", "pool in (a, b)"), "none of the 2 nodes n1, n2 is cordoned"),
        (("--cordon", "n3"), "no node has the name n3; found: n1, n2"),
    ],
)
def test_a_wrong_option_is_one_sentence(cluster, options, message):
    result = run("simulate", cluster, *options)
    assert result.exit_code == 2
    assert message in result.stderr


NOTES = [
    "1 pod of the removed node would be re-created",
    "1 pod would be lost: default/alone (no controller would create it again)",
]
ANSWERS = {
    (
        "--without-nodes",
        "n1",
    ): "If n1 were removed: of 1 pod on removed nodes, 1 would find a place; 1 pod would be lost; "
    "no pod would stay pending.",
    (
        "--without-nodes",
        "n1",
        "--without-nodes",
        "n2",
    ): "If n1 and n2 were removed: of 2 pods on removed nodes, 0 would find a place; "
    "1 pod would be lost; 2 pods would stay pending, 2 more than without this change.",
    (
        "--without-nodes",
        "-l",
        "pool in (a)",
    ): "If 1 node with pool in (a) were removed: of 1 pod on removed nodes, 1 would find a place; 1 pod would be lost; "
    "no pod would stay pending.",
    ("--cordon", "n1", "--cordon", "pool!=c", "--cordon", "n1"): "If n1 and 2 nodes with pool!=c were cordoned: "
    "no pod would stay pending.",
    ("--scale", "deploy/web=4"): "If deploy/web had 4 pods: 1 of 2 new pods would be placed; "
    "1 pod would stay pending, 1 more than without this change.",
    ("--scale", "deploy/web=4", "--add-nodes", "1", "--like", "n1", "--cordon", "n2"): "If n2 were cordoned, "
    "and 1 node like n1 were added, and deploy/web had 4 pods: 1 of 2 new pods would be placed; "
    "1 pod would stay pending, 1 more than without this change.",
}


@pytest.mark.parametrize("options", ANSWERS)
def test_the_first_line_has_the_assumption_and_what_it_changes(cluster, options):
    lines = run("simulate", cluster, *options).stdout.splitlines()
    text = " ".join(lines[: lines.index("")])
    assert text.startswith(f"{ANSWERS[options]} ")
    assert "pending pod" in text or "No pod is pending." in text
    assert run("simulate", cluster, *options, "-o", "summary").stdout.startswith(f"{ANSWERS[options]} ")
    assert simulated(cluster, *options)[1]["text"] == ANSWERS[options]
    assert run("simulate", cluster, *options, "-o", "markdown").stdout.startswith(f"**{ANSWERS[options]}**\n")
    assert ANSWERS[options] in run("simulate", cluster, *options, "-o", "html").stdout


def test_pods_that_a_change_displaces_are_named(tmp_path):
    cluster = write(
        tmp_path, make_node("n1"), make_node("n2", allocatable=SMALL), make_pod("big", requests={"cpu": "3"})
    )
    lines = run("simulate", cluster, "--cordon", "n1").stdout.splitlines()
    assert lines[0] == "If n1 were cordoned: 1 pod would stay pending, 1 more than without this change."
    displaced = "1 pod would be placed without this change, and would stay pending with it: default/big."
    assert displaced in lines
    found = simulated(cluster, "--cordon", "n1")[1]
    assert (found["displaced"], found["pending"], found["pendingBefore"]) == (["default/big"], 1, 0)
    cordoned = write(tmp_path, make_node("n1", spec={"unschedulable": True}), make_pod("big"), name="cordoned.json")
    text = "If n1 were uncordoned: no pod would stay pending, against 1 without this change."
    found = simulated(cordoned, "--uncordon", "n1")[1]
    assert (found["text"], found["relieved"]) == (text, ["default/big"])


def test_a_pod_that_a_change_does_not_help_is_not_relieved(tmp_path):
    node = make_node("n1", spec={"unschedulable": True}, allocatable=SMALL)
    pods = [make_pod("web"), make_pod("huge", requests={"cpu": "99"})]
    found = simulated(write(tmp_path, node, *pods), "--uncordon", "n1")[1]
    assert (found["relieved"], found["pending"], found["pendingBefore"]) == (["default/web"], 1, 2)


@pytest.mark.parametrize("output", ["csv", "jsonl", "junit", "patch", "summary", "table"])
def test_what_happens_to_pods_is_said_once(cluster, output):
    result = run("simulate", cluster, "--without-nodes", "n1", "-o", output)
    beside = [f"kubesched: note: {note}" for note in NOTES]
    assert result.stderr.splitlines() == ([] if output == "table" else beside)
    assert (f"{NOTES[1]}." in result.stdout.splitlines()) == (output == "table")
    single = run("simulate", cluster, "--without-nodes", "n1", "--no-preemption-effects", "-o", "jsonl")
    assert single.stderr.splitlines() == beside


def test_evictions_that_a_change_causes_are_counted(tmp_path):
    low = make_pod("low", node="n1", requests={"cpu": "2"}, priority=1)
    high = make_pod("high", requests={"cpu": "2"}, priority=9)
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in (1, 2)]
    found = simulated(write(tmp_path, *nodes, low, high), "--cordon", "n2")[1]
    evicted = "1 pod would be evicted, 1 more."
    assert found["text"].endswith(f"no pod would stay pending; {evicted}")
    assert (found["evicted"], found["evictedBefore"]) == (1, 0)


def test_both_simulations_have_the_same_plugins_and_profile(tmp_path):
    (tmp_path / "only.py").write_text(
        "from kubesched import Plugin, PluginArgs, Status\n\n\n"
        "class Only(Plugin):\n"
        "    class Args(PluginArgs):\n"
        "        node: str = ''\n\n"
        "    def filter(self, state, pod, node):\n"
        "        return Status.SUCCESS if node.name == self.args.node else Status.unschedulable('another')\n"
    )
    (tmp_path / "args.yaml").write_text("node: n2\n")
    (tmp_path / "two.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles: [{schedulerName: default-scheduler}, {schedulerName: other}]\n"
    )
    pods = [make_pod("mine"), make_pod("theirs", spec={"schedulerName": "other"})]
    cluster = write(tmp_path, make_node("n1"), make_node("n2"), *pods)
    words = ("--plugin", f"{tmp_path}/only.py:Only", "--plugin-args", f"Only={tmp_path}/args.yaml")
    words += ("--config", tmp_path / "two.yaml", "--profile", "other")
    placed, found = simulated(cluster, *words, "--cordon", "n1")
    assert (placed, found["displaced"]) == ({"default/mine": "", "default/theirs": "n2"}, [])
    placed, found = simulated(cluster, *words, "--cordon", "n2")
    assert (placed["default/theirs"], found["displaced"]) == ("", ["default/theirs"])


def test_many_nodes_are_named_shortly(tmp_path):
    spec = {"unschedulable": True}
    nodes = [make_node(f"n{i}", labels={"pool": "a"}, spec=spec if i < 4 else {}) for i in range(6)]
    cluster = write(tmp_path, *nodes, make_pod("p"))
    named = [word for i in range(6) for word in ("--cordon", f"n{i}")]
    assert simulated(cluster, *named)[1]["assumed"] == ["n0, n1, n2 and 3 more were cordoned"]
    freed = ("--uncordon", "n0", "--uncordon", "n1", "--uncordon", "pool=a")
    assert simulated(cluster, *freed)[1]["assumed"] == ["n0, n1 and 4 nodes with pool=a were uncordoned"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"stats": {}}, 'stats: unknown field; did you mean "status"?'),
        ({"spec": {"taints": [{"key": "a", "effect": "NoShedule"}]}}, 'found "NoShedule"; expected NoSchedule,'),
    ],
)
def test_the_file_of_a_new_node_is_decoded_strictly(cluster, tmp_path, fields, words):
    file = tmp_path / "big.yaml"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "big"}} | fields))
    for command in (("simulate", "--add-nodes", "1", "--like"), ("fit", "--resource", "cpu=1", "--nodes-like")):
        result = run(command[0], cluster, *command[1:], str(file))
        assert result.exit_code == 2
        assert words in result.stderr


DB = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "s", "controller": True}


@pytest.fixture
def stuck(tmp_path):
    """A StatefulSet whose first pod stays pending."""
    first = make_pod("db-0", labels={"app": "db"}, requests={"cpu": "9"}, metadata={"ownerReferences": [DB]})
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "db"}}}
    known = make_object("StatefulSet", "db", namespace="default", metadata={"uid": "s"}, spec=spec)
    return write(tmp_path, make_node("n1", allocatable=SMALL), known, first)


@pytest.mark.parametrize("output", ["jsonl", "json"])
@pytest.mark.parametrize("effects", [(), ("--no-preemption-effects",)])
@pytest.mark.parametrize("way", ["scale", "manifest"])
def test_no_way_to_ask_creates_a_pod_after_the_one_that_stays_pending(tmp_path, stuck, way, effects, output):
    requests = {"resources": {"requests": {"cpu": "1"}}}
    template = {
        "metadata": {"labels": {"app": "db"}},
        "spec": {"containers": [{"name": "c", "image": "i", **requests}]},
    }
    spec = {"replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
    manifest = tmp_path / "db.json"
    metadata = {"name": "db", "namespace": "default"}
    manifest.write_text(
        json.dumps({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec})
    )
    asked = ("--scale", "sts/db=3") if way == "scale" else ("--manifest", str(manifest))
    result = run("simulate", stuck, *asked, *effects, "-o", output)
    assert "db-0" in result.stdout
    assert '"n1"' not in result.stdout.partition('"nodes"')[0]


def test_pods_that_are_not_created_are_counted(stuck):
    result = run("simulate", stuck, "--scale", "sts/db=3", "-o", "summary", "--fail-on-pending")
    said = "0 of 2 new pods would be placed, 2 would not be created; 1 pod would stay pending, as many as without this"
    assert said in result.stdout
    assert "3 pods: 1 would stay pending, 2 would not be created." in result.stdout


@pytest.mark.parametrize("more", [(), ("-o", "jsonl")])
def test_a_pod_that_is_not_created_fails_on_pending(tmp_path, more):
    gated = make_pod("db-1", metadata={"ownerReferences": [DB]}, spec={"schedulingGates": [{"name": "x/y"}]})
    first = make_pod("db-0", node="n1", metadata={"ownerReferences": [DB], "creationTimestamp": "2026-01-01T00:00:00Z"})
    file = write(tmp_path, make_node("n1", allocatable=SMALL), first, gated)
    result = run("simulate", file, "--scale", "sts/db=4", "--fail-on-pending", *more)
    assert result.exit_code == 1
    assert "no pod would stay pending" not in result.stdout
    if not more:
        assert "0 of 2 new pods would be placed, 2 would not be created." in result.stdout
        assert "Would not be created: 2" in result.stdout


def test_nodes_to_uncordon_may_be_chosen_twice(tmp_path):
    node = make_node("n1", allocatable=SMALL, labels={"p": "a"}, spec={"unschedulable": True})
    file = write(tmp_path, node, make_pod("p", requests={"cpu": "1"}))
    for second in ("n1", "p=a"):
        placed, _ = simulated(file, "--uncordon", "n1", "--uncordon", second)
        assert placed == {"default/p": "n1"}


@pytest.mark.parametrize(("output", "n_runs"), [("csv", 1), ("jsonl", 1), ("junit", 1), ("json", 2), ("summary", 2)])
def test_the_cluster_as_it_is_is_simulated_only_for_a_comparison(monkeypatch, cluster, output, n_runs):
    runs, schedule = [], Session.schedule
    monkeypatch.setattr(Session, "schedule", lambda *given, **more: runs.append(given) or schedule(*given, **more))
    result = run("simulate", cluster, "--scale", "deploy/web=3", "-o", output)
    assert result.exit_code == 0, result.stderr
    assert len(runs) == n_runs


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("options", [("--cordon", "dra-1"), ("--add-nodes", "1", "--like", "plugin-1")])
def test_pods_that_are_not_decided_do_not_stay_pending(tmp_path, options):
    cluster = write(tmp_path, *device_cluster(), make_pod("served", requests={GPU: 1}))
    document = json.loads(run("simulate", cluster, "-o", "json", *options).stdout)
    found = document["whatIf"]
    assert "no pod would stay pending; 1 pod cannot be decided, as many as without this change." in found["text"]
    assert (found["pending"], found["pendingBefore"], found["undecided"], found["undecidedBefore"]) == (0, 0, 1, 1)
    assert (found["displaced"], found["relieved"]) == ([], [])
    (served,) = document["pods"]
    assert (served["state"], served["message"], "reason" in served) == ("notDecided", NOT_DECIDED, False)


@pytest.mark.usefixtures("no_search")
def test_the_pods_of_a_removed_node_that_are_not_decided_are_not_pending(tmp_path):
    cluster = write(tmp_path, *device_cluster())
    found = simulated(cluster, "--without-nodes", "plugin-1")[1]
    assert (found["pending"], found["undecided"], found["undecidedBefore"]) == (0, 1, 0)
    assert "1 pod cannot be decided, 1 more than without this change" in found["text"]


@pytest.mark.parametrize(
    ("n", "kept"), [(1, 2), (2, None), (3, None), (9, 3), (0, None)], ids=["below", "least", "most", "above", "zero"]
)
def test_an_autoscaler_that_takes_a_scale_back_is_named(tmp_path, n, kept):
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    scaler = make_object(
        "HorizontalPodAutoscaler",
        "web",
        namespace="default",
        spec={"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 3},
    )
    found = simulated(
        write(tmp_path, make_node("n1"), web(1, "n1"), web(2, "n1"), scaler), "--scale", f"deploy/web={n}"
    )[1]
    said = (
        f"Deployment default/web would not keep {n} pod{'' if n == 1 else 's'}: HorizontalPodAutoscaler web sets it to "
        f"{kept} (minReplicas 2 to maxReplicas 3); here it has {n}"
    )
    assert found["notes"] == ([said] if kept else [])
