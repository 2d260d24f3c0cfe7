from kubesched.explanation import advice, nearest
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling


def advised(pod, *objects) -> str:
    found = ask(pod, *objects)
    return advice(found, nearest(found))


def test_the_nearest_node_is_named_with_what_has_to_change():
    said = advised(make_pod("p", requests={"cpu": "2"}), make_node("n1", allocatable=SMALL), filling("n1", cpu="1"))
    assert said == "to fit on n1, remove this obstacle: cpu is short by 1: requests 2, 1 of 2 free."


def test_several_obstacles_are_counted():
    node = make_node("n1", taints=["gpu:NoSchedule"], unschedulable=True)
    assert advised(make_pod("p"), node) == (
        "to fit on n1, remove 2 obstacles: the node is cordoned; taint gpu:NoSchedule is not tolerated."
    )


def test_nodes_with_the_same_obstacle_are_counted():
    nodes = [make_node(f"n{i}", taints=["gpu:NoSchedule"]) for i in range(3)]
    assert advised(make_pod("p"), *nodes).endswith("2 more nodes are blocked only by TaintToleration.")
    assert advised(make_pod("p"), *nodes[:2]).endswith("1 more node is blocked only by TaintToleration.")


def test_a_value_that_no_node_has_is_answered_with_the_nearest_one():
    said = advised(make_pod("p", node_selector={"pool": "genral"}), make_node("n1", labels={"pool": "general"}))
    assert 'No node has pool=genral; did you mean "general"?' in said


def test_a_label_that_no_node_has_is_said_to_be_nowhere():
    said = advised(make_pod("p", node_selector={"pool": "general"}), make_node("n1"))
    assert "No node has pool=general; no node has the label pool at all." in said


def test_what_turns_the_pod_down_altogether_comes_instead():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    plugins = "VolumeRestrictions, VolumeBinding, VolumeZone"
    said = f'no node can take the pod: persistentvolumeclaim "data" not found ({plugins}).'
    assert advised(pod, make_node("n1")) == said


def test_there_is_nothing_to_say_without_nodes():
    assert advised(make_pod("p")) == ""
