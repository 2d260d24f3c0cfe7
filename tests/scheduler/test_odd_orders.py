"""Events in odd orders, and plugins that fail in odd ways, while a pod is on its way."""

from asyncio import CancelledError

import pytest

from kubesched.api import ActionType, ClusterEvent, EventResource, EventType, Pod
from kubesched.framework import (
    ActionDone,
    Bind,
    EventRegistration,
    PatchPodStatus,
    Plugin,
    QueueingHint,
    Status,
    Wait,
    WriteObject,
)
from kubesched.plugins import DefaultPreemption, NodeResourcesFit, VolumeBinding
from kubesched.scheduler import WaitRequest, straight
from kubesched.testing import make_node, make_object, make_pod
from tests.scheduler.driving import Driven

ONE_CPU = {"cpu": "1"}


class Holds(Plugin):
    """Makes every pod wait in Permit."""

    def permit(self, state, pod, node_name):
        return Wait(50)


class Books(Plugin):
    """Notes what is reserved and given back."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def reserve(self, state, pod, node_name):
        self.calls.append("reserve")
        return Status.SUCCESS

    def unreserve(self, state, pod, node_name):
        self.calls.append("unreserve")


def volumes(provisioner: str) -> list:
    storage_class = make_object(
        "StorageClass", "fast", provisioner=provisioner, volumeBindingMode="WaitForFirstConsumer"
    )
    wanted = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"]}
    claims = [
        make_object(
            "PersistentVolumeClaim",
            name,
            spec={**wanted, "resources": {"requests": {"storage": "1Gi"}}},
            status={"phase": "Pending"},
        )
        for name in ("data", "other")
    ]
    volume = make_object(
        "PersistentVolume",
        "pv1",
        spec={**wanted, "capacity": {"storage": "1Gi"}, "csi": {"driver": "csi.example.com", "volumeHandle": "h"}},
        status={"phase": "Available"},
    )
    return [storage_class, *claims, *([volume] if provisioner.startswith("kubernetes.io/") else [])]


def consumer(name: str, *claims: str) -> Pod:
    mounted = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": claim}} for i, claim in enumerate(claims)]
    return make_pod(name, spec={"volumes": mounted})


def on_node(pod: Pod, node: str) -> Pod:
    return make_pod(pod.name, node=node, metadata={"uid": pod.uid, "resourceVersion": "9"}, spec={})


@pytest.mark.parametrize("provisioner", ["csi.example.com", "kubernetes.io/no-provisioner"])
@pytest.mark.parametrize("how", ["deleted", "replaced", "bound elsewhere"])
def test_what_was_assumed_for_claims_is_taken_back_with_the_pod(how, provisioner):
    driven = Driven(VolumeBinding(), Holds(), objects=[make_node("n1"), make_node("n2"), *volumes(provisioner)])
    pod = consumer("a", "data")
    driven.tell(pod)
    assert driven.attempt()
    assert driven.cluster_state.is_assumed(pod)
    if how == "deleted":
        driven.tell(pod, EventType.DELETED)
    elif how == "replaced":
        driven.tell(make_pod("a", metadata={"uid": "another"}))
    else:
        (node,) = {"n1", "n2"} - {driven.cluster_state.placed(pod.uid).pod.node_name}
        driven.tell(on_node(pod, node))
    claim = driven.cluster_state.objects.get("PersistentVolumeClaim", "default/data")
    volume = driven.cluster_state.objects.get("PersistentVolume", "pv1")
    assert claim.annotations == {}
    assert volume is None or volume.spec.claim_ref is None


def test_of_two_plans_for_one_claim_the_second_is_not_restored_to_the_first():
    driven = Driven(VolumeBinding(), Holds(), objects=[make_node("n1"), *volumes("csi.example.com")])
    first, second = consumer("a", "data"), consumer("b", "data")
    for pod in (first, second):
        driven.tell(pod)
        assert driven.attempt()
    for pod in (first, second):
        driven.tell(pod, EventType.DELETED)
    assert driven.cluster_state.objects.get("PersistentVolumeClaim", "default/data").annotations == {}


def test_a_pod_may_mount_one_claim_twice():
    driven = Driven(VolumeBinding(), objects=[make_node("n1"), *volumes("csi.example.com")])
    driven.tell(consumer("a", "data", "data"))
    cycle = driven.decide()
    requests = [cycle.send(None)]
    while not isinstance(requests[-1], WaitRequest):
        requests.append(cycle.send(ActionDone(requests[-1])))
    assert [type(request) for request in requests] == [PatchPodStatus, WriteObject, WaitRequest]
    names = requests[-1].names()
    assert len(set(names)) == len(names)
    cycle.close()


@pytest.mark.parametrize(
    ("seconds", "reads"),
    [(float("nan"), ()), (float("inf"), ()), (-1, ()), ("x", ()), (None, ()), (5, "Node"), (5, [[]])],
)
def test_a_wait_that_makes_no_sense_fails_the_hook_and_nothing_else(seconds, reads):
    class Waits(Plugin):
        async def pre_bind(self, state, pod, node_name):
            await self.handle.wait(lambda: False, seconds, reads)
            return Status.SUCCESS

    driven = Driven(Waits(), objects=[make_node("n1")])
    driven.tell(make_pod("p"))
    decision = driven.attempt()
    assert decision.reason == "SchedulerError"
    assert "Error: " in decision.outcome.message


def test_a_victim_whose_binding_is_sent_is_deleted():
    class Slow(Plugin):
        def permit(self, state, pod, node_name):
            return Wait(100) if pod.name == "victim" else Status.SUCCESS

        async def pre_bind(self, state, pod, node_name):
            return Status.SUCCESS

    driven = Driven(
        NodeResourcesFit(),
        DefaultPreemption(),
        Slow(),
        objects=[make_node("n1", allocatable={"cpu": "1", "pods": "9"})],
    )
    victim = make_pod("victim", requests=ONE_CPU)
    driven.tell(victim)
    cycle = driven.decide()
    cycle.send(None)
    permit = cycle.send(ActionDone(Bind(victim, "n1")))
    waiting = driven.scheduler.waiting_pods[permit.uid]
    waiting.allow("Slow")
    assert isinstance(cycle.send(waiting.status), Bind)
    assert not driven.scheduler.waiting_pods
    driven.tell(make_pod("high", requests=ONE_CPU, priority=10))
    eviction = driven.decide()
    status = eviction.send(None)
    assert eviction.send(ActionDone(status)).pod.name == "victim"
    eviction.close()
    cycle.close()


@pytest.mark.parametrize("waits", [False, True])
def test_a_pod_that_is_gone_and_back_is_not_placed_while_its_first_cycle_runs(waits):
    driven = Driven(NodeResourcesFit(), *([Holds()] if waits else []), objects=[make_node("n1")])
    pod = make_pod("p", requests=ONE_CPU)
    driven.tell(pod)
    cycle = driven.decide()
    request = cycle.send(None)
    if waits:
        request = cycle.send(ActionDone(request))
    driven.tell(pod, EventType.DELETED)
    driven.tell(pod)
    assert straight(driven.scheduler.attempt()) is None
    with pytest.raises(StopIteration):
        cycle.send(Status.unschedulable("removed") if waits else ActionDone(request, error="not found"))
    assert pod in driven.scheduler.queue
    driven.cluster_state.check_invariants()
    driven.scheduler.queue.check_invariants()


def test_a_late_deletion_of_an_earlier_pod_of_the_name_changes_nothing():
    driven = Driven(objects=[make_node("n1")])
    old, new = make_pod("p", metadata={"uid": "1"}), make_pod("p", metadata={"uid": "2"})
    driven.tell(new)
    driven.tell(old, EventType.DELETED)
    assert new in driven.scheduler.queue
    assert driven.cluster_state.objects.get("Pod", "default/p") is new


def test_a_finished_pod_of_the_same_name_takes_the_place_of_one_on_a_node():
    driven = Driven(objects=[make_node("n1"), make_pod("p", node="n1", requests=ONE_CPU, metadata={"uid": "1"})])
    driven.tell(make_pod("p", node="n1", metadata={"uid": "2"}, status={"phase": "Succeeded"}))
    assert driven.held("n1") == 0


@pytest.mark.parametrize("hook", ["filter", "reserve", "permit", "pre_bind", "unreserve", "pre_enqueue"])
def test_a_hook_that_raises_cancelled_error_has_failed_like_any_other(hook):
    def fail(self, *args):
        raise CancelledError("the refresh task was cancelled")

    hooks = {hook: fail}
    if hook == "unreserve":
        hooks["permit"] = lambda self, state, pod, node_name: Status.unschedulable("no")
    driven = Driven(type("Odd", (Plugin,), hooks)(), objects=[make_node("n1")])
    pod = make_pod("p")
    driven.tell(pod)
    driven.attempt()
    assert pod in driven.scheduler.queue
    assert driven.cluster_state.placed(pod.uid) is None
    driven.scheduler.queue.check_invariants()


def test_a_hint_that_activates_the_pod_whose_events_are_replayed_loses_nothing():
    class Pushy(Plugin):
        def permit(self, state, pod, node_name):
            return Wait(50)

        def hint(self, pod, old, new):
            self.handle.activate([pod])
            return QueueingHint.SKIP

        def events_to_register(self):
            return [EventRegistration(ClusterEvent(EventResource.NODE, ActionType.ADD), self.hint)]

    driven = Driven(Pushy(), objects=[make_node("n1")])
    pod = make_pod("p")
    driven.tell(pod)
    driven.attempt()
    driven.tell(make_node("n2"))
    driven.tell(make_node("n3"))
    driven.scheduler.waiting_pods[pod.uid].reject("Pushy", "no")
    driven.resume()
    assert pod in driven.scheduler.queue


@pytest.mark.parametrize("hook", ["sort_key", "less"])
def test_a_queue_sort_plugin_that_activates_has_failed_and_the_queue_stays_sorted(hook):
    class Pushy(Plugin):
        def filter(self, state, pod, node):
            return Status.unschedulable("no")

    def ask(self, *queued):
        self.handle.activate([one.pod for one in queued])
        return (0,) if hook == "sort_key" else False

    setattr(Pushy, hook, ask)
    driven = Driven(Pushy(), objects=[make_node("n1")])
    pods = [make_pod(f"p{i}") for i in range(6)]
    for pod in pods:
        driven.tell(pod)
    messages = []
    for _ in range(6):
        messages.append(driven.attempt().outcome.message)
        driven.scheduler.queue.check_invariants()
    assert any("activate cannot be called in QueueSort" in message for message in messages)
    driven.pass_time(30)
    assert driven.scheduler.queue.counts()["active"] <= len(pods)
    assert all(pod in driven.scheduler.queue for pod in pods)


@pytest.mark.parametrize("annotations", [["x"], "x", {"a": 1}])
def test_annotations_that_are_none_cost_the_pod_its_attempt(annotations):
    class Odd(Plugin):
        def reserve(self, state, pod, node_name):
            state.binding.annotations = annotations
            return Status.SUCCESS

    driven = Driven(Odd(), objects=[make_node("n1")])
    pod = make_pod("p")
    driven.tell(pod)
    decision = driven.attempt()
    assert "annotations must be a dict" in decision.outcome.message
    assert driven.cluster_state.placed(pod.uid) is None


def test_pods_to_activate_that_are_no_dict_are_left_alone():
    class Odd(Plugin):
        def reserve(self, state, pod, node_name):
            state.pods_to_activate = [pod]
            return Status.SUCCESS

    driven = Driven(Odd(), objects=[make_node("n1")])
    driven.tell(make_pod("p"))
    assert driven.attempt().node_name == "n1"


def test_one_who_is_told_of_a_waiting_pod_and_fails_keeps_nobody_else_from_it():
    driven = Driven(Holds(), objects=[make_node("n1")])
    cycles = []
    for name in ("a", "b"):
        driven.tell(make_pod(name))
        cycles.append(driven.decide())
        cycles[-1].send(None)
    told = []
    first, second = driven.scheduler.waiting_pods.values()
    first.on_decided(lambda status: 1 / 0)
    first.on_decided(told.append)
    second.on_decided(lambda status: driven.scheduler.waiting_pods.clear())
    driven.pass_time(51)
    assert len(told) == 1
    assert second.status is not None
    for cycle in cycles:
        cycle.close()


def test_a_pod_that_was_deleted_after_its_binding_was_sent_gets_its_unreserve():
    books = Books()
    driven = Driven(books, objects=[make_node("n1")])
    pod = make_pod("p")
    driven.tell(pod)
    cycle = driven.decide()
    driven.scheduler.note_written(cycle.send(None))
    cycle.close()
    driven.tell(pod, EventType.DELETED)
    assert books.calls == ["reserve", "unreserve"]


def test_a_pod_that_was_shown_on_its_node_gets_none():
    books = Books()
    driven = Driven(books, objects=[make_node("n1")])
    pod = make_pod("p")
    driven.tell(pod)
    cycle = driven.decide()
    driven.scheduler.note_written(cycle.send(None))
    cycle.close()
    driven.tell(on_node(pod, "n1"))
    driven.tell(on_node(pod, "n1"), EventType.DELETED)
    assert books.calls == ["reserve"]


def test_a_pod_bound_over_a_connection_of_the_plugins_stays_bound_when_post_bind_is_broken_off():
    class Own(Plugin):
        async def bind(self, state, pod, node_name):
            return Status.SUCCESS

        async def post_bind(self, state, pod, node_name):
            await self.handle.wait(lambda: False, 60)

    driven = Driven(Own(), objects=[make_node("n1")])
    pod = make_pod("p")
    driven.tell(pod)
    cycle = driven.decide()
    cycle.send(None)
    cycle.close()
    assert driven.cluster_state.is_assumed(pod)
    assert pod not in driven.scheduler.queue


def test_a_nomination_comes_back_when_a_cycle_is_broken_off():
    driven = Driven(Holds(), objects=[make_node("n1")])
    pod = make_pod("p", status={"nominatedNodeName": "n1"})
    driven.tell(pod)
    cycle = driven.decide()
    assert not driven.scheduler.queue.nominator.pods_on("n1")
    cycle.close()
    assert [queued.pod.name for queued in driven.scheduler.queue.nominator.pods_on("n1")] == ["p"]
