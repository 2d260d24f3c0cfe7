"""What commands say about their input on standard error."""

import json

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write


def stderr(path, *options) -> list[str]:
    return run("simulate", path, "-o", "summary", *options).stderr.splitlines()


def test_pods_on_nodes_that_the_snapshot_lacks_are_counted_once(tmp_path):
    pods = [make_pod(f"p{i}", node=f"gone-{i % 2}") for i in range(3)]
    path = write(tmp_path, make_node("n1"), *pods, make_pod("done", node="gone-9", status={"phase": "Succeeded"}))
    said = "kubesched: note: 3 pods on 2 nodes that the snapshot does not have (gone-0, gone-1): not counted"
    assert said in stderr(path)


def test_kinds_that_a_scheduler_does_not_read_are_counted(tmp_path):
    (tmp_path / "more.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    write(tmp_path, make_node("n1"))
    said = "kubesched: note: left out, because kubesched does not read these kinds: 1 ConfigMap"
    assert said in stderr(tmp_path)


def test_a_kind_that_is_missing_altogether_is_told_with_the_way_to_get_it(tmp_path):
    pod = make_pod("p", spec={"priorityClassName": "high", "priority": None})
    path = write(tmp_path, make_node("n1"), pod)
    (brief,), (line,) = stderr(path), stderr(path, "--notes")
    said = "kubesched: note: the snapshot has no PriorityClass: the priority of 1 pod"
    assert brief == f"{said} counts as 0; --notes says which, and how to add them"
    assert line.startswith(f"{said} (default/p)")
    assert "kubectl get priorityclasses -o json" in line


def test_bad_objects_stop_the_command_or_are_named_and_left_out(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nspec: {unschedulable: maybe}\n")
    result = run("simulate", path)
    assert result.exit_code == 2
    assert "unschedulable" in result.stderr
    (line,) = stderr(path, "--skip-bad-objects")
    assert line.startswith("kubesched: note: left out: ")
    assert "unschedulable" in line


def test_extenders_are_named_as_not_asked(tmp_path):
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- urlPrefix: https://example.com/x\n  filterVerb: filter\n"
    )
    lines = stderr(write(tmp_path, make_node("n1")), "--config", config)
    assert lines == ["kubesched: note: extenders are not called without --extenders call: https://example.com/x"]


def test_a_snapshot_with_everything_gets_no_notes(tmp_path):
    assert stderr(write(tmp_path, make_node("n1"), make_pod("p", node="n1"))) == []


def refusal(path) -> str:
    result = run("simulate", path)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    return line


def test_without_a_node_and_a_pending_pod_there_is_nothing_to_answer(tmp_path):
    said = (
        "kubesched: error: the snapshot has {}; expected a cluster, as `kubesched snapshot -o cluster.json.gz` saves it"
    )
    assert refusal(write(tmp_path)) == said.format("no node and no pod")
    assert refusal(write(tmp_path, make_object("Namespace", "a"))) == said.format("no node and no pod")
    pods = [make_pod("p", node="gone"), make_pod("done", status={"phase": "Succeeded"})]
    assert refusal(write(tmp_path, *pods)) == said.format("2 pods and no node")
    assert run("simulate", write(tmp_path, make_node("n1"))).exit_code == 0
    pending = write(tmp_path, make_pod("p"))
    assert refusal(pending) == said.format("1 pod and no node")
    whole = tmp_path / "whole.json"
    metadata = {"listedKinds": ["Node", "Pod"]}
    whole.write_text(json.dumps({**json.loads(pending.read_text()), "metadata": metadata}))
    assert run("simulate", whole).exit_code == 0
    assert run("snapshot", pending, "-o", tmp_path / "copy.json").exit_code == 0


def test_workloads_in_a_snapshot_are_answered_with_the_option_for_manifests(tmp_path):
    (tmp_path / "web.yaml").write_text("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\n")
    write(tmp_path, make_node("n1"))
    note = "kubesched: note: left out, because kubesched does not read these kinds: 1 CronJob"
    assert stderr(tmp_path) == [f"{note}; to add the pods of new workloads, use --manifest FILE"]
    assert run("fit", tmp_path, "--resource", "cpu=1").stderr.splitlines() == [note]


def test_workloads_that_are_read_and_have_no_pods_are_answered_with_the_option_for_manifests(tmp_path):
    text = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: %s, uid: '%s'}\n---\n"
    (tmp_path / "db.yaml").write_text(text % ("new", "") + text % ("scaled-down", "7") + text % ("there", ""))
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "there", "controller": True}
    write(tmp_path, make_node("n1"), make_pod("there-0", node="n1", metadata={"ownerReferences": [owner]}))
    note = "kubesched: note: without uid and without pods, as in a manifest: 1 StatefulSet"
    assert stderr(tmp_path) == [f"{note}; to add the pods of new workloads, use --manifest FILE"]


def test_a_manifest_in_place_of_a_snapshot_is_answered_with_the_command_for_it(tmp_path):
    path = tmp_path / "web.yaml"
    path.write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
    assert refusal(path) == (
        "kubesched: error: the snapshot has no node and no pod but 1 Deployment; expected a cluster, as `kubesched "
        f"snapshot -o cluster.json.gz` saves it; then `kubesched fit cluster.json.gz -f {path}` answers for new pods"
    )


def test_workloads_whose_pods_are_in_the_snapshot_are_not_left_out(tmp_path):
    (tmp_path / "agents.yaml").write_text("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\n")
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "controller": True}
    write(tmp_path, make_node("n1"), make_pod("agent-x", node="n1", metadata={"ownerReferences": [owner]}))
    assert stderr(tmp_path) == []


EXPORT = {
    "nodes": [json.loads(make_node(name).raw) for name in ("n1", "n2")],
    "pods": [json.loads(make_pod("p", spec={"schedulerName": "mine"}).raw)],
    "schedulerConfig": {"profiles": [{"schedulerName": "mine"}]},
}
"""What kube-scheduler-simulator exports."""


@pytest.mark.parametrize(
    ("command", "word", "code"),
    [
        ("simulate", "n1", 0),
        ("explain", "1 fits.", 0),
        ("drain", "n1", 0),
        ("fit --resource cpu=1", "found: mine", 1),
    ],
)
def test_the_configuration_in_an_export_is_the_default_of_config(tmp_path, command, word, code):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(EXPORT))
    name, *options = command.split()
    result = run(name, path, *options, *(["n1"] if name == "drain" else []))
    assert result.exit_code == code, result.stderr
    note = "kubesched: note: the configuration is the schedulerConfig of the snapshot; --config FILE replaces it"
    assert note in result.stderr.splitlines()
    assert word in result.stdout


def test_a_configuration_of_the_user_replaces_the_one_in_an_export(tmp_path):
    path, config = tmp_path / "export.json", tmp_path / "scheduler.yaml"
    path.write_text(json.dumps(EXPORT))
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    result = run("simulate", path, "--config", config)
    assert "schedulerConfig" not in result.stderr
    assert 'no profile has the scheduler name "mine"' in result.stdout


def test_a_bad_configuration_in_an_export_is_named(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps({**EXPORT, "schedulerConfig": {"parallelism": -1}}))
    result = run("simulate", path)
    assert result.exit_code == 2
    assert "parallelism: Invalid value: -1" in result.stderr
    assert "in schedulerConfig of the snapshot" in result.stderr


def test_compare_does_not_use_the_configuration_in_an_export(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(EXPORT))
    result = run("compare", path, "--pack", "--seeds", 5)
    assert result.exit_code == 0, result.stderr
    assert "kubesched: note: the schedulerConfig of the snapshot is not used" in result.stderr
