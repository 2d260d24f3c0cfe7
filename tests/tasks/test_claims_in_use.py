"""A pod whose ReadWriteOnce claim is in use on another node: it fits there, and would not start."""

import json

import pytest

from kubesched.api import KubeObject
from kubesched.explanation import Explainer
from kubesched.pages.explanations import Rows, as_document, explanation_page, overview_page
from kubesched.pages.formats import Paragraph
from kubesched.planning import PendingPods
from kubesched.setup import set_up
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import ask, bound_claim

CSI = {"csi": {"driver": "disk.example.com", "volumeHandle": "v"}}
WAITS = "Claim default/data is ReadWriteOnce and {}: on another node the pod would not start until {}."


def using(name: str, node: str = "", cpu: str = "500m"):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    return make_pod(name, node=node, requests={"cpu": cpu}, spec={"volumes": volumes})


def cluster(source: dict | None = None, **claim: object) -> list[KubeObject]:
    nodes = [make_node(name, allocatable={"cpu": cpu, "pods": "9"}) for name, cpu in (("n1", "1"), ("n2", "4"))]
    return [
        *nodes,
        bound_claim(**claim),
        make_object("PersistentVolume", "pv-1", spec=CSI if source is None else source),
    ]


def words(pod, *objects: KubeObject) -> list[str]:
    page = explanation_page(ask(pod, *objects))
    return [part.text for part in page.parts if getattr(part, "text", "").startswith("Claim ")]


def test_a_disk_that_is_attached_elsewhere_is_told_beside_the_verdict():
    said = ask(using("b"), *cluster(), using("a", "n1", "900m"))
    assert said.best == ["n2"]
    assert words(using("b"), *cluster(), using("a", "n1", "900m")) == [
        WAITS.format("in use on n1 by default/a", "that pod has ended")
    ]
    document = json.loads(json.dumps(as_document(said)))
    assert document["claimsInUse"] == [{"claim": "default/data", "node": "n1", "pods": ["default/a"]}]


def test_the_list_says_it_of_the_pods_that_fit():
    with PendingPods([*cluster(), using("a", "n1", "900m"), using("b"), make_pod("c")], set_up(), str) as pending:
        rows = Rows()
        lines = {answer.pod: rows.take(answer) for answer in pending.answers()}
    text = "on n1 by default/a: on another node the pod would not start until that pod has ended."
    said = [part.text for part in overview_page(rows).parts if isinstance(part, Paragraph)]
    assert said == [f"default/b: claim default/data is ReadWriteOnce and in use {text}"]
    assert lines["default/b"]["claimsInUse"] == [{"claim": "default/data", "node": "n1", "pods": ("default/a",)}]
    assert "claimsInUse" not in lines["default/c"]


def test_the_node_of_the_disk_is_no_trouble():
    other = make_pod("full", node="n2", requests={"cpu": "4"})
    assert words(using("b", cpu="100m"), *cluster(), using("a", "n1"), other) == []


@pytest.mark.parametrize(
    "objects",
    [
        cluster(accessModes=["ReadWriteMany"]),
        cluster({"nfs": {"server": "x", "path": "/"}}),
        [*cluster(), make_object("CSIDriver", "disk.example.com", spec={"attachRequired": False})],
    ],
    ids=["many", "not a disk", "not attached"],
)
def test_a_volume_that_is_not_attached_to_one_node_is_no_trouble(objects: list[KubeObject]):
    assert words(using("b"), *objects, using("a", "n1", "900m")) == []


def test_a_disk_may_be_attached_without_a_pod():
    spec = {"attacher": "disk.example.com", "nodeName": "gone", "source": {"persistentVolumeName": "pv-1"}}
    said = words(using("b"), *cluster(), make_object("VolumeAttachment", "a", spec=spec))
    assert said == [WAITS.format("attached to gone", "it is detached")]


def test_a_pod_that_runs_is_not_told_of_the_others_on_its_node():
    with Explainer([*cluster(), using("a", "n1", "100m"), using("b", "n1", "100m")]) as explainer:
        (said,) = explainer.each("default/b")
    assert "claimsInUse" not in as_document(said)
