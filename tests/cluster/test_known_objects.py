from collections.abc import Iterable

from kubesched.api import Node, ObjectMeta, WatchEvent
from kubesched.cluster.known_objects import KnownObjects


def node(name: str, version: str = "1", uid: str = "") -> Node:
    return Node(metadata=ObjectMeta(name=name, uid=uid or name, resource_version=version))


def told(events: Iterable[WatchEvent]) -> list[tuple[str, str, str]]:
    return [(e.type.value, e.object.uid, e.object.metadata.resource_version) for e in events]


def known(*nodes: Node) -> KnownObjects:
    objects = KnownObjects("Node")
    for each in nodes:
        list(objects.put(each))
    return objects


def test_new_changed_and_unchanged_objects_are_told_apart() -> None:
    objects = known(node("a"), node("b"))
    assert told(objects.put(node("a", "2"))) == [("MODIFIED", "a", "2")]
    assert told(objects.put(node("b"))) == []
    assert told(objects.put(node("c"))) == [("ADDED", "c", "1")]


def test_an_object_without_a_version_may_always_have_changed() -> None:
    assert told(known(node("a", "")).put(node("a", ""))) == [("MODIFIED", "a", "")]


def test_an_object_made_again_is_deleted_first_with_its_last_state() -> None:
    objects = known(node("a", "3", uid="old"))
    assert told(objects.put(node("a", "9", uid="new"))) == [("DELETED", "old", "3"), ("ADDED", "new", "9")]
    assert len(objects) == 1


def test_what_is_gone_is_told_once() -> None:
    objects = known(node("a", "3"))
    assert told(objects.remove("a", node("a", "4"))) == [("DELETED", "a", "4")]
    assert told(objects.remove("a")) == []


def test_a_replacement_is_told_as_differences_with_deletions_first() -> None:
    objects = known(node("kept"), node("gone", "5"), node("changed"), node("again", uid="old"))
    found = {each.key: each for each in (node("kept"), node("changed", "6"), node("new"), node("again", "7", uid="x"))}
    assert told(objects.replace(found)) == [
        ("DELETED", "gone", "5"),
        ("MODIFIED", "changed", "6"),
        ("ADDED", "new", "1"),
        ("DELETED", "old", "1"),
        ("ADDED", "x", "7"),
    ]
    assert told(objects.replace(found)) == []


def test_a_replacement_from_another_past_does_not_trust_versions() -> None:
    objects = known(node("a", "5"), node("b", "9"))
    found = {each.key: each for each in (node("a", "5"), node("b", "3"))}
    assert told(objects.replace(found, versions_hold=False)) == [("MODIFIED", "a", "5"), ("MODIFIED", "b", "3")]
    assert told(objects.put(node("b", "3"))) == []
