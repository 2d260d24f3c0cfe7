import gc
import itertools

import pytest

from kubesched.api import EventType
from kubesched.framework import Plugin, Status
from kubesched.queue import QueuedPodInfo
from kubesched.scheduler.queue_order import QueueOrder
from kubesched.testing import FakeCluster, make_node, make_pod
from tests.scheduler.driving import Driven


def queued(name: str) -> QueuedPodInfo:
    pod = make_pod(name)
    return QueuedPodInfo(pod=pod, key=pod.key, timestamp=0.0)


def order_by(**hook) -> QueueOrder:
    return QueueOrder(FakeCluster(type("Sorter", (Plugin,), hook)()).framework)


def test_a_good_key_is_given_as_it_is():
    order = order_by(sort_key=lambda self, queued: (queued.pod.name,))
    assert order.has_key
    pod = queued("a")
    assert order.sort_key(pod) == ("a",)
    assert order.fault_of(pod) is None


def test_a_pod_without_a_key_stands_in_front_and_its_fault_is_told_once():
    order = order_by(sort_key=lambda self, queued: {"b": (2,)}[queued.pod.name])
    pod = queued("a")
    good, bad = order.sort_key(queued("b")), order.sort_key(pod)
    assert (bad < good, good < bad, good > bad) == (True, False, True)
    fault = order.fault_of(pod)
    assert fault is not None
    assert fault.message == "running QueueSort plugin \"Sorter\": KeyError: 'a'"
    assert order.fault_of(pod) is None


def test_a_pod_that_has_a_key_before_its_turn_is_tried():
    keys, pod = {}, queued("a")
    order = order_by(sort_key=lambda self, queued: keys[queued.pod.name])
    order.sort_key(pod)
    keys["a"] = (1,)
    order.sort_key(pod)
    assert order.fault_of(pod) is None


@pytest.mark.parametrize("hook", ["sort_key", "less"])
def test_the_fault_of_a_pod_that_leaves_before_its_turn_goes_with_it(hook: str):
    def fail(self, *queued):
        raise LookupError

    driven = Driven(type("Sorter", (Plugin,), {hook: fail})(), objects=[make_node("n")])
    for i in range(300):
        driven.tell(make_pod(f"p{i}"))
        driven.tell(make_pod(f"p{i}"), EventType.DELETED)
    gc.collect()
    kept = [obj for obj in gc.get_objects() if isinstance(obj, Status) and "LookupError" in obj.message]
    assert len(kept) < 150, "but for those in void entries of the heap"


def test_keys_of_unlike_types_sort_whatever_their_order():
    keys = {"a": (1, "x"), "b": (1, None), "c": (1, "y"), "d": (1, 7), "e": (0, None)}
    for names in itertools.permutations(keys):
        order = order_by(sort_key=lambda self, queued: keys[queued.pod.name])
        found = sorted(order.sort_key(queued(name)) for name in names)
        assert len(found) == len(keys)


def test_of_equal_keys_of_another_type_neither_is_first():
    order = order_by(sort_key=lambda self, queued: (1 if queued.pod.name == "first" else "x",))
    order.sort_key(queued("first"))
    a, b = order.sort_key(queued("a")), order.sort_key(queued("b"))
    assert [a < b, b < a, a > b, b > a] == [False] * 4


def test_numbers_of_both_kinds_are_comparable():
    order = order_by(sort_key=lambda self, queued: (1 if queued.pod.name == "a" else 0.5,))
    assert order.sort_key(queued("a")) == (1,)
    assert order.sort_key(queued("b")) == (0.5,)


def test_a_comparison_that_fails_is_false_and_blames_the_pod_that_fails_alone():
    def less(self, a, b):
        return {"a": 1, "b": 2}[a.pod.name] < {"a": 1, "b": 2}[b.pod.name]

    order = order_by(less=less)
    assert not order.has_key
    a, x = queued("a"), queued("x")
    assert order.less(a, queued("b"))
    assert not order.less(a, x)
    assert order.fault_of(a) is None
    assert order.fault_of(x) is not None
