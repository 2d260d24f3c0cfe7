"""From the queue to the node: what the Scheduler does with pods, and with all that can go wrong on the way."""

import numpy as np
import pytest

from kubesched.api import EventType, Pod
from kubesched.framework import (
    Bind,
    DeletePod,
    EventRegistration,
    PatchPodStatus,
    Plugin,
    PostFilterResult,
    RecordEvent,
    Status,
    Wait,
)
from kubesched.plugins import IN_TREE_PLUGINS
from kubesched.testing.builders import make_node, make_pod
from tests.scheduler.driving import Driven, OtherSteps, Steps

NodeResourcesFit = IN_TREE_PLUGINS["NodeResourcesFit"]


class Gate(Plugin):
    """Keeps pods with the label `gated` out of the queue."""

    def pre_enqueue(self, pod: Pod) -> Status:
        return Status.unresolvable("gated") if "gated" in pod.labels else Status.SUCCESS


class Full(Plugin):
    """Rejects every node; hears of nothing."""

    def filter_nodes(self, state, pod, nodes):
        return np.ones(len(nodes), dtype=np.int16)

    reasons = (Status.unschedulable("full"),)

    def events_to_register(self) -> list[EventRegistration]:
        return []


def pending(name: str = "p", cpu: str = "1", **said) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, **said)


def test_a_pod_that_fits_is_bound_and_both_are_told() -> None:
    driven = Driven(NodeResourcesFit(), objects=[make_node("n"), pending()])
    decision = driven.attempt()
    assert decision.node_name == "n"
    assert [(action.pod.name, action.node_name) for action in driven.done(Bind)] == [("p", "n")]
    (event,) = driven.done(RecordEvent)
    assert (event.reason, event.type, event.note) == ("Scheduled", "Normal", "Successfully assigned default/p to n")
    assert (driven.held("n"), driven.cluster_state.assumed_uids, driven.counts) == (1000, [], {})


def test_hooks_are_called_in_the_order_of_the_cycles() -> None:
    calls: list[str] = []
    driven = Driven(Steps(calls), OtherSteps(calls), objects=[make_node("n"), pending()])
    driven.attempt()
    points = ["reserve", "permit", "pre_bind", "post_bind"]
    assert calls == [call for point in points for call in (point, f"-{point}")]


def test_a_pod_is_assumed_before_the_next_one_is_tried() -> None:
    small = make_node("n", allocatable={"cpu": "1"})
    driven = Driven(NodeResourcesFit(), objects=[small, pending("a"), pending("b")])
    assert driven.attempt().node_name == "n"
    assert driven.attempt().outcome.message == "0/1 nodes are available: 1 Insufficient cpu."


def test_a_pod_that_fits_nowhere_is_told_why_and_waits_for_an_event() -> None:
    driven = Driven(NodeResourcesFit(), objects=[make_node("n"), pending(cpu="5")])
    message = "0/1 nodes are available: 1 Insufficient cpu."
    assert driven.attempt().outcome.message == message
    (event,) = driven.done(RecordEvent)
    assert (event.reason, event.type, event.note) == ("FailedScheduling", "Warning", message)
    (patch,) = driven.done(PatchPodStatus)
    assert patch.condition == ("PodScheduled", "False", "Unschedulable", message)
    assert driven.counts == {"unschedulable": 1}
    driven.tell(make_node("n", labels={"a": "b"}))
    assert driven.counts == {"unschedulable": 1}
    driven.tell(make_node("n", allocatable={"cpu": "8"}))
    driven.pass_time(1)
    assert driven.attempt().node_name == "n"


def test_a_pod_in_flight_hears_of_what_happened_meanwhile() -> None:
    class Grows(Full):
        def post_filter(self, state, pod, diagnosis):
            driven.tell(make_node("n", allocatable={"cpu": "8"}))
            return None, Status.unschedulable()

    driven = Driven(NodeResourcesFit(), Grows(), objects=[make_node("n"), pending(cpu="5")])
    driven.attempt()
    assert driven.counts == {"backoff": 1}


def test_a_gated_pod_is_not_tried_until_the_gate_opens() -> None:
    driven = Driven(Gate(), objects=[make_node("n"), pending(labels={"gated": "yes"})])
    assert (driven.attempt(), driven.counts) == (None, {"gated": 1})
    driven.tell(pending(metadata={"resourceVersion": "2"}))
    assert driven.attempt().node_name == "n"


class Breaks(Plugin):
    """Fails with a text that a test changes."""

    text = "no file"

    def pre_enqueue(self, pod):
        raise RuntimeError(self.text)


def test_a_gate_that_fails_is_logged_where_the_fault_changes(caplog: pytest.LogCaptureFixture) -> None:
    gate = Breaks()
    pods = [pending(name=name, metadata={"uid": name}) for name in ("a", "b")]
    driven = Driven(gate, objects=pods)
    for number in range(20):
        driven.tell(make_node(f"n{number}"))
        driven.tell(pending(name="a", metadata={"uid": "a", "resourceVersion": str(number)}, labels={"n": str(number)}))
    assert (driven.counts, len(caplog.messages)) == ({"gated": 2}, 2)
    gate.text = "no rights"
    for number in range(20, 25):
        driven.tell(make_node(f"n{number}"))
    assert [text.partition(" (")[0] for text in caplog.messages] == [
        f'pod default/{name} is not tried: running PreEnqueue plugin "Breaks": {text}'
        for text in ("no file", "no rights")
        for name in ("a", "b")
    ]


def test_a_pod_that_is_being_deleted_is_skipped() -> None:
    driven = Driven(objects=[make_node("n"), pending(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})])
    decision = driven.attempt()
    assert (decision.node_name, driven.attempt(), driven.counts) == ("", None, {})
    assert [event.note for event in driven.done(RecordEvent)] == ["skip schedule deleting pod: default/p"]
    assert driven.scheduler.queue.in_flight_events() == {"PodPopped": 0}


def test_pods_of_other_schedulers_are_left_alone() -> None:
    driven = Driven(objects=[make_node("n"), pending(spec={"schedulerName": "another"})])
    assert (driven.attempt(), driven.counts) == (None, {})


def test_a_deleted_pod_is_not_tried() -> None:
    driven = Driven(objects=[make_node("n"), pending()])
    driven.tell(pending(), EventType.DELETED)
    assert driven.attempt() is None


def test_a_pod_recreated_under_its_name_is_another_pod() -> None:
    driven = Driven(Full(), objects=[make_node("n"), pending(metadata={"uid": "old"})])
    driven.attempt()
    driven.tell(pending(metadata={"uid": "new"}))
    assert driven.counts == {"active": 1}
    decision = driven.attempt()
    assert (decision.pod.uid, decision.attempt) == ("new", 1)


@pytest.mark.parametrize("answer", [Status.unschedulable("no"), Status.error("broken"), RuntimeError("broken")])
def test_a_failed_reserve_is_undone_in_reverse_order_by_all_plugins(answer: object) -> None:
    calls: list[str] = []
    driven = Driven(OtherSteps(calls), Steps(calls, reserve=answer), objects=[make_node("n"), pending()])
    decision = driven.attempt()
    assert calls == ["-reserve", "reserve", "unreserve", "-unreserve"]
    assert (decision.node_name, driven.held("n"), driven.done(Bind)) == ("", 0, [])
    assert driven.counts == {"unschedulable" if decision.reason == "Unschedulable" else "backoff": 1}


def test_a_rejection_by_reserve_reads_as_if_there_were_one_node() -> None:
    driven = Driven(Steps(reserve=Status.unschedulable("taken")), objects=[make_node("n"), make_node("m"), pending()])
    decision = driven.attempt()
    assert decision.outcome.message == "0/1 nodes are available: 1 taken."
    assert decision.unschedulable_plugins == {"Steps"}
    assert [patch.nominated_node_name for patch in driven.done(PatchPodStatus)] == [""]


class Note(Plugin):
    """Writes an annotation with the binding, and looks what the pods on the node carry then."""

    def __init__(self, answer: Status = Status.SUCCESS) -> None:
        super().__init__()
        self.answer = answer
        self.seen: list[tuple[dict[str, str], list[dict[str, str]]]] = []

    def reserve(self, state, pod, node_name) -> Status:
        state.binding.annotations["device"] = "0"
        return self.answer

    def permit(self, state, pod, node_name) -> Status:
        node = self.handle.snapshot().node_info(node_name)
        self.seen.append((pod.annotations, [info.pod.annotations for info in node.pods]))
        return Status.SUCCESS


def test_what_reserve_notes_for_the_binding_is_on_the_pod_at_once() -> None:
    note = Note()
    driven = Driven(note, objects=[make_node("n"), pending()])
    driven.attempt()
    assert note.seen == [({"device": "0"}, [{"device": "0"}])]
    (bind,) = driven.done(Bind)
    assert bind.annotations == bind.pod.annotations == {"device": "0"}


def test_what_a_failed_binding_noted_is_gone() -> None:
    note = Note()
    driven = Driven(note, objects=[make_node("n"), pending()])
    driven.refusals[Bind] = "no"
    driven.attempt()
    assert len(note.seen) == 1
    assert list(driven.cluster_state.snapshot().node_info("n").pods) == []
    assert driven.cluster_state.objects.get("Pod", "default/p").annotations == {}


def test_a_rejection_by_permit_is_undone() -> None:
    steps = Steps(permit=Status.unschedulable("not now"))
    driven = Driven(steps, objects=[make_node("n"), pending()])
    assert driven.attempt().outcome.message == "0/1 nodes are available: 1 not now."
    assert steps.calls == ["reserve", "permit", "unreserve"]
    assert driven.held("n") == 0


def test_a_pod_that_waits_in_permit_holds_its_node_and_is_bound_when_it_is_allowed() -> None:
    steps = Steps(permit=Wait(60))
    driven = Driven(steps, objects=[make_node("n"), pending()])
    driven.attempt()
    (waiting,) = driven.scheduler.waiting_pods.values()
    assert (waiting.pending_plugins, driven.held("n"), driven.done(Bind)) == (["Steps"], 1000, [])
    assert [patch.nominated_node_name for patch in driven.done(PatchPodStatus)] == ["n"]
    waiting.allow("Steps")
    assert driven.resume().node_name == "n"
    assert (len(driven.done(Bind)), driven.scheduler.waiting_pods) == (1, {})
    assert steps.calls == ["reserve", "permit", "pre_bind", "post_bind"]


def test_a_pod_that_is_rejected_while_it_waits_goes_back_to_the_queue() -> None:
    steps = Steps(permit=Wait(60))
    driven = Driven(steps, objects=[make_node("n"), pending()])
    driven.attempt()
    driven.scheduler.waiting_pods[pending().uid].reject("Steps", "the group is incomplete")
    decision = driven.resume()
    assert decision.outcome.message == "0/1 nodes are available: 1 the group is incomplete."
    assert (driven.held("n"), driven.counts, driven.scheduler.waiting_pods) == (0, {"unschedulable": 1}, {})


def test_a_pod_that_waits_too_long_is_rejected() -> None:
    driven = Driven(Steps(permit=Wait(5)), objects=[make_node("n"), pending()])
    driven.attempt()
    assert driven.scheduler.next_deadline() == 5.0
    driven.pass_time(4.5)
    (waiting,) = driven.scheduler.waiting_pods.values()
    assert waiting.status is None
    driven.pass_time(0.5)
    message = "0/1 nodes are available: 1 rejected due to timeout after waiting 5s at plugin Steps."
    assert driven.resume().outcome.message == message


def test_permit_waits_a_quarter_of_an_hour_at_most() -> None:
    driven = Driven(Steps(permit=Wait(1e9)), objects=[make_node("n"), pending()])
    driven.attempt()
    assert driven.scheduler.next_deadline() == 900.0


def test_a_pod_deleted_while_it_waits_is_not_tried_again() -> None:
    driven = Driven(Steps(permit=Wait(60)), objects=[make_node("n"), pending()])
    driven.attempt()
    driven.tell(pending(), EventType.DELETED)
    driven.resume()
    assert (driven.held("n"), driven.counts, driven.attempt()) == (0, {}, None)
    driven.cluster_state.check_invariants()


@pytest.mark.parametrize("hook", ["pre_bind", "bind"])
def test_a_failed_binding_frees_the_node_and_the_pod_backs_off(hook: str) -> None:
    steps = Steps(**({"pre_bind": Status.error("no luck")} if hook == "pre_bind" else {}))
    driven = Driven(steps, objects=[make_node("n"), pending()])
    if hook == "bind":
        driven.refusals[Bind] = "no luck"
    decision = driven.attempt()
    assert decision.reason == "SchedulerError"
    assert "no luck" in decision.outcome.message
    assert steps.calls[-1] == "unreserve"
    assert (driven.held("n"), driven.cluster_state.assumed_uids, driven.counts) == (0, [], {"backoff": 1})
    driven.refusals.clear()
    steps.answers.clear()
    driven.pass_time(2)
    assert driven.attempt().node_name == "n"


def test_a_pod_that_changes_during_its_attempt_is_tried_again_as_it_is_then() -> None:
    driven = Driven(Steps(permit=Wait(60)), objects=[make_node("n"), pending()])
    driven.attempt()
    driven.tell(pending(cpu="2"))
    driven.refusals[Bind] = "no luck"
    driven.scheduler.waiting_pods[pending().uid].allow("Steps")
    driven.resume()
    driven.pass_time(2)
    driven.attempt()
    assert driven.held("n") == 2000


def test_room_that_a_failed_binding_gives_back_is_news_for_others() -> None:
    small = make_node("n", allocatable={"cpu": "1"})
    driven = Driven(NodeResourcesFit(), Steps(permit=Wait(60)), objects=[small, pending("a"), pending("b")])
    driven.attempt()
    binding = driven._binding
    assert driven.attempt().node_name == ""
    assert driven.counts == {"unschedulable": 1}
    driven._binding = binding
    driven.scheduler.waiting_pods[pending("a").uid].reject("Steps", "no")
    driven.resume()
    assert driven.counts == {"backoff": 1, "unschedulable": 1}


def test_nominated_pods_of_equal_or_higher_priority_count_on_their_node() -> None:
    class Stays(Full):
        """Rejects the pod called `first`."""

        def filter_nodes(self, state, pod, nodes):
            return np.full(len(nodes), int(pod.name == "first"), dtype=np.int16)

    small = make_node("n", allocatable={"cpu": "2"})
    nominated = pending("first", cpu="2", priority=10, status={"nominatedNodeName": "n"})
    driven = Driven(NodeResourcesFit(), Stays(), objects=[small, nominated, pending("low", priority=9)])
    assert driven.attempt().pod.name == "first"
    assert driven.attempt().outcome.message == "0/1 nodes are available: 1 Insufficient cpu."
    driven.tell(pending("high", priority=11))
    assert driven.attempt().node_name == "n"


class Preempts(Full):
    """Takes all pods of lower priority off node n; for a pod called `still` it does nothing."""

    def post_filter(self, state, pod, diagnosis):
        if pod.name == "still":
            return None, Status.unschedulable("no")
        nodes = self.handle.snapshot().nodes
        victims = [info for info in nodes.pods(nodes.position_of("n")) if info.priority < pod.priority]
        return PostFilterResult("n", tuple(victims)), Status.SUCCESS


def test_victims_are_deleted_for_their_preemptor_and_lower_nominations_end() -> None:
    running = [
        make_pod("victim", node="n"),
        make_pod("leaving", node="n", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}),
    ]
    low = pending("low", priority=1, status={"nominatedNodeName": "n"})
    high = pending("still", priority=9, status={"nominatedNodeName": "n"})
    driven = Driven(Preempts(), objects=[make_node("n"), *running, low, high, pending("p", priority=5)])
    driven.attempt()
    driven.actions.clear()
    decision = driven.attempt()
    assert (decision.pod.name, decision.nominated_node_name) == ("p", "n")
    assert [(done.pod.name, done.preemptor.name, done.node_name) for done in driven.done(DeletePod)] == [
        ("victim", "p", "n")
    ]
    assert [(done.pod.name, done.nominated_node_name) for done in driven.done(PatchPodStatus)] == [
        ("low", ""),
        ("p", "n"),
        ("p", "n"),  # awaited before the victims leave; nothing is written for it
    ]
    assert {queued.pod.name for queued in driven.scheduler.queue.nominator.pods_on("n")} == {"p", "still"}


def test_a_victim_that_waits_in_permit_is_rejected_and_not_deleted() -> None:
    class Choosy(Preempts):
        def filter_nodes(self, state, pod, nodes):
            return np.full(len(nodes), int(pod.priority > 0), dtype=np.int16)

    driven = Driven(Choosy(), Steps(permit=Wait(60)), objects=[make_node("n"), pending("low")])
    driven.attempt()
    binding = driven._binding
    driven.tell(pending("high", priority=9))
    driven.attempt()
    assert driven.done(DeletePod) == []
    driven._binding = binding
    assert driven.resume().outcome.message == "0/1 nodes are available: 1 preempted."


def test_pods_that_a_plugin_wants_activated_are_tried_again() -> None:
    class Activates(Steps):
        def reserve(self, state, pod, node_name):
            state.pods_to_activate = {"waits": driven.cluster_state.objects.get("Pod", "default/waits")}
            return Status.SUCCESS

    driven = Driven(NodeResourcesFit(), Activates(), objects=[make_node("n"), pending("waits", cpu="9")])
    driven.attempt()
    assert driven.counts == {"unschedulable": 1}
    driven.tell(pending())
    driven.attempt()
    assert driven.counts == {"active": 1}


def test_a_pod_interrupted_while_it_activates_others_gives_everything_back() -> None:
    class Interrupted(Steps):
        def pre_enqueue(self, pod):
            if pod.name == "gated" and self.calls == ["reserve", "permit"]:
                self.calls.append("interrupted")
                raise KeyboardInterrupt
            return Status.unresolvable("gate") if pod.name == "gated" else Status.SUCCESS

        def reserve(self, state, pod, node_name):
            state.pods_to_activate = {"gated": driven.cluster_state.objects.get("Pod", "default/gated")}
            return super().reserve(state, pod, node_name)

    steps = Interrupted()
    driven = Driven(steps, objects=[make_node("n"), pending("gated"), pending()])
    with pytest.raises(KeyboardInterrupt):
        driven.attempt()
    assert steps.calls == ["reserve", "permit", "interrupted", "unreserve"]
    assert (driven.held("n"), driven.counts) == (0, {"active": 1, "gated": 1})
    assert driven.attempt().node_name == "n"


def test_the_note_of_an_event_is_cut_to_1024_bytes() -> None:
    class Wordy(Full):
        reasons = (Status.unschedulable("ä" * 2000),)

    driven = Driven(Wordy(), objects=[make_node("n"), pending()])
    driven.attempt()
    (event,) = driven.done(RecordEvent)
    assert len(event.note.encode()) <= 1024
    assert event.note.endswith(" ...")
    (patch,) = driven.done(PatchPodStatus)
    assert patch.condition[3].count("ä") == 2000


def test_half_a_surrogate_pair_in_a_reason_is_written_as_an_escape() -> None:
    class Reader(Full):
        reasons = (Status.unschedulable(b"no file \xff".decode("utf-8", "surrogateescape")),)

    driven = Driven(Reader(), objects=[make_node("n"), pending()])
    driven.attempt()
    (event,), (patch,) = driven.done(RecordEvent), driven.done(PatchPodStatus)
    assert event.note == patch.condition[3] == "0/1 nodes are available: 1 no file \\udcff."


def test_a_plugin_that_says_nothing_of_events_hears_of_all_of_them() -> None:
    class Mute(Plugin):
        def filter_nodes(self, state, pod, nodes):
            return np.ones(len(nodes), dtype=np.int16)

        reasons = (Status.unschedulable("no"),)

    driven = Driven(Mute(), objects=[make_node("n"), pending()])
    driven.attempt()
    driven.tell(make_node("n", annotations={"a": "b"}))
    assert driven.counts == {"backoff": 1}


def test_a_driver_is_told_when_a_plugin_activates_a_pod() -> None:
    driven = Driven(Full(), objects=[make_node("n"), pending()])
    driven.attempt()
    handle = driven.scheduler.frameworks["default-scheduler"].handle
    handle.activate([pending()])
    assert driven.queued[-1] == ("active", "ForceActivate", "p")
    assert driven.scheduler.queue.can_pop


@pytest.mark.parametrize("ends", ["update", "deletion"])
def test_the_end_of_a_nomination_lets_pods_of_lower_or_equal_priority_try_again(ends: str) -> None:
    nominated = make_pod("a", requests={"cpu": "9"}, priority=5, status={"nominatedNodeName": "n"})
    others = [make_pod(name, requests={"cpu": "9"}, priority=value) for name, value in (("b", 5), ("c", 4), ("d", 6))]
    driven = Driven(NodeResourcesFit(), objects=[make_node("n"), nominated, *others])
    for _ in range(4):
        driven.attempt()
    driven.queued.clear()
    if ends == "update":
        driven.tell(make_pod("a", requests={"cpu": "9"}, priority=5, metadata={"resourceVersion": "2"}))
    else:
        driven.tell(nominated, EventType.DELETED)
    moved = {name for queue, label, name in driven.queued if label == "AssignedPodDelete"}
    assert moved == {"b", "c"} | ({"a"} if ends == "update" else set())
