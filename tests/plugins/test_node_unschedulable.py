import pytest

from kubesched.api import ActionType
from kubesched.framework import QueueingHint, Status
from kubesched.plugins.node_unschedulable import NodeUnschedulable
from tests.plugins.hinting import NODE_ADD, hint, node_event, pod_event
from tests.plugins.one_plugin import Asked, node, pod, read, read_pod

CORDONED = node("cordoned", unschedulable=True)
OPEN = node("open")
TOLERATES = [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]
TAINT = node_event(ActionType.UPDATE_NODE_TAINT)
TOLERATION = pod_event(ActionType.UPDATE_POD_TOLERATION)


def test_a_cordoned_node_is_unresolvable():
    rejected = Asked(NodeUnschedulable(), [CORDONED, OPEN], pod()).filter()
    assert rejected == {"cordoned": Status.unresolvable("node(s) were unschedulable")}


def test_a_pod_that_tolerates_the_taint_may_run_on_a_cordoned_node():
    assert Asked(NodeUnschedulable(), [CORDONED, OPEN], pod(tolerations=TOLERATES)).filter() == {}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (CORDONED, OPEN, QueueingHint.QUEUE),
        (OPEN, OPEN, QueueingHint.SKIP),
        (OPEN, CORDONED, QueueingHint.SKIP),
        (CORDONED, CORDONED, QueueingHint.SKIP),
    ],
)
def test_uncordoning_a_node_helps(old: dict, new: dict, expected: QueueingHint):
    assert hint(NodeUnschedulable(), TAINT, read_pod(pod()), read(old), read(new)) is expected


@pytest.mark.parametrize(("new", "expected"), [(OPEN, QueueingHint.QUEUE), (CORDONED, QueueingHint.SKIP)])
def test_a_new_node_helps_when_it_is_schedulable(new: dict, expected: QueueingHint):
    assert hint(NodeUnschedulable(), NODE_ADD, read_pod(pod()), None, read(new)) is expected


def test_only_the_pods_own_toleration_of_the_taint_helps():
    waiting = read_pod(pod("mine"))
    tolerating, other = read_pod(pod("mine", tolerations=TOLERATES)), read_pod(pod("other", tolerations=TOLERATES))
    assert hint(NodeUnschedulable(), TOLERATION, waiting, waiting, tolerating) is QueueingHint.QUEUE
    assert hint(NodeUnschedulable(), TOLERATION, waiting, waiting, waiting) is QueueingHint.SKIP
    assert hint(NodeUnschedulable(), TOLERATION, waiting, other, other) is QueueingHint.SKIP
