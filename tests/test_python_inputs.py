"""What a Python program gets for wrong input, and what the results look like in a terminal."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubesched import (
    ConfigError,
    Drainer,
    Explainer,
    InputError,
    Plugin,
    Simulator,
    Status,
    compare,
    drain,
    explain,
    fit,
    load_snapshot,
    set_up,
)
from kubesched.testing.builders import make_node, make_pod
from tests.snapshot.builders import listed, node, pod

OWNED = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "etl", "uid": "j", "controller": True}]}
READERS: dict[str, Callable[[Any], object]] = {
    "Simulator": Simulator,
    "Explainer": Explainer,
    "explain": lambda snapshot: explain(snapshot, "shop/p1"),
    "fit": lambda snapshot: fit(snapshot, {"cpu": "1"}),
    "drain": lambda snapshot: drain(snapshot, ["n1"]),
    "compare": lambda snapshot: compare(snapshot, seeds=5),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_file_name_is_not_a_snapshot(read: Callable[[Any], object], tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read("cluster.json")
    advice = "pass load_snapshot('cluster.json')"
    assert str(caught.value) == f"a snapshot has Kubernetes objects; found 'cluster.json'; {advice}"
    for wrong in (tmp_path / "cluster.json", None, b"{}", 7):
        with pytest.raises(InputError, match=r"a snapshot has Kubernetes objects; found .*; pass what load_snapshot"):
            read(wrong)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_documents_are_not_objects(read: Callable[[Any], object]) -> None:
    for wrong in ([node("n1")], listed(node("n1"))):
        with pytest.raises(InputError, match=r"a snapshot has Kubernetes objects; found \{.*") as caught:
            read(wrong)
        advice = "; for documents, pass load_snapshot(io.StringIO(json.dumps(documents)))"
        assert str(caught.value).endswith(advice)
        load_snapshot(io.StringIO(json.dumps(wrong)))
    with pytest.raises(InputError, match=r"found 'cluster.json'; load_snapshot reads objects from files and streams"):
        read(["cluster.json"])


@pytest.mark.parametrize("name", ["nope/x", "deploy/web", "x"])
def test_advice_about_a_pod_needs_no_command(name: str) -> None:
    with pytest.raises(InputError, match=r"expected a pod of the cluster, not a workload$"):
        explain([make_node("n1"), make_pod("web-1")], name)


def test_a_plugin_that_arguments_name_is_loaded_with_plugins() -> None:
    class Cheap(Plugin):
        def score(self, state: object, pod: object, node: object) -> int:
            return 0

    with pytest.raises(ConfigError, match=r"or in Python plugins=\[Class\]"):
        Simulator([make_node("n1")], None, [Cheap], {"Cheep": {}})


def test_a_name_alone_is_a_list_of_one() -> None:
    objects = [make_node("n1"), make_node("n2"), make_pod("web", node="n1"), make_pod("api")]
    assert drain(objects, "n1").nodes == drain(objects, ["n1"]).nodes == ("n1",)
    with Drainer(objects) as drainer:
        assert [one.nodes for one in drainer.each("n2")] == [("n2",)]
        assert set(drainer.most("n2").nodes) <= {"n2"}
    with Explainer(objects) as explainer:
        assert [one.pod.key for one in explainer.each("default/api")] == ["default/api"]


def test_every_question_takes_the_same_configuration(tmp_path: Path) -> None:
    class Never(Plugin):
        def filter(self, state: object, pod: object, node: object) -> Status:
            return Status.unschedulable("node(s) are closed")

    objects = [make_node("n1"), make_node("n2"), make_pod("web", node="n1", metadata=OWNED)]
    for decides in ((None, [Never]), (set_up(None, [Never]),)):
        with Drainer(objects, *decides) as drainer:
            assert not drainer.drain("n1").can_go
        with Explainer(objects, *decides) as explainer:
            assert not explainer.explain(make_pod("api")).fits


def test_a_snapshot_is_shown_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(listed(node("n1"), node("n2"), *[pod(f"p{i}") for i in range(30)])))
    assert repr(load_snapshot(tmp_path / "a.json")) == "<ClusterObjects: 2 nodes, 30 pods>"
    (tmp_path / "b.json").write_text(json.dumps(listed(pod("p1"))))
    assert repr(load_snapshot(tmp_path / "b.json")) == "<ClusterObjects: 1 pod>"
    (tmp_path / "c.json").write_text(json.dumps(listed()))
    assert repr(load_snapshot(tmp_path / "c.json")) == "<ClusterObjects: no objects>"


def test_a_report_is_shown_as_its_tables() -> None:
    small = make_node("n", allocatable={"cpu": "1"})
    shown = repr(Simulator([small, *[make_pod(name, requests={"cpu": "1"}) for name in "abc"]]).run())
    assert shown.startswith("3 pending pods: 1 would be placed, 2 would stay pending.\n")
    assert "Would stay pending: 2" in shown
    assert repr(Simulator([small]).run()).startswith("No pod is pending.")


def test_an_explanation_is_shown_as_its_tables() -> None:
    small = make_node("n", allocatable={"cpu": "1"})
    web, large = make_pod("web", requests={"cpu": "1"}), make_pod("large", requests={"cpu": "8"})
    assert repr(explain([small], web)).startswith("Pod default/web fits on 1 of 1 nodes and would go to n.\n")
    shown = repr(explain([small], large))
    assert shown.startswith("Pod default/large does not fit on the only node.\n")
    assert "0/1 nodes are available: 1 Insufficient cpu." in shown


def test_a_node_that_was_not_scored_has_no_total() -> None:
    nodes = [make_node("a"), make_node("b", taints=["k:NoSchedule"])]
    (placement,) = Simulator([*nodes, make_pod("p")]).run().placements
    assert (placement.node, placement.total, placement.scores) == ("a", None, {})
    (placement,) = Simulator([make_node("a"), make_node("b"), make_pod("p")]).run().placements
    assert placement.total == sum(placement.scores.values()) > 0
