"""Which disruption budgets some evictions break."""

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object, make_pod


def broken_by(evicted: str, selector: dict | None = None, **status: object) -> tuple[str, ...]:
    """The broken budgets after the eviction of some of the pods `a`, `b` and `c` of one application."""
    spec = {"selector": {"matchLabels": {"app": "web"}} if selector is None else selector}
    budget = make_object("PodDisruptionBudget", "keep", namespace="default", spec=spec, status=status)
    pods = [make_pod(name, labels={"app": "web"}, node="n1") for name in "abc"]
    state = ClusterState()
    state.load([("Node", make_node("n1")), ("PodDisruptionBudget", budget), *(("Pod", pod) for pod in pods)])
    infos = [info for info in state.snapshot().nodes.pods(0) if info.pod.name in evicted]
    return state.disruption_budgets.broken_by(infos)


@pytest.mark.parametrize(("evicted", "allowed", "broken"), [("a", 0, True), ("a", 1, False), ("abc", 2, True)])
def test_a_budget_is_broken_by_more_evictions_than_it_allows(evicted: str, allowed: int, broken: bool):
    assert broken_by(evicted, disruptionsAllowed=allowed) == (("default/keep",) if broken else ())


def test_a_pod_that_the_budget_counts_as_gone_does_not_break_it():
    gone = {"a": "2026-01-01T00:00:00Z"}
    assert broken_by("a", disruptionsAllowed=0, disruptedPods=gone) == ()
    assert broken_by("ab", disruptionsAllowed=0, disruptedPods=gone) == ("default/keep",)


def test_an_empty_selector_protects_no_pod():
    assert broken_by("a", selector={}, disruptionsAllowed=0) == ()


def test_an_empty_selector_is_asked_about_every_eviction_of_a_pod_with_labels():
    budget = make_object("PodDisruptionBudget", "keep", namespace="default", spec={"selector": {}})
    state = ClusterState()
    state.load([("PodDisruptionBudget", budget)])
    pods = [
        make_pod("a", labels={"app": "web"}),
        make_pod("b"),
        make_pod("a", namespace="other", labels={"app": "web"}),
    ]
    assert [[one.key for one in state.disruption_budgets.selecting(pod)] for pod in pods] == [["default/keep"], [], []]


def test_a_budget_that_selects_other_pods_is_seen_at_once():
    def event(type_: EventType, app: str) -> WatchEvent:
        spec = {"selector": {"matchLabels": {"app": app}}}
        return WatchEvent(type_, "PodDisruptionBudget", make_object("PodDisruptionBudget", "keep", spec=spec))

    state, pod = ClusterState(), make_pod("a", labels={"app": "web"})
    changes = (
        (EventType.ADDED, "web"),
        (EventType.MODIFIED, "db"),
        (EventType.MODIFIED, "web"),
        (EventType.DELETED, "web"),
    )
    counts = []
    for change in changes:
        state.apply(event(*change))
        counts.append(len(state.disruption_budgets.selecting(pod)))
    assert counts == [1, 0, 1, 0]


def test_the_labels_that_were_asked_about_are_bounded():
    state = ClusterState()
    budget = make_object("PodDisruptionBudget", "keep", spec={"selector": {}})
    state.apply(WatchEvent(EventType.ADDED, "PodDisruptionBudget", budget))
    budgets = state.disruption_budgets
    for i in range(20_001):
        budgets.selecting(make_pod("a", labels={"app": str(i)}))
    assert len(budgets._asked) <= 10_000
