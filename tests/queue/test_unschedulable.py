import itertools
import math

from kubesched.queue.requeueing import UNTOLD, Registration, RequeueingTable
from kubesched.queue.unschedulable import UnschedulablePods
from tests.queue.waiting import NODE_ADD, make_info, make_pod

LETTER = Registration(NODE_ADD, "P", hint=lambda *_: None, part=lambda pod: pod.name[0])
TABLE = RequeueingTable({"default-scheduler": [LETTER, Registration(NODE_ADD, "Q"), Registration(NODE_ADD, "R")]})


def make_pods(*infos):
    pods = UnschedulablePods(itertools.count(1), TABLE.rules_of)
    for info in infos:
        pods.add(info)
        pods.check_invariants()
    return pods


def names(infos):
    return [info.pod.name for info in infos]


def waiting(name, *plugins, **fields):
    return make_info(name, unschedulable_plugins=set(plugins), **fields)


def found(pods, plugin):
    """The names of the pods filed under the rule of a plugin, by group."""
    (rule,) = TABLE.rules_of("default-scheduler", [plugin])
    return {name: names(pods.group(rule, name).pods.values()) for name in pods.groups(rule)}


def test_pods_are_filed_by_those_that_rejected_them_and_by_what_their_hints_read():
    pods = make_pods(waiting("a1", "P"), waiting("b1", "Q"), waiting("a2", "P", "Q"), waiting("b2", "P"))
    assert found(pods, "P") == {"a": ["a1", "a2"], "b": ["b2"]}
    assert found(pods, "Q") == {"all": ["b1", "a2"]}
    assert found(pods, "R") == {}


def test_pods_are_filed_by_the_plugins_they_are_pending_on():
    assert found(make_pods(make_info("a", pending_plugins={"P"})), "P") == {"a": ["a"]}


def test_a_pod_is_filed_under_each_object_that_can_help_it():
    by_object = Registration(NODE_ADD, "P", hint=lambda *_: None, objects=lambda pod: ["x", "y", "x"])
    table = RequeueingTable({"default-scheduler": [by_object]})
    pods = UnschedulablePods(itertools.count(1), table.rules_of)
    pod = waiting("a", "P")
    pods.add(pod)
    pods.check_invariants()
    (rule,) = table.rules_of("default-scheduler", ["P"])
    assert sorted(pods.groups(rule)) == ["x", "y"]
    pods.discard(pod)
    pods.check_invariants()
    assert pods.groups(rule) == []


def test_a_pod_of_which_a_rule_cannot_say_what_it_reads_is_filed_apart():
    alone = Registration(NODE_ADD, "P", hint=lambda *_: None)
    table = RequeueingTable({"default-scheduler": [alone]})
    pods = UnschedulablePods(itertools.count(1), table.rules_of)
    pods.add(waiting("a", "P"))
    assert pods.groups(*table.rules_of("default-scheduler", ["P"])) == [UNTOLD]


def test_adding_again_files_the_pod_anew_in_its_old_turn():
    a, b = waiting("a", "P"), waiting("b", "P")
    pods = make_pods(a, b)
    a.unschedulable_plugins.add("Q")
    pods.add(a)
    pods.check_invariants()
    assert found(pods, "Q") == {"all": ["a"]}
    assert names(pods) == ["a", "b"]


def test_a_pod_that_changed_is_filed_by_what_it_is_now():
    a = waiting("a", "P")
    pods = make_pods(a)
    a.replace_pod(make_pod("b"))  # of the same key as far as the queue knows
    pods.add(a)
    pods.check_invariants()
    assert found(pods, "P") == {"b": ["b"]}


def test_a_discarded_pod_is_not_found():
    a = waiting("a", "P")
    pods = make_pods(a)
    pods.discard(a)
    pods.check_invariants()
    assert found(pods, "P") == {}
    assert pods.find("ns/a") is None
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
