"""A condition is looked at when something changed that it reads, and at no other time."""

from collections.abc import Callable

import pytest

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.framework import ObjectName
from kubesched.scheduler import WaitRequest, Waits
from kubesched.testing.builders import make_node, make_pod


class Condition:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.holds: Callable[[], bool] = lambda: False
        self.n_asked = 0

    def __call__(self) -> bool:
        self.n_asked += 1
        return self.holds()


class Waiting:
    """One wait, and what it was told."""

    def __init__(self, *reads: ObjectName, naming: Callable[[], tuple[ObjectName, ...]] | None = None) -> None:
        self.waits = Waits()
        self.condition = Condition()
        self.told: list[tuple[bool, str]] = []
        self.request = WaitRequest(self.condition, 60.0, naming or reads)
        self.waits.begin(self.request, lambda holds, error: self.told.append((holds, str(error or ""))))

    def happen(self, *objects: KubeObject) -> None:
        for obj in objects:
            self.waits.note(WatchEvent(EventType.MODIFIED, type(obj).__name__, obj))
        self.waits.look()


@pytest.mark.parametrize(
    ("reads", "n_asked"),
    [((), 3), (("Node",), 2), ((("Node", "n2"),), 1), (("Pod", ("Node", "n1")), 2), (("PersistentVolume",), 0)],
)
def test_a_condition_is_asked_when_something_changed_that_it_reads(reads: tuple[ObjectName, ...], n_asked: int) -> None:
    waiting = Waiting(*reads)
    for obj in (make_node("n1"), make_node("n2"), make_pod("p")):
        waiting.happen(obj)
    assert waiting.condition.n_asked == n_asked


def test_a_condition_is_asked_once_however_much_happened() -> None:
    waiting = Waiting()
    waiting.happen(*[make_pod(f"p{i}") for i in range(100)])
    waiting.waits.look()
    assert waiting.condition.n_asked == 1


def test_a_condition_that_holds_is_told_once_and_asked_no_more() -> None:
    waiting = Waiting()
    waiting.condition.holds = lambda: True
    waiting.happen(make_node("n"))
    waiting.happen(make_node("n"))
    assert (waiting.told, waiting.condition.n_asked, len(waiting.waits)) == ([(True, "")], 1, 0)


def test_a_condition_that_fails_is_told() -> None:
    waiting = Waiting("Node")
    waiting.condition.holds = lambda: int("seven") == 7
    waiting.happen(make_node("n"))
    assert waiting.told == [(False, "invalid literal for int() with base 10: 'seven'")]


def test_a_wait_that_was_ended_is_not_asked() -> None:
    waiting = Waiting("Node")
    waiting.waits.note(WatchEvent(EventType.MODIFIED, "Node", make_node("n")))
    waiting.waits.end(waiting.request)
    waiting.waits.end(waiting.request)
    waiting.happen(make_node("n"))
    assert (waiting.condition.n_asked, waiting.told) == (0, [])


def test_only_a_wait_that_began_is_ended() -> None:
    waiting = Waiting("Node")
    waiting.waits.end(WaitRequest(waiting.condition, 60.0, ("Node",)))
    assert len(waiting.waits) == 1
    waiting.waits.end(waiting.request)
    assert (len(waiting.waits), waiting.waits._readers) == (0, {})


def test_what_a_condition_reads_is_named_again_when_it_did_not_hold() -> None:
    names: list[ObjectName] = [("Node", "n1")]
    waiting = Waiting(naming=lambda: tuple(names))
    names[:] = [("Node", "n2")]
    waiting.happen(make_node("n2"))
    assert waiting.condition.n_asked == 0
    waiting.happen(make_node("n1"))
    waiting.happen(make_node("n1"))
    assert waiting.condition.n_asked == 1
    waiting.happen(make_node("n2"))
    assert waiting.condition.n_asked == 2
    waiting.waits.end(waiting.request)
    assert (waiting.waits._readers, waiting.waits._filed) == ({}, {})


def test_a_fault_in_naming_what_is_read_is_told() -> None:
    names: list[ObjectName] = []
    at_once = Waiting(naming=lambda: (names[0],))
    names.append("Node")
    later = Waiting(naming=lambda: (names[0],))
    names.clear()
    later.happen(make_node("n"))
    for waiting in (at_once, later):
        assert waiting.told == [(False, "list index out of range")]
        assert (len(waiting.waits), waiting.waits._readers, waiting.waits._filed) == (0, {}, {})
