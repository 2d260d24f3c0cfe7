"""Counts follow the objects that they are made of; each test changes one kind of object after they were asked for."""

import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.state import ClusterState
from tests.plugins.one_plugin import load, node, pod, read
from tests.plugins.storage_objects import attachment, claim, csi_volume, storage_class, uses

DRIVER, OTHER = "csi.example.com", "csi.other.example"
NODES = [node("a"), node("b")]
USER = pod("user", nodeName="a", volumes=uses("c"))


def held(cluster_state: ClusterState, driver: str = DRIVER) -> dict[str, int]:
    """How many volumes of a driver each node holds, where it holds any."""
    column = cluster_state.volumes.attached.held.get(driver)
    rows = cluster_state.columns.row_of.items()
    return {} if column is None else {name: int(column[row]) for name, row in rows if column[row]}


def after(items: list[dict], *events: tuple[EventType, dict]) -> ClusterState:
    """The state after these events, its counts having been asked for before each."""
    cluster_state = load([*NODES, *items])
    for type_, item in events:
        held(cluster_state)
        cluster_state.apply(WatchEvent(type_, item["kind"], read(item)))
    return cluster_state


def put(item: dict) -> tuple[EventType, dict]:
    return EventType.MODIFIED, item


def gone(item: dict) -> tuple[EventType, dict]:
    return EventType.DELETED, item


@pytest.mark.parametrize("late", [claim("c", volume="pv"), csi_volume("pv"), USER, pytest.param(NODES[0], id="node")])
def test_the_order_in_which_objects_come_does_not_matter(late: dict):
    every = [*NODES, claim("c", volume="pv"), csi_volume("pv"), USER]
    cluster_state = ClusterState()
    for item in [*(item for item in every if item is not late), late]:
        held(cluster_state)
        cluster_state.apply(WatchEvent(EventType.ADDED, item["kind"], read(item)))
    assert held(cluster_state) == {"a": 1}


def test_a_volume_that_changes_its_driver_is_counted_anew():
    cluster_state = after([USER, claim("c", volume="pv"), csi_volume("pv")], put(csi_volume("pv", OTHER)))
    assert (held(cluster_state), held(cluster_state, OTHER)) == ({}, {"a": 1})


def test_a_claim_counts_under_its_class_until_it_has_its_volume():
    items = [USER, claim("c", "x"), storage_class("x", OTHER), csi_volume("pv")]
    assert held(after(items), OTHER) == {"a": 1}
    cluster_state = after(items, put(claim("c", "x", volume="pv")))
    assert (held(cluster_state), held(cluster_state, OTHER)) == ({"a": 1}, {})


def test_a_class_that_comes_late_names_the_driver():
    assert held(after([USER, claim("c", "x")], put(storage_class("x")))) == {"a": 1}


def test_claims_and_pods_that_go_take_their_volumes_along():
    items = [USER, claim("c", volume="pv"), csi_volume("pv")]
    for item in (USER, items[1]):
        assert held(after(items, gone(item))) == {}


def test_a_volume_counts_once_whether_pods_or_attachments_bring_it():
    items = [USER, claim("c", volume="pv"), csi_volume("pv")]
    cluster_state = after(items, put(attachment("va", "a", "pv")), put(attachment("vb", "b", "pv")))
    assert held(cluster_state) == {"a": 1, "b": 1}
    assert cluster_state.volumes.attached.pod_rows == {(DRIVER, "pv"): {cluster_state.columns.row_of["a"]}}


def test_an_attachment_follows_its_node_and_its_volume():
    items = [csi_volume("pv"), attachment("va", "a", "pv")]
    assert held(after(items, put(attachment("va", "b", "pv")))) == {"b": 1}
    assert held(after(items, gone(items[1]))) == {}
    assert held(after(items, gone(items[0]))) == {}
    assert held(after(items[1:], put(items[0]))) == {"a": 1}


def test_an_attachment_waits_for_its_node():
    items = [csi_volume("pv"), attachment("va", "late", "pv")]
    assert held(after(items, put(node("late")))) == {"late": 1}


def test_a_row_that_is_given_out_again_starts_empty():
    items = [csi_volume("pv"), attachment("va", "a", "pv")]
    assert held(after(items, gone(NODES[0]), put(node("new")))) == {}
