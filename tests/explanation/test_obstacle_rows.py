from kubesched.framework import Plugin, Status
from kubesched.testing import make_node, make_object, make_pod
from tests.explanation.asking import SMALL, ask, filling


def summary(explanation) -> list[tuple[list[str], tuple[str, ...]]]:
    names = explanation.nodes.name
    return [([names(position) for position in row.positions], row.texts) for row in explanation.rows]


def test_nodes_are_grouped_by_their_obstacles_the_nearest_first():
    nodes = [make_node(f"n{i}", taints=["a:NoSchedule"], unschedulable=i % 2 == 0) for i in range(4)]
    assert summary(ask(make_pod("p"), *nodes)) == [
        (["n1", "n3"], ("taint a:NoSchedule is not tolerated",)),
        (["n0", "n2"], ("the node is cordoned", "taint a:NoSchedule is not tolerated")),
    ]


def test_the_taint_of_a_cordon_is_recognised_with_any_value():
    taint = "node.kubernetes.io/unschedulable=yes:NoSchedule"
    assert summary(ask(make_pod("p"), make_node("n1", taints=[taint], unschedulable=True))) == [
        (["n1"], ("the node is cordoned",)),
    ]


def test_equal_reasons_with_different_details_are_different_rows():
    nodes = [make_node(f"n{i}", labels={"pool": "a" if i < 2 else "b"}) for i in range(3)]
    assert summary(ask(make_pod("p", node_selector={"pool": "c"}), *nodes)) == [
        (["n0", "n1"], ("label pool is 'a', wanted: 'c'",)),
        (["n2"], ("label pool is 'b', wanted: 'c'",)),
    ]


def test_details_that_differ_only_in_amounts_are_one_row_with_their_range():
    nodes = [make_node(f"n{i}", allocatable=SMALL) for i in range(3)]
    pods = [filling(f"n{i}", cpu=f"{1900 - 500 * i}m") for i in range(3)]
    (row,) = ask(make_pod("p", requests={"cpu": "2"}), *nodes, *pods).rows
    assert row.positions == (2, 1, 0)
    assert row.is_alike
    assert row.texts == ("cpu is short by 900m to 1.9: requests 2, 100m to 1.1 of 2 free",)
    assert row.plugins == ("NodeResourcesFit",)


def test_details_that_differ_only_in_the_name_of_the_node_are_one_row():
    nodes = [make_node(name) for name in ("left", "right")]
    (row,) = ask(make_pod("p", node_selector={"kubernetes.io/hostname": "gone"}), *nodes).rows
    assert row.positions == (0, 1)
    assert not row.is_alike
    assert row.texts == ("label kubernetes.io/hostname is 'left', wanted: 'gone'",)


def test_numbers_in_names_and_ports_are_no_amounts():
    pod = make_pod("p", host_ports=[80, 443], tolerations=[])
    nodes = [make_node(f"n{i}", taints=[f"generation={i}:NoSchedule"]) for i in range(2)]
    assert len(ask(pod, *nodes).rows) == 2
    holders = [make_pod(f"h{i}", node=f"n{i}", host_ports=[80 if i else 443]) for i in range(2)]
    assert len(ask(pod, make_node("n0"), make_node("n1"), *holders).rows) == 2


def test_more_than_four_different_details_are_one_row_with_those_of_the_nearest_node():
    nodes = [make_node(f"n{i}", labels={"pool": f"p{i}"}) for i in range(5)]
    (row,) = ask(make_pod("p", node_selector={"pool": "c"}), *nodes).rows
    assert len(row.positions) == 5
    assert not row.is_alike
    assert row.texts == ("label pool is 'p0', wanted: 'c'",)


def test_a_pod_that_is_rejected_before_the_nodes_has_one_row():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    ((names, texts),) = summary(ask(pod, make_node("n1"), make_node("n2")))
    assert names == ["n1", "n2"]
    assert texts == ("claim default/data does not exist",)


def test_a_claim_without_a_volume_is_one_cause():
    pod = make_pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]})
    claim = make_object("PersistentVolumeClaim", "data", spec={"storageClassName": "now"})
    storage_class = make_object("StorageClass", "now", provisioner="x.io/p", volumeBindingMode="Immediate")
    (row,) = ask(pod, make_node("n1"), claim, storage_class).rows
    assert row.texts == ("claim default/data has no volume yet: provisioner x.io/p has made none",)


class Grumbles(Plugin):
    def filter(self, state, pod, node):
        return Status.unschedulable("") if node.name == "n1" else Status.unschedulable()


def test_an_empty_reason_and_none_are_the_same():
    found = ask(make_pod("p"), make_node("n1"), make_node("n2"), plugins=[Grumbles])
    assert summary(found) == [(["n1", "n2"], ("rejected without a reason",))]


def test_a_pod_that_fits_everywhere_has_no_rows():
    assert ask(make_pod("p"), make_node("n1")).rows == ()
