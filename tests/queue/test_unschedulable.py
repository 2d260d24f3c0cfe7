import itertools
import math

from kubesched.queue.unschedulable import UnschedulablePods
from tests.queue.waiting import make_info


def make_pods(*infos):
    pods = UnschedulablePods(itertools.count(1))
    for info in infos:
        pods.add(info)
        pods.check_invariants()
    return pods


def names(infos):
    return [info.pod.name for info in infos]


def waiting(name, *plugins, **fields):
    return make_info(name, unschedulable_plugins=set(plugins), **fields)


def test_pods_are_found_by_those_that_rejected_them():
    pods = make_pods(waiting("a", "P"), waiting("b", "Q"), waiting("c", "P", "Q"))
    assert names(pods.rejected_by(["P"])) == ["a", "c"]
    assert names(pods.rejected_by(["R"])) == []


def test_a_pod_with_several_rejectors_is_found_once_and_in_the_order_of_arrival():
    pods = make_pods(waiting("a", "P"), waiting("b", "Q"), waiting("c", "P", "Q"))
    assert names(pods.rejected_by(["Q", "P"])) == ["a", "b", "c"]


def test_pods_are_found_by_the_plugins_they_are_pending_on():
    pods = make_pods(make_info("a", pending_plugins={"P"}))
    assert names(pods.rejected_by(["P"])) == ["a"]


def test_adding_again_files_the_pod_anew_in_its_old_turn():
    a, b = waiting("a", "P"), waiting("b", "P")
    pods = make_pods(a, b)
    a.unschedulable_plugins.add("Q")
    pods.add(a)
    pods.check_invariants()
    assert names(pods.rejected_by(["Q"])) == ["a"]
    assert names(pods) == ["a", "b"]


def test_a_discarded_pod_is_not_found():
    a = waiting("a", "P")
    pods = make_pods(a)
    pods.discard(a)
    pods.check_invariants()
    assert pods.rejected_by(["P"]) == []
    assert len(pods) == 0
    assert pods.waiting_since == math.inf


def test_only_pods_that_waited_longer_are_overdue():
    pods = make_pods(waiting("new", "P", timestamp=10.0), waiting("old", "P", timestamp=9.9))
    assert names(pods.mark_overdue(300.0, 309.9)) == []
    assert names(pods.mark_overdue(300.0, 310.0)) == ["old"]
    assert names(pods.mark_overdue(300.0, 310.1)) == ["new"]
    assert [info.flushed_at for info in pods] == [310.1, 310.0]


def test_a_flush_counts_as_the_end_of_waiting():
    pods = make_pods(waiting("a", "P", timestamp=10.0, flushed_at=330.0))
    assert pods.waiting_since == 330.0
    assert names(pods.mark_overdue(300.0, 630.0)) == []
    assert names(pods.mark_overdue(300.0, 630.1)) == ["a"]


def test_waiting_since_follows_the_pods_that_are_left():
    old, new = waiting("old", "P", timestamp=1.0), waiting("new", "P", timestamp=5.0)
    pods = make_pods(old, new)
    pods.discard(old)
    assert pods.waiting_since <= 5.0
    pods.mark_overdue(1.0, 4.0)
    assert pods.waiting_since == 5.0
