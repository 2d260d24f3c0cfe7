"""What should be gone for hours: the taint of a scale-down that failed, and pods whose deletion does not end."""

import pytest

from kubesched.explanation.effort import Effort
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, filling, fixes_of, texts
from tests.explanation.asking import replica as pending

NOW, AN_HOUR_AGO, YESTERDAY = "2026-11-27T08:00:00Z", 1795762800, 1795676400
CANDIDATE, DELETED = "DeletionCandidateOfClusterAutoscaler", "ToBeDeletedByClusterAutoscaler"


def node(name: str, *taints: str, beat: str = NOW, ready: str = "True"):
    """A node whose kubelet has reported."""
    conditions = [{"type": "Ready", "status": ready, "lastHeartbeatTime": beat}]
    entries = [
        dict(zip(("key", "value", "effect"), (*taint.split("="), "NoSchedule"), strict=True)) for taint in taints
    ]
    status = {"allocatable": SMALL, "conditions": conditions}
    return make_object("Node", name, spec={"taints": entries}, status=status)


@pytest.mark.parametrize("key", [CANDIDATE, DELETED])
def test_the_taint_of_a_scale_down_that_failed_is_taken_off(key: str):
    fixes = fixes_of(pending("p"), node("n1", f"{key}={YESTERDAY}"))
    (text, fix), *_ = fixes.items()
    taint = f"{key}={YESTERDAY}:NoSchedule"
    assert text == f"remove taint {taint} from n1: it is 25 hours old, so the scale-down that set it has failed"
    assert (fix.effort, fix.keeps_intent) == (Effort.OPEN, True)
    assert any(f"{key}" in line for step in fix.patches for line in step.commands)


@pytest.mark.parametrize(
    "nodes",
    [
        [node("n1", f"{DELETED}={AN_HOUR_AGO + 600}")],
        [node("n1", f"{DELETED}={YESTERDAY}", ready="False")],
        [node("n1", f"{DELETED}={YESTERDAY}", beat="2026-11-26T07:10:00Z")],
        [node("n1", f"{DELETED}=soon")],
        [node("n1", f"{DELETED}={YESTERDAY}", "karpenter.sh/disruption=disrupting")],
    ],
)
def test_a_scale_down_that_may_go_on_is_the_last_resort(nodes: list):
    fixes = fixes_of(pending("p"), *nodes)
    assert all(fix.effort is Effort.LAST_RESORT for text, fix in fixes.items() if text.startswith("remove taint"))


def test_the_newest_time_may_be_that_of_another_object():
    """A snapshot that kubesched writes has no heartbeats."""
    stale = make_node("n1", taints=[f"{DELETED}={YESTERDAY}:NoSchedule"])
    other = filling("n2", cpu="2")
    young = make_object("Node", "n2", metadata={"creationTimestamp": NOW}, status={"allocatable": SMALL})
    assert texts(pending("p", requests={"cpu": "2"}), stale, young, other)[0].startswith(f"remove taint {DELETED}=")


def leaving(until: str, **metadata: object):
    """A pod that is being deleted and holds its node."""
    metadata = {"deletionTimestamp": until, "deletionGracePeriodSeconds": 30, **metadata}
    return make_pod("old", node="n1", requests={"cpu": "2"}, metadata=metadata)


def test_a_pod_that_does_not_end_is_not_waited_for():
    pod = pending("p", requests={"cpu": "2"})
    why = "find out why default/old (n1) does not end: the grace period was over 25 hours ago"
    assert texts(pod, node("n1"), leaving("2026-11-26T07:00:00Z"))[0] == why
    kept = leaving("2026-11-26T07:00:00Z", finalizers=["example.com/backup"])
    assert texts(pod, node("n1"), kept)[0] == f"{why}; finalizer example.com/backup"


@pytest.mark.parametrize("until", ["2026-11-27T07:59:00Z", "soon"])
def test_a_pod_that_ends_in_time_is_waited_for(until: str):
    pod = pending("p", requests={"cpu": "2"})
    assert texts(pod, node("n1"), leaving(until))[0] == "wait until default/old (n1) has ended"
