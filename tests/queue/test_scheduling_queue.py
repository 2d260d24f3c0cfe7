"""The moves of the queue as a whole; backoff, hints, the in-flight list and the nominator have tests of their own."""

import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource
from kubesched.errors import StateError
from kubesched.framework import QueueingHint
from kubesched.queue import Nominator, Registration, SchedulingQueue
from tests.queue.waiting import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    LABEL_CHANGED,
    NODE_ADD,
    NODE_TAINT,
    POD_DELETE,
    TOLERATION_ADDED,
    Gate,
    by_priority,
    hand_back,
    make_pod,
    make_queue,
    places,
    pop_names,
    reject,
)

A_SECOND_TRY = (NODE_ADD, "P", None)


def always_skip(pod, old, new):
    return QueueingHint.SKIP


# The order of active pods.


def test_pods_are_popped_by_priority_then_by_age():
    queue, _ = make_queue()
    for now, (name, priority) in enumerate([("old", 0), ("high", 5), ("young", 0), ("negative", -1)]):
        queue.add(make_pod(name, priority=priority), float(now))
    assert pop_names(queue) == ["high", "old", "young", "negative"]


def test_a_less_function_may_sort_instead_of_a_key():
    queue = SchedulingQueue(less=lambda a, b: a.pod.name > b.pod.name, hints={})
    for name in "bca":
        queue.add(make_pod(name), 0.0)
    assert pop_names(queue) == ["c", "b", "a"]


@pytest.mark.parametrize("order", [{}, {"sort_key": by_priority, "less": lambda a, b: False}])
def test_sort_key_and_less_exclude_each_other(order):
    with pytest.raises(StateError, match="give exactly one of them"):
        SchedulingQueue(hints={}, **order)


# Pop and done.


def test_an_empty_queue_pops_nothing():
    queue, _ = make_queue()
    assert queue.pop() is None
    assert not queue.can_pop


def test_pop_counts_attempts_and_keeps_the_times():
    queue, _ = make_queue(A_SECOND_TRY)
    queue.add(make_pod(), 5.0)
    info = queue.pop()
    assert info.attempts == 1
    hand_back(queue, info, 6.0)
    queue.advance(8.0)
    assert queue.pop() is info
    assert info.attempts == 2
    assert (info.initial_attempt_timestamp, info.timestamp) == (5.0, 6.0)


def test_pop_clears_what_the_last_attempt_left():
    queue, _ = make_queue(A_SECOND_TRY)
    reject(queue, make_pod(), 0.0, "P", pending={"Q"})
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 9.0)
    info = queue.pop()
    assert (info.unschedulable_plugins, info.pending_plugins) == (set(), set())


def test_a_popped_pod_does_not_wait_any_more():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    assert len(queue) == 1
    queue.pop()
    assert len(queue) == 0
    assert make_pod() not in queue
    assert queue.in_flight_events() == {"PodPopped": 1}


def test_when_nothing_is_active_the_head_of_backoff_is_popped_early():
    queue, told = make_queue(A_SECOND_TRY)
    reject(queue, make_pod(), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    assert places(queue) == {"a": "backoff"}
    assert queue.can_pop
    assert pop_names(queue) == ["a"]
    assert told[-1] == ("active", "PopFromBackoffQ", "a")


def test_an_active_pod_is_popped_before_one_that_backs_off():
    queue, _ = make_queue(A_SECOND_TRY)
    reject(queue, make_pod("backs off", priority=9), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    queue.add(make_pod("active"), 0.2)
    assert pop_names(queue) == ["active", "backs off"]


def test_a_pod_that_failed_with_an_error_is_not_popped_early():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0)
    assert places(queue) == {"a": "backoff"}
    assert not queue.can_pop
    assert queue.pop() is None


def test_a_duplicate_of_a_pod_in_flight_is_dropped():
    queue, _ = make_queue()
    queue.add(make_pod("a"), 0.0)
    queue.pop()
    queue.add(make_pod("a"), 1.0)
    queue.add(make_pod("b"), 2.0)
    assert pop_names(queue) == ["b"]
    assert len(queue) == 0


def test_after_done_the_pod_may_come_again():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    queue.done(queue.pop().pod.uid)
    queue.done("uid-a")
    queue.add(make_pod(), 1.0)
    assert pop_names(queue) == ["a"]


# Handing back a pod whose attempt failed.


def test_a_rejected_pod_waits_for_an_event():
    queue, told = make_queue(A_SECOND_TRY)
    info = reject(queue, make_pod(), 0.0, "P")
    assert places(queue) == {"a": "unschedulable"}
    assert told[-1] == ("unschedulable", "ScheduleAttemptFailure", "a")
    assert (info.unschedulable_count, info.consecutive_errors_count) == (1, 0)
    assert queue.pop() is None


def test_after_an_error_the_pod_is_tried_when_its_backoff_is_over():
    queue, told = make_queue()
    info = reject(queue, make_pod(), 0.0)
    assert told[-1] == ("backoff", "ScheduleAttemptFailure", "a")
    assert (info.unschedulable_count, info.consecutive_errors_count) == (0, 1)


def test_errors_in_a_row_double_the_backoff_and_a_rejection_ends_the_row():
    queue, _ = make_queue()
    info = reject(queue, make_pod(), 0.0)
    ends = [info.backoff_expiration]
    for now in (10.0, 20.0):
        queue.advance(now)
        hand_back(queue, queue.pop(), now)
        ends.append(info.backoff_expiration - now)
    assert ends == [1.0, 2.0, 4.0]
    queue.advance(30.0)
    hand_back(queue, queue.pop(), 30.0, "P")
    assert (info.unschedulable_count, info.consecutive_errors_count) == (1, 0)


def test_a_pod_without_backoff_goes_straight_to_active():
    queue, told = make_queue(max_backoff=0.0)
    reject(queue, make_pod(), 0.0)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "ScheduleAttemptFailure", "a")


def test_an_event_during_the_attempt_counts_when_it_failed():
    queue, told = make_queue(A_SECOND_TRY)
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    hand_back(queue, info, 0.2, "P")
    assert places(queue) == {"a": "backoff"}
    assert told[-1] == ("backoff", "ScheduleAttemptFailure", "a")


def test_an_event_before_the_attempt_does_not_count():
    queue, _ = make_queue(A_SECOND_TRY)
    queue.add(make_pod("earlier"), 0.0)
    queue.pop()
    queue.add(make_pod("a"), 0.0)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    hand_back(queue, queue.pop(), 0.2, "P")
    assert places(queue) == {"a": "unschedulable"}


def test_an_event_that_helps_at_once_wins_over_one_that_helps_later():
    queue, _ = make_queue((NODE_ADD, "P", None), (NODE_TAINT, "Q", None))
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    queue.move_all_to_active_or_backoff_queue(NODE_TAINT, None, None, 0.1)
    hand_back(queue, info, 0.2, "P", pending={"Q"})
    assert places(queue) == {"a": "active"}


def test_events_that_do_not_help_leave_the_pod_waiting():
    queue, _ = make_queue((NODE_ADD, "P", always_skip))
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    hand_back(queue, info, 0.2, "P")
    assert places(queue) == {"a": "unschedulable"}


def test_an_event_that_nobody_registered_is_not_recorded():
    queue, _ = make_queue(A_SECOND_TRY)
    queue.add(make_pod(), 0.0)
    queue.pop()
    queue.move_all_to_active_or_backoff_queue(NODE_TAINT, None, None, 0.1)
    assert queue.in_flight_events() == {"PodPopped": 1}


def test_a_pod_whose_attempt_is_done_already_is_tried_after_its_backoff():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    queue.done(info.pod.uid)
    hand_back(queue, info, 0.1, "P")
    assert places(queue) == {"a": "backoff"}


@pytest.mark.parametrize(
    ("plugins", "event", "where"),
    [
        (["P"], None, "unschedulable queue"),
        (["P"], NODE_ADD, "the backoff queue"),
        ([], None, "the backoff queue"),
        (None, None, "the active queue"),
    ],
)
def test_a_pod_that_waits_already_cannot_be_handed_back(plugins, event, where):
    queue, _ = make_queue(A_SECOND_TRY)
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    if plugins is None:
        queue.add(make_pod(), 0.0)
    else:
        hand_back(queue, info, 0.0, *plugins)
    if event is not None:
        queue.move_all_to_active_or_backoff_queue(event, None, None, 0.0)
    with pytest.raises(StateError) as raised:
        queue.add_unschedulable_if_not_present(info, 1.0)
    assert str(raised.value) == f"Pod ns/a is already present in {where}"


def test_handing_back_ends_the_attempt_even_when_it_is_refused():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    queue.add(make_pod(), 1.0)
    with pytest.raises(StateError):
        queue.add_unschedulable_if_not_present(info, 2.0)
    assert queue.in_flight_events() == {"PodPopped": 0}


# Time: the end of backoffs, and the flush of pods that waited too long.


def test_a_pod_becomes_active_at_the_second_after_its_backoff_ends():
    queue, told = make_queue()
    reject(queue, make_pod(), 0.9)
    assert queue.next_deadline() == 2.0
    queue.advance(1.99)
    assert places(queue) == {"a": "backoff"}
    queue.advance(2.0)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "BackoffComplete", "a")
    assert queue.next_deadline() is None


def test_a_pod_whose_backoff_is_over_goes_from_unschedulable_to_active():
    queue, told = make_queue(A_SECOND_TRY)
    reject(queue, make_pod(), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 2.0)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "NodeAdd", "a")


def test_a_pod_that_waited_more_than_five_minutes_is_tried_without_an_event():
    queue, told = make_queue(A_SECOND_TRY)
    info = reject(queue, make_pod(), 0.1, "P")
    assert queue.next_deadline() == 330.0
    queue.advance(300.0)
    queue.advance(329.9)
    assert places(queue) == {"a": "unschedulable"}
    queue.advance(330.0)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "UnschedulableTimeout", "a")
    assert info.was_flushed


def test_exactly_five_minutes_are_not_more():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0, "P")
    assert queue.next_deadline() == 330.0
    queue.advance(300.0)
    assert places(queue) == {"a": "unschedulable"}


def test_the_time_before_the_flush_is_an_option():
    queue, _ = make_queue(max_in_unschedulable=45.0)
    reject(queue, make_pod(), 0.0, "P")
    assert queue.next_deadline() == 60.0
    queue.advance(60.0)
    assert places(queue) == {"a": "active"}


def test_a_late_flush_is_made_up_and_the_next_is_on_the_mark():
    queue, _ = make_queue()
    reject(queue, make_pod("a"), 0.0, "P")
    queue.advance(345.0)
    assert places(queue) == {"a": "active"}
    queue.delete(make_pod("a"))
    reject(queue, make_pod("b"), 45.0, "P")
    assert queue.next_deadline() == 360.0


def test_a_flush_counts_for_pods_in_flight():
    queue, _ = make_queue()
    reject(queue, make_pod("waits"), 0.0, "P")
    queue.add(make_pod("tried"), 1.0)
    info = queue.pop()
    queue.advance(330.0)
    hand_back(queue, info, 331.0, "P")
    assert places(queue)["tried"] == "backoff"


def test_an_attempt_owed_to_an_event_is_not_a_flushed_one():
    queue, _ = make_queue(A_SECOND_TRY)
    info = reject(queue, make_pod(), 0.0, "P")
    queue.advance(330.0)
    hand_back(queue, queue.pop(), 331.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 340.0)
    assert queue.pop() is info
    assert not info.was_flushed


def test_without_waiting_pods_there_is_no_deadline():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    assert queue.next_deadline() is None


# Events.


def test_an_event_moves_the_pods_whose_hints_say_so():
    queue, _ = make_queue((NODE_ADD, "P", None), (NODE_ADD, "Q", always_skip))
    for name, plugin in (("moves", "P"), ("stays", "Q"), ("not asked", "R")):
        reject(queue, make_pod(name), 0.0, plugin)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 5.0)
    assert places(queue) == {"moves": "active", "stays": "unschedulable", "not asked": "unschedulable"}


def test_a_pending_plugin_moves_its_pod_to_active_without_backoff():
    queue, _ = make_queue((NODE_ADD, "P", None))
    reject(queue, make_pod(), 0.0, pending={"P"})
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    assert places(queue) == {"a": "active"}


def test_an_event_that_nobody_registered_moves_nothing():
    queue, told = make_queue(A_SECOND_TRY)
    reject(queue, make_pod(), 0.0, "P")
    before = list(told)
    queue.move_all_to_active_or_backoff_queue(NODE_TAINT, None, None, 5.0)
    assert places(queue) == {"a": "unschedulable"}
    assert told == before


def test_a_wildcard_event_moves_pods_of_any_plugin():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0, "P")
    everything = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")
    queue.move_all_to_active_or_backoff_queue(everything, None, None, 5.0)
    assert places(queue) == {"a": "active"}


def test_a_pre_check_spares_pods_that_the_event_does_not_concern():
    queue, _ = make_queue((POD_DELETE, "P", None))
    reject(queue, make_pod("high", priority=9), 0.0, "P")
    reject(queue, make_pod("low"), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(
        ASSIGNED_POD_DELETE, make_pod("gone"), None, 5.0, pre_check=lambda pod: pod.priority <= 0
    )
    assert places(queue) == {"low": "active", "high": "unschedulable"}


def test_a_hint_sees_the_object_before_and_after():
    seen = []
    queue, _ = make_queue((ASSIGNED_POD_ADD, "P", lambda *given: seen.append(given) or QueueingHint.SKIP))
    reject(queue, make_pod(), 0.0, "P")
    assigned = make_pod("b")
    queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_ADD, None, assigned, 5.0)
    assert seen == [(make_pod(), None, assigned)]


def test_hints_are_those_of_the_profile_of_the_pod():
    queue = SchedulingQueue(sort_key=by_priority, hints={"one": [Registration(NODE_ADD, "P")], "two": []})
    reject(queue, make_pod("a", profile="one"), 0.0, "P")
    reject(queue, make_pod("b", profile="two"), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 5.0)
    assert places(queue) == {"a": "active", "b": "unschedulable"}


# PreEnqueue.


def test_a_pod_that_does_not_pass_pre_enqueue_is_gated():
    queue, told = make_queue(pre_enqueue=Gate(Gates={"a"}))
    queue.add(make_pod(), 0.0)
    assert places(queue) == {"a": "gated"}
    assert told == [("unschedulable", "UnschedulablePodAdd", "a")]
    assert queue.pop() is None
    (pod,) = queue.pending().pods
    assert (pod.gated_by, pod.message, pod.rejected_by) == ("Gates", "Gates is closed", ("Gates",))


def test_an_event_of_the_gating_plugin_lets_the_pod_try_to_pass():
    gate = Gate(Gates={"a"})
    queue, told = make_queue((NODE_ADD, "Gates", None), pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 1.0)
    assert places(queue) == {"a": "gated"}
    gate.closed["Gates"].clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 2.0)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "NodeAdd", "a")
    info = queue.pop()
    assert (info.gating_plugin, info.initial_attempt_timestamp) == ("", 2.0)


def test_an_event_of_another_plugin_does_not_even_ask():
    gate = Gate(Gates={"a"})
    queue, _ = make_queue((NODE_ADD, "P", None), (NODE_TAINT, "Gates", None), pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    gate.asked.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 1.0)
    assert gate.asked == []


def test_a_pod_that_an_event_finds_gated_counts_as_coming_into_the_queue_again():
    gate, entries = Gate(P={"a"}), []
    queue = SchedulingQueue(
        sort_key=by_priority,
        hints={"default-scheduler": [Registration(NODE_ADD, "P")]},
        pre_enqueue=gate,
        observer=lambda place, label, pod: entries.append((place, label, pod.name)),
    )
    queue.add(make_pod("a"), 0.0)
    queue.advance(330.0)
    gate.closed["P"].add("b")
    queue.add(make_pod("b"), 331.0)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 332.0)
    queue.check_invariants()
    assert [pod.key for pod in queue.pending().pods] == ["ns/a", "ns/b"]
    assert entries == [
        ("unschedulable", "UnschedulablePodAdd", "a"),
        ("unschedulable", "UnschedulableTimeout", "a"),
        ("unschedulable", "UnschedulablePodAdd", "b"),
        ("unschedulable", "NodeAdd", "a"),
        ("unschedulable", "NodeAdd", "b"),
    ]


def test_a_rejected_pod_is_gated_when_an_event_would_bring_it_back():
    gate = Gate(Gates=set())
    queue, _ = make_queue(A_SECOND_TRY, pre_enqueue=gate)
    reject(queue, make_pod(), 0.0, "P")
    gate.closed["Gates"].add("a")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.5)
    assert places(queue) == {"a": "gated"}
    assert queue.pending().pods[0].rejected_by == ("Gates", "P")


def test_a_gated_pod_does_not_move_on_events_of_the_plugins_that_rejected_it_before():
    gate = Gate(Gates=set())
    queue, _ = make_queue(A_SECOND_TRY, (NODE_TAINT, "Gates", None), pre_enqueue=gate)
    reject(queue, make_pod(), 0.0, "P")
    gate.closed["Gates"].add("a")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.5)
    gate.closed["Gates"].clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 5.0)
    assert places(queue) == {"a": "gated"}
    queue.move_all_to_active_or_backoff_queue(NODE_TAINT, None, None, 5.0)
    assert places(queue) == {"a": "active"}


def test_pre_enqueue_runs_on_the_way_to_backoff():
    gate = Gate(Gates=set())
    queue, _ = make_queue(pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    gate.closed["Gates"].add("a")
    hand_back(queue, info, 0.0)
    assert places(queue) == {"a": "gated"}


def test_pre_enqueue_does_not_run_again_from_backoff_to_active():
    gate = Gate(Gates=set())
    queue, _ = make_queue(pre_enqueue=gate)
    reject(queue, make_pod(), 0.0)
    gate.asked.clear()
    queue.advance(2.0)
    assert places(queue) == {"a": "active"}
    assert gate.asked == []


def test_pre_enqueue_does_not_run_for_a_pod_that_stays_unschedulable():
    gate = Gate(Gates=set())
    queue, _ = make_queue(pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    gate.asked.clear()
    hand_back(queue, info, 0.0, "P")
    assert gate.asked == []


def test_the_plugin_that_gated_the_pod_last_is_asked_first():
    gate = Gate(A=set(), B={"a"})
    queue, _ = make_queue((NODE_ADD, "B", None), pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 1.0)
    assert gate.asked == [("a", ""), ("a", "B")]


def test_passing_clears_the_gate_and_the_next_try_asks_in_order():
    gate = Gate(Gates={"a"})
    queue, _ = make_queue((NODE_ADD, "Gates", None), pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    gate.closed["Gates"].clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 1.0)
    hand_back(queue, queue.pop(), 2.0)
    assert gate.asked[-1] == ("a", "")


def test_a_flush_moves_a_gated_pod_only_if_it_passes_now():
    gate = Gate(Gates={"a"})
    queue, _ = make_queue(pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    queue.advance(330.0)
    assert places(queue) == {"a": "gated"}
    gate.closed["Gates"].clear()
    queue.advance(660.0)
    assert places(queue) == {"a": "active"}


def test_a_gated_pod_that_was_flushed_waits_five_minutes_for_the_next_flush():
    queue, _ = make_queue(pre_enqueue=Gate(Gates={"a"}))
    queue.add(make_pod(), 0.0)
    queue.advance(330.0)
    assert queue.next_deadline() == 660.0


# Pods as the cluster shows them.


def test_adding_tells_the_observer():
    queue, told = make_queue()
    queue.add(make_pod(), 0.0)
    assert told == [("active", "UnschedulablePodAdd", "a")]


def test_a_pod_without_uid_is_refused():
    queue, _ = make_queue()
    with pytest.raises(StateError, match=r'pod "ns/a" has no metadata\.uid'):
        queue.add(make_pod(uid=""), 0.0)


def test_adding_a_pod_that_waits_replaces_it():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0, "P")
    queue.add(make_pod(priority=3), 1.0)
    assert places(queue) == {"a": "active"}
    assert queue.pop().pod.priority == 3
    assert queue.pop() is None


@pytest.mark.parametrize("plugins", [None, ["P"], []], ids=["active", "unschedulable", "backoff"])
def test_a_deleted_pod_is_forgotten_wherever_it_stands(plugins):
    queue, _ = make_queue()
    if plugins is None:
        queue.add(make_pod(), 0.0)
    else:
        reject(queue, make_pod(), 0.0, *plugins)
    queue.delete(make_pod())
    queue.delete(make_pod())
    assert places(queue) == {}
    assert queue.next_deadline() is None
    assert queue.pop() is None


def test_a_deleted_pod_that_was_sorted_anew_before_its_attempt_does_not_come_back():
    queue, _ = make_queue(A_SECOND_TRY)
    old, new = make_pod(), make_pod(priority=9)
    queue.add(old, 0.0)
    queue.update(old, new, [], 0.0)
    hand_back(queue, queue.pop(), 0.0, "P")
    queue.delete(new)
    assert queue.pop() is None


def test_deleting_a_pod_in_flight_leaves_its_attempt():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    queue.pop()
    queue.delete(make_pod())
    assert queue.in_flight_events() == {"PodPopped": 1}


def update(queue, new, *events, old=None, now=0.5):
    queue.update(old or make_pod(new.name), new, events, now)
    queue.check_invariants()


def test_an_active_pod_is_updated_in_place_and_sorted_anew():
    queue, told = make_queue()
    queue.add(make_pod("a"), 0.0)
    queue.add(make_pod("b"), 1.0)
    update(queue, make_pod("b", priority=5), LABEL_CHANGED)
    assert len(told) == 2
    assert pop_names(queue) == ["b", "a"]


def test_a_pod_that_backs_off_is_updated_in_place():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0)
    update(queue, make_pod(priority=5), LABEL_CHANGED)
    assert places(queue) == {"a": "backoff"}
    queue.advance(2.0)
    assert queue.pop().pod.priority == 5


def test_a_pod_that_backs_off_is_sorted_anew_within_its_second():
    queue, _ = make_queue(A_SECOND_TRY)
    for name in "ab":
        reject(queue, make_pod(name), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    update(queue, make_pod("b", priority=5))
    assert pop_names(queue) == ["b", "a"]


def test_an_update_drops_what_the_scheduler_kept_beside_the_old_pod():
    queue, _ = make_queue()
    queue.add(make_pod(), 0.0)
    (info,) = queue._places.active
    info.pod_info = "derived"
    update(queue, make_pod(priority=5))
    assert info.pod_info is None


def test_an_update_moves_an_unschedulable_pod_if_its_hints_say_so():
    queue, told = make_queue((TOLERATION_ADDED, "P", None))
    reject(queue, make_pod(), 0.0, "P")
    update(queue, make_pod(priority=5), LABEL_CHANGED)
    assert places(queue) == {"a": "unschedulable"}
    update(queue, make_pod(priority=6), LABEL_CHANGED, TOLERATION_ADDED, now=5.0)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "UnschedulablePodUpdatePodToleration", "a")
    assert queue.pop().pod.priority == 6


def test_an_update_sends_a_pod_to_backoff_while_that_lasts():
    queue, _ = make_queue((TOLERATION_ADDED, "P", None))
    reject(queue, make_pod(), 0.0, "P")
    update(queue, make_pod(priority=5), TOLERATION_ADDED, now=0.5)
    assert places(queue) == {"a": "backoff"}


def test_an_update_stops_at_the_first_event_that_lets_the_pod_go():
    asked = []
    queue, _ = make_queue(
        (LABEL_CHANGED, "P", None),
        (TOLERATION_ADDED, "P", lambda *given: asked.append(given) or QueueingHint.QUEUE),
    )
    reject(queue, make_pod(), 0.0, "P")
    update(queue, make_pod(priority=5), LABEL_CHANGED, TOLERATION_ADDED)
    assert asked == []


def test_an_update_that_opens_the_gate_makes_the_pod_active():
    gate = Gate(Gates={"a"})
    ungated = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    registered = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
    queue, _ = make_queue((registered, "Gates", None), pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    update(queue, make_pod(version="2"), ungated)
    assert places(queue) == {"a": "gated"}
    gate.closed["Gates"].clear()
    update(queue, make_pod(version="3"), ungated)
    assert places(queue) == {"a": "active"}


def test_an_update_of_a_pod_in_flight_is_recorded():
    queue, _ = make_queue((TOLERATION_ADDED, "P", None))
    queue.add(make_pod(), 0.0)
    info = queue.pop()
    update(queue, make_pod(priority=5), TOLERATION_ADDED)
    assert places(queue) == {}
    hand_back(queue, info, 1.0, "P")
    assert places(queue) == {"a": "backoff"}


def test_an_update_of_a_pod_in_no_queue_queues_it():
    queue, told = make_queue()
    update(queue, make_pod(version="2"))
    assert places(queue) == {"a": "active"}
    assert told == [("active", "UnschedulablePodUpdate", "a")]


def test_an_update_to_the_same_version_is_ignored():
    queue, _ = make_queue()
    update(queue, make_pod(version="1"), old=make_pod(version="1"))
    assert places(queue) == {}


def test_an_update_to_another_uid_replaces_the_pod():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0, "P")
    update(queue, make_pod(uid="another"))
    assert places(queue) == {"a": "active"}
    info = queue.pop()
    assert (info.pod.uid, info.attempts) == ("another", 1)


# Nominations.


def test_a_pod_that_enters_active_by_add_is_nominated_by_its_status():
    queue, _ = make_queue(pre_enqueue=Gate(Gates={"gated"}))
    queue.add(make_pod("a", nominated="n1"), 0.0)
    queue.add(make_pod("gated", nominated="n1"), 0.0)
    assert [info.pod.name for info in queue.nominator.pods_on("n1")] == ["a"]


def test_a_pod_that_enters_active_by_update_is_nominated_by_its_status():
    queue, _ = make_queue()
    update(queue, make_pod(nominated="n1"))
    assert [info.pod.name for info in queue.nominator.pods_on("n1")] == ["a"]


def test_an_update_of_a_waiting_pod_is_followed_by_its_nomination():
    queue, _ = make_queue()
    reject(queue, make_pod(), 0.0, "P")
    update(queue, make_pod(nominated="n1"))
    assert [info.pod.name for info in queue.nominator.pods_on("n1")] == ["a"]
    update(queue, make_pod(), old=make_pod(nominated="n1"))
    assert len(queue.nominator) == 0


def test_an_update_to_another_uid_ends_the_nomination_of_the_old_pod():
    queue, _ = make_queue()
    queue.add(make_pod(nominated="n1"), 0.0)
    update(queue, make_pod(uid="another"))
    assert queue.nominator.pods_on("n1") == ()


def test_deleting_a_pod_ends_its_nomination():
    queue, _ = make_queue()
    queue.add(make_pod(nominated="n1"), 0.0)
    queue.delete(make_pod())
    assert len(queue.nominator) == 0


def test_the_nominator_may_be_given():
    nominator = Nominator(lambda pod: None)
    queue, _ = make_queue(nominator=nominator)
    assert queue.nominator is nominator
    queue.add(make_pod(nominated="n1"), 0.0)
    assert len(nominator) == 0


# Activate.


@pytest.mark.parametrize("plugins", [["P"], []], ids=["unschedulable", "backoff"])
def test_activate_makes_a_pod_active_at_once(plugins):
    queue, told = make_queue()
    reject(queue, make_pod(), 0.0, *plugins)
    queue.activate([make_pod()], 0.1)
    assert places(queue) == {"a": "active"}
    assert told[-1] == ("active", "ForceActivate", "a")


def test_activate_runs_pre_enqueue_for_an_unschedulable_pod():
    gate = Gate(Gates={"a"})
    queue, _ = make_queue(pre_enqueue=gate)
    queue.add(make_pod(), 0.0)
    queue.activate([make_pod()], 0.1)
    assert places(queue) == {"a": "gated"}
    gate.closed["Gates"].clear()
    queue.activate([make_pod()], 0.2)
    assert places(queue) == {"a": "active"}


def test_activate_does_not_run_pre_enqueue_for_a_pod_that_backs_off():
    gate = Gate(Gates=set())
    queue, _ = make_queue(pre_enqueue=gate)
    reject(queue, make_pod(), 0.0)
    gate.asked.clear()
    queue.activate([make_pod()], 0.1)
    assert places(queue) == {"a": "active"}
    assert gate.asked == []


def test_activate_is_remembered_for_a_pod_in_flight_alone():
    queue, _ = make_queue()
    queue.add(make_pod("a"), 0.0)
    queue.add(make_pod("b"), 0.1)
    a, b = queue.pop(), queue.pop()
    queue.activate([make_pod("a")], 0.2)
    hand_back(queue, a, 0.3, "P")
    hand_back(queue, b, 0.3, "P")
    assert places(queue) == {"a": "backoff", "b": "unschedulable"}


def test_activate_leaves_active_and_unknown_pods_alone():
    queue, told = make_queue()
    queue.add(make_pod(), 0.0)
    queue.activate([make_pod("a"), make_pod("unknown")], 0.1)
    assert places(queue) == {"a": "active"}
    assert len(told) == 1


# What there is to see.


def test_pending_lists_active_pods_in_order_then_the_others():
    queue, _ = make_queue(A_SECOND_TRY, pre_enqueue=Gate(Gates={"gated"}))
    queue.add(make_pod("gated"), 0.0)
    reject(queue, make_pod("unschedulable"), 0.0, "Q")
    reject(queue, make_pod("error"), 0.0)
    reject(queue, make_pod("backs off"), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.5)
    queue.add(make_pod("low"), 0.6)
    queue.add(make_pod("high", priority=9), 0.7)
    pending = queue.pending()
    assert [pod.key for pod in pending.pods] == [
        f"ns/{name}" for name in ("high", "low", "backs off", "error", "unschedulable", "gated")
    ]
    assert pending.counts == {"active": 2, "backoff": 2, "unschedulable": 1, "gated": 1}


def test_pending_tells_why_a_pod_waits_and_until_when():
    queue, _ = make_queue(A_SECOND_TRY)
    reject(queue, make_pod("a"), 3.5, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 3.6)
    (pod,) = queue.pending().pods
    assert (pod.since, pod.backoff_until, pod.attempts, pod.rejected_by) == (3.5, 4.0, 1, ("P",))


def test_rejections_count_waiting_pods_by_plugin_and_profile_until_they_are_popped():
    queue, _ = make_queue()
    reject(queue, make_pod("a"), 0.0, "P", "Q")
    reject(queue, make_pod("b"), 0.0, "P")
    assert queue.rejections() == {("P", "default-scheduler"): 2, ("Q", "default-scheduler"): 1}
    queue.activate([make_pod("a")], 1.0)
    queue.pop()
    assert queue.rejections() == {("P", "default-scheduler"): 1}


def test_in_flight_events_are_counted_by_label():
    queue, _ = make_queue(A_SECOND_TRY)
    queue.add(make_pod(), 0.0)
    queue.pop()
    for _ in range(2):
        queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.1)
    assert queue.in_flight_events() == {"NodeAdd": 2, "PodPopped": 1}


# An attempt that is broken off, and hooks that reach back into the queue.


def test_an_attempt_that_is_broken_off_does_not_count():
    queue, told = make_queue()
    queue.add(make_pod("a"), 0.0)
    info = queue.pop()
    queue.put_back(info, 3.0)
    assert (places(queue), info.attempts, info.timestamp) == ({"a": "active"}, 0, 0.0)
    assert queue.in_flight_events() == {"PodPopped": 0}
    assert told[-1] == ("active", "ScheduleAttemptBrokenOff", "a")


def test_a_pod_that_was_added_again_meanwhile_is_not_put_back():
    queue, _ = make_queue()
    queue.add(make_pod("a"), 0.0)
    info = queue.pop()
    queue.add(make_pod("a"), 1.0)
    queue.put_back(info, 3.0)
    assert (places(queue), queue.in_flight_events()) == ({"a": "active"}, {"PodPopped": 0})


def test_a_hint_may_activate_a_pod_that_the_event_has_yet_to_reach():
    second = make_pod("second")

    def hint(pod, old, new):
        queue.activate([second], 9.0)
        return QueueingHint.QUEUE

    queue, _ = make_queue((NODE_ADD, "P", hint))
    reject(queue, make_pod("first"), 0.0, "P")
    reject(queue, second, 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.5)
    assert places(queue) == {"first": "backoff", "second": "active"}


# What the checks of other tests rest on.


@pytest.mark.parametrize(
    "spoil",
    [
        lambda queue: setattr(queue._places.active._new, "_count", 2),
        lambda queue: setattr(queue._places.backoff._rejected, "_count", 2),
        lambda queue: queue._places.unschedulable._by_rule.clear(),
        lambda queue: queue._places._pods.clear(),
        lambda queue: queue._in_flight._events.append(None),
        lambda queue: queue.nominator._by_node.clear(),
    ],
    ids=["active", "backoff", "unschedulable", "names", "in flight", "nominations"],
)
def test_check_invariants_finds_what_is_wrong(spoil):
    queue, _ = make_queue(A_SECOND_TRY)
    reject(queue, make_pod("backoff"), 0.0, "P")
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, None, 0.0)
    reject(queue, make_pod("unschedulable"), 0.0, "P")
    queue.add(make_pod("active", nominated="n"), 0.0)
    assert places(queue) == {"backoff": "backoff", "unschedulable": "unschedulable", "active": "active"}
    spoil(queue)
    with pytest.raises(AssertionError):
        queue.check_invariants()
