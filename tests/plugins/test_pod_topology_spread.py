"""PodTopologySpread: numbers of matching pods per domain stay close to each other."""

import numpy as np
import pytest

from kubesched.api import TopologySpreadConstraint
from kubesched.framework import Code, PodChanges, Status
from kubesched.plugins import PodTopologySpread
from kubesched.plugins.args import PodTopologySpreadArgs
from kubesched.state import PodBatch
from kubesched.testing import filter_all, make_node, make_object, make_pod, score_all
from tests.plugins import one_plugin

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NODES = [make_node("a1", zone="a"), make_node("a2", zone="a"), make_node("b1", zone="b")]
MISMATCH = "node(s) didn't match pod topology spread constraints"
WEB = {"matchLabels": {"app": "web"}}


def constraint(max_skew: int = 1, key: str = ZONE, when: str = "DoNotSchedule", **said) -> dict:
    base = {"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": WEB}
    return {**base, **said}


def spread(*constraints: dict, **said):
    spec = {"topologySpreadConstraints": list(constraints), **said.pop("spec", {})}
    return make_pod("p", labels={"app": "web"}, spec=spec, **said)


def web(name: str, node: str, **said):
    return make_pod(name, node=node, labels={"app": "web", **said.pop("labels", {})}, **said)


def rejected(pod, *pods, nodes=NODES, args=None) -> set[str]:
    found = filter_all(PodTopologySpread(args), pod, nodes, pods)
    return {name for name, status in found.items() if not status.is_success}


def test_a_domain_that_would_be_too_far_ahead_is_rejected() -> None:
    assert rejected(spread(constraint()), web("x", "a1")) == {"a1", "a2"}
    assert rejected(spread(constraint(2)), web("x", "a1")) == set()
    assert rejected(spread(constraint()), web("x", "a1"), web("y", "b1")) == set()


def test_a_node_without_the_key_is_rejected_for_good() -> None:
    found = filter_all(PodTopologySpread(), spread(constraint()), [*NODES, make_node("n")], [])
    assert (found["n"].code, found["n"].message) == (
        Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
        f"{MISMATCH} (missing required label)",
    )
    ahead = filter_all(PodTopologySpread(), spread(constraint()), NODES, [web("x", "a1")])["a1"]
    assert (ahead.code, ahead.message) == (Code.UNSCHEDULABLE, MISMATCH)


def test_a_pod_that_does_not_match_itself_does_not_add_to_the_skew() -> None:
    other = make_pod("p", spec={"topologySpreadConstraints": [constraint()]})
    assert rejected(other, web("x", "a1")) == set()
    assert rejected(other, web("x", "a1"), web("y", "a1")) == {"a1", "a2"}


def test_fewer_domains_than_wanted_make_the_least_zero() -> None:
    placed = [web("x", "a1"), web("y", "b1")]
    assert rejected(spread(constraint(minDomains=3)), *placed) == {"a1", "a2", "b1"}
    assert rejected(spread(constraint(minDomains=2)), *placed) == set()


def test_terminating_pods_and_those_of_other_namespaces_do_not_count() -> None:
    leaving = web("x", "a1", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert rejected(spread(constraint()), leaving, web("y", "a2", namespace="prod")) == set()


@pytest.mark.parametrize(("policy", "found"), [("Honor", set()), ("Ignore", {"a1", "a2"})])
def test_nodes_that_the_pod_does_not_select_count_only_when_told_so(policy: str, found: set[str]) -> None:
    nodes = [
        make_node("a1", zone="a", labels={"disk": "ssd"}),
        make_node("a2", zone="a", labels={"disk": "ssd"}),
        NODES[2],
    ]
    pod = spread(constraint(nodeAffinityPolicy=policy), node_selector={"disk": "ssd"})
    assert rejected(pod, web("x", "a1"), nodes=nodes) - {"b1"} == found


@pytest.mark.parametrize(("policy", "found"), [("Honor", set()), ("Ignore", {"a1", "a2"})])
def test_tainted_nodes_count_unless_told_otherwise(policy: str, found: set[str]) -> None:
    nodes = [*NODES[:2], make_node("b1", zone="b", taints=["k:NoSchedule"])]
    assert rejected(spread(constraint(nodeTaintsPolicy=policy)), web("x", "a1"), nodes=nodes) - {"b1"} == found


@pytest.mark.parametrize("hole", [False, True], ids=["", "after a node has left"])
@pytest.mark.parametrize(
    ("selector", "placed", "found"), [({}, ["a2"], {"a1"}), ({"disk": "ssd"}, ["a2", "a1"], {"a1", "a2"})]
)
def test_a_pod_that_is_moved_off_a_node_counts_as_it_did_there(
    selector: dict, placed: list[str], found: set[str], hole: bool
) -> None:
    zones = {"a1": ("a", "ssd"), "a2": ("a", "hdd"), "b1": ("b", "ssd")}
    items = [one_plugin.node(name, labels={ZONE: zone, "disk": disk}) for name, (zone, disk) in zones.items()]
    items += [one_plugin.pod(f"on-{name}", nodeName=name) for name in placed]
    incoming = one_plugin.pod(topologySpreadConstraints=[constraint()], nodeSelector=selector)
    for pod in (*items[3:], incoming):
        pod["metadata"]["labels"] = {"app": "web"}
    asked = one_plugin.Asked(PodTopologySpread(), items, incoming, hole=hole)
    assert asked.pre_filter() == Status.SUCCESS
    assert asked.filter().keys() == {"a1", "a2"}
    table, positions = asked.nodes.copy(), np.array([1])
    changes = PodChanges(table, positions, PodBatch(list(table.pods(1))))
    asked.plugin.remove_pods(asked.state, asked.pod, changes)
    assert asked.filter(table).keys() == found


def test_match_label_keys_take_the_pods_own_values() -> None:
    pod = make_pod(
        "p",
        labels={"app": "web", "version": "2"},
        spec={"topologySpreadConstraints": [constraint(matchLabelKeys=["version", "absent"])]},
    )
    assert rejected(pod, web("x", "a1", labels={"version": "1"})) == set()
    assert rejected(pod, web("x", "a1", labels={"version": "2"})) == {"a1", "a2"}


def test_a_selector_that_does_not_parse_ends_the_attempt() -> None:
    bad = constraint(labelSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]})
    (status,) = set(filter_all(PodTopologySpread(), spread(bad), NODES).values())
    assert status.code is Code.ERROR


def test_configured_defaults_hold_for_pods_of_a_service_without_constraints_of_their_own() -> None:
    args = PodTopologySpreadArgs(
        defaulting_type="List", default_constraints=(TopologySpreadConstraint(1, ZONE, "DoNotSchedule"),)
    )
    service = make_object("Service", "s", spec={"selector": {"app": "web"}})
    found = filter_all(
        PodTopologySpread(args), make_pod("p", labels={"app": "web"}), NODES, [web("x", "a1")], [service]
    )
    assert [name for name, status in found.items() if status.is_success] == ["b1"]
    assert rejected(make_pod("p", labels={"app": "web"}), web("x", "a1"), args=args) == set()


def scores(pod, *pods, nodes=NODES, objects=()) -> dict[str, int]:
    return score_all(PodTopologySpread(), pod, nodes, pods, objects)


def test_domains_with_fewer_matching_pods_score_higher() -> None:
    soft = spread(constraint(when="ScheduleAnyway"))
    assert scores(soft, web("x", "a1"), web("y", "a2"), web("z", "b1")) == {"a1": 33, "a2": 33, "b1": 100}


def test_host_names_are_counted_node_by_node() -> None:
    soft = spread(constraint(key=HOST, when="ScheduleAnyway"))
    assert scores(soft, web("x", "a1")) == {"a1": 0, "a2": 100, "b1": 100}


def test_nodes_that_lack_a_key_of_the_pods_own_constraints_earn_nothing() -> None:
    soft = spread(constraint(when="ScheduleAnyway"))
    found = scores(soft, web("x", "a1"), nodes=[*NODES, make_node("n")])
    assert (found["n"], found["b1"]) == (0, 100)


def test_without_soft_constraints_or_owners_the_score_is_skipped() -> None:
    assert scores(make_pod("p", labels={"app": "web"}), web("x", "a1")) == {}
    assert scores(spread(constraint()), web("x", "a1")) == {}


def test_system_defaults_spread_the_pods_of_a_service() -> None:
    service = make_object("Service", "s", spec={"selector": {"app": "web"}})
    found = scores(make_pod("p", labels={"app": "web"}), web("x", "a1"), objects=[service])
    assert found["b1"] > found["a2"] > found["a1"]
