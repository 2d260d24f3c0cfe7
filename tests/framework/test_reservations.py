"""What pods hold on a node: read from the annotations of the pods there, written with the binding."""

from kubesched.framework import CycleState, Reservations
from kubesched.state import ClusterState, NodeInfo
from kubesched.testing import FakeCluster, make_node, make_pod

DEVICE = "example.com/device"
DEVICES = Reservations(DEVICE, int)


def holding(name: str, device: str, **said):
    return make_pod(name, node="n", annotations={DEVICE: device}, **said)


def held(node: NodeInfo, **how) -> dict[str, int]:
    return {info.pod.name: device for info, device in DEVICES.held_on(node, **how).items()}


def node_with(*pods) -> NodeInfo:
    return FakeCluster(nodes=[make_node("n")], pods=pods).cluster_state.snapshot().node_info("n")


def test_what_the_pods_on_a_node_hold_is_read_from_their_annotations() -> None:
    assert held(node_with(holding("a", "0"), make_pod("b", node="n"), holding("c", "2"))) == {"a": 0, "c": 2}


def test_a_value_that_does_not_parse_holds_nothing() -> None:
    assert held(node_with(holding("a", "gpu-0"), holding("b", ""))) == {}


def test_a_pod_that_has_ended_holds_nothing() -> None:
    ended = [holding(name, "0", status={"phase": name}) for name in ("Succeeded", "Failed")]
    assert held(node_with(*ended)) == {}


def test_a_pod_can_be_left_out() -> None:
    a = holding("a", "0")
    assert held(node_with(a, holding("b", "1")), but=a) == {"b": 1}


def test_what_is_taken_goes_into_the_binding() -> None:
    state = CycleState(ClusterState().pod_info(make_pod("p")))
    DEVICES.take(state, 3)
    assert state.binding.annotations == {DEVICE: "3"}
