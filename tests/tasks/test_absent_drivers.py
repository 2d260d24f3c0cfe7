"""Nodes without the driver of a claim: kube-scheduler places the pod there, and reports say that it would not start."""

import json
from pathlib import Path

import pytest

from kubesched.explanation import explain
from kubesched.pages.explanations import explanation_page
from kubesched.pages.formats import as_json, as_text
from kubesched.planning import simulate
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.explanation.asking import bound_claim, claim, texts
from tests.explanation.asking import replica as pending
from tests.tasks.clusters import mounting

DRIVER = "disk.example.com"
WORDS = "kube-scheduler places pods there all the same, and their volumes would not be made or mounted"


def node(name: str, *drivers: str) -> list:
    """A node, and the drivers that its kubelet knows."""
    entries = [{"name": driver, "nodeID": name} for driver in drivers]
    return [make_node(name), make_object("CSINode", name, spec={"drivers": entries})]


def waiting() -> list:
    late = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
    return [make_object("StorageClass", "fast", **late), claim(storageClassName="fast")]


def bound() -> list:
    return [
        make_object("PersistentVolume", "pv-1", spec={"csi": {"driver": DRIVER, "volumeHandle": "v"}}),
        bound_claim(),
    ]


@pytest.mark.parametrize("objects", [waiting, bound])
def test_the_explanation_of_a_pod_has_the_note_and_its_verdict_stays(objects):
    pod = make_pod("p", spec=mounting("data"))
    cluster = [*node("n1", "other"), *node("n2", DRIVER), *node("n3"), *objects()]
    explanation = explain(cluster, pod)
    page = explanation_page(explanation)
    assert explanation.feasible == ["n1", "n2", "n3"]
    sentence = f"CSI driver {DRIVER} is not on 2 of 3 nodes that fit (n1 and n3): {WORDS}."
    assert sentence in as_text(page, width=300)
    assert json.loads(as_json(page))["absentDrivers"] == [{"driver": DRIVER, "nodes": ["n1", "n3"], "nFit": 3}]


@pytest.mark.parametrize("objects", [waiting, bound])
def test_a_simulation_and_the_list_have_the_same_note_where_the_pod_is_placed_so(objects, tmp_path: Path):
    cluster = [*node("n1"), *objects(), make_pod("p", spec=mounting("data"))]
    (placement,) = simulate(cluster).placements
    assert placement.node == "n1"
    for command in ("simulate", "explain"):
        said = " ".join(run(command, write(tmp_path, *cluster)).stdout.split())
        assert f"CSI driver {DRIVER} is not on n1: {WORDS}." in said
    explanation = explain(cluster, "default/p")
    assert [one.text for one in explanation.absent_drivers] == [
        f"CSI driver {DRIVER} is not on 1 of 1 node that fits (n1): {WORDS}."
    ]


def test_there_is_no_note_where_the_driver_runs_or_nothing_says_where_it_does():
    pod = make_pod("p", spec=mounting("data"))
    assert explain([*node("n1", DRIVER), *waiting()], pod).absent_drivers == ()
    assert explain([make_node("n1"), *waiting()], pod).absent_drivers == ()


# --- the classes that are offered for a claim ---


def small(name: str, capacity: str) -> list:
    """A class that publishes how much storage it has."""
    late = {"provisioner": f"{name}.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    return [
        make_object("StorageClass", name, **late),
        make_object("CSIDriver", f"{name}.example.com", spec={"storageCapacity": True}),
        make_object("CSIStorageCapacity", name, storageClassName=name, nodeTopology={}, capacity=capacity),
    ]


@pytest.mark.parametrize(("capacity", "classes"), [("5Gi", "fast"), ("50Gi", "fast or local"), ("0", "fast")])
def test_only_classes_that_have_room_for_the_claim_are_offered(capacity: str, classes: str):
    wanted = claim(storageClassName="gone", resources={"requests": {"storage": "20Gi"}})
    objects = [*node("n1", DRIVER, "local.example.com"), *waiting()[:1], *small("local", capacity), wanted]
    said = texts(pending("p", spec=mounting("data")), *objects)
    exists = f"with a StorageClass that exists ({classes}), or create StorageClass gone"
    assert said[0] == f"recreate claim default/data {exists}"


def test_a_class_whose_driver_is_on_no_node_is_not_offered():
    wanted = claim(storageClassName="gone")
    late = {"provisioner": "absent.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    objects = [*node("n1", DRIVER), make_object("StorageClass", "aaa", **late), *waiting()[:1], wanted]
    said = texts(pending("p", spec=mounting("data")), *objects)
    assert said[0] == "recreate claim default/data with a StorageClass that exists (fast), or create StorageClass gone"


def test_a_class_without_room_is_not_offered_first_either():
    wanted = claim(storageClassName="gone", resources={"requests": {"storage": "20Gi"}})
    said = texts(pending("p", spec=mounting("data")), *node("n1", "local.example.com"), *small("local", "5Gi"), wanted)
    assert not [text for text in said if "that exists" in text]
