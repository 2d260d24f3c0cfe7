import pytest

from kubesched.admission.priorities import PriorityClasses
from kubesched.api import Pod
from kubesched.errors import ObjectError
from kubesched.snapshot import load_snapshot
from tests.snapshot.builders import listed, other, pod, stream


def priority_class(name, value, **fields):
    return other("scheduling.k8s.io/v1", "PriorityClass", name, value=value, **fields)


def loaded(*documents):
    return load_snapshot(stream(listed(*documents))).of(Pod)


def admitted(spec, *classes):
    PriorityClasses(load_snapshot(stream(listed(*classes))).objects).admit(spec)
    return spec


def test_a_stored_pod_with_only_a_class_gets_its_priority():
    (found,) = loaded(
        pod(priorityClassName="high"), priority_class("high", 1000, preemptionPolicy="Never"), priority_class("low", 1)
    )
    assert (found.priority, found.spec.preemption_policy) == (1000, "Never")
    assert found.document["spec"]["priority"] == 1000


def test_the_built_in_classes_are_always_there():
    found = loaded(
        pod("a", priorityClassName="system-node-critical"), pod("b", priorityClassName="system-cluster-critical")
    )
    assert [p.priority for p in found] == [2000001000, 2000000000]


def test_a_stored_pod_keeps_its_priority():
    (found,) = loaded(pod(priorityClassName="high", priority=5), priority_class("high", 1000))
    assert (found.priority, found.spec.preemption_policy) == (5, None)


def test_a_stored_pod_without_a_class_gets_no_default():
    (found,) = loaded(pod(), priority_class("usual", 7, globalDefault=True))
    assert found.spec.priority is None


def test_a_new_pod_gets_the_global_default():
    assert admitted({}, priority_class("usual", 7, globalDefault=True)) == {
        "priorityClassName": "usual",
        "priority": 7,
        "preemptionPolicy": "PreemptLowerPriority",
    }


def test_of_several_global_defaults_the_lowest_holds():
    classes = [priority_class(f"c{v}", v, globalDefault=True) for v in (9, 3, 5)]
    assert admitted({}, *classes)["priority"] == 3


def test_a_new_pod_without_any_class_has_priority_zero():
    assert admitted({}) == {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"}


def test_a_written_preemption_policy_is_kept():
    spec = {"priorityClassName": "high", "preemptionPolicy": "Never"}
    assert admitted(spec, priority_class("high", 1))["preemptionPolicy"] == "Never"


def test_a_written_priority_without_a_class_is_kept():
    assert admitted({"priority": 12}, priority_class("usual", 7, globalDefault=True)) == {"priority": 12}


def test_a_class_that_is_not_there_is_refused():
    with pytest.raises(ObjectError, match=r"spec\.priorityClassName: no PriorityClass with name high was found"):
        admitted({"priorityClassName": "high"})


def test_a_priority_other_than_that_of_the_class_is_refused():
    with pytest.raises(ObjectError, match=r"the integer value of priority \(5\) must not be provided in pod spec"):
        admitted({"priorityClassName": "high", "priority": 5}, priority_class("high", 1))
