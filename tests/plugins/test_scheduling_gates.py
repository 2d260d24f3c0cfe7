from kubesched.api import ActionType
from kubesched.framework import QueueingHint, Status
from kubesched.plugins.scheduling_gates import SchedulingGates
from tests.plugins.hinting import hint, pod_event
from tests.plugins.one_plugin import pod, read_pod

GONE = pod_event(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)


def test_a_pod_without_gates_may_enter_the_queue():
    assert SchedulingGates().pre_enqueue(read_pod(pod(schedulingGates=[]))) is Status.SUCCESS


def test_gates_are_named_in_order():
    gated = read_pod(pod(schedulingGates=[{"name": "b"}, {"name": "a"}]))
    assert SchedulingGates().pre_enqueue(gated) == Status.unresolvable("waiting for scheduling gates: [b a]")


def test_only_the_pods_own_last_gate_helps_it():
    mine, other = read_pod(pod("mine")), read_pod(pod("other"))
    assert hint(SchedulingGates(), GONE, mine, mine, mine) is QueueingHint.QUEUE
    assert hint(SchedulingGates(), GONE, mine, other, other) is QueueingHint.SKIP
