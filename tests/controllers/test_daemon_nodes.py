import msgspec
import pytest

from kubesched.api import Node, Pod
from kubesched.controllers.daemon_nodes import bind_to_node, daemon_tolerations, may_run_daemon, node_of_daemon

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def may_run(spec, labels=None, taints=()):
    node = {"metadata": {"name": "n1", "labels": labels or {}}, "spec": {"taints": list(taints)}}
    spec = {"tolerations": daemon_tolerations(host_network=False), **spec}
    return may_run_daemon(msgspec.convert({"spec": spec}, Pod), msgspec.convert(node, Node))


def affinity(*terms):
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": list(terms)}}}}


def expression(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def taint(key, effect, value=""):
    return {"key": key, "effect": effect, "value": value}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, True),
        ({"nodeName": "n1"}, True),
        ({"nodeName": "n2"}, False),
        ({"nodeSelector": {"disk": "ssd"}}, True),
        ({"nodeSelector": {"disk": "hdd"}}, False),
        (affinity(expression("disk", "In", "hdd"), expression("disk", "Exists")), True),
        (affinity(expression("disk", "DoesNotExist")), False),
        (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}), False),
        (affinity(), False),
        (affinity({}), False),
        (affinity(expression("disk", "Nonsense")), False),
    ],
)
def test_the_template_has_to_fit_the_node(spec, expected):
    assert may_run(spec, labels={"disk": "ssd"}) is expected


@pytest.mark.parametrize(
    ("key", "effect", "expected"),
    [
        ("node.kubernetes.io/unschedulable", "NoSchedule", True),
        ("node.kubernetes.io/not-ready", "NoExecute", True),
        ("node.kubernetes.io/not-ready", "NoSchedule", False),
        ("node.kubernetes.io/network-unavailable", "NoSchedule", False),
        ("dedicated", "NoSchedule", False),
        ("dedicated", "NoExecute", False),
        ("dedicated", "PreferNoSchedule", True),
    ],
)
def test_taints_that_daemons_do_not_tolerate_keep_them_away(key, effect, expected):
    assert may_run({}, taints=[taint(key, effect)]) is expected


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "dedicated", "operator": "Exists"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "dedicated", "value": "db"}, True),
        ({"key": "dedicated", "operator": "Equal", "value": "web"}, False),
        ({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
    ],
)
def test_tolerations_of_the_template_count(toleration, expected):
    assert may_run({"tolerations": [toleration]}, taints=[taint("dedicated", "NoSchedule", "db")]) is expected


def test_daemons_on_the_hosts_network_tolerate_a_missing_network():
    keys = [t["key"] for t in daemon_tolerations(host_network=True)]
    assert "node.kubernetes.io/network-unavailable" in keys
    assert len(keys) == 7


def test_a_daemon_is_tied_to_its_node_and_nothing_else():
    spec = {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}, "x": 1}, "podAffinity": {}}}
    bind_to_node(spec, "n1")
    by_name = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    assert spec["affinity"]["nodeAffinity"] == {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [by_name]}]}, "x": 1}
    assert (
        node_of_daemon(
            msgspec.convert(
                {
                    "spec": spec
                    | {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [by_name]}]}}}}
                },
                Pod,
            )
        )
        == "n1"
    )


def test_a_placed_daemon_is_where_it_was_placed():
    assert node_of_daemon(msgspec.convert({"spec": {"nodeName": "n2"}}, Pod)) == "n2"
    assert node_of_daemon(Pod()) == ""
