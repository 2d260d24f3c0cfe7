import math

import pytest

from tests.queue.waiting import make_backoff, make_info, make_pod


def rejected(name="a", *, timestamp=0.0, count=1, priority=0):
    info = make_info(name, timestamp=timestamp, unschedulable_count=count, unschedulable_plugins={"P"})
    info.replace_pod(make_pod(name, priority=priority))
    return info


def failed(name="a", *, timestamp=0.0, count=1):
    return make_info(name, timestamp=timestamp, consecutive_errors_count=count)


def completed(backoff, now):
    names = [info.pod.name for info in backoff.pop_completed(now)]
    backoff.check_invariants()
    return names


@pytest.mark.parametrize(("count", "seconds"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (5000, 10)])
def test_the_backoff_doubles_up_to_the_maximum(count, seconds):
    assert make_backoff().expiration(rejected(count=count)) == seconds


@pytest.mark.parametrize(("initial", "maximum", "count", "seconds"), [(3, 12, 3, 12), (3, 11, 3, 11), (5, 2, 1, 2)])
def test_the_maximum_caps_any_initial_backoff(initial, maximum, count, seconds):
    assert make_backoff(initial, maximum).expiration(rejected(count=count)) == seconds


def test_errors_in_a_row_count_before_rejections():
    info = make_info(unschedulable_count=1, consecutive_errors_count=3)
    assert make_backoff().expiration(info) == 4


def test_a_pod_that_never_failed_does_not_back_off():
    backoff = make_backoff()
    assert backoff.expiration(make_info()) == -math.inf
    assert not backoff.is_backing_off(make_info(), 0.0)


def test_a_maximum_of_zero_switches_backoff_off():
    assert not make_backoff(maximum=0).is_backing_off(rejected(), 0.0)


def test_the_end_is_rounded_down_to_a_second():
    assert make_backoff().expiration(rejected(timestamp=5.9)) == 6


def test_the_end_is_cached_until_cleared():
    backoff, info = make_backoff(), rejected()
    assert backoff.expiration(info) == 1
    info.timestamp = 7.0
    assert backoff.expiration(info) == 1
    info.backoff_expiration = None
    assert backoff.expiration(info) == 8


@pytest.mark.parametrize(("now", "expected"), [(5.9, True), (6.0, True), (6.99, True), (7.0, False)])
def test_a_pod_backs_off_through_the_second_its_backoff_ends_in(now, expected):
    assert make_backoff().is_backing_off(rejected(timestamp=5.9), now) is expected


def test_pods_are_popped_by_the_second_their_backoff_ends_in():
    backoff = make_backoff()
    for name, timestamp in (("late", 3.0), ("early", 1.0), ("middle", 2.0)):
        backoff.add(rejected(name, timestamp=timestamp))
    assert [backoff.pop().pod.name for _ in range(3)] == ["early", "middle", "late"]


def test_pods_of_one_second_are_popped_in_the_order_of_the_active_queue():
    backoff = make_backoff()
    backoff.add(rejected("first to end", timestamp=1.1))
    backoff.add(rejected("important", timestamp=1.8, priority=5))
    assert backoff.pop().pod.name == "important"


def test_pods_that_failed_with_an_error_are_not_popped():
    backoff = make_backoff()
    backoff.add(failed())
    assert not backoff.can_pop
    assert backoff.pop() is None
    assert len(backoff) == 1


def test_pods_that_failed_with_an_error_are_in_the_order_their_backoff_ends():
    backoff = make_backoff()
    for name, timestamp in (("late", 3.0), ("early", 1.0)):
        backoff.add(failed(name, timestamp=timestamp))
    assert [info.pod.name for info in backoff] == ["early", "late"]


def test_completed_pods_come_rejected_ones_first():
    backoff = make_backoff()
    backoff.add(failed("error", timestamp=0.0))
    backoff.add(rejected("rejected", timestamp=1.0))
    backoff.add(rejected("later", timestamp=2.0))
    assert completed(backoff, 3.5) == ["rejected", "error"]
    assert completed(backoff, 3.9) == []
    assert completed(backoff, 4.0) == ["later"]


def test_the_next_completion_is_the_second_after_the_first_end():
    backoff = make_backoff()
    assert backoff.next_completion() is None
    backoff.add(rejected(timestamp=5.9))
    backoff.add(failed("b", timestamp=4.2))
    assert backoff.next_completion() == 6.0
    assert completed(backoff, 5.99) == []
    assert completed(backoff, 6.0) == ["b"]
    assert backoff.next_completion() == 7.0


def test_a_discarded_pod_is_gone():
    backoff = make_backoff()
    for info in (rejected(), failed("b")):
        backoff.add(info)
        backoff.discard(info)
    assert len(backoff) == 0
    assert completed(backoff, 100.0) == []


def test_refresh_keeps_the_end_and_sorts_within_its_second():
    backoff = make_backoff()
    a, b = rejected("a"), rejected("b")
    backoff.add(a)
    backoff.add(b)
    b.replace_pod(make_pod("b", priority=1))
    backoff.refresh(b)
    assert backoff.pop() is b
