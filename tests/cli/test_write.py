"""--write: the cluster after simulate, fit and drain is the one that the next command is about."""

import json
from pathlib import Path

import pytest

from kubesched.api import Node, Pod
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write
from tests.planning.drain_clusters import owned_by

ROOM = {"cpu": "2", "pods": "10"}
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Two nodes with two CPUs, a pod on each, and one that waits."""
    web = owned_by("ReplicaSet", "web")
    pods = [make_pod(f"web-{i}", node=f"n{i}", requests={"cpu": "1"}, metadata=web) for i in (1, 2)]
    nodes = [make_node(f"n{i}", allocatable=ROOM) for i in (1, 2)]
    return write(tmp_path, *nodes, *pods, make_pod("waits", requests={"cpu": "1"}))


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "deploy.yaml"
    path.write_text(DEPLOYMENT)
    return path


def places(snapshot: Path) -> dict[str, str]:
    return {pod.name: pod.node_name for pod in load_snapshot(snapshot).of(Pod)}


@pytest.mark.parametrize("output", ["summary", "json", "jsonl"])
def test_simulate_writes_where_the_pods_run(cluster: Path, tmp_path: Path, output: str):
    after = tmp_path / "after.json"
    assert run("simulate", cluster, "--write", after, "-o", output).exit_code == 0
    assert places(after) == {"web-1": "n1", "web-2": "n2", "waits": "n1"}
    assert run("simulate", after, "-o", "jsonl").stdout == ""


def test_simulate_writes_the_cluster_with_the_change(cluster: Path, tmp_path: Path):
    after = tmp_path / "after.json"
    for output in ("table", "jsonl"):
        run("simulate", cluster, "--without-nodes", "n2", "--write", after, "-o", output)
        assert [node.name for node in load_snapshot(after).of(Node)] == ["n1"]
        assert sorted(places(after).items()) == [("waits", "n1"), ("web-1", "n1"), ("web-2", "")]


def test_an_evicted_pod_is_there_again(tmp_path: Path):
    after = tmp_path / "after.json"
    run("simulate", write(tmp_path, *shop()), "--write", after)
    report = [json.loads(line) for line in run("simulate", after, "-o", "jsonl").stdout.splitlines()]
    assert not [line["pod"] for line in report if line["state"] == "scheduled"]
    assert places(after)["cheap"] == ""


def test_fit_writes_the_cluster_with_the_new_pods(cluster: Path, manifest: Path, tmp_path: Path):
    after, later = tmp_path / "after.json", tmp_path / "later.json"
    assert run("fit", cluster, "-f", manifest, "--write", after).stdout.startswith("1 of 2 would fit")
    assert sorted(places(after).values()) == ["", "n1", "n1", "n2", "n2"]
    wider = run("fit", after, "-f", manifest, "--add", "--nodes-like", "n1=1", "--write", later)
    assert wider.stdout.startswith("Beside the 2 pods of Deployment default/web: 1 of 2 would fit with 1 more node")
    assert len(places(later)) == 7


def test_drain_writes_what_simulate_leaves_alone(cluster: Path, tmp_path: Path):
    after = tmp_path / "after.json"
    run("drain", cluster, "n1", "--write", after)
    assert places(after) == {"web-1": "", "web-2": "n2", "waits": "n2"}
    assert run("simulate", after, "-o", "summary").stdout.startswith("1 pending pod: 1 would stay pending")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["simulate", "--no-preemption-effects"], "--write and --no-preemption-effects are mutually exclusive"),
        (["fit", "--max"], "--write and a search are mutually exclusive: use --replicas N and --nodes-like NODE=N"),
        (["fit", "--alone"], "--write and --alone are mutually exclusive"),
    ],
)
def test_what_leaves_no_whole_cluster_writes_none(cluster: Path, manifest: Path, command: list[str], words: str):
    name, *options = command
    pods = ["-f", str(manifest)] if name == "fit" else []
    result = run(name, cluster, *pods, *options, "--write", "after.json")
    assert (result.exit_code, words in result.stderr) == (2, True)


@pytest.mark.parametrize("command", ["simulate", "fit"])
def test_no_input_is_replaced(cluster: Path, manifest: Path, command: str):
    for path in (cluster, manifest.with_name("deploy.json")):
        path.exists() or path.write_text("{}")
        result = run(command, cluster, "-f", path if path != cluster else manifest, "--write", path)
        assert result.exit_code == 2
        assert f"--write {path} would replace an input" in result.stderr


def test_a_pod_that_is_not_created_is_not_there_in_the_next_command_either(tmp_path: Path):
    spec = {"serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "replicas": 2}
    pods = [
        make_pod(
            f"db-{i}", node="n1", requests={"cpu": cpu}, metadata=owned_by("StatefulSet", "db"), labels={"app": "db"}
        )
        for i, cpu in enumerate(("2", "1"))
    ]
    nodes = [make_node("n1", allocatable=ROOM), make_node("n2", allocatable={"cpu": "1", "pods": "9"})]
    cluster = write(tmp_path, *nodes, make_object("StatefulSet", "db", spec=spec), *pods)
    after = tmp_path / "after.json"
    first = run("simulate", cluster, "--without-nodes", "n1", "--write", after, "-o", "json")
    assert json.loads(first.stdout)["whatIf"]["notCreated"] == ["default/db-1"]
    assert places(after) == {"db-0": "", "db-1": ""}
    again = tmp_path / "again.json"
    second = run("simulate", after, "--write", again, "-o", "summary").stdout
    assert "1 would not be created" in second
    assert places(again) == places(after)
