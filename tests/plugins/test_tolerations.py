import pytest

from kubesched.api import EventType, Taint, Toleration, WatchEvent
from kubesched.plugins.tolerations import has_untolerated_taint, is_tolerated, judged_taints, without_untolerated_taint
from tests.plugins.one_plugin import load, node, pod, read, read_pod

TAINT = Taint("team", "web", "NoSchedule")


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration("team", "Equal", "web", "NoSchedule"),
        Toleration("team", "", "web", ""),
        Toleration("team", "Exists", "", "NoSchedule"),
        Toleration("", "Exists", "", ""),
    ],
)
def test_a_toleration_that_fits_tolerates(toleration: Toleration):
    assert is_tolerated(TAINT, (toleration,))


@pytest.mark.parametrize(
    "toleration",
    [
        Toleration("team", "Equal", "db", "NoSchedule"),
        Toleration("team", "Exists", "", "NoExecute"),
        Toleration("other", "Exists", "", ""),
        Toleration("team", "equal", "web", ""),
    ],
)
def test_a_toleration_of_something_else_does_not(toleration: Toleration):
    assert not is_tolerated(TAINT, (toleration,))


def test_comparison_operators_tolerate_nothing():
    assert not is_tolerated(Taint("rank", "1", "NoSchedule"), (Toleration("rank", "Lt", "5", ""),))


def test_one_toleration_that_fits_is_enough():
    assert is_tolerated(TAINT, (Toleration("other", "Exists"), Toleration("team", "Exists")))


def test_preferences_keep_nobody_away():
    assert not has_untolerated_taint((Taint("a", "", "PreferNoSchedule"), Taint("b", "", "")), ())
    assert has_untolerated_taint((Taint("a", "", "PreferNoSchedule"), Taint("b", "", "NoExecute")), ())


def test_taint_lists_that_appear_later_are_judged_then():
    cluster_state = load([node("a")])
    part = cluster_state.pod_info(read_pod(pod())).tolerations
    assert without_untolerated_taint(cluster_state.snapshot().nodes, part).tolist() == [True]
    tainted = node("b", taints=[{"key": "k", "effect": "NoExecute"}, {"key": "l", "effect": "PreferNoSchedule"}])
    cluster_state.apply(WatchEvent(EventType.ADDED, "Node", read(tainted)))
    nodes = cluster_state.snapshot().nodes
    assert without_untolerated_taint(nodes, part).tolist() == [True, False]
    assert judged_taints(nodes, part).n_unwanted[nodes.taint_ids].tolist() == [0, 1]
