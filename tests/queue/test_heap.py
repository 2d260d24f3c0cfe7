import itertools

import pytest

from kubesched.framework import PodQueue
from kubesched.queue.heap import PodHeap, sort_key_of_less
from tests.queue.waiting import by_priority, make_info, make_pod


def make_heap(key=lambda info: info.timestamp):
    return PodHeap(PodQueue.ACTIVE, key, itertools.count(1))


def drain(heap):
    names = []
    while (info := heap.pop()) is not None:
        heap.check_invariants()
        names.append(info.pod.name)
    return names


def test_pods_come_out_by_key():
    heap = make_heap()
    for name, timestamp in (("a", 3), ("b", 1), ("c", 2)):
        heap.add(make_info(name, timestamp=timestamp))
    assert drain(heap) == ["b", "c", "a"]


def test_equal_keys_come_out_in_the_order_they_came():
    heap = make_heap()
    for name in "dbca":
        heap.add(make_info(name))
    assert drain(heap) == list("dbca")


def test_iteration_gives_the_order_of_popping_and_takes_nothing():
    heap = make_heap()
    infos = [make_info(name, timestamp=timestamp) for name, timestamp in (("a", 3), ("b", 1), ("c", 2))]
    for info in infos:
        heap.add(info)
    heap.discard(infos[2])
    assert [info.pod.name for info in heap] == ["b", "a"]
    assert len(heap) == 2


def test_a_discarded_pod_does_not_come_out():
    heap = make_heap()
    gone, stays = make_info("gone"), make_info("stays")
    heap.add(gone)
    heap.add(stays)
    heap.discard(gone)
    assert heap.head() is stays
    assert gone.place is None
    assert drain(heap) == ["stays"]


def test_a_pod_that_moved_to_another_heap_does_not_come_out_of_the_first():
    sequence = itertools.count(1)
    first = PodHeap(PodQueue.ACTIVE, lambda info: info.timestamp, sequence)
    second = PodHeap(PodQueue.BACKOFF, lambda info: info.timestamp, sequence)
    info = make_info()
    first.add(info)
    first.discard(info)
    second.add(info)
    assert first.pop() is None
    assert first.head() is None
    assert second.pop() is info


def test_refresh_sorts_anew():
    heap = make_heap(by_priority)
    a, b = make_info("a"), make_info("b")
    heap.add(a)
    heap.add(b)
    b.replace_pod(make_pod("b", priority=9))
    heap.refresh(b)
    assert drain(heap) == ["b", "a"]


def test_refresh_with_an_equal_key_keeps_the_turn():
    heap = make_heap()
    a, b = make_info("a"), make_info("b")
    heap.add(a)
    heap.add(b)
    heap.refresh(a)
    assert drain(heap) == ["a", "b"]


def test_a_pod_that_was_sorted_anew_comes_out_once():
    heap = make_heap(by_priority)
    info = make_info("a")
    heap.add(info)
    info.replace_pod(make_pod("a", priority=9))
    heap.refresh(info)
    assert drain(heap) == ["a"]


def test_void_entries_do_not_pile_up():
    heap = make_heap()
    stays = make_info("stays")
    heap.add(stays)
    for _ in range(1000):
        info = make_info("gone")
        heap.add(info)
        heap.discard(info)
    heap.check_invariants()
    assert len(heap._entries) < 100
    assert drain(heap) == ["stays"]


def higher_priority(a, b):
    return a.pod.priority > b.pod.priority


def test_less_sorts_like_a_key():
    heap = make_heap(sort_key_of_less(higher_priority))
    for name, priority in (("low", 1), ("high", 3), ("middle", 2), ("second high", 3)):
        info = make_info(name)
        info.replace_pod(make_pod(name, priority=priority))
        heap.add(info)
    assert drain(heap) == ["high", "second high", "middle", "low"]


def test_a_heap_by_less_holds_while_its_pods_change():
    heap = make_heap(sort_key_of_less(higher_priority))
    infos = [make_info(str(i)) for i in range(20)]
    for info in infos:
        heap.add(info)
    for i, info in enumerate(infos):
        info.replace_pod(make_pod(info.pod.name, priority=i))
        heap.refresh(info)
        heap.check_invariants()
    assert drain(heap) == [str(i) for i in reversed(range(20))]


@pytest.mark.parametrize("other", [None, 3, "key"])
def test_a_key_of_less_equals_no_other_thing(other):
    assert sort_key_of_less(higher_priority)(make_info()) != other
