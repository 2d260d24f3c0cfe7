"""Verdicts become words, counts and faults."""

import numpy as np
import pytest

from kubesched.framework import Code, FilterResult, Rejections, Status, Verdicts
from kubesched.state import ClusterState
from kubesched.testing.builders import make_node

NO = Status.unschedulable("no")
NEVER = Status.unresolvable("never")
BROKEN = Status.error("broken")


def result(*rejections: tuple[str, list[int], list[Status]], n_nodes: int = 4) -> FilterResult:
    cluster_state = ClusterState()
    cluster_state.load([("Node", make_node(f"n{i}")) for i in range(n_nodes)])
    said = [Rejections(plugin, Verdicts(np.array(values), statuses)) for plugin, values, statuses in rejections]
    return FilterResult(cluster_state.snapshot().nodes, said)


def test_the_first_rejection_of_a_row_counts() -> None:
    found = result(("A", [0, 1, 0, 0], [NO]), ("B", [0, 2, 1, 0], [NEVER, NO]))
    assert found.fits.tolist() == [True, False, False, True]
    statuses = found.statuses()
    assert [statuses[i] for i in range(4)] == [Status.SUCCESS, NO.by("A"), NEVER.by("B"), Status.SUCCESS]


def test_rows_are_counted_by_status() -> None:
    found = result(("A", [1, 1, 2, 0], [NO, NEVER]), ("B", [1, 1, 1, 1], [NO]))
    assert found.statuses().counts() == [(NO.by("A"), 2), (NEVER.by("A"), 1), (NO.by("B"), 1)]
    assert found.statuses().with_code(Code.UNSCHEDULABLE).tolist() == [0, 1, 3]


def test_without_rejections_all_rows_fit() -> None:
    found = result()
    assert (found.all_fit, found.fits.tolist(), found.failure) == (True, [True] * 4, None)


def test_an_error_is_a_failure_unless_an_earlier_plugin_rejected_the_row() -> None:
    assert result(("A", [1, 1, 1, 1], [NO]), ("B", [0, 1, 0, 0], [BROKEN])).failure is None
    failure = result(("A", [1, 0, 1, 1], [NO]), ("B", [1, 1, 0, 0], [BROKEN])).failure
    assert (failure.code, failure.plugin, failure.message) == (Code.ERROR, "B", 'running "B" filter plugin: broken')


def test_some_of_the_rows_keep_their_verdicts_and_their_failures() -> None:
    found = result(("A", [1, 0, 0, 0], [NO]), ("B", [0, 0, 1, 0], [BROKEN]))
    some = found.restricted(np.array([3, 2]))
    assert some.nodes.names == ["n3", "n2"]
    assert [rejection.plugin for rejection in some.rejections] == ["B"]
    assert some.failure.plugin == "B"
    assert found.restricted(np.array([0, 3])).failure is None


def test_a_verdict_without_a_meaning_is_a_failure_of_the_plugin() -> None:
    found = result(("A", [0, 3, 0, 0], [NO]))
    status = found.statuses()[1]
    assert status.code is Code.ERROR
    assert "filter_nodes returned the verdict 3; `reasons` has 1" in status.message


@pytest.mark.parametrize(("values", "meaning"), [([0, 1], True), ([0, 2], False), ([-1, 0], False), ([], True)])
def test_values_have_a_meaning_when_there_is_a_status_for_each(values: list[int], meaning: bool) -> None:
    assert Verdicts(np.array(values, dtype=np.int16), [NO]).have_meaning() is meaning
