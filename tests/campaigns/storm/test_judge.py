"""The judge of a storm takes only the condition that the shape of a pod has with kube-scheduler."""

from types import SimpleNamespace

import pytest

from campaigns.storm.judge import faults_at_the_end

NO_LABEL = "node(s) didn't match pod topology spread constraints (missing required label)"
AFTER = " no new claims to deallocate, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling."


def faults(name, message, reason="Unschedulable", status="False", bound=(), created=()):
    condition = {"status": status, "reason": reason, "message": message} if reason else {}
    observer = SimpleNamespace(
        bound=dict.fromkeys(bound, 1.0), conditions={name: condition}, numbers_of_nodes=lambda: {4, 5}
    )
    return faults_at_the_end(observer, created)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cpu-00000", "0/5 nodes are available: 5 Insufficient cpu." + AFTER),
        ("cpu-00000", "0/4 nodes are available: 4 Insufficient cpu."),
        ("selector-00001", "0/5 nodes are available: 5 node(s) didn't match Pod's node affinity/selector." + AFTER),
        ("affinity-00002", "0/5 nodes are available: 5 node(s) didn't match pod affinity rules." + AFTER),
        ("spread-00003", f"0/5 nodes are available: 2 Insufficient cpu, 3 {NO_LABEL}." + AFTER),
        (
            "preemptor-00000",
            "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't match Pod's node affinity/selector." + AFTER,
        ),
        ("claim-00007", '0/5 nodes are available: persistentvolumeclaim "data-7" not found.' + AFTER),
    ],
)
def test_the_right_reason_is_no_fault(name, said):
    assert faults(name, said) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cpu-00000", ""),
        ("cpu-00000", "0/5 nodes are available: 5 node(s) had untolerated taint(s)."),
        ("cpu-00000", "0/5 nodes are available: 4 Insufficient cpu."),
        ("cpu-00000", "0/6 nodes are available: 6 Insufficient cpu."),
        ("affinity-00002", "0/5 nodes are available: 5 Insufficient cpu."),
        ("spread-00003", f"0/5 nodes are available: 5 {NO_LABEL}, 1 Insufficient cpu."),
        ("preemptor-00000", "0/5 nodes are available: 5 Insufficient cpu."),
        ("claim-00007", '0/5 nodes are available: persistentvolumeclaim "data-8" not found.'),
    ],
)
def test_another_reason_is_a_fault(name, said):
    assert faults(name, said) == [f"pod {name} waits for another reason: {said}"]


def test_a_pod_that_must_wait_needs_a_condition():
    assert faults("cpu-00000", "", reason="") == ["pod cpu-00000 has no PodScheduled condition"]


def test_a_gated_pod_is_gated():
    assert faults("gated-00000", "", reason="SchedulingGated") == []
    (found,) = faults("gated-00000", "", reason="Unschedulable")
    assert "expected False, SchedulingGated" in found


def test_a_pod_that_must_wait_and_is_bound_is_a_fault():
    assert faults("cpu-00000", "", bound=["cpu-00000"]) == ["pod cpu-00000 must wait and is bound"]


def test_a_pod_that_fits_has_to_be_bound():
    assert faults(
        "running-00000", "", reason="", created=["tight-00001", "late-claim-00002"], bound=["tight-00001"]
    ) == ["pod late-claim-00002 fits and is not bound"]
