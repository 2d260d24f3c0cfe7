import json
from pathlib import Path

import pytest

from kubesched.pages.formats import Format
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write

HEADER = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return write(tmp_path, *shop())


def lines(*arguments: object) -> dict[str, dict]:
    """The jsonl output by the names of the pods."""
    result = run("simulate", *arguments, "-o", "jsonl")
    assert result.exit_code == 0, result.stderr
    return {line["pod"].removeprefix("default/"): line for line in map(json.loads, result.stdout.splitlines())}


def test_each_pod_has_a_line_with_what_became_of_it(cluster):
    said = lines(cluster)
    assert {name: line["state"] for name, line in said.items()} == {
        "urgent": "scheduled",
        "fits": "scheduled",
        "huge": "unschedulable",
        "gated": "notTried",
        "foreign": "notTried",
    }
    assert (said["urgent"]["node"], said["urgent"]["attempts"]) == ("n1", 2)
    assert said["urgent"]["victims"] == ["default/cheap"]
    assert said["huge"]["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert said["gated"]["message"] == "waiting for scheduling gates: [not-yet]"
    assert said["foreign"]["message"] == 'no profile has the scheduler name "volcano"; found: default-scheduler'


def test_without_effects_every_pod_is_tried_once_and_victims_stay(cluster):
    said = lines(cluster, "--no-preemption-effects")
    assert list(said) == ["urgent", "fits", "huge", "gated"]
    assert said["urgent"]["preemption"] == [{"node": "n1", "victims": ["default/cheap"]}]
    of_fits = {"node": "n2", "pod": "default/fits", "profile": "default-scheduler"}
    assert said["fits"] == {**of_fits, "kubernetesVersion": "v1.36", "clusterVersion": {"source": "default"}}
    assert said["huge"]["message"] == "0/2 nodes are available: 2 Insufficient cpu."
    assert said["huge"]["postFilterMessage"].endswith("Preemption is not helpful for scheduling.")


def test_the_document_holds_pods_victims_nodes_and_counts(cluster):
    document = json.loads(run("simulate", cluster, "-o", "json").stdout)
    fields = [
        "clusterVersion",
        "devices",
        "kubernetesVersion",
        "nodes",
        "pods",
        "schema",
        "stuck",
        "summary",
        "victims",
    ]
    assert list(document) == fields
    assert document["schema"] == "kubesched/simulate/v1"
    assert document["summary"]["scheduled"] == 2
    assert document["victims"][0]["owner"] == "Job/nightly"
    assert document["nodes"][0]["after"]["cpu"] == 2000


def test_the_same_input_gives_the_same_bytes(cluster):
    for output in ("table", "wide", "json", "jsonl", "csv", "markdown", "summary"):
        assert run("simulate", cluster, "-o", output).stdout == run("simulate", cluster, "-o", output).stdout


def test_keys_are_sorted(cluster):
    for line in run("simulate", cluster, "-o", "jsonl").stdout.splitlines():
        assert list(json.loads(line)) == sorted(json.loads(line))


def test_pending_pods_fail_the_command_only_when_asked_to(cluster, tmp_path):
    assert run("simulate", cluster, "-o", "summary").exit_code == 0
    assert run("simulate", cluster, "-o", "summary", "--fail-on-pending").exit_code == 1
    assert run("simulate", cluster, "-o", "jsonl", "--no-preemption-effects", "--fail-on-pending").exit_code == 1
    gated = write(tmp_path, make_node("n1"), make_pod("p", spec={"schedulingGates": [{"name": "g"}]}), name="g.json")
    assert run("simulate", gated, "-o", "summary", "--fail-on-pending").exit_code == 0


def test_random_ties_need_a_seed_and_repeat_with_it(tmp_path):
    nodes = [make_node(f"n{i}") for i in range(9)]
    path = write(tmp_path, *nodes, *(make_pod(f"p{i}", requests={"cpu": "1"}) for i in range(5)))
    result = run("simulate", path, "--tie-break", "random")
    assert result.exit_code == 2
    assert "--tie-break random needs --seed N" in result.stderr
    placed = [
        [line["node"] for line in lines(path, "--tie-break", "random", "--seed", seed).values()]
        for seed in (1, 1, 2, 3)
    ]
    assert placed[0] == placed[1]
    assert placed[1] != placed[2] or placed[2] != placed[3]


def test_ties_go_to_the_first_node_of_the_snapshot_unless_told_otherwise(tmp_path):
    path = write(tmp_path, make_node("b"), make_node("a"), make_pod("p"))
    assert lines(path)["p"]["node"] == "b"


def test_one_profile_may_run_alone(tmp_path):
    config = tmp_path / "scheduler.yaml"
    config.write_text(f"{HEADER}profiles:\n- schedulerName: default-scheduler\n- schedulerName: batch\n")
    pods = [make_pod("web"), make_pod("job", spec={"schedulerName": "batch"})]
    path = write(tmp_path, make_node("n1"), *pods)
    said = lines(path, "--config", config, "--profile", "batch")
    assert {name: line["state"] for name, line in said.items()} == {"web": "notTried", "job": "scheduled"}
    assert said["web"]["message"] == "--profile batch leaves out the profile default-scheduler"
    result = run("simulate", path, "--config", config, "--profile", "night")
    assert result.exit_code == 2
    assert "--profile night: the configuration has no such profile; found: default-scheduler, batch" in result.stderr


def test_a_summary_is_one_line_and_one_for_each_cause(cluster):
    said = run("simulate", cluster, "-o", "summary").stdout
    counts = "2 would be placed, 1 would stay pending, 1 would not be tried. 1 pod of other schedulers."
    first, *causes = said.splitlines()
    assert first == f"4 pending pods: {counts} 1 pod would be evicted. Requested: cpu 75%, memory 0%."
    assert [cause.partition(": ")[0] for cause in causes] == ["1 of default/huge", "1 of default/gated"]


def test_without_pending_pods_there_is_nothing_to_do(tmp_path):
    said = run("simulate", write(tmp_path, make_object("Namespace", "default"), make_node("n1")), "-o", "summary")
    assert said.stdout.startswith("No pod is pending.")


def test_a_run_with_failed_pods_exits_with_1(tmp_path, cluster):
    plugin = tmp_path / "mem_head.py"
    plugin.write_text(
        "from kubesched import Plugin, Status\n\n"
        "class MemHead(Plugin):\n"
        "    def filter(self, state, pod, node):\n"
        "        return room(node)\n\n"
        "def room(node):\n"
        "    return Status.SUCCESS if node.free > 0 else None\n"
    )
    for options in (("-o", "json"), ("-o", "jsonl", "--no-preemption-effects")):
        result = run("simulate", cluster, "--plugin", f"{plugin}:MemHead", *options)
        assert result.exit_code == 1
        assert "has no attribute 'free'" in result.stdout
    assert "1 would fail" in run("simulate", cluster, "--plugin", f"{plugin}:MemHead").stdout


@pytest.mark.parametrize("hook", ["pre_filter(self, state, pod, nodes)", "filter(self, state, pod, node)"])
def test_a_failure_in_the_only_trial_of_a_pod_fails_the_command_in_every_format(tmp_path, hook):
    """kube-scheduler evicts no pod for one whose attempt failed."""
    plugin = tmp_path / "raises.py"
    plugin.write_text(
        f"from kubesched import Plugin\n\nclass Raises(Plugin):\n    def {hook}:\n        raise ValueError\n"
    )
    objects = make_node("n1"), make_pod("cheap", node="n1"), make_pod("p", priority=9)
    command = ("simulate", write(tmp_path, *objects), "--plugin", f"{plugin}:Raises", "--no-preemption-effects", "-o")
    formats = [*(each.value for each in Format), "summary"]
    assert {name: run(*command, name).exit_code for name in formats} == dict.fromkeys(formats, 1)
    report = json.loads(run(*command, "json").stdout)
    assert [(pod["state"], pod["reason"]) for pod in report["pods"]] == [("error", "SchedulerError")]
    assert f"raises.py:5 in {hook[: hook.index('(')]}" in report["pods"][0]["diagnosis"]
    assert report["victims"] == []


def test_pods_that_are_refused_have_a_line_each_and_count_as_pending(tmp_path):
    quota = make_object("ResourceQuota", "q", spec={"hard": {"pods": "1"}})
    cluster = write(tmp_path, make_node("n1"), quota)
    container = {"name": "c", "image": "i"}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}
        for name in "ab"
    ]
    manifest = tmp_path / "pods.json"
    manifest.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    for options in (("-o", "jsonl"), ("--no-preemption-effects", "-o", "jsonl")):
        result = run("simulate", cluster, "--manifest", manifest, "--fail-on-pending", *options)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        assert [line["pod"] for line in lines] == ["default/a", "default/b"]
        assert lines[1]["message"] == (
            'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1'
        )
        assert result.exit_code == 1


def test_the_same_step_for_several_workloads_is_printed_once(tmp_path):
    pods = make_pod("a", requests={"cpu": "1"}), make_pod("b", requests={"cpu": "500m"})
    cluster = write(tmp_path, make_node("n1", unschedulable=True), *pods)
    printed = run("simulate", cluster, "-o", "patch").stdout
    assert printed.splitlines()[-3:] == [
        "",
        "# default/a, default/b: uncordon n1 -> 1 node",
        "kubectl uncordon n1",
    ]
