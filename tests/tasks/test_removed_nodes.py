"""What if nodes were removed: the pods of manifests and those of the nodes are counted apart."""

import json
from pathlib import Path

import pytest

from kubesched.api import KubeObject
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import owned_by

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]}
"""


def of(name: str, number: int, cpu: str) -> KubeObject:
    return make_pod(f"{name}-{number}", node="n1", requests={"cpu": cpu}, metadata=owned_by("ReplicaSet", name))


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    nodes = [make_node(f"n{i}", zone=zone, allocatable=ROOM) for i, zone in ((1, "a"), (2, "b"))]
    sets = [make_object("ReplicaSet", name, spec={"replicas": n}) for name, n in (("db", 2), ("etl", 1))]
    return write(tmp_path, *nodes, *sets, of("db", 0, "1"), of("db", 1, "2"), of("etl", 0, "3"))


@pytest.fixture
def web(tmp_path: Path) -> Path:
    path = tmp_path / "web.yaml"
    path.write_text(WEB)
    return path


def said(*command: object) -> str:
    return " ".join(run("simulate", *command).stdout.split())


def test_pods_of_manifests_and_of_removed_nodes_are_counted_apart(cluster, web):
    assert said(cluster, "--without-nodes", "n1", "-f", web).startswith(
        "If n1 were removed: 3 of 3 pods of the manifests would be placed; of 3 pods on removed nodes, 1 would find a "
        "place; 2 pods would stay pending, 2 more than without this change."
    )


def test_the_workloads_without_a_place_are_named(cluster, web):
    text = said(cluster, "--without-nodes", "n1", "-f", web)
    assert "Without a place on the nodes that are left: ReplicaSet default/db, ReplicaSet default/etl." in text
    assert "Pods of the manifests are placed before those of the removed nodes that have the same priority." in text


def test_without_manifests_nothing_is_said_of_them(cluster):
    text = said(cluster, "--without-nodes", "n1")
    assert text.startswith("If n1 were removed: of 3 pods on removed nodes, 2 would find a place;")
    assert "of the manifests" not in text


def test_copies_are_neither_of_manifests_nor_of_removed_nodes(cluster):
    text = said(cluster, "--without-nodes", "n1", "--scale", "rs/etl=2")
    assert "of 3 pods on removed nodes, 2 would find a place; 0 of 1 new pod would be placed;" in text


def test_the_document_has_both(cluster, web):
    document = json.loads(run("simulate", cluster, "--without-nodes", "n1", "-f", web, "-o", "json").stdout)["whatIf"]
    assert document["reCreated"] == ["default/db-0", "default/db-1", "default/etl-0"]
    assert (document["reCreatedPlaced"], document["ofManifestsPlaced"], len(document["ofManifests"])) == (1, 3, 3)
    assert document["new"] == document["reCreated"]
