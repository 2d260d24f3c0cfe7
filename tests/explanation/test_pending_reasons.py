"""Why pods stay pending after a run: causes are verified, once for equal pods, and no fix takes the question back."""

import pytest

from kubesched.explanation import Explainer, with_reasons
from kubesched.session import Placement, Session
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL

TAINT = {"key": "team", "value": "a", "effect": "NoSchedule"}


def reasons(*objects, assumed=()) -> list[Placement]:
    with Session(objects) as session:
        session.assumed = frozenset(assumed)
        return [*with_reasons(session, session.schedule()).placements]


def owned(kind: str, name: str) -> dict:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": True}
    return {"ownerReferences": [owner]}


def test_the_cause_is_that_of_the_nearest_node_although_a_later_filter_rejects_others():
    spot = make_node("spot", labels={"pool": "spot"}, spec={"taints": [TAINT]})
    (one,) = reasons(spot, make_node("n1"), make_node("n2"), make_pod("p", spec={"nodeSelector": {"pool": "spot"}}))
    assert one.diagnosis == "1 node: taint team=a:NoSchedule is not tolerated"
    assert one.fix == "tolerate team=a:NoSchedule -> 1 node"
    assert one.message.startswith("0/3 nodes are available: ")


def test_equal_pods_are_explained_once(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    evaluate = Explainer.evaluate
    monkeypatch.setattr(
        Explainer, "evaluate", lambda self, pod, **how: asked.append(pod.key) or evaluate(self, pod, **how)
    )
    pods = [make_pod(f"web-{i}", requests={"cpu": "9"}, metadata=owned("ReplicaSet", "web")) for i in range(5)]
    placements = reasons(make_node("n1", allocatable=SMALL), *pods, make_pod("other", requests={"cpu": "9"}))
    assert len(asked) == 2
    assert len({one.diagnosis for one in placements}) == 1


def test_pods_with_claims_of_their_own_are_explained_each_by_itself():
    pods = [
        make_pod(
            f"db-{i}",
            metadata=owned("StatefulSet", "db"),
            spec={"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{i}"}}]},
        )
        for i in range(2)
    ]
    fixes = [one.fix for one in reasons(make_node("n1"), *pods)]
    assert [f"data-{i}" in fix for i, fix in enumerate(fixes)] == [True, True]


def test_no_fix_takes_back_what_is_assumed():
    cordoned = make_node("n1", spec={"unschedulable": True})
    small = make_node("n2", allocatable=SMALL)
    pod = make_pod("p", requests={"cpu": "3"})
    (free,) = reasons(cordoned, small, pod)
    (assumed,) = reasons(cordoned, small, pod, assumed={("Node", "n1")})
    assert free.fix == "uncordon n1 -> 1 node"
    assert "uncordon" not in assumed.fix
    assert assumed.fix


def test_nodes_that_the_question_cordons_are_not_the_cause_where_others_are():
    pod = make_pod("p", requests={"cpu": "1"})
    cordoned = [make_node(f"n{i}", spec={"unschedulable": True}) for i in range(2)]
    tainted = make_node("n9", taints=["a:NoSchedule", "b:NoSchedule"])
    assert "cordoned" in reasons(*cordoned, tainted, pod)[0].diagnosis
    (placement,) = reasons(*cordoned, tainted, pod, assumed={("Node", node.name) for node in cordoned})
    assert "taint a:NoSchedule" in placement.diagnosis


def test_a_new_node_of_the_question_may_be_the_cause():
    small, pod = make_node("small", allocatable=SMALL), make_pod("p", requests={"cpu": "3"})
    (placement,) = reasons(small, make_node("old", taints=["a:NoSchedule"]), pod, assumed={("Node", "small")})
    assert placement.diagnosis == reasons(small, make_node("old", taints=["a:NoSchedule"]), pod)[0].diagnosis


def test_what_a_fork_assumes_is_forgotten_at_its_end():
    with Session([make_node("n1")]) as session:
        with session.fork():
            session.assumed = frozenset({("Node", "n1")})
        assert session.assumed == frozenset()


def test_a_session_runs_on_as_if_nothing_had_been_explained():
    urgent = make_pod("urgent", requests={"cpu": "2"}, priority=9, status={"nominatedNodeName": "n1"})
    gone = make_node("n1", spec={"taints": [TAINT]})
    with Session([gone, urgent]) as session:
        first = with_reasons(session, session.schedule())
        assert first.placements[0].fix
        session.change([make_node("n1"), make_pod("small", requests={"cpu": "1"})], [urgent])
        assert [one.node for one in session.schedule().placements] == ["n1"]


def test_the_first_of_equal_pods_has_the_steps_that_apply_its_fix():
    pods = [make_pod(f"web-{i}", metadata=owned("DaemonSet", "web")) for i in range(3)]
    placements = reasons(make_node("n1", unschedulable=True), *pods)
    assert [one.fix for one in placements] == ["uncordon n1 -> 1 node"] * 3
    assert [[step.commands for step in one.patches] for one in placements] == [[("kubectl uncordon n1",)], [], []]


def test_each_pod_without_a_controller_has_its_own_steps():
    tainted = make_node("n1", spec={"taints": [TAINT]})
    placements = reasons(tainted, *[make_pod(name, labels={"app": "a"}) for name in ("a", "b", "c")])
    assert [[step.target.name for step in one.patches] for one in placements] == [["a"], ["b"], ["c"]]
