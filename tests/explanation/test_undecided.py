"""What explain reports on pods that kubesched cannot decide about, and about others beside them."""

import json
from pathlib import Path

import pytest

from kubesched.explanation import Explainer
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.device_cluster import GPU, NOT_DECIDED, ROOM, device_cluster

pytestmark = pytest.mark.usefixtures("no_search")

SERVED = make_pod("served", priority=9, requests={GPU: 1})
OTHER = make_pod("other", priority=9, requests={GPU: 1})
NEVER_SAID = ("does not fit", "fits on none", "fits nowhere", "too small", "add a node", "makes it fit", "Preemption")


def said(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0
    return " ".join(result.stdout.split())


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    return write(tmp_path, *device_cluster(), SERVED, OTHER)


@pytest.mark.parametrize("queue", ["--queue", "--no-queue"])
def test_a_pod_that_is_not_decided_has_one_sentence_and_no_fix(snapshot: Path, queue: str) -> None:
    text = said("explain", snapshot, "default/served", queue)
    assert text.startswith(f"Kubesched cannot tell where pod default/served fits: {NOT_DECIDED}.")
    assert text.count(NOT_DECIDED) == 1
    assert not [words for words in NEVER_SAID if words in text]


def test_its_document_has_the_reason_and_neither_fixes_nor_near_nodes(snapshot: Path) -> None:
    document = json.loads(said("explain", snapshot, "default/served", "-o", "json"))
    assert document["undecided"] == NOT_DECIDED
    assert document["advice"] == f"kubesched cannot tell where the pod fits: {NOT_DECIDED}."
    assert not {"fixes", "nearest", "preemption", "feasible", "message"} & document.keys()
    assert document["plugins"]["DynamicResources"]["filter"]["dra-1"]["code"] == "NotDecided"
    lines = json.loads(said("explain", snapshot, "-o", "json"))["pods"]
    assert [(line["state"], "message" in line) for line in lines] == [("not decided", False)] * 2


@pytest.mark.parametrize(("pod", "node"), [("on-plugin", "plugin-1"), ("on-dra-1", "dra-1")])
def test_a_pod_that_runs_with_a_device_is_not_said_not_to_fit(snapshot: Path, pod: str, node: str) -> None:
    text = said("explain", snapshot, f"default/{pod}")
    whether = "kubesched cannot tell whether it fits there now"
    assert text.startswith(f"Pod default/{pod} runs on {node}; {whether}: {NOT_DECIDED}.")
    assert not [words for words in NEVER_SAID if words in text]


def test_several_pods_are_counted_as_not_decided(snapshot: Path) -> None:
    text = said("explain", snapshot)
    assert text.startswith("2 pending pods: 2 not decided.")
    assert "fix:" not in text
    assert "not decided: " in said("explain", snapshot, "-o", "junit")


def test_a_node_that_another_plugin_rejects_still_does_not_fit(tmp_path: Path) -> None:
    tainted = make_node("tainted", allocatable=ROOM, taints=["team:NoSchedule"])
    path = write(tmp_path, *device_cluster(), tainted, SERVED)
    text = said("explain", path, "default/served", "--node", "tainted")
    assert text.startswith("Pod default/served does not fit on tainted: taint team:NoSchedule is not tolerated")
    text = said("explain", path, "default/served", "--node", "dra-1")
    assert text.startswith(f"Kubesched cannot tell whether pod default/served fits on dra-1: {NOT_DECIDED}.")
    assert "DynamicResources cannot decide" in text


def test_a_group_counts_what_is_not_decided(tmp_path: Path) -> None:
    pods = [make_pod(f"w{i}", labels={"team": "red"}, requests={GPU: 1} if i else {"cpu": "1"}) for i in range(3)]
    text = said("explain", write(tmp_path, *device_cluster(), *pods), "--group", "team=red")
    assert "1 of 3 pending pods would fit now, 2 cannot be decided." in text
    assert f"2 {NOT_DECIDED}" in text
    assert "Would not be placed" not in text


def test_a_served_pod_is_explained_where_its_class_is_gone() -> None:
    objects = [known for known in device_cluster() if type(known).__name__ != "DeviceClass"]
    with Explainer([*objects, make_pod("served", requests={GPU: 1})]) as explainer:
        explanation = explainer.explain("default/served")
        assert explanation.undecided == ""
        assert explanation.message == f"0/4 nodes are available: 4 Insufficient {GPU}."
