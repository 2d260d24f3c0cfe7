"""Results as DataFrames: which rows and columns they have, in which units; and what happens without pandas."""

import sys
from importlib.util import find_spec

import pytest

from kubesched import Candidate, InputError, Simulator, compare, drain, explain, fit, packed
from kubesched.snapshot import ClusterObjects
from kubesched.testing import make_node, make_pod

pytestmark = pytest.mark.skipif(not find_spec("pandas"), reason="pandas is not installed: install the extra [dev]")

CLUSTER = [
    make_node("n1", zone="a", allocatable={"cpu": "4", "memory": "8Gi", "pods": 10}),
    make_node("n2", zone="b", allocatable={"cpu": "8", "memory": "8Gi", "pods": 10, "example.com/gpu": 2}),
    make_pod("old", node="n1", requests={"cpu": "1"}),
    make_pod("web", requests={"cpu": "3", "example.com/gpu": 1}),
    make_pod("api", requests={"cpu": "1"}),
    make_pod("huge", requests={"cpu": "64"}),
]


def test_every_pending_pod_is_a_row():
    frame = Simulator(CLUSTER).run().pods_frame()
    assert frame["name"].tolist() == ["web", "api", "huge"]
    assert frame["namespace"].unique().tolist() == ["default"]
    assert frame.set_index("pod").loc["default/web", "node"] == "n2"
    assert frame.groupby("state").size().to_dict() == {"scheduled": 2, "unschedulable": 1}
    assert frame["total"].isna().tolist() == [True, False, True]  # only n2 fits web: kube-scheduler does not score it


def test_every_node_is_a_row_with_its_requests_before_and_after():
    frame = Simulator(CLUSTER).run().nodes_frame()
    assert frame.index.tolist() == ["n1", "n2"]
    assert frame["zone"].tolist() == ["a", "b"]
    assert frame.loc["n1", ["cpu_allocatable", "cpu_before", "pods_before"]].tolist() == [4000, 1000, 1]
    assert frame.loc["n2", ["memory_allocatable", "example.com/gpu_after"]].tolist() == [8 * 2**30, 1]
    assert frame.loc["n1", "example.com/gpu_allocatable"] == 0
    assert frame["cpu_after"].sum() - frame["cpu_before"].sum() == 4000


def test_every_feasible_node_is_a_row_with_its_scores_the_best_first():
    explanation = explain(CLUSTER, "default/api")
    frame = explanation.scores_frame()
    assert sorted(frame.index) == explanation.feasible == ["n1", "n2"]
    assert frame.index[0] == explanation.best[0]
    assert frame["total"].is_monotonic_decreasing
    assert frame.drop(columns="total").sum(axis=1).tolist() == frame["total"].tolist()
    assert "NodeResourcesFit" in frame.columns


def test_a_pod_that_fits_nowhere_has_no_rows():
    frame = explain(CLUSTER, "default/huge").scores_frame()
    assert (len(frame), list(frame.columns), frame.index.name) == (0, ["total"], "node")


def test_every_pod_of_a_drained_node_is_a_row_with_its_fate():
    frame = drain(CLUSTER, ["n1"]).pods_frame()
    assert frame[["pod", "namespace", "name", "node", "fate"]].values.tolist() == [
        ["default/old", "default", "old", "n1", "lost"]
    ]
    assert {"owner", "to", "step", "message", "cause", "fix", "has_local_data", "was_pending"} < set(frame.columns)


def test_the_nodes_of_a_drain_are_rows_before_and_after_it():
    frame = drain([*CLUSTER[:2], owned("web", "n1")], ["n1"]).nodes_frame()
    assert frame["pods_before"].to_dict() == {"n1": 1, "n2": 0}
    assert frame["pods_after"].to_dict() == {"n1": 0, "n2": 1}


def owned(name, node=""):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "set", "uid": "u", "controller": True}
    return make_pod(name, node=node, requests={"cpu": "1"}, metadata={"ownerReferences": [owner]})


def test_every_new_pod_of_fit_is_a_row():
    answer = fit(CLUSTER, {"cpu": "3"}, replicas=3)
    frame = answer.pods_frame()
    assert len(frame) == answer.n_asked == 3
    assert (frame["state"] == "scheduled").sum() == answer.n_fit
    assert answer.nodes_frame().equals(answer.report.nodes_frame())


def test_every_figure_of_a_comparison_is_a_row():
    side = Candidate("ours")
    comparison = compare(CLUSTER, side, packed(side), seeds=5)
    frame = comparison.figures_frame()
    assert frame.index.tolist() == [one.figure.name for one in comparison.differences]
    pending = frame.loc["pending"]
    assert (pending["unit"], pending["a"], pending["b"], pending["is_finding"]) == ("count", 1, 1, False)
    assert (frame["a_least"] <= frame["a"]).all()
    assert comparison.nodes_frame().index.tolist() == ["n1", "n2"]
    assert comparison.moves_frame().columns.tolist() == [
        "pod",
        "namespace",
        "name",
        "a",
        "b",
        "cause",
        "plugin",
        "points",
    ]


def test_every_pod_of_a_snapshot_is_a_row_with_what_it_holds():
    frame = ClusterObjects((*CLUSTER, owned("set-1", "n2"))).pods_frame()
    running = frame[frame["node"] != ""].set_index("name")
    assert running.index.tolist() == ["old", "set-1"]
    assert running["cpu"].tolist() == [1000, 1000]
    assert running["owner"].tolist() == ["", "ReplicaSet/set"]
    assert frame["example.com/gpu"].sum() == 1
    assert {"pod", "namespace", "phase", "priority", "memory"} < set(frame.columns)


def test_an_empty_cluster_has_no_rows():
    report = Simulator([make_node("n1")]).run()
    assert len(report.pods_frame()) == 0
    assert len(report.nodes_frame()) == 1


@pytest.mark.parametrize(
    "frame",
    [
        lambda: Simulator(CLUSTER).run().pods_frame(),
        lambda: Simulator(CLUSTER).run().nodes_frame(),
        lambda: explain(CLUSTER, "default/api").scores_frame(),
        lambda: drain(CLUSTER, ["n1"]).pods_frame(),
        lambda: fit(CLUSTER, {"cpu": "1"}).pods_frame(),
        lambda: ClusterObjects(tuple(CLUSTER)).pods_frame(),
    ],
)
def test_without_pandas_the_error_says_what_to_install(frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"need pandas, which is not installed: pip install 'kubesched\[frames\]'"):
        frame()
