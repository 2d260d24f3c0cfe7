"""The ledger finds each Binding that must not be, and allows what a scheduler could not know yet."""

from typing import Any

import pytest

from campaigns.storm.ledger import GRACE_SECONDS, Ledger
from campaigns.storm.observer import NodeSeen, PodSeen, amounts, requested

ROOM = {"cpu": "4", "memory": "1Gi", "pods": "3"}
LONG_AFTER = 100.0 + 2 * GRACE_SECONDS


class History:
    """What an observer saw, one event after the other."""

    def __init__(self) -> None:
        self.nodes: list[NodeSeen] = []
        self.pods: list[PodSeen] = []

    def node(self, name: str = "a", *, at: float = 0.0, is_gone: bool = False, zone: str = "z", **room: str) -> None:
        self.nodes.append(NodeSeen(self._next(), at, name, is_gone, amounts({**ROOM, **room}), {"zone": zone}))

    def pod(
        self, name: str, node: str = "", *, at: float = 100.0, is_gone: bool = False, cpu: str = "1", **selector: str
    ) -> None:
        spec = {"containers": [{"resources": {"requests": {"cpu": cpu}}}]}
        self.pods.append(PodSeen(self._next(), at, name, is_gone, f"uid of {name}", node, requested(spec), selector))

    def bound(self, name: str, node: str, **more: Any) -> None:
        self.pod(name, **more)
        self.pod(name, node, **more)

    def harm(self) -> list[str]:
        return Ledger().replay(self.nodes, self.pods).harm

    def _next(self) -> int:
        return len(self.nodes) + len(self.pods) + 1


@pytest.fixture
def history() -> History:
    return History()


def test_bindings_to_nodes_with_room_are_no_harm(history):
    history.node()
    for name in ("p", "q", "r"):
        history.bound(name, "a", zone="z")
    assert history.harm() == []


def test_a_pod_that_moves_is_bound_twice(history):
    history.node("a")
    history.node("b")
    history.bound("p", "a")
    history.pod("p", "b")
    assert history.harm() == ["pod p is bound twice: to a, then to b"]


def test_a_pod_that_is_created_again_is_not_bound_twice(history):
    history.node()
    history.bound("p", "a")
    history.pod("p", "a", is_gone=True)
    history.bound("p", "a")
    assert history.harm() == []


def test_a_node_that_never_was_does_not_exist(history):
    history.bound("p", "a")
    assert history.harm() == ["pod p is bound to a, which does not exist"]


@pytest.mark.parametrize(("at", "n_harm"), [(100.0, 0), (LONG_AFTER, 1)])
def test_a_node_that_is_gone_does_not_exist_after_the_time_of_grace(history, at, n_harm):
    history.node()
    history.node(at=100.0, is_gone=True)
    history.bound("p", "a", at=at)
    assert len(history.harm()) == n_harm


def test_a_node_that_is_not_selected_is_found(history):
    history.node(zone="y")
    history.bound("p", "a", zone="z")
    assert history.harm() == ["pod p is bound to a, whose labels its node selector does not select"]


def test_a_node_without_room_is_found(history):
    history.node()
    history.bound("p", "a", cpu="3")
    history.bound("q", "a", cpu="1001m")
    assert history.harm() == ["pod q is bound to a, which has 1 cpu left of 4; the pod needs 1.001"]


def test_a_node_takes_no_more_pods_than_it_may(history):
    history.node()
    for name in ("p", "q", "r", "s"):
        history.bound(name, "a", cpu="1m")
    assert history.harm() == ["pod s is bound to a, which has 0 pods left of 3; the pod needs 1"]


def test_pods_that_left_give_their_room_back(history):
    history.node()
    history.bound("p", "a", cpu="4")
    history.pod("p", "a", is_gone=True)
    history.bound("q", "a", cpu="4")
    assert history.harm() == []


@pytest.mark.parametrize(("at", "n_harm"), [(100.0, 0), (LONG_AFTER, 1)])
def test_a_pod_that_others_placed_counts_after_the_time_of_grace(history, at, n_harm):
    history.node()
    history.pod("theirs", "a", cpu="4", at=100.0)
    history.bound("p", "a", at=at)
    assert len(history.harm()) == n_harm


@pytest.mark.parametrize(("at", "n_harm"), [(100.0, 0), (LONG_AFTER, 1)])
def test_a_node_that_became_smaller_is_small_after_the_time_of_grace(history, at, n_harm):
    history.node(cpu="4")
    history.node(at=100.0, cpu="2")
    history.bound("p", "a", cpu="3", at=at)
    assert len(history.harm()) == n_harm
