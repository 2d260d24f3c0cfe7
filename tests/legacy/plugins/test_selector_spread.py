import pytest

from kubesched.framework import Status
from kubesched.legacy.plugins.selector_spread import SelectorSpread
from tests.plugins.one_plugin import Asked, node, pod

SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"app": "web"}},
}
ZONE = "topology.kubernetes.io/zone"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"


def web(name: str, **spec) -> dict:
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": "web"}
    return made


def asked(counts: dict[str, int], labels: dict[str, dict] | None = None, *more: dict) -> Asked:
    """A pod of the service, and nodes with so many others of it."""
    nodes = [node(name, labels=(labels or {}).get(name)) for name in counts]
    placed = [web(f"{name}-{i}", nodeName=name) for name, n in counts.items() for i in range(n)]
    return Asked(SelectorSpread(), [*nodes, SERVICE, *placed, *more], web("new"))


def scores(given: Asked) -> dict[str, int]:
    assert given.pre_score() is Status.SUCCESS
    return given.normalized()


def test_two_thirds_of_the_score_are_for_the_zone():
    zones = {"one": {ZONE: "a"}, "two": {ZONE: "a"}, "three": {ZONE: "b"}}
    assert scores(asked({"one": 3, "two": 1, "three": 0}, zones)) == {"one": 0, "two": 22, "three": 100}


def test_without_zones_the_node_alone_counts():
    assert scores(asked({"one": 3, "two": 1, "three": 0})) == {"one": 0, "two": 66, "three": 100}


def test_a_node_without_a_zone_among_others_keeps_the_score_of_the_node():
    assert scores(asked({"one": 2, "two": 1}, {"one": {ZONE: "a"}})) == {"one": 0, "two": 50}


def test_an_old_zone_label_counts_before_the_new_one_even_when_it_is_empty():
    same = {"one": {ZONE: "a"}, "two": {OLD_ZONE: "a", ZONE: "b"}}
    assert scores(asked({"one": 1, "two": 0}, same)) == {"one": 0, "two": 33}
    none = {"one": {ZONE: "a"}, "two": {OLD_ZONE: "", ZONE: "a"}}
    assert scores(asked({"one": 1, "two": 0}, none)) == {"one": 0, "two": 100}


def test_terminating_pods_and_those_of_other_namespaces_do_not_count():
    going, foreign = web("going", nodeName="one"), web("foreign", nodeName="two")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    foreign["metadata"]["namespace"] = "other"
    given = asked({"one": 0, "two": 0}, None, going, foreign)
    assert scores(given) == {"one": 100, "two": 100}


def test_a_pod_that_nothing_selects_scores_100_everywhere():
    given = Asked(SelectorSpread(), [node("one"), SERVICE, web("there", nodeName="one")], pod("alone"))
    assert scores(given) == {"one": 100}


def test_a_pod_with_spread_constraints_is_left_to_pod_topology_spread():
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}
    given = Asked(SelectorSpread(), [node("one"), SERVICE], web("new", topologySpreadConstraints=[constraint]))
    assert given.pre_score() is Status.SKIP


def test_the_score_fails_where_pre_score_is_switched_off():
    with pytest.raises(RuntimeError, match='reading "PreScoreSelectorSpread" from cycleState'):
        asked({"one": 1}).score()
