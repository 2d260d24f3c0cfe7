"""Forks of a cluster state: what is taken back and what is kept, and in which order things are again."""

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.errors import StateError
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object, make_pod

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


def cluster(*objects) -> ClusterState:
    state = ClusterState()
    state.load([(type(obj).__name__, obj) for obj in objects])
    return state


def on_n1(*names: str, **said) -> list:
    return [make_pod(name, node="n1", **said) for name in names]


def pods_on(state: ClusterState, node: str = "n1") -> list[str]:
    return [info.pod.name for info in state.columns.pods[state.columns.row_of[node]]]


def names(state: ClusterState, kind: str) -> list[str]:
    return [obj.name for obj in state.objects.list(kind)]


def apply(state: ClusterState, type_: EventType, *objects) -> None:
    for obj in objects:
        state.apply(WatchEvent(type_, type(obj).__name__, obj))


def test_leaving_it_takes_everything_back() -> None:
    state = cluster(make_node("n1"), *on_n1("a"))
    with state.fork():
        apply(state, ADDED, make_node("n2"), make_pod("b", node="n2"), make_pod("c"))
        state.assume(state.pod_info(make_pod("d")), "n2")
        assert (state.n_placed, state.columns.n_nodes) == (3, 2)
    assert (pods_on(state), names(state, "Pod"), names(state, "Node")) == (["a"], ["a"], ["n1"])
    assert not state.assumed_uids
    state.check_invariants()


def test_a_fault_takes_everything_back() -> None:
    state = cluster(make_node("n1"))

    def fail() -> None:
        with state.fork():
            apply(state, ADDED, *on_n1("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert pods_on(state) == []


def test_commit_keeps_the_changes() -> None:
    pods = on_n1("a", "b", "c")
    state = cluster(make_node("n1"), *pods)
    with state.fork() as fork:
        apply(state, DELETED, pods[0])
        fork.commit()
    assert pods_on(state) == ["c", "b"]
    assert names(state, "Pod") == ["b", "c"]
    assert state.objects._kinds["Pod"].keys() == {"default/b", "default/c"}
    state.check_invariants()


def test_an_early_revert_leaves_the_rest_of_the_block_outside() -> None:
    state = cluster(make_node("n1"))
    with state.fork() as fork:
        apply(state, ADDED, *on_n1("a"))
        fork.revert()
        apply(state, ADDED, *on_n1("b"))
    assert pods_on(state) == ["b"]


def test_what_an_inner_fork_keeps_belongs_to_the_outer_one() -> None:
    state = cluster(make_node("n1"))
    with state.fork():
        apply(state, ADDED, *on_n1("a"))
        with state.fork() as inner:
            apply(state, ADDED, *on_n1("b"))
            inner.commit()
        with state.fork():
            apply(state, ADDED, *on_n1("c"))
        assert pods_on(state) == ["a", "b"]
    assert pods_on(state) == []


def test_reverting_an_outer_fork_reverts_the_inner_ones() -> None:
    state = cluster(make_node("n1"))
    outer = state.fork()
    apply(state, ADDED, *on_n1("a"))
    inner = state.fork()
    apply(state, ADDED, *on_n1("b"))
    outer.revert()
    assert pods_on(state) == []
    for close in (inner.revert, inner.commit, outer.revert, outer.commit):
        with pytest.raises(StateError, match="reverted or committed before"):
            close()


def test_listeners_see_the_inverse_changes_newest_first() -> None:
    old, gone = on_n1("old", "gone")
    state = cluster(make_node("n1"), old, gone)
    seen: list[tuple[object, object]] = []
    changed, new = make_pod("old", node="n1", labels={"app": "x"}), make_pod("new")
    with state.fork():
        apply(state, MODIFIED, changed)
        apply(state, DELETED, gone, make_pod("never-there"))
        apply(state, ADDED, new)
        state.objects.listen("Pod", lambda before, after: seen.append((before, after)))
    assert seen == [(new, None), (None, gone), (changed, old)]


def test_pods_are_on_their_row_in_the_order_in_which_they_were() -> None:
    pods = on_n1("a", "b", "c", "d")
    state = cluster(make_node("n1"), *pods)
    with state.fork():
        apply(state, DELETED, pods[0], pods[2])
        apply(state, ADDED, pods[0])
        assert pods_on(state) == ["d", "b", "a"]
    assert pods_on(state) == ["a", "b", "c", "d"]
    state.check_invariants()


def test_a_port_that_two_pods_hold_stays_taken() -> None:
    first, second = on_n1("a", "b", host_ports=[80])
    state = cluster(make_node("n1"), first, second)
    port = state.pod_info(first).ports.value[0]
    with state.fork():
        apply(state, DELETED, first)
        assert port not in state.columns.ports
    assert state.columns.ports[port][0]
    apply(state, DELETED, first)
    with state.fork():
        apply(state, ADDED, first)
        assert state.columns.ports[port][0]
    assert port not in state.columns.ports


def test_objects_are_listed_in_the_order_in_which_they_were() -> None:
    state = cluster(*(make_object("Namespace", name) for name in "abc"))
    with state.fork():
        apply(state, DELETED, make_object("Namespace", "a"))
        assert names(state, "Namespace") == ["b", "c"]
        apply(state, ADDED, make_object("Namespace", "a"))
        assert names(state, "Namespace") == ["b", "c", "a"]
        with state.fork():
            apply(state, DELETED, *(make_object("Namespace", name) for name in "abc"))
            assert "Namespace" not in state.objects
            apply(state, ADDED, make_object("Namespace", "b"))
        assert names(state, "Namespace") == ["b", "c", "a"]
    assert names(state, "Namespace") == ["a", "b", "c"]


def test_nodes_are_looked_at_in_the_order_in_which_they_were() -> None:
    nodes = [make_node(f"n{i}", zone="ab"[i % 2]) for i in range(5)]
    state = cluster(*nodes)
    before = state.snapshot().order().tolist()
    with state.fork():
        apply(state, DELETED, nodes[0], nodes[1], nodes[3])
        apply(state, ADDED, make_node("n9", zone="c"), nodes[0])
        assert len(state.snapshot().order()) == 4
    assert state.snapshot().order().tolist() == before
    assert list(state.columns.names) == [node.name for node in nodes]


def test_pods_of_a_node_that_left_are_on_it_again() -> None:
    node, pods = make_node("n1"), on_n1("a", "b", "c")
    state = cluster(node, *pods)
    with state.fork():
        apply(state, DELETED, node, pods[1])
        assert [info.pod.name for info in state.homeless["n1"]] == ["a", "c"]
    assert (pods_on(state), state.homeless) == (["a", "b", "c"], {})


def test_an_image_has_the_size_that_was_known() -> None:
    def with_image(name: str, size: int):
        return make_node(name, status={"images": [{"names": ["app:1"], "sizeBytes": size}]})

    first, second = with_image("n1", 5), with_image("n2", 7)
    state = cluster(first, second)
    apply(state, DELETED, first)
    assert state.columns.images["app:1"].size == 5
    for type_, node in ((DELETED, second), (MODIFIED, make_node("n2"))):
        with state.fork():
            apply(state, type_, node)
            assert "app:1" not in state.columns.images
        assert state.columns.images["app:1"].size == 5


def test_volumes_are_numbered_in_the_order_in_which_they_were() -> None:
    spec = {"capacity": {"storage": "1Gi"}, "storageClassName": "c"}
    volumes = [make_object("PersistentVolume", name, spec=spec, status={"phase": "Available"}) for name in "abc"]
    state = cluster(*volumes)
    known = state.volumes.persistent
    assert [known.by_number(number).volume.name for number in known.free("c").numbers[:-1]] == ["a", "b", "c"]
    with state.fork():
        apply(state, DELETED, volumes[0])
    assert [known.by_number(number).volume.name for number in known.free("c").numbers[:-1]] == ["a", "b", "c"]


def test_a_plan_is_what_it_was() -> None:
    claim, other = (make_object("PersistentVolumeClaim", "data", spec={"volumeName": name}) for name in ("v", "w"))
    state = cluster(make_node("n1"), claim)
    pod = make_pod("a")
    state.assume(state.pod_info(pod), "n1", [("PersistentVolumeClaim", other)])
    with state.fork():
        state.forget(pod)
        assert state.objects.get("PersistentVolumeClaim", "default/data") is claim
    assert state.objects.get("PersistentVolumeClaim", "default/data") is other
    assert state.is_assumed(pod)
    with state.fork():
        apply(state, ADDED, make_pod("a", node="n1"))
        assert not state.is_assumed(pod)
    state.check_invariants()
    state.forget(pod)
    assert state.objects.get("PersistentVolumeClaim", "default/data") is claim
