"""What makes a pod fit: the order of fixes, pairs, what is not offered, and that the cluster stays as it was."""

import pytest

from kubesched.explanation import Explainer
from kubesched.framework import Plugin, Status
from kubesched.setup import set_up
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import (
    SMALL,
    affinity,
    ask,
    filling,
    fixes_of,
    replica,
    texts,
)


def test_a_pod_that_fits_needs_no_fix():
    assert texts(make_pod("p"), make_node("n1")) == []


def test_a_cordon_and_a_taint_need_a_pair():
    fixes = fixes_of(make_pod("p"), make_node("n1", unschedulable=True, taints=["gpu:NoSchedule"]))
    pair = fixes["uncordon n1 and tolerate gpu:NoSchedule"]
    assert [part.kind for part in pair.parts] == ["uncordon", "toleration"]


def test_every_pair_with_one_more_node_is_offered():
    taint = {"labels": {"pool": "spot"}, "taints": ["spot:NoSchedule"]}
    nodes = [make_node("n1", allocatable=SMALL), make_node("n2", allocatable=SMALL, **taint)]
    pod = make_pod("p", requests={"cpu": "2"}, node_selector={"pool": "spot"})
    fixes = fixes_of(pod, *nodes, filling("n1", cpu="1"), filling("n2", cpu="1"))
    assert next(iter(fixes)) == "tolerate spot:NoSchedule and add a node like n2"
    assert "drop the node selector pool=spot and add a node like n1" in fixes


def test_the_nearest_node_gets_its_pairs_although_a_single_change_opens_another_one():
    near = make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"])
    pod = make_pod("p", requests={"cpu": "2"})
    said = texts(pod, near, make_node("n2", allocatable={"cpu": "1"}), filling("n1", cpu="500m"))
    assert said.index("lower the request to 1 cpu") < said.index(
        "tolerate gpu:NoSchedule and lower the request to 1.5 cpu"
    )


def test_the_nearest_node_gets_pairs_with_a_pod_in_the_way():
    node = make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"])
    other = make_node("n2", allocatable={"cpu": "1"})
    db = replica("db", labels={"app": "db"}, node="n1")
    pod = make_pod(
        "p", requests={"cpu": "2"}, spec=affinity("podAntiAffinity", {"app": "db"}, "kubernetes.io/hostname")
    )
    said = texts(pod, node, other, db)
    assert "tolerate gpu:NoSchedule and move default/db from n1 to n2" in said


def test_a_pair_has_the_smaller_request_that_goes_with_the_taint():
    nodes = [
        make_node(f"{pool}{i}", allocatable=SMALL, taints=[f"{pool}:NoSchedule"]) for pool in "abcd" for i in (0, 1)
    ]
    full = [filling(node.name, cpu="1") for node in nodes if node.name != "d0"]
    said = texts(make_pod("p", requests={"cpu": "1500m"}), *nodes, *full, filling("d0", cpu="700m"))
    assert "tolerate d:NoSchedule and lower the request to 1.3 cpu" in said


def test_one_more_node_comes_after_a_pod_that_is_moved():
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(4)]
    full = [filling(f"n{i}", cpu="1500m") for i in range(3)]
    said = texts(
        make_pod("p", requests={"cpu": "1"}, host_ports=[80]),
        *nodes,
        *full,
        replica("edge", host_ports=[80], node="n3", requests={"cpu": "10m"}),
    )
    assert said[:2] == ["free host port 80/TCP on n3, held by default/edge", "add a node like n0"]


def test_a_cordon_is_undone_before_a_node_is_added():
    nodes = [
        make_node("n1", allocatable=SMALL),
        make_node("n2", unschedulable=True),
        make_node("n3", unschedulable=True),
    ]
    said = texts(make_pod("p", requests={"cpu": "1500m"}), *nodes, filling("n1", cpu="1"))
    assert said[:2] == ["uncordon 2 nodes (n2, n3)", "add a node like n1"]


def test_a_gate_is_removed_and_goes_with_every_other_fix():
    pod = make_pod("p", spec={"schedulingGates": [{"name": "quota"}]})
    assert texts(pod, make_node("n1")) == [
        "let the controller of the scheduling gate quota remove it (see whether that runs)"
    ]
    assert texts(pod, make_node("n1", unschedulable=True)) == [
        "let the controller of the scheduling gate quota remove it (see whether that runs) and uncordon n1"
    ]


def test_a_gate_of_kueue_is_removed_by_kueue():
    pod = make_pod("p", spec={"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]})
    gate = "the scheduling gate kueue.x-k8s.io/admission"
    assert texts(pod, make_node("n1")) == [f"let Kueue admit the pod (look at its queue), which removes {gate}"]


def test_what_is_not_decoded_survives_a_change():
    pod = make_pod("p", spec={"dnsPolicy": "None", "containers": [{"name": "a", "command": ["run"]}]})
    (fix, *_) = ask(pod, make_node("n1", taints=["gpu:NoSchedule"])).fixes
    _, changed = fix.change.apply([], pod)
    document = changed.document
    assert document["spec"]["dnsPolicy"] == "None"
    assert document["spec"]["containers"][0]["command"] == ["run"]
    assert document["spec"]["tolerations"] == [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}]


class Broken(Plugin):
    def filter(self, state, pod, node):
        raise ValueError("no")


class Never(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("never")


@pytest.mark.parametrize("plugin", [Broken, Never])
def test_a_plugin_that_fails_or_is_unknown_gets_no_fix(plugin):
    assert texts(make_pod("p"), make_node("n1", unschedulable=True), plugins=[plugin]) == []


class Holding(Plugin):
    def pre_enqueue(self, pod):
        return Status.unresolvable("not today")


def test_a_pod_that_a_plugin_keeps_out_of_the_queue_gets_no_fix():
    assert texts(make_pod("p"), make_node("n1", unschedulable=True), plugins=[Holding]) == []


class Talks(Plugin):
    def filter(self, state, pod, node):
        self.handle.logger.warning("node %s is odd", node.name)
        return Status.SUCCESS


def test_what_a_plugin_logs_about_a_trial_is_not_shown(caplog):
    with Explainer([make_node("n1", unschedulable=True)], set_up(plugins=[Talks])) as explainer:
        explanation = explainer.explain(make_pod("p"))
        caplog.clear()
        assert explainer.fixes(explanation)
        assert not caplog.records
        explainer.explain(make_pod("p"))
        assert caplog.records


class FailsForTolerant(Plugin):
    def filter(self, state, pod, node):
        if pod.tolerations and node.name == "n2":
            raise ValueError("no")
        return Status.SUCCESS


def test_a_change_that_a_plugin_fails_with_on_some_nodes_comes_last_and_names_the_plugin():
    nodes = [make_node(name, taints=["gpu:NoSchedule"]) for name in ("n1", "n2")]
    fixes = fixes_of(make_pod("p"), *nodes, plugins=[FailsForTolerant])
    tolerate = "tolerate gpu:NoSchedule (once plugin FailsForTolerant is fixed)"
    assert list(fixes) == ["remove taint gpu:NoSchedule from 2 nodes (n1, n2)", tolerate]
    assert fixes[tolerate].nodes == ("n1",)


class ClosedN2(Plugin):
    """Rejects n2, and fails with it for a pod that tolerates something."""

    def filter(self, state, pod, node):
        if node.name != "n2":
            return Status.SUCCESS
        if pod.tolerations:
            raise ValueError("no")
        return Status.unschedulable("closed")


def test_a_change_that_meets_a_fault_comes_after_a_dearer_one_that_does_not():
    nodes = [make_node("n1", taints=["gpu:NoSchedule"]), make_node("n2")]
    tolerate, remove = "tolerate gpu:NoSchedule", "remove taint gpu:NoSchedule from n1"
    assert list(fixes_of(make_pod("p"), nodes[0])) == [tolerate, remove]
    assert list(fixes_of(make_pod("p"), *nodes, plugins=[ClosedN2]))[:2] == [
        remove,
        f"{tolerate} (once plugin ClosedN2 is fixed)",
    ]


class ReportsForTolerant(Plugin):
    def filter(self, state, pod, node):
        return Status.error("pool x is being updated") if pod.tolerations and node.name == "n2" else Status.SUCCESS


def test_an_error_that_a_plugin_only_reports_is_not_called_one_of_the_plugin():
    nodes = [make_node(name, taints=["gpu:NoSchedule"]) for name in ("n1", "n2")]
    assert texts(make_pod("p"), *nodes, plugins=[ReportsForTolerant])[-1] == (
        "tolerate gpu:NoSchedule (once this error is gone: "
        'running "ReportsForTolerant" filter plugin: pool x is being updated)'
    )


class FailsForHolder(Plugin):
    def filter(self, state, pod, node):
        if pod.name == "holder":
            raise ValueError("no")
        return Status.SUCCESS


def test_a_plugin_that_fails_for_the_pod_that_makes_way_is_not_a_fault_of_the_pending_one():
    nodes = [make_node("n1"), make_node("n2", taints=["gpu:NoSchedule"])]
    holder = make_pod("holder", host_ports=[80], node="n1", tolerations=[{"operator": "Exists"}])
    found = ask(make_pod("p", host_ports=[80]), *nodes, holder, plugins=[FailsForHolder])
    assert found.fixes
    assert not any("once plugin" in fix.text for fix in found.fixes)
    assert found.fix_fault is None


class OddOnN1(Plugin):
    def filter(self, state, pod, node):
        return "yes" if node.name == "n1" else Status.SUCCESS


def test_a_plugin_that_fails_on_one_node_leaves_the_fixes_of_the_others():
    nodes = [make_node("n1"), make_node("n2", taints=["gpu:NoSchedule"])]
    found = ask(make_pod("p"), *nodes, plugins=[OddOnN1])
    assert found.fixes[0].text == "tolerate gpu:NoSchedule (once plugin OddOnN1 is fixed)"
    assert found.fix_fault is not None
    assert found.fix_fault.located.endswith(f"found 'yes' (test_fixes.py:{FIRST_LINE} in filter)")


FIRST_LINE = OddOnN1.filter.__code__.co_firstlineno


def test_the_explanation_keeps_its_verdicts_while_fixes_are_tried():
    explanation = ask(make_pod("p"), make_node("n1", taints=["gpu:NoSchedule"]), make_node("n2", unschedulable=True))
    assert list(explanation.rejections) == ["n1", "n2"]
    assert explanation.by_plugin["NodeUnschedulable"].rejected.tolist() == [False, True]


def test_the_search_leaves_the_cluster_as_it_was():
    nodes = [make_node("n1"), make_node("n2", zone="a", unschedulable=True)]
    placed = [make_pod(f"w{i}", host_ports=[80 + i], node="n1", requests={"cpu": "500m"}) for i in range(3)]
    pod = make_pod("p", host_ports=[81])
    with Explainer([*nodes, *placed], set_up()) as explainer:
        explanation = explainer.explain(pod)
        assert any(fix.kind == "hostPort" for fix in explainer.fixes(explanation))
        explainer.cluster_state.check_invariants()
        assert [info.pod.name for info in explainer.cluster_state.snapshot().nodes.pods(0)] == ["w0", "w1", "w2"]
        assert explainer.explain(pod).rejections == explanation.rejections
