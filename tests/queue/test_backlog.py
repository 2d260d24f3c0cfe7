"""Events that are put to many pods: who is asked, how often, and what happens in between."""

import itertools
import math

from kubesched.api import ActionType, ClusterEvent, EventResource, Node, ObjectMeta
from kubesched.errors import PluginError
from kubesched.framework import QueueingHint
from kubesched.queue import Registration
from tests.queue.waiting import ASSIGNED_POD_DELETE, NODE_ADD, Gate, make_pod, make_queue, places, reject

NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
PLACED_LABEL = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE_POD_LABEL)
CLAIM_ADD = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
LATER = 100.0  # when no pod of these tests backs off


class Hint:
    """Says Queue to the pods that `helps` says, by the first letter of the name, and keeps what it was asked."""

    def __init__(self, helps=lambda letter, old, new: True):
        self.helps = helps
        self.asked = []

    def __call__(self, pod, old, new):
        self.asked.append(pod.name)
        return QueueingHint.QUEUE if self.helps(pod.name[0], old, new) else QueueingHint.SKIP


def by_letter(event, hint, plugin="P"):
    return Registration(event, plugin, hint, part=lambda pod: pod.name[0])


def node(name, **labels):
    return Node(metadata=ObjectMeta(name=name, labels=labels))


def waiting_queue(*registrations, names, plugins=("P",), **options):
    queue, told = make_queue(*registrations, **options)
    for name in names:
        reject(queue, make_pod(name), 0.0, *plugins)
    told.clear()
    return queue, told


def drain(queue, now=LATER):
    while queue.has_backlog:
        queue.catch_up(now)
        queue.check_invariants()


def ask_all(queue):
    """Ask all hints, and move nothing yet."""
    while queue._backlog._ask():
        pass


def moved(told):
    return [name for place, _, name in told if place != "unschedulable"]


# --- one question for equal pods ---


def test_pods_with_equal_parts_are_asked_about_once_and_share_the_answer():
    hint = Hint(lambda letter, old, new: letter == "b")
    queue, told = waiting_queue(by_letter(NODE_ADD, hint), names=["a1", "b1", "a2", "b2", "a3"])
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert sorted(hint.asked) == ["a1", "b1"]
    assert moved(told) == ["b1", "b2"]


def test_without_a_part_each_pod_is_asked_about():
    hint = Hint()
    queue, _ = waiting_queue(Registration(NODE_ADD, "P", hint), names=["a1", "a2"])
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert hint.asked == ["a1", "a2"]


def test_pods_move_in_the_order_in_which_they_came_whatever_their_part():
    queue, told = waiting_queue(by_letter(NODE_ADD, Hint()), names=["b1", "a1", "b2", "a2"])
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert moved(told) == ["b1", "a1", "b2", "a2"]


def test_the_pod_that_the_event_is_about_is_asked_for_itself():
    hint = Hint(lambda letter, old, new: False)
    queue, _ = waiting_queue(by_letter(ASSIGNED_POD_DELETE, hint), names=["a1", "a2", "a3"])
    queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, make_pod("a1"), None, LATER)
    assert sorted(hint.asked) == ["a1", "a2"]


def test_an_event_of_another_object_is_put_to_nobody():
    hint = Hint()
    claims = Registration(CLAIM_ADD, "P", hint, objects=lambda pod: [f"ns/{pod.name}-data"])
    queue, told = waiting_queue(claims, names=["a", "b"])
    for name in ("x", "b-data"):
        claim = make_pod(name)  # any object with that key
        queue.move_all_to_active_or_backoff_queue(CLAIM_ADD, None, claim, LATER)
    assert (hint.asked, moved(told)) == (["b"], ["b"])


def test_an_event_is_put_to_the_pods_that_share_a_key_with_its_object():
    hint = Hint(lambda letter, old, new: letter == "b")
    racks = Registration(
        NODE_LABEL,
        "P",
        hint,
        objects=lambda pod: list(pod.name),
        keys_of=lambda thing: [thing.labels["rack"]] if thing.labels else [],
    )
    queue, told = waiting_queue(racks, names=["ax", "b", "cx", "d"])
    queue.move_all_to_active_or_backoff_queue(NODE_LABEL, node("n", rack="b"), node("n", rack="x"), LATER)
    assert (sorted(hint.asked), moved(told)) == (["ax", "b", "cx"], ["b"])
    queue.move_all_to_active_or_backoff_queue(NODE_LABEL, node("n"), node("n"), LATER)
    assert len(hint.asked) == 3


def test_where_the_keys_of_an_object_are_not_known_all_are_asked():
    def fails(thing):
        raise PluginError("broken")

    hint = Hint()
    queue, told = waiting_queue(
        Registration(NODE_ADD, "P", hint, objects=lambda pod: [pod.name], keys_of=fails), names=["a", "b"]
    )
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert moved(told) == ["a", "b"]


def test_a_pod_that_is_pending_on_the_plugin_goes_on_at_once_and_the_others_back_off():
    queue, told = make_queue(by_letter(NODE_ADD, Hint()), by_letter(NODE_ADD, Hint(), plugin="Q"))
    reject(queue, make_pod("a1"), 0.0, "P")
    reject(queue, make_pod("a2"), 0.0, "P", pending=["Q"])
    told.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), 0.5)
    assert told == [("backoff", "NodeAdd", "a1"), ("active", "NodeAdd", "a2")]


# --- in steps ---


def test_a_pod_that_is_helped_moves_while_events_come_faster_than_they_are_asked_about():
    hint = Hint(lambda letter, old, new: letter == "a")
    queue, told = waiting_queue(by_letter(NODE_ADD, hint), names=["a1", "b1", "c1", "d1"], at_once=3)
    for round_ in range(2):
        queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node(f"n{round_}"), LATER)
        queue.catch_up(LATER)  # four questions came, three are asked
    assert queue.has_backlog
    assert moved(told) == ["a1"]


def test_a_pod_can_be_popped_while_others_wait_to_be_moved():
    names = [f"a{i}" for i in range(10)]
    queue, told = waiting_queue(by_letter(NODE_ADD, Hint()), names=names, at_once=3)
    queue.add(make_pod("urgent", priority=9), LATER)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert moved(told) == ["urgent"]
    assert queue.next_deadline() <= LATER
    assert queue.pop().pod.name == "urgent"
    drain(queue)
    assert moved(told)[1:] == names
    assert queue.next_deadline() != -math.inf


def test_no_step_looks_at_all_pods():
    queue, told = waiting_queue(by_letter(NODE_ADD, Hint()), names=[f"a{i}" for i in range(1000)], at_once=1)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    while queue.has_backlog:
        before = len(queue._backlog._helped)
        queue.catch_up(LATER)
        assert len(queue._backlog._helped) - before <= 20
    assert len(moved(told)) == 1000


def test_pods_that_wait_to_be_moved_are_not_asked_about_again():
    hint = Hint()
    queue, _ = waiting_queue(by_letter(NODE_ADD, hint), names=["a1", "a2", "a3"], at_once=2)
    for i in range(100):
        queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node(f"n{i}"), LATER)
    ask_all(queue)
    assert len(hint.asked) == 1


def test_a_pod_that_comes_to_a_group_that_is_helped_is_asked_about():
    queue, told = waiting_queue(by_letter(NODE_ADD, Hint()), names=["a1"], at_once=1)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n1"), LATER)
    ask_all(queue)
    reject(queue, make_pod("a2", priority=9), LATER, "P")
    told.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n2"), LATER + 10)
    drain(queue, LATER + 10)
    assert sorted(moved(told)) == ["a1", "a2"]


def test_a_gated_pod_is_asked_about_again_by_the_next_event():
    gate = Gate(Gates={"a"})
    queue, told = make_queue(by_letter(NODE_ADD, Hint(), plugin="Gates"), pre_enqueue=gate)
    queue.add(make_pod("a"), 0.0)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n1"), LATER)
    gate.closed.clear()
    told.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n2"), LATER)
    assert moved(told) == ["a"]


def test_pods_move_although_more_is_asked_than_there_are_steps():
    hint = Hint(lambda letter, old, new: letter == "a")
    names = ["a", *(f"b{i}" for i in range(20))]
    queue, told = waiting_queue(Registration(NODE_ADD, "P", hint), names=names, at_once=3)
    for i in range(20):
        queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node(f"n{i}"), LATER)
        queue.catch_up(LATER)
    assert moved(told) == ["a"]
    assert queue.has_backlog


def test_slow_hints_are_asked_for_a_time_not_for_a_number():
    hint = Hint()
    queue, _ = waiting_queue(Registration(NODE_ADD, "P", hint), names=list("abcdef"), at_once=100)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    queue.catch_up(LATER, lambda: len(hint.asked) >= 2)
    assert len(hint.asked) == 2


def test_changes_of_one_placed_pod_are_one_too():
    hint = Hint(lambda letter, old, new: False)
    queue, _ = waiting_queue(by_letter(PLACED_LABEL, hint), names=["a"], at_once=1)
    for _ in range(5000):
        queue.move_all_to_active_or_backoff_queue(PLACED_LABEL, make_pod("x"), make_pod("x"), LATER)
    ask_all(queue)
    assert len(hint.asked) == 1


def test_a_hint_may_activate_a_pod_that_it_is_not_asked_about():
    def activates(letter, old, new):
        queue.activate([make_pod("b")], LATER)
        return True

    queue, told = waiting_queue(Registration(NODE_ADD, "P", Hint(activates)), names=["a", "b", "c"])
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert sorted(moved(told)) == ["a", "b", "c"]


def test_pods_that_left_before_they_were_moved_are_not_kept():
    queue, _ = waiting_queue(by_letter(NODE_ADD, Hint()), names=[], at_once=1)
    for i in range(1000):
        reject(queue, make_pod(f"a{i}"), 0.0, "P")
        queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
        ask_all(queue)
        queue.delete(make_pod(f"a{i}"))
        queue.check_invariants()
    assert len(queue._backlog) < 200


def test_pods_that_an_event_helps_move_in_the_order_of_the_active_queue():
    queue, told = make_queue(by_letter(NODE_ADD, Hint()))
    for name, priority in (("low", 1), ("high", 9), ("middle", 5), ("high2", 9)):
        reject(queue, make_pod(name, priority=priority), 0.0, "P")
    told.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert moved(told) == ["high", "high2", "middle", "low"]


def test_pods_that_left_or_came_meanwhile_are_not_moved():
    hint = Hint()
    queue, told = waiting_queue(by_letter(NODE_ADD, hint), names=["a1", "a2", "a3"], at_once=1)
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    queue.catch_up(LATER)  # asked
    queue.delete(make_pod("a1"))
    queue.delete(make_pod("a2"))
    again = reject(queue, make_pod("a2", uid="another"), LATER, "P")
    reject(queue, make_pod("a4"), LATER, "P")
    told.clear()
    for _ in range(10):
        queue.catch_up(LATER)
    assert moved(told) == ["a3"]
    assert again.place is not None
    assert {name: place for name, place in places(queue).items() if place == "unschedulable"} == {
        "a2": "unschedulable",
        "a4": "unschedulable",
    }


def test_of_several_changes_of_a_node_the_newest_state_counts():
    hint = Hint(lambda letter, old, new: new.labels.get("rack") == letter)
    queue, told = waiting_queue(by_letter(NODE_LABEL, hint), names=["a", "b"], at_once=1)
    states = [node("n"), node("n", rack="a"), node("n", rack="c"), node("n", rack="b")]
    for old, new in itertools.pairwise(states):
        queue.move_all_to_active_or_backoff_queue(NODE_LABEL, old, new, LATER)
    for _ in range(10):
        queue.catch_up(LATER)
    assert sorted(hint.asked) == ["a", "b"]
    assert moved(told) == ["b"]


def test_a_pod_compares_with_the_state_that_it_was_rejected_in():
    hint = Hint(lambda letter, old, new: new.labels.get("rack") == letter != old.labels.get("rack"))
    queue, told = waiting_queue(by_letter(NODE_LABEL, hint), names=["a1"], at_once=1)
    here, away = node("n", rack="a"), node("n", rack="b")
    queue.move_all_to_active_or_backoff_queue(NODE_LABEL, here, away, LATER)
    reject(queue, make_pod("a2"), LATER, "P")  # there is no rack a now
    told.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_LABEL, away, here, LATER)
    for _ in range(10):
        queue.catch_up(LATER)
    assert moved(told) == ["a2"]  # for a1 nothing changed


def test_versions_of_a_node_are_not_kept_without_end():
    hint = Hint(lambda letter, old, new: False)
    queue, _ = waiting_queue(by_letter(NODE_LABEL, hint), names=["a"], at_once=1)
    for i in range(5000):
        queue.move_all_to_active_or_backoff_queue(NODE_LABEL, node("n", v=str(i)), node("n", v=str(i + 1)), LATER)
        reject(queue, make_pod("b"), LATER, "P")
        queue.delete(make_pod("b"))
    assert len(queue._backlog) <= 1001
    queue.check_invariants()


def test_a_hint_that_brings_an_event_does_not_disturb_the_one_it_is_asked_about():
    def brings(letter, old, new):
        if new.name == "n":
            queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("m"), LATER)
        return new.name == "m"

    hint = Hint(brings)
    queue, told = waiting_queue(by_letter(NODE_ADD, hint), names=["a"])
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert (hint.asked, moved(told)) == (["a", "a"], ["a"])


def test_a_gated_pod_stays_and_the_rest_of_its_tab_goes():
    gate = Gate(Gates={"a2"})
    queue, told = make_queue(by_letter(NODE_ADD, Hint()), by_letter(NODE_ADD, Hint(), plugin="Gates"), pre_enqueue=gate)
    queue.add(make_pod("a2"), 0.0)
    for name in ("a1", "a3"):
        reject(queue, make_pod(name), 0.0, "P")
    told.clear()
    queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, node("n"), LATER)
    assert moved(told) == ["a1", "a3"]
    assert places(queue)["a2"] == "gated"
