"""Counts of pods by group, kept while pods come and go."""

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState, Identity
from kubesched.state.groups import PodGroups
from kubesched.testing import make_node, make_pod

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def cluster_state() -> ClusterState:
    found = ClusterState()
    found.load([("Node", make_node(name, zone=zone)) for name, zone in (("a1", "a"), ("b1", "b"), ("none", ""))])
    return found


def put(cluster_state: ClusterState, name: str, node: str, app: str = "web", **said) -> None:
    pod = make_pod(name, node=node, labels={"app": app}, **said)
    cluster_state.apply(WatchEvent(EventType.MODIFIED, "Pod", pod))


def is_web(pod: Identity) -> bool:
    return pod.labels.get("app") == "web"


def web(cluster_state: ClusterState, **said):
    return cluster_state.groups.group(("web", *said), is_web, **said)


def counts(cluster_state: ClusterState, group) -> dict[str, int]:
    return {name: int(group.counts[row]) for name, row in cluster_state.columns.row_of.items() if group.counts[row]}


def by_zone(cluster_state: ClusterState, group) -> dict[str | None, float]:
    values = cluster_state.columns.label(ZONE).values.values
    return {value: n for value, n in zip(values, group.by_domain(ZONE).tolist(), strict=True) if n}


def test_pods_are_counted_before_and_after_somebody_asks(cluster_state: ClusterState) -> None:
    put(cluster_state, "p", "a1")
    group = web(cluster_state)
    put(cluster_state, "q", "b1")
    put(cluster_state, "r", "b1", app="db")
    put(cluster_state, "s", "none")
    assert counts(cluster_state, group) == {"a1": 1, "b1": 1, "none": 1}
    assert by_zone(cluster_state, group) == {"a": 1, "b": 1}


def test_a_pod_that_leaves_or_changes_its_labels_is_counted_out(cluster_state: ClusterState) -> None:
    put(cluster_state, "p", "a1")
    put(cluster_state, "q", "a1")
    group = web(cluster_state)
    assert by_zone(cluster_state, group) == {"a": 2}
    put(cluster_state, "p", "a1", app="db")
    cluster_state.apply(WatchEvent(EventType.DELETED, "Pod", make_pod("q", node="a1", labels={"app": "web"})))
    assert (counts(cluster_state, group), by_zone(cluster_state, group)) == ({}, {})


def test_pods_follow_their_node_into_another_domain(cluster_state: ClusterState) -> None:
    put(cluster_state, "p", "a1")
    group = web(cluster_state)
    assert by_zone(cluster_state, group) == {"a": 1}
    cluster_state.apply(WatchEvent(EventType.MODIFIED, "Node", make_node("a1", zone="c")))
    assert by_zone(cluster_state, group) == {"c": 1}


def test_terminating_pods_count_only_where_they_are_wanted(cluster_state: ClusterState) -> None:
    put(cluster_state, "p", "a1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    with_them, without = web(cluster_state), web(cluster_state, includes_terminating=False)
    put(cluster_state, "q", "a1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert (with_them.counts.sum(), without.counts.sum()) == (2, 0)


def test_the_least_recently_used_group_is_counted_anew_when_it_is_asked_for_again(cluster_state: ClusterState) -> None:
    groups = cluster_state.groups = PodGroups(cluster_state.columns, max_groups=2)
    first = groups.group("first", is_web)
    groups.group("second", is_web)
    assert groups.group("first", is_web) is first
    groups.group("third", is_web)
    put(cluster_state, "p", "a1")
    assert first.counts.sum() == 1
    assert groups.group("second", is_web).counts.sum() == 1
    assert groups.group("first", is_web) is not first


def test_a_group_keeps_no_domains_of_keys_that_no_node_has_any_more(cluster_state: ClusterState) -> None:
    """A cluster may name its racks anew each month, while the group of a workload stays."""
    put(cluster_state, "p", "a1")
    group = web(cluster_state)
    sizes = []
    for month in range(6):
        key = f"example.com/rack-{month}"
        labels = {"metadata": {"labels": {key: "r1"}}}
        for name in ("a1", "b1"):
            cluster_state.apply(WatchEvent(EventType.MODIFIED, "Node", make_node(name, **labels)))
        assert group.by_domain(key).sum() == 1
        sizes.append(group.n_bytes)
    cluster_state.check_invariants()
    assert sizes[-1] == sizes[0]


def test_groups_that_nobody_asks_for_any_more_go(cluster_state: ClusterState) -> None:
    groups = cluster_state.groups = PodGroups(cluster_state.columns, max_unused=100)
    for rollout in range(1000):
        groups.group("kept", is_web)
        groups.group(rollout, is_web)
        assert len(groups) <= 1 + 51
    put(cluster_state, "p", "a1")
    assert groups.group("kept", is_web).counts.sum() == 1
    assert groups.group(0, is_web).counts.sum() == 1


def test_groups_that_take_more_than_their_budget_go(cluster_state: ClusterState) -> None:
    groups = cluster_state.groups = PodGroups(cluster_state.columns, budget=0)
    groups.budget = 2 * groups.group("first", is_web).n_bytes
    for name in ("second", "third", "fourth"):
        groups.group(name, is_web)
        assert groups.n_bytes <= groups.budget
    assert list(groups._groups) == ["third", "fourth"]
    put(cluster_state, "p", "a1")
    assert [group.counts.sum() for group in groups.of(cluster_state.columns.pods[0][0].identity)] == [1, 1]


def test_a_group_that_is_asked_for_again_counts_nodes_that_came_in_between(cluster_state: ClusterState) -> None:
    web(cluster_state)
    for i in range(200):
        cluster_state.apply(WatchEvent(EventType.ADDED, "Node", make_node(f"n{i}")))
    group = web(cluster_state)
    assert counts(cluster_state, group) == {}
    put(cluster_state, "p", "n199")
    assert counts(cluster_state, group) == {"n199": 1}
