"""A spread or anti-affinity that selects no pod does nothing; a note says so before anybody relies on it."""

import io
import json

import pytest

from kubesched.snapshot import load_snapshot
from kubesched.testing import make_pod
from tests.snapshot.builders import stream, workload

ZONE = "topology.kubernetes.io/zone"
REQUIRED, PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
IDLE = "so it has no effect"


def selecting(**labels: str) -> dict[str, object]:
    return {"labelSelector": {"matchLabels": labels}}


def spread(**fields: object) -> dict[str, object]:
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", **fields}
    return {"topologySpreadConstraints": [constraint]}


def repelled(**fields: object) -> dict[str, object]:
    return {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": ZONE, **fields}]}}}


def preferred(kind: str, **fields: object) -> dict[str, object]:
    term = {"weight": 1, "podAffinityTerm": {"topologyKey": ZONE, **fields}}
    return {"affinity": {kind: {PREFERRED: [term]}}}


def notes_on(template: dict[str, object], *others: object) -> list[str]:
    """The notes on a Deployment `web` of 3 pods with app=web, in a namespace with a pod that has app=db."""
    manifest = io.StringIO(json.dumps(workload("Deployment", template=template, replicas=3)))
    db = make_pod("db", namespace="shop", labels={"app": "db"}, node="n1")
    far = make_pod("far", namespace="elsewhere", labels={"app": "far"}, node="n1")
    cluster = stream(*(one.document | {"apiVersion": "v1", "kind": type(one).__name__} for one in (db, far)))
    read = load_snapshot(cluster, manifests=[manifest])
    return [note for note in read.notes if ZONE in note]


CASES = {
    "no selector": (spread(), f"topologySpreadConstraints[0] ({ZONE}) has no labelSelector, so it selects no pod"),
    "a selector of nothing": (spread(**selecting(app="wbe")), f"selects no pod, not even its own, {IDLE}"),
    "a spread over other pods": (
        spread(**selecting(app="db")),
        "does not match the labels of its own pods, so they",
    ),
    "pods of another namespace": (spread(**selecting(app="far")), f"selects no pod, not even its own, {IDLE}"),
    "anti-affinity to nothing": (repelled(**selecting(app="wbe")), f"podAntiAffinity.{REQUIRED}[0] ({ZONE}) selects"),
    "anti-affinity without selector": (repelled(), "has no labelSelector"),
    "preferred anti-affinity": (preferred("podAntiAffinity", **selecting(a="b")), f"podAntiAffinity.{PREFERRED}[0]"),
    "preferred affinity": (preferred("podAffinity", **selecting(a="b")), f"podAffinity.{PREFERRED}[0]"),
}


@pytest.mark.parametrize(("template", "words"), CASES.values(), ids=CASES)
def test_what_selects_no_pod_is_noted_once_with_its_field(template, words):
    (note,) = notes_on(template)
    assert note.startswith("<stream>: spec.template.spec.")
    assert words in note


EFFECTIVE = {
    "its own pods": spread(**selecting(app="web")),
    "every pod": spread(labelSelector={}),
    "anti-affinity to others": repelled(**selecting(app="db")),
    "anti-affinity to others elsewhere": repelled(**selecting(app="far"), namespaces=["elsewhere"]),
    "anti-affinity in all namespaces": repelled(**selecting(app="far"), namespaceSelector={}),
    "required affinity, whose pod would be pending": {
        "affinity": {"podAffinity": {REQUIRED: [{"topologyKey": ZONE, **selecting(app="none")}]}}
    },
}


@pytest.mark.parametrize("template", EFFECTIVE.values(), ids=EFFECTIVE)
def test_what_selects_a_pod_is_not_noted(template):
    assert notes_on(template) == []
