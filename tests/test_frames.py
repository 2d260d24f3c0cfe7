"""Results as DataFrames: which rows and columns they have, in which units; and what happens without pandas."""

import sys
from importlib.util import find_spec

import pytest

from kubesched import InputError, Simulator, explain
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
    ],
)
def test_without_pandas_the_error_says_what_to_install(frame, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"need pandas, which is not installed: pip install 'kubesched\[frames\]'"):
        frame()
