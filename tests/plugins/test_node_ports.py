import numpy as np
import pytest

from kubesched.framework import QueueingHint, Status
from kubesched.plugins.node_ports import NodePorts
from kubesched.state import PodBatch
from tests.plugins.hinting import NODE_ADD, POD_DELETE, hint
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

TAKEN = Status.unschedulable("node(s) didn't have free ports for the requested pod ports")


def port(number: int, address: str = "", protocol: str = "") -> dict:
    return {"hostPort": number, "hostIP": address, "protocol": protocol}


def rejected(wanted: list[dict], used: list[dict]) -> dict[str, Status]:
    """What a pod hears of two nodes, of which `busy` has the used ports."""
    there = pod("there", ports=used, nodeName="busy")
    asked = Asked(NodePorts(), [node("busy"), node("idle"), there], pod(ports=wanted))
    assert asked.pre_filter() is Status.SUCCESS
    return asked.filter()


def test_a_pod_without_host_ports_skips():
    assert Asked(NodePorts(), [node("a")], pod(ports=[{"containerPort": 80}])).pre_filter() is Status.SKIP


@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        (port(80), port(80)),
        (port(80), port(80, "10.0.0.1")),
        (port(80, "10.0.0.1"), port(80)),
        (port(80, "10.0.0.1"), port(80, "10.0.0.1")),
        (port(80, "0.0.0.0", "TCP"), port(80)),
        (port(80, "::"), port(80)),
    ],
)
def test_a_port_that_is_taken_is_unschedulable(wanted: dict, used: dict):
    assert rejected([port(79), wanted], [used]) == {"busy": TAKEN}


@pytest.mark.parametrize(
    ("wanted", "used"),
    [
        (port(80), port(81)),
        (port(80, protocol="UDP"), port(80, protocol="TCP")),
        (port(80, "10.0.0.1"), port(80, "10.0.0.2")),
        (port(80, "::"), port(80, "10.0.0.1")),
    ],
)
def test_another_port_protocol_or_address_is_free(wanted: dict, used: dict):
    assert rejected([wanted], [used]) == {}


def test_a_pod_put_on_a_what_if_table_takes_its_ports_there():
    asked = Asked(NodePorts(), [node("a"), node("b")], pod(ports=[port(80)]))
    asked.pre_filter()
    table = asked.nodes.copy()
    other = asked.cluster.pod_info(read_pod(pod("other", ports=[port(80, "10.0.0.1")])))
    table.add(np.array([1]), PodBatch([other]))
    assert asked.filter(table) == {"b": TAKEN}
    assert asked.filter() == {}


def test_the_filter_fails_where_pre_filter_is_switched_off():
    asked = Asked(NodePorts(), [node("a")], pod())
    for hook in (asked.filter, lambda: asked.plugin.filter_part(asked.state, asked.pod)):
        with pytest.raises(RuntimeError) as failed:
            hook()
        assert str(failed.value) == 'reading "PreFilterNodePorts" from cycleState: not found'


def test_a_pod_that_leaves_helps_when_it_frees_a_wanted_port():
    waiting = read_pod(pod(ports=[port(80)]))
    for gone, expected in (
        (pod("gone", ports=[port(80, "10.0.0.1")], nodeName="a"), QueueingHint.QUEUE),
        ({**pod("gone", ports=[port(80)]), "status": {"nominatedNodeName": "a"}}, QueueingHint.QUEUE),
        (pod("gone", ports=[port(80)]), QueueingHint.SKIP),
        (pod("gone", ports=[port(81)], nodeName="a"), QueueingHint.SKIP),
        (pod("gone", nodeName="a"), QueueingHint.SKIP),
    ):
        assert hint(NodePorts(), POD_DELETE, waiting, read_pod(gone), None) is expected


def test_every_new_node_is_worth_a_try():
    assert hint(NodePorts(), NODE_ADD, read_pod(pod(ports=[port(80)])), None, read(node("b"))) is QueueingHint.QUEUE
