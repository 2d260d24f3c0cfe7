"""Topology spread constraints: another key, skew or policy."""

import msgspec
import pytest

from kubesched.admission.pod_checks import check_new_pod
from kubesched.api import edited
from kubesched.explanation.effort import Effort
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import (
    SMALL,
    ZONE,
    filling,
    fixes_of,
    replica,
    texts,
    why,
)


def test_spreading_gets_another_skew_or_is_only_preferred():
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [constraint]})
    web = [make_pod(f"w{i}", labels={"app": "web"}, node="n1") for i in range(2)]
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", taints=["gpu:NoSchedule"])]
    said = texts(pod, *nodes, *web)
    assert "set maxSkew: 3 for the spread over zone" in said
    assert "set whenUnsatisfiable: ScheduleAnyway for the spread over zone" in said
    assert said[0] == "set nodeTaintsPolicy: Honor for the spread over zone, so that nodes with taints do not count"


def test_a_topology_key_that_no_node_has_is_corrected():
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    pod = make_pod("p", spec={"topologySpreadConstraints": [constraint]})
    fixes = fixes_of(pod, make_node("n1", zone="a"), make_node("n2", zone="b"))
    first = next(iter(fixes))
    assert first == f"correct the topology key zone of the spread (no node has it) to {ZONE}"
    assert fixes[first].n_nodes == 2


ZONES = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


def test_nodes_without_zones_get_them_and_the_spread_is_not_made_over_something_else():
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [ZONES]})
    nodes = [make_node(f"n{i}", labels={"kubernetes.io/os": "linux"}) for i in range(3)]
    assert texts(pod, *nodes) == [
        f"label 3 nodes (n0, n1, n2) with {ZONE}, which no node has: each with its zone",
        "set whenUnsatisfiable: ScheduleAnyway for the spread over zone",
    ]


def test_the_value_of_a_new_label_is_left_to_a_person():
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [ZONES]})
    fix = next(iter(fixes_of(pod, make_node("n0"), make_node("n1")).values()))
    objects, _ = fix.change.apply([make_node("n0"), make_node("n1")], pod)
    assert [node.labels[ZONE] for node in objects] == ["<zone of n0>", "<zone of n1>"]


def test_a_node_is_labelled_with_its_own_name():
    constraint = {**ZONES, "topologyKey": "kubernetes.io/hostname"}
    pod = make_pod("p", labels={"app": "web"}, requests={"cpu": "1"}, spec={"topologySpreadConstraints": [constraint]})
    nodes = [make_node("n1", labels={"kubernetes.io/hostname": "n1"}, allocatable=SMALL), make_node("n2")]
    nodes[1] = edited(nodes[1], metadata=msgspec.structs.replace(nodes[1].metadata, labels={}))
    fixes = fixes_of(pod, *nodes, filling("n1", cpu="2"))
    text = "label n2 with kubernetes.io/hostname, which it lacks: each with its hostname"
    objects, _ = fixes[text].change.apply(nodes, pod)
    assert [node.labels["kubernetes.io/hostname"] for node in objects] == ["n1", "n2"]


def test_a_node_that_lacks_the_zone_of_the_others_may_be_in_one_of_theirs():
    pod = make_pod("p", labels={"app": "web"}, requests={"cpu": "1"}, spec={"topologySpreadConstraints": [ZONES]})
    nodes = [make_node("n1", zone="a", allocatable=SMALL), make_node("n2")]
    said = texts(pod, *nodes, filling("n1", cpu="2"))
    assert said[0] == f"label n2 with {ZONE}, which it lacks, if it is in zone a"


@pytest.mark.parametrize("revisions", [("old", "new"), ("new", "old")])
def test_a_pod_of_an_older_revision_is_not_moved_for_the_spread(revisions):
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["pod-template-hash"],
    }
    labels = {"app": "web", "pod-template-hash": "new"}
    pod = make_pod("p", labels=labels, requests={"cpu": "2"}, spec={"topologySpreadConstraints": [constraint]})
    web = [replica(name, labels=labels | {"pod-template-hash": name}, node="n1") for name in revisions]
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", allocatable=SMALL)]
    said = texts(pod, *nodes, *web, filling("n2", cpu="1"))
    assert [text for text in said if text.startswith("move ")] == ["move default/new (n1) to another zone than a"]


def test_domains_that_do_not_exist_need_not_be_there():
    constraint = {
        "maxSkew": 1,
        "minDomains": 2,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [constraint]})
    web = replica("web", labels={"app": "web"}, node="n1")
    assert "drop minDomains: 2 from the spread over zone" in texts(pod, make_node("n1", zone="a"), web)


def test_a_pod_that_is_moved_for_the_spread_loses_its_local_data():
    volumes = {"volumes": [{"name": "cache", "emptyDir": {}}], "tolerations": [{"key": "gpu", "operator": "Exists"}]}
    web = replica("web", labels={"app": "web"}, node="n1", spec=volumes)
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", taints=["gpu:NoSchedule"])]
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [ZONES]})
    said = texts(pod, *nodes, web)
    assert "move default/web (n1) to another zone than a (what is in emptyDir cache is lost)" in said


@pytest.mark.parametrize(("owner", "effort"), [("web", Effort.LOOSEN), ("other", Effort.DROP)])
def test_a_spread_between_equal_pods_is_loosened_and_one_that_others_rely_on_is_dropped(owner, effort):
    web = replica("web-0", owner, labels={"app": "web"}, node="n1")
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", taints=["gpu:NoSchedule"])]
    pod = replica("web-1", "web", labels={"app": "web"}, spec={"topologySpreadConstraints": [ZONES]})
    fixes = fixes_of(pod, *nodes, web)
    assert fixes["set maxSkew: 2 for the spread over zone"].effort is effort
    assert fixes["set whenUnsatisfiable: ScheduleAnyway for the spread over zone"].effort is effort


def test_a_skew_far_from_the_written_one_drops_the_rule():
    web = [replica(f"web-{i}", "web", labels={"app": "web"}, node="n1") for i in range(3)]
    nodes = [make_node("n1", zone="a"), make_node("n2", zone="b", taints=["gpu:NoSchedule"])]
    pod = replica("web-3", "web", labels={"app": "web"}, spec={"topologySpreadConstraints": [ZONES]})
    fixes = list(fixes_of(pod, *nodes, *web).values())
    looser = [fix.text for fix in fixes if fix.kind in ("scheduleAnyway", "maxSkew")]
    assert looser == [
        "set whenUnsatisfiable: ScheduleAnyway for the spread over zone",
        "set maxSkew: 4 for the spread over zone",
    ]


def zones_of(pods: int = 2, **fields: object) -> tuple[object, list]:
    """A pod of `web` whose zones are spread over, and the cluster with two such zones."""
    pod = make_pod("p", labels={"app": "web"}, spec={"topologySpreadConstraints": [{**ZONES, **fields}]})
    web = [make_pod(f"w{i}", labels={"app": "web"}, node=f"n{i % 2}") for i in range(pods)]
    return pod, [make_node("n0", zone="a"), make_node("n1", zone="b"), *web]


def test_fewer_domains_are_asked_for_where_there_are_no_more():
    pod, cluster = zones_of(minDomains=3)
    said = texts(pod, *cluster)
    assert said[0] == "set minDomains: 2 for the spread over zone: 2 zones have such nodes"
    assert "drop minDomains: 3 from the spread over zone" not in said
    obstacle = why(pod, *cluster)["PodTopologySpread"]
    assert obstacle.endswith("would exceed maxSkew 1: minDomains 3, only 2 zones have such nodes")


def test_a_spread_that_is_only_preferred_asks_for_no_number_of_domains():
    pod, cluster = zones_of(minDomains=3)
    fix = fixes_of(pod, *cluster)["set whenUnsatisfiable: ScheduleAnyway for the spread over zone"]
    _, changed = fix.change.apply(cluster, pod)
    (constraint,) = changed.spec.topology_spread_constraints
    assert constraint.min_domains is None
    check_new_pod(changed.spec)


def test_nodes_do_not_get_the_topology_key_that_says_what_a_machine_is():
    pod, cluster = zones_of(topologyKey="karpenter.sh/capacity-type")
    assert not [text for text in texts(pod, *cluster) if text.startswith("label ")]
