"""Why no node fits, in kube-scheduler's words."""

import numpy as np
import pytest

from kubesched.framework import Code, Diagnosis, FilterResult, Rejections, Status, Verdicts, fit_error
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node

NO, NEVER = Status.unschedulable("no").by("A"), Status.unresolvable("never").by("A")


def diagnosis(values: list[int], n_nodes: int | None = None) -> Diagnosis:
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(f"n{i}")) for i in range(len(values))])
    verdicts = Verdicts(np.array(values), [NO, NEVER])
    found = Diagnosis(len(values) if n_nodes is None else n_nodes)
    found.take_in(FilterResult(cluster_state.snapshot().nodes, [Rejections("A", verdicts)] if any(values) else []))
    return found


@pytest.mark.parametrize(
    ("counted", "absent", "text"),
    [
        ([(NO, 2), (NEVER, 1)], Status.unresolvable(), "0/3 nodes are available: 1 never, 2 no."),
        ([(NO, 1)], Status.unresolvable("left out"), "0/3 nodes are available: 1 no, 2 left out."),
        ([(Status.unschedulable("a", "b"), 3)], Status.unresolvable(), "0/3 nodes are available: 3 a, 3 b."),
        ([(NO, 1), (NO.by("B"), 2)], Status.unresolvable(), "0/3 nodes are available: 3 no."),
        ([], Status.unresolvable(), "0/3 nodes are available:"),
    ],
)
def test_reasons_are_counted(counted: list, absent: Status, text: str) -> None:
    assert fit_error(3, counted, absent) == text


def test_counted_reasons_are_sorted_as_text() -> None:
    counted = [(Status.unschedulable(name), n) for name, n in (("b", 10), ("a", 9), ("c", 2))]
    assert fit_error(21, counted, Status.unresolvable()) == "0/21 nodes are available: 10 b, 2 c, 9 a."


def test_every_node_has_the_status_that_the_filters_gave_it() -> None:
    found = diagnosis([1, 2, 0])
    assert [found.status_of(f"n{i}") for i in range(3)] == [NO, NEVER, Status.SUCCESS]
    assert found.by_node() == {"n0": NO, "n1": NEVER}
    assert found.status_of("elsewhere").code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert found.unschedulable_plugins == {"A"}


def test_an_explicit_status_wins_over_the_filters() -> None:
    found = diagnosis([1, 1, 1])
    found.explicit["n1"] = Status.unresolvable("extender says no")
    assert found.message == "0/3 nodes are available: 1 extender says no, 2 no."


def test_prefilters_message_replaces_the_counts_and_postfilters_is_appended() -> None:
    found = Diagnosis(7)
    found.pre_filter_message = "claim not found"
    assert found.message == "0/7 nodes are available: claim not found."
    found.post_filter_message = "preemption: no"
    assert found.message == "0/7 nodes are available: claim not found. preemption: no"


def test_a_pending_plugin_is_noted_apart() -> None:
    found = Diagnosis(1)
    found.add_plugin(Status.pending("later").by("B"))
    found.add_plugin(Status.unschedulable("no"))
    assert (found.pending_plugins, found.unschedulable_plugins) == ({"B"}, set())
