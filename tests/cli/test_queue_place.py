"""What the queue makes of a pod that is explained alone."""

from kubesched.cli.queue_place import is_cheap, queue_place
from kubesched.explanation import explain
from kubesched.session import Session
from kubesched.snapshot import ClusterObjects
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

NODES = [make_node(name, allocatable={"cpu": cpu, "memory": "8Gi"}) for name, cpu in (("n1", "4"), ("n2", "3"))]


def sentence(*pods) -> str:
    """About the last pod."""
    cluster = ClusterObjects((*NODES, *pods))
    with Session(cluster) as session:
        place = queue_place(session, pods[-1].key)
    return "" if place is None else place.sentence(explain(cluster, pods[-1].key))


def wants(name: str, cpu: str, **more):
    return make_pod(name, requests={"cpu": cpu}, **more)


def test_pods_before_it_take_its_place():
    said = sentence(wants("first", "2", priority=9), wants("p", "3"))
    assert said == "Taken alone. In a full simulation 1 pod is tried before it, and it would go to n2."


def test_pods_before_it_may_leave_no_place():
    said = sentence(wants("a", "3", priority=9), wants("b", "2", priority=9), wants("p", "3"))
    assert said.startswith("Taken alone. In a full simulation 2 pods are tried before it, and it would fit nowhere: ")
    assert said.endswith(": all nodes: cpu is short by 2: requests 3, 1 of 3 to 4 free.")


def test_an_equal_answer_is_told_with_the_pods_before_it():
    said = sentence(wants("first", "1m", priority=9), wants("p", "3"))
    assert said == "Taken alone. In a full simulation 1 pod is tried before it, and it would go to the same node."


def test_the_first_of_the_queue_needs_no_sentence():
    assert sentence(wants("p", "3")) == ""


def test_victims_are_named():
    held = [wants("low1", "4", node="n1"), wants("low2", "3", node="n2")]
    said = sentence(*held, wants("p", "3", priority=9))
    assert said.endswith(" no pod is tried before it, and it would go to n1 after evicting default/low1.")


def test_a_pod_behind_a_gate_has_no_place_in_the_queue():
    assert sentence(make_pod("p", spec={"schedulingGates": [{"name": "not-yet"}]})) == ""


def test_many_pods_on_many_nodes_are_not_cheap():
    pods = [make_pod(f"p{i}") for i in range(400)]
    assert is_cheap(ClusterObjects((*NODES, *pods)))
    assert not is_cheap(ClusterObjects((*(make_node(f"n{i}") for i in range(300)), *pods)))


def test_a_pod_of_a_gang_has_the_count_of_the_whole_simulation(tmp_path):
    """The list of pods says the same."""
    group = {"scheduling.x-k8s.io/pod-group": "ring"}
    pods = [wants(f"w-{i}", "2", labels=group) for i in range(4)]
    file = write(tmp_path, *NODES, *pods)
    sentence = "3 of 4 pods of gang default/ring would have a node; the gang needs 4 at once"
    assert sentence in run("explain", file, "w-0").stdout.replace("\n", " ")
    assert sentence in run("explain", file).stdout.replace("\n", " ")
