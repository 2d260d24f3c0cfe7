from kubesched.explanation import Explainer
from kubesched.framework import Plugin, Status
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling


def advised(pod, *objects, **more) -> str:
    return ask(pod, *objects, **more).advice


def without_fixes(pod, *objects) -> str:
    """What is said where no fix is known."""
    with Explainer(objects) as explainer:
        return explainer.explain(pod).advice


def test_the_best_fixes_are_listed_with_the_nodes_that_they_open():
    node = make_node("n1", allocatable=SMALL)
    said = advised(make_pod("p", requests={"cpu": "2"}), node, filling("n1", cpu="1"))
    assert said == "any one of these makes it fit: add a node like n1 -> 1 node; lower the request to 1 cpu -> 1 node."


def test_a_single_fix_is_called_that():
    nodes = [make_node(f"n{i}", unschedulable=True) for i in range(2)]
    assert advised(make_pod("p"), *nodes) == "this makes it fit: uncordon 2 nodes (n0, n1) -> 2 nodes."


def test_no_more_than_three_fixes_are_listed():
    pod = make_pod("p", node_selector={"pool": "general", "disk": "ssd"})
    said = advised(pod, make_node("n1", labels={"pool": "general"}))
    assert said.count("->") == 3


class Wordless(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable()


def test_a_plugin_without_words_is_named():
    said = advised(make_pod("p"), make_node("n1"), plugins=[Wordless])
    assert said == "to fit on n1, remove this obstacle: Wordless rejects it without a reason."


class Broken(Plugin):
    def filter(self, state, pod, node):
        raise AttributeError("no such field")


def test_a_plugin_that_fails_has_to_be_fixed_first():
    said = advised(make_pod("p"), make_node("n1"), plugins=[Broken])
    assert said == "fix plugin Broken first; until then no other fix can be tried."


def test_the_nearest_node_is_named_with_what_has_to_change():
    said = without_fixes(
        make_pod("p", requests={"cpu": "2"}), make_node("n1", allocatable=SMALL), filling("n1", cpu="1")
    )
    assert said == "to fit on n1, remove this obstacle: cpu is short by 1: requests 2, 1 of 2 free."


def test_several_obstacles_are_counted():
    node = make_node("n1", taints=["gpu:NoSchedule"], unschedulable=True)
    assert without_fixes(make_pod("p"), node) == (
        "to fit on n1, remove 2 obstacles: the node is cordoned; taint gpu:NoSchedule is not tolerated."
    )


def test_nodes_with_the_same_obstacle_are_counted():
    nodes = [make_node(f"n{i}", taints=["gpu:NoSchedule"]) for i in range(3)]
    assert without_fixes(make_pod("p"), *nodes).endswith("2 more nodes are blocked only by TaintToleration.")
    assert without_fixes(make_pod("p"), *nodes[:2]).endswith("1 more node is blocked only by TaintToleration.")


def test_a_value_that_no_node_has_is_answered_with_the_nearest_one():
    said = advised(make_pod("p", node_selector={"pool": "genral"}), make_node("n1", labels={"pool": "general"}))
    assert "correct the node selector pool=genral (no node has it) to general -> 1 node" in said


def test_a_label_that_no_node_has_is_said_to_be_nowhere():
    said = advised(make_pod("p", node_selector={"pool": "general"}), make_node("n1"))
    assert "label n1 with pool=general, which no node has -> 1 node" in said


def test_what_turns_the_pod_down_altogether_comes_instead():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    plugins = "VolumeRestrictions, VolumeBinding, VolumeZone"
    said = f'no node can take the pod: persistentvolumeclaim "data" not found ({plugins}).'
    assert without_fixes(pod, make_node("n1")) == said
    assert advised(pod, make_node("n1")) == "this makes it fit: create PersistentVolumeClaim default/data -> 1 node."


def test_there_is_nothing_to_say_without_nodes():
    assert advised(make_pod("p")) == ""
