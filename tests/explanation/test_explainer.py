import pytest

from kubesched.api import EventType, WatchEvent
from kubesched.errors import InputError
from kubesched.explanation import Explainer, explain
from kubesched.framework import Plugin, Status
from kubesched.pages.explanations import as_document
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling, three_nodes


def test_a_pod_that_is_placed_is_explained_as_if_it_were_not_there_yet():
    placed = filling("n1", cpu="2")
    found = explain([make_node("n1", allocatable=SMALL), placed], placed.key)
    assert found.feasible == ["n1"]
    assert found.pod.node_name == ""


def test_a_pod_of_the_caller_stands_in_for_the_one_of_that_name():
    found = explain([make_node("n1", allocatable=SMALL), filling("n1", cpu="2")], make_pod("on-n1"))
    assert found.feasible == ["n1"]


def test_pending_pods_take_no_room():
    others = [make_pod(f"other-{i}", requests={"cpu": "2"}) for i in range(3)]
    assert ask(make_pod("p", requests={"cpu": "2"}), *others, *three_nodes()).feasible == ["n1", "n2", "n3"]


def test_pending_pods_come_in_the_order_of_the_queue_without_foreign_ones():
    low, high, other = make_pod("low"), make_pod("high", priority=7), make_pod("other")
    foreign = make_pod("foreign", spec={"schedulerName": "volcano"})
    leaving = make_pod("leaving", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})
    finished = make_pod("finished", status={"phase": "Failed"})
    explainer = Explainer([low, foreign, high, other, leaving, finished])
    assert [pod.name for pod in explainer.pending] == ["high", "low", "other", "leaving"]


def test_nominations_can_be_left_out():
    nominated = make_pod("first", requests={"cpu": "2"}, priority=10, status={"nominatedNodeName": "n1"})
    pod = make_pod("p", requests={"cpu": "1"})
    explainer = Explainer([nominated, pod, make_node("n1", allocatable=SMALL)], nominations=False)
    assert explainer.explain(pod).fits


def test_a_pod_of_another_scheduler_is_refused_with_the_profiles_there_are():
    pod = make_pod("p", spec={"schedulerName": "volcano"})
    with pytest.raises(InputError, match='pod default/p: no profile has the scheduler name "volcano"; found: default-'):
        ask(pod, make_node("n1"))
    with pytest.raises(InputError, match="; add a profile with this schedulerName to the configuration"):
        ask(pod, make_node("n1"))


def test_each_keeps_a_host_port_that_a_second_pod_holds_and_the_order_of_the_pods():
    pods = [make_pod(name, node="n1", host_ports=[80]) for name in ("a", "b", "c")]
    objects = [make_node("n1"), *pods]
    assert not explain(objects, "default/a").fits
    with Explainer(objects) as explainer:
        assert [one.fits for one in explainer.each(pods)] == [False, False, False]
        (node,) = explainer.cluster_state.snapshot().nodes
        assert [info.pod.name for info in node.pods] == ["a", "b", "c"]


def test_names_are_explained_as_one_by_one():
    objects = [*three_nodes(), filling("n1", cpu="2"), make_pod("p", requests={"cpu": "64"})]
    names = ["default/p", "on-n1"]
    with Explainer(objects) as explainer:
        for name, found in zip(names, explainer.each(names, max_fixes=8), strict=True):
            assert [str(fix) for fix in explainer.fixes(found)] == [str(fix) for fix in found.fixes]
            assert as_document(found) == as_document(explain(objects, name))


def test_explanations_stay_valid():
    pending = [make_pod("p", requests={"cpu": "64"}), make_pod("q", node_selector={"pool": "x"})]
    objects = [*three_nodes(), *pending, filling("n1", cpu="2"), filling("n2", cpu="1")]
    names = ["default/p", "default/q", "default/on-n1", "default/on-n2"]
    with Explainer(objects) as explainer:
        found = list(explainer.each(names, max_fixes=8))
        again = [[str(fix) for fix in explainer.fixes(one)] for one in found]
        assert again == [[str(fix) for fix in one.fixes] for one in found]
        explainer.cluster_state.apply(WatchEvent(EventType.DELETED, "Node", objects[0]))
    assert [as_document(one) for one in found] == [as_document(explain(objects, name)) for name in names]
    assert [repr(one) for one in found] == [repr(explain(objects, name)) for name in names]


def test_an_explanation_asks_no_plugin_once_it_is_made():
    asked = []

    class Asked(Plugin):
        def filter(self, state, pod, node):
            asked.append("filter")
            return Status.unschedulable("no")

        def explain_rejection(self, state, pod, node, status):
            asked.append("explain_rejection")
            return ["because"]

    found = explain([make_node(f"n{i}") for i in range(30)], make_pod("p"), plugins=[Asked])
    assert "because" in repr(found)
    asked.clear()
    assert "because" in repr(found)
    assert as_document(found)["nearest"][19]["rejections"][0]["details"] == ["because"]
    assert not asked


def test_a_wrong_name_and_a_running_pod_are_answered_with_what_to_write():
    with Explainer([*three_nodes(), filling("n1", cpu="2"), make_pod("web")]) as explainer:
        with pytest.raises(InputError, match='no pod has the name "default/wep"; did you mean "default/web"'):
            explainer.explain("default/wep")
        with pytest.raises(InputError, match=r'runs on n1; each\(\["default/on-n1"\]\) explains pods that run'):
            explainer.explain("on-n1")


class OnlyStarted(Plugin):
    def start(self, handle):
        self.nodes = handle.snapshot().n_nodes

    def filter(self, state, pod, node):
        return Status.SUCCESS if self.nodes == 3 else Status.unschedulable("started too early")


def test_plugins_are_started_when_the_cluster_is_there():
    assert ask(make_pod("p"), *three_nodes(), plugins=[OnlyStarted]).fits


def test_no_new_pod_of_a_stateful_set_comes_before_the_old_one_has_ended():
    """It is being deleted on a node that does not report: a new one would not go to another node."""
    nodes = [make_node("n1", taints=["node.kubernetes.io/unreachable:NoExecute"]), make_node("n2")]

    def said(kind: str) -> str:
        owner = {"apiVersion": "apps/v1", "kind": kind, "name": "db", "uid": "db", "controller": True}
        leaving = {"ownerReferences": [owner], "deletionTimestamp": "2026-01-01T00:00:00Z"}
        pod = make_pod("db-0", node="n1", metadata=leaving, status={"phase": "Running"})
        return explain([*nodes, pod], "db-0").outcome.why

    taint = "kubectl taint node n1 node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    assert "creates no new pod until this one has ended, and n1 is unreachable" in said("StatefulSet")
    assert said("StatefulSet").endswith(f"Fix: make sure that n1 is off, then {taint}")
    assert "would go to" not in said("StatefulSet")
    assert "would go to n2" in said("ReplicaSet")
