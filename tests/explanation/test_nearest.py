import pytest

from kubesched.explanation import Explanation
from kubesched.testing import make_node, make_pod
from tests.explanation.asking import SMALL, ask, filling, profile, three_nodes


def order(explanation: Explanation) -> list[str]:
    return [explanation.nodes.name(position) for position in explanation.nearest]


def test_nodes_that_fewer_plugins_reject_come_first():
    pod = make_pod("p", requests={"cpu": "3"})
    tainted = make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"])
    assert order(ask(pod, tainted, make_node("n2", allocatable=SMALL))) == ["n2", "n1"]


def test_what_leaving_pods_could_cure_comes_before_what_stays():
    pod = make_pod("p", requests={"cpu": "2"})
    tainted = make_node("n1", taints=["gpu:NoSchedule"])
    assert order(ask(pod, tainted, make_node("n2", allocatable=SMALL), filling("n2", cpu="1"))) == ["n2", "n1"]


def test_of_nodes_that_are_full_the_least_short_one_comes_first():
    pod = make_pod("p", requests={"cpu": "2"})
    found = ask(pod, *three_nodes(), filling("n1", cpu="1500m"), filling("n2", cpu="100m"), filling("n3", cpu="1"))
    assert order(found) == ["n2", "n3", "n1"]


def test_nodes_that_fit_are_left_out_and_equal_ones_keep_their_order():
    pod = make_pod("p", node_selector={"topology.kubernetes.io/zone": "b"})
    assert order(ask(pod, *three_nodes())) == ["n1", "n2"]


def test_a_resource_that_no_node_knows_is_all_missing():
    found = ask(make_pod("p", requests={"example.com/fpga": "2"}), *three_nodes())
    assert order(found) == ["n1", "n2", "n3"]
    assert found.closely[0].short == {"example.com/fpga": 2}


def test_the_places_for_pods_count_as_a_resource():
    node = make_node("n1", allocatable={"pods": "1"})
    assert ask(make_pod("p"), node, filling("n1")).closely[0].short == {"pods": 1}


def test_a_resource_that_the_plugin_ignores_is_not_short():
    args = "pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/fpga]}}]"
    pod = make_pod("p", requests={"cpu": "3", "example.com/fpga": "2"})
    found = ask(pod, make_node("n1", allocatable=SMALL), config=f"{profile('{}')}  {args}\n")
    assert found.closely[0].short == {"cpu": 1000}


def test_nothing_is_short_on_a_node_that_has_room():
    found = ask(make_pod("p", requests={"cpu": "1"}), make_node("n1", allocatable=SMALL, taints=["gpu:NoSchedule"]))
    assert found.closely[0].short == {}


def test_nodes_that_are_too_small_when_they_are_empty_come_last():
    tainted = make_node("n2", taints=["gpu:NoSchedule"], unschedulable=True)
    found = ask(make_pod("p", requests={"cpu": "3"}), make_node("n1", allocatable=SMALL), tainted)
    assert order(found) == ["n2", "n1"]


def terms(*each: dict) -> dict:
    required = {"nodeSelectorTerms": list(each)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def names(key: str, *values: str) -> dict:
    return {"key": key, "operator": "In", "values": list(values)}


@pytest.mark.parametrize(
    "spec",
    [
        terms({"matchFields": [names("metadata.name", "n2")]}),
        terms({"matchExpressions": [names("kubernetes.io/hostname", "n2", "gone")]}),
        terms(
            {"matchExpressions": [names("kubernetes.io/hostname", "n2")]},
            {"matchFields": [names("metadata.name", "n2")]},
        ),
        {"nodeSelector": {"kubernetes.io/hostname": "n2"}},
    ],
)
def test_the_node_that_the_pod_names_comes_first(spec: dict):
    nodes = [make_node("n1"), make_node("n2", allocatable=SMALL, taints=["gpu:NoSchedule"], unschedulable=True)]
    assert order(ask(make_pod("p", spec=spec, requests={"cpu": "3"}), *nodes)) == ["n2", "n1"]


def test_a_term_that_names_no_node_leaves_every_node_as_near():
    spec = terms(
        {"matchExpressions": [names("kubernetes.io/hostname", "n2")]}, {"matchExpressions": [names("pool", "a")]}
    )
    nodes = [make_node("n1"), make_node("n2", taints=["gpu:NoSchedule"], unschedulable=True)]
    assert order(ask(make_pod("p", spec=spec), *nodes)) == ["n1", "n2"]


def test_a_cordon_and_the_taint_that_it_makes_count_once():
    cordoned = make_node("n1", unschedulable=True, taints=["node.kubernetes.io/unschedulable:NoSchedule"])
    assert order(ask(make_pod("p"), make_node("n0", unschedulable=True, taints=["a:NoSchedule"]), cordoned)) == [
        "n1",
        "n0",
    ]
    assert order(ask(make_pod("p"), cordoned, make_node("n2", taints=["a:NoSchedule"]))) == ["n1", "n2"]
