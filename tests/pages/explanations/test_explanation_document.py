from kubesched.explanation import explain
from kubesched.pages.explanations import as_document, as_line
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling, three_nodes


def test_a_document_has_every_field_of_a_line():
    found = ask(make_pod("p"), *three_nodes())
    document = as_document(found)
    assert as_line(found).items() <= document.items()


def test_a_pod_that_fits_gets_its_choice():
    document = as_document(ask(make_pod("p"), *three_nodes()))
    assert document["nNodes"] == 3
    assert document["choice"]["best"]["node"] == "n1"
    assert [one["node"] for one in document["choice"]["runnersUp"]] == ["n2", "n3"]
    assert document["defaultSample"] == 3
    assert "advice" not in document


def test_a_pod_that_fits_nowhere_gets_the_nearest_nodes_advice_and_preemption():
    pod = make_pod("p", requests={"cpu": "2"}, priority=5)
    document = as_document(ask(pod, make_node("n1", allocatable=SMALL), filling("n1", cpu="1500m")))
    (near,) = document["nearest"]
    assert near["node"] == "n1"
    assert near["short"] == {"cpu": 1500}
    assert near["rejections"][0]["details"] == ["cpu is short by 1.5: requests 2, 500m of 2 free"]
    assert (
        document["advice"]
        == "any one of these makes it fit: add a node like n1 -> 1 node; lower the request to 500m cpu -> 1 node."
    )
    patches = document["fixes"][1].pop("patches")
    assert [(one["action"], one["target"]["name"]) for one in patches] == [("recreate", "p")]
    assert document["fixes"][1] == {
        "text": "lower the request to 500m cpu",
        "kind": "requests",
        "nNodes": 1,
        "nodes": ["n1"],
        "keepsIntent": False,
    }
    assert document["preemption"] == {
        "node": "n1",
        "victims": ["default/on-n1"],
        "nPdbViolations": 0,
        "broken": [],
        "fates": {"default/on-n1": "lost"},
    }


def test_a_pod_that_is_held_back_says_so():
    pod = make_pod("p", spec={"schedulingGates": [{"name": "not-yet"}]})
    assert as_document(ask(pod, *three_nodes()))["heldBack"] == "waiting for scheduling gates: [not-yet]"
    assert "heldBack" not in as_document(ask(make_pod("p"), *three_nodes()))


def test_no_more_than_twenty_nodes_are_near():
    nodes = [make_node(f"n{i:02}", taints=["gpu:NoSchedule"]) for i in range(25)]
    document = as_document(ask(make_pod("p"), *nodes))
    assert [near["node"] for near in document["nearest"]] == [f"n{i:02}" for i in range(20)]


def test_the_parts_of_a_pair_are_listed():
    (fix, *_) = as_document(ask(make_pod("p"), make_node("n1", taints=["gpu:NoSchedule"], unschedulable=True)))["fixes"]
    assert fix["kind"] == "uncordon+toleration"
    assert [part["text"] for part in fix["parts"]] == ["uncordon n1", "tolerate gpu:NoSchedule"]
    assert [one["target"]["kind"] for one in fix["patches"]] == ["Node", "Pod"]


def test_a_step_that_no_patch_takes_has_null_as_its_target():
    pod = make_pod("p", requests={"cpu": "2"})
    (fix, *_) = as_document(ask(pod, make_node("n1", allocatable=SMALL), filling("n1", cpu="1500m")))["fixes"]
    assert fix["kind"] == "addNode"
    assert (fix["patches"][0]["target"], fix["patches"][0]["patch"]) == (None, None)


def test_a_pod_that_runs_has_its_node_with_rank_and_points():
    document = as_document(explain([*three_nodes(), make_pod("p", node="n2")], "default/p"))
    assert document["runsOn"] == {"node": "n2", "total": document["total"]["n2"], "rank": 1}
    assert "runsOn" not in as_document(ask(make_pod("p"), *three_nodes()))


def test_the_differences_of_a_choice_add_up_to_what_it_is_ahead():
    nodes = (*three_nodes(), filling("n1", cpu="1"), filling("n2", cpu="1"))
    choice = as_document(ask(make_pod("p", requests={"cpu": "100m"}), *nodes))["choice"]
    assert (choice["best"]["node"], choice["nextBest"]) == ("n3", "n1")
    assert choice["ahead"] == sum(choice["differences"].values()) > 0
