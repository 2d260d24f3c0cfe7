"""What fit has to say beside a number: the queue, the zone that needs nodes, autoscalers, budgets."""

import json
from pathlib import Path

import pytest

from kubesched import fit
from kubesched.api import KubeObject
from kubesched.pages.formats import as_text
from kubesched.pages.plans import fit_page
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import owned_by

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]%s}
"""
SPREAD = (
    ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "
    "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
)
AUTOSCALER = """
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"""
BUDGET = """
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {%s, selector: {matchLabels: {app: web}}}
"""


@pytest.fixture
def manifest(tmp_path: Path):
    def written(more: str = "", spec: str = "") -> Path:
        path = tmp_path / "web.yaml"
        path.write_text(WEB % spec + more)
        return path

    return written


def waiting(cpu: str = "2") -> KubeObject:
    return make_pod("waits", requests={"cpu": cpu}, priority=5)


def nodes(*zones: str, cpu: str = "4") -> list[KubeObject]:
    room = ROOM | {"cpu": cpu}
    return [make_node(f"n{i}", zone=zone, allocatable=room) for i, zone in enumerate(zones, 1)]


def test_the_first_line_says_that_the_queue_took_the_room(manifest):
    answer = fit([*nodes("a"), waiting()], manifest())
    assert (answer.n_fit, answer.n_alone) == (2, 4)
    verdict = fit_page(answer).verdict.text
    assert verdict.startswith("2 of 4 would fit; the queue takes the room of 2 more (--alone leaves it out); the 3rd: ")
    largest = fit_page(fit([*nodes("a"), waiting()], manifest(), maximum=True)).verdict.text
    assert largest.startswith("2 would fit; the queue takes the room of 2 more (--alone leaves it out); the 3rd: ")


def test_a_queue_that_takes_no_room_is_not_blamed(manifest):
    stuck = fit([*nodes("a", cpu="2"), waiting("9")], manifest())
    assert (stuck.n_fit, stuck.n_alone) == (2, None)
    assert "queue" not in fit_page(stuck).verdict.text
    assert fit([*nodes("a", "a"), waiting()], manifest()).n_alone is None  # all fit


def test_alone_leaves_out_the_queue_and_the_next_command_too(tmp_path, manifest):
    cluster, path = write(tmp_path, *nodes("a"), waiting()), manifest()
    result = run("fit", cluster, "-f", path, "--alone")
    assert result.stdout.splitlines()[0] == "4 of 4 would fit."
    assert "pending already" not in result.stdout
    assert f"-f {path} --alone --max" in result.stdout
    document = json.loads(run("fit", cluster, "-f", path, "-o", "json").stdout)
    assert (document["fit"], document["fitAlone"]) == (2, 4)


def test_a_node_of_the_zone_that_helps_is_named(manifest):
    cluster = [*nodes("a", "b"), make_pod("big", node="n2", requests={"cpu": "3"})]
    answer = fit(cluster, manifest(spec=SPREAD), nodes_like="n1")
    assert (answer.n_fit, answer.helpful_node) == (3, "n2")
    page = fit_page(answer, again="kubesched fit c.json -f web.yaml")
    assert "more nodes like n1 would not help, but more nodes like n2 in zone b would." in page.verdict.text
    assert page.next_command == "kubesched fit c.json -f web.yaml --nodes-like n2"
    assert fit(cluster, manifest(spec=SPREAD), nodes_like="n2").n_fit == 4


def test_no_node_is_named_where_none_helps(manifest):
    huge = manifest(spec=", nodeSelector: {no: such}")
    assert fit(nodes("a", "b"), huge, nodes_like="n1").helpful_node == ""


def test_a_workload_is_tried_with_the_maximum_of_its_autoscaler(manifest):
    notes = fit(nodes("a", "b"), manifest(AUTOSCALER)).notes
    assert notes[-1] == "Deployment default/web: at the maximum of 9 replicas, 8 would fit"
    assert not any("at the maximum" in note for note in fit(nodes("a"), manifest(AUTOSCALER), replicas=2).notes)


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ("minAvailable: 4", "minAvailable 4 of 4 pods; set maxUnavailable: 1 instead, or run 5 replicas"),
        ("maxUnavailable: 0", "maxUnavailable is 0; set maxUnavailable: 1"),
        ("minAvailable: 3", ""),
        ("maxUnavailable: 1", ""),
    ],
)
def test_a_budget_that_would_block_every_drain_is_named(manifest, field, why):
    notes = fit(nodes("a"), manifest(BUDGET % field)).notes
    assert notes == ((f"PodDisruptionBudget default/web would block every drain: {why}",) if why else ())


def test_a_pod_that_waits_for_the_same_fix_is_named(manifest):
    room = ROOM | {"nvidia.com/gpu": "2"}
    half = {"requests": {"nvidia.com/gpu": "1"}, "metadata": owned_by("ReplicaSet", "half")}
    cluster = [make_node(f"n{i}", allocatable=room) for i in (1, 2)]
    cluster += [make_pod(f"half-{i}", node=f"n{i}", **half) for i in (1, 2)]
    other = make_pod("llm", requests={"nvidia.com/gpu": "2"})
    asked = {"nvidia.com/gpu": "2"}
    said = as_text(fit_page(fit([*cluster, other], asked)), width=120)
    assert "default/llm waits for the same fix, and comes first." in said
    later = make_pod("llm", requests={"nvidia.com/gpu": "2"}, priority=-5)
    assert "waits for the same" not in as_text(fit_page(fit([*cluster, later], asked)), width=120)
    assert "waits for the same" not in as_text(fit_page(fit(cluster, asked)), width=120)
