import pytest

from kubesched.api import EventType, Taint, Toleration, WatchEvent
from kubesched.plugins.tolerations import has_untolerated_taint, is_tolerated, judged_taints, without_untolerated_taint
from kubesched.release import Release
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


NOT_NUMBERS = ("05", "-0", "+5", "5.0", "abc", "", " 5")
# The real plugin of v1.35.4, v1.36.3 and v1.37.2 with the gate TaintTolerationComparisonOperators.
COMPARED = {
    ("Lt", "5"): {"0", "-3", "-9223372036854775808"},
    ("Gt", "5"): {"9223372036854775807", "10"},
    ("Lt", "0"): {"-3", "-9223372036854775808"},
    ("Gt", "-3"): {"5", "0", "9223372036854775807", "10"},
    ("Lt", "9223372036854775807"): {"5", "0", "-3", "-9223372036854775808", "10"},
    ("Gt", "9223372036854775807"): set[str](),
    ("Gt", "-9223372036854775808"): {"5", "0", "-3", "9223372036854775807", "10"},
    **{
        (operator, text): set[str]() for operator in ("Lt", "Gt") for text in ("05", "-0", "+5", "5.0", "abc", "", " 5")
    },
    ("Gt", "9223372036854775808"): set[str](),
}
TAINTED = ("5", "05", "0", "-3", "-0", "+5", "9223372036854775807", "9223372036854775808", "-9223372036854775808")
TAINTED = (*TAINTED, "5.0", "abc", "", "1_000", " 5", "0x10", "10")


@pytest.mark.parametrize(("operator", "text"), COMPARED)
def test_with_the_gate_numbers_are_compared(operator: str, text: str):
    release = Release(36).with_gates({"TaintTolerationComparisonOperators": True})
    taints = [[{"key": "sla", "value": value, "effect": "NoSchedule"}] for value in TAINTED]
    state = load([node(f"n{i}", taints=one) for i, one in enumerate(taints)], release=release)
    tolerations = [{"key": "sla", "operator": operator, "value": text}]
    info = state.pod_info(read_pod(pod("p", tolerations=tolerations)))
    table, expected = state.snapshot().nodes, COMPARED[operator, text]
    fits = without_untolerated_taint(table, info.tolerations)
    assert {TAINTED[int(table.name(i)[1:])] for i in range(len(table)) if fits[i]} == expected
    assert {v for v in TAINTED if is_tolerated(Taint("sla", v, "NoSchedule"), info.pod.tolerations)} == expected


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
