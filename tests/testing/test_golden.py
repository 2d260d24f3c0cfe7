import copy
import gzip
import json
from pathlib import Path

import pytest

from kubesched.framework import Plugin
from kubesched.testing import make_node, make_object, make_pod, record_golden, run_golden

CASE = Path(__file__).parents[1] / "golden" / "cases" / "affinity-0004.json.gz"


class ShortNames(Plugin):
    """Prefers nodes with short names."""

    def score(self, state, pod, node):
        return max(0, 100 - 10 * len(node.name))


def snapshot() -> dict:
    objects = [
        make_node("n-long"),
        make_node("n2"),
        make_pod("web", requests={"cpu": "1"}),
        make_pod("large", requests={"cpu": "64"}, priority=5),
        make_object("Namespace", "default"),
    ]
    return {"apiVersion": "v1", "kind": "List", "items": [known.document for known in objects]}


@pytest.fixture
def recorded() -> dict:
    return record_golden(snapshot(), plugins=[ShortNames])


def test_a_recorded_case_of_kube_scheduler_is_decided_as_recorded():
    assert run_golden(CASE) == []


def test_what_was_recorded_is_found_again(recorded: dict, tmp_path: Path):
    assert [line["pod"] for line in recorded["place"]] == ["default/large", "default/web"]
    assert recorded["eval"][1]["scores"]["ShortNames"] == {"n-long": 40, "n2": 80}
    path = tmp_path / "case.json.gz"
    path.write_bytes(gzip.compress(json.dumps(recorded).encode()))
    assert run_golden(path, plugins=[ShortNames]) == []
    assert run_golden(json.loads(json.dumps(recorded)), plugins=[ShortNames]) == []


def test_a_plugin_that_decides_otherwise_is_told_field_by_field(recorded: dict):
    assert run_golden(recorded) == [
        "eval: pod default/web: best is ['n-long', 'n2'], but the case has ['n2']",
        "eval: pod default/web: scores.ShortNames is None, but the case has {'n-long': 40, 'n2': 80}",
        "eval: pod default/web: total.n-long is 454, but the case has 494",
        "place: pod default/web: node is 'n-long', but the case has 'n2'",
    ]


def test_another_configuration_can_be_tried(recorded: dict):
    without_fit = """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]
        """
    found = run_golden(recorded, configuration=without_fit, plugins=[ShortNames])
    assert "place: pod default/large: node is 'n2', but the case has None" in found


def test_a_missing_pod_is_a_difference(recorded: dict):
    shorter = copy.deepcopy(recorded)
    del shorter["place"][0]
    (found,) = run_golden(shorter, plugins=[ShortNames])
    assert found == "place: the pods are ['default/large', 'default/web'], but the case has ['default/web']"


def test_any_recorded_outcome_of_preemption_is_right():
    items = snapshot()["items"]
    items = [item for item in items if item["metadata"]["name"] not in ("large", "web")]
    items += [
        make_pod(f"old-{i}", node=name, requests={"cpu": "3"}).document for i, name in enumerate(("n2", "n-long"))
    ]
    items.append(make_pod("urgent", requests={"cpu": "2"}, priority=9).document)
    recorded = record_golden({"apiVersion": "v1", "kind": "List", "items": items})
    outcomes = [{"node": "n2", "victims": ["default/old-0"]}, {"node": "n-long", "victims": ["default/old-1"]}]
    assert recorded["place"][0]["preemption"][0] in outcomes
    recorded["place"][0]["preemption"] = outcomes
    assert run_golden(recorded) == []
    recorded["place"][0]["preemption"] = [{"node": "n2", "victims": ["default/somebody-else"]}]
    assert len(run_golden(recorded)) == 1
