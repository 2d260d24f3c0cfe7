"""Manifests are named with -f, --filename or --manifest in every command, and in a namespace with fit -n."""

import json
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

NODE = make_node("n1", allocatable={"cpu": "8", "memory": "8Gi", "pods": "20"})
RUNNING = {
    "metadata": {
        "namespace": "shop",
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "rs", "controller": True}
        ],
    },
    "labels": {"app": "web", "pod-template-hash": "1"},
}
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web%s}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.fixture
def web(tmp_path: Path) -> Path:
    path = tmp_path / "web.yaml"
    path.write_text(WEB % "")
    return path


def running(n: int = 2):
    return [make_pod(f"web-1-{i}", node="n1", **RUNNING) for i in range(n)]


@pytest.mark.parametrize("command", ["fit", "simulate", "explain"])
@pytest.mark.parametrize("option", ["-f", "--filename", "--manifest"])
def test_every_command_takes_the_names_of_the_option_for_manifests(tmp_path, web, command, option):
    result = run(command, write(tmp_path, NODE), option, web, "-o", "json")
    assert result.exit_code == 0, result.stderr
    assert "default/web-" in result.stdout


def test_fit_in_a_namespace_recognises_what_runs_there(tmp_path, web):
    cluster = write(tmp_path, NODE, *running())
    first = run("fit", cluster, "-f", web, "-n", "shop").stdout.splitlines()[0]
    assert first.startswith("A rollout of Deployment shop/web, which has 2 pods (--add keeps the old pods): ")
    document = json.loads(run("fit", cluster, "-f", web, "-n", "shop", "-o", "json").stdout)
    assert document["workloads"] == ["Deployment shop/web"]
    assert document["existing"] == [{"workload": "Deployment shop/web", "pods": 2}]
    assert [one["old"] for one in document["rollouts"]] == [2]


def test_a_namesake_elsewhere_is_named_where_a_manifest_has_no_namespace(tmp_path, web):
    notes = json.loads(run("fit", write(tmp_path, NODE, *running()), "-f", web, "-o", "json").stdout)["notes"]
    assert notes == [
        "Deployment default/web is tried as a new one; Deployment shop/web runs already: with -n shop it is that one"
    ]
    first = run("fit", write(tmp_path, NODE, *running()), "-f", web).stdout.splitlines()[0]
    assert first.startswith(
        "As a new release beside Deployment shop/web, which runs already (-n shop makes it a rollout)"
    )
    elsewhere = run("fit", write(tmp_path, NODE, *running()), "-f", web, "-n", "test", "-o", "json")
    assert json.loads(elsewhere.stdout)["notes"] == []


def test_the_next_command_is_about_the_same_namespace(tmp_path, web):
    assert f"-f {web} -n test --max" in run("fit", write(tmp_path, NODE), "-f", web, "-n", "test").stdout


def test_a_manifest_that_names_another_namespace_is_refused(tmp_path, web):
    web.write_text(WEB % ", namespace: shop")
    result = run("fit", write(tmp_path, NODE), "-f", web, "-n", "test")
    assert result.exit_code == 2
    assert "(Deployment shop/web): metadata.namespace: found 'shop'; expected 'test', which -n names" in result.stderr
