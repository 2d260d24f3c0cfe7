"""Node selectors and node affinity: what is corrected, changed or dropped."""

from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ZONE, filling, fixes_of, texts


def node_affinity(*expressions: dict) -> dict:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def test_a_value_that_no_node_has_is_corrected():
    nodes = [make_node(f"n{i}", labels={"pool": "general"}) for i in range(2)]
    fixes = fixes_of(make_pod("p", node_selector={"pool": "genral"}), *nodes)
    assert list(fixes) == [
        "correct the node selector pool=genral, which no node has, to pool=general",
        "drop the node selector pool=genral",
    ]
    assert [fix.keeps_intent for fix in fixes.values()] == [True, False]


def test_another_number_is_no_typing_error():
    nodes = [make_node("n1", labels={"pool": "gen6"})]
    said = texts(make_pod("p", node_selector={"pool": "gen7"}), *nodes)
    assert said[0] == "label n1 with pool=gen7, which no node has"


def test_another_architecture_is_no_typing_error():
    fixes = fixes_of(
        make_pod("p", node_selector={"kubernetes.io/arch": "arm64"}),
        make_node("n1", labels={"kubernetes.io/arch": "amd64"}),
    )
    text = "change the node selector kubernetes.io/arch=arm64, which no node has, to kubernetes.io/arch=amd64"
    assert not fixes[text].keeps_intent


def test_a_key_that_no_node_has_is_corrected():
    node = make_node("n1", labels={"disktype": "ssd"})
    said = texts(make_pod("p", node_selector={"disk-type": "ssd"}), node)
    assert said[0] == "correct the node selector disk-type=ssd, which no node has, to disktype=ssd"


def test_a_key_without_its_domain_is_corrected():
    nodes = [make_node("n1", labels={"shop.example.com/pool": "db"})]
    said = texts(make_pod("p", node_selector={"pool": "db"}), *nodes)
    assert said[0] == "correct the node selector pool=db, which no node has, to shop.example.com/pool=db"


def test_a_label_that_nothing_resembles_can_be_put_on_a_node():
    fixes = fixes_of(make_pod("p", node_selector={"disk": "ssd"}), make_node("n1"), make_node("n2"))
    assert list(fixes) == ["label n1 with disk=ssd, which no node has", "drop the node selector disk=ssd"]


def test_a_selector_can_be_changed_to_what_the_nodes_have():
    nodes = [make_node("full", zone="a", allocatable=SMALL), make_node("free", zone="b")]
    pod = make_pod("p", requests={"cpu": "2"}, node_selector={ZONE: "a"})
    said = texts(pod, *nodes, filling("full", cpu="2"))
    assert f"change the node selector {ZONE}=a to {ZONE}=b" in said


def test_one_requirement_of_node_affinity_can_be_dropped():
    pod = make_pod(
        "p",
        spec=node_affinity(
            {"key": "pool", "operator": "In", "values": ["a", "b"]},
            {"key": "disk", "operator": "Exists"},
        ),
    )
    said = texts(pod, make_node("n1", labels={"pool": "a"}))
    assert said == ["drop disk Exists from the node affinity", "drop the node affinity"]


def test_a_wrong_value_in_node_affinity_is_corrected():
    pod = make_pod("p", spec=node_affinity({"key": "pool", "operator": "In", "values": ["genral"]}))
    said = texts(pod, make_node("n1", labels={"pool": "general"}))
    assert said == [
        "correct the node affinity pool=genral, which no node has, to pool=general",
        "drop the node affinity",
    ]
