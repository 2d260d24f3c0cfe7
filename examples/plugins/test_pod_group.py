import pytest
from pod_group import PodGroup

from kubesched import Report, Simulator
from kubesched.testing import check_plugin, make_node, make_pod, varied_scenario


def members(group: str, n: int, size: int, **more):
    labels = {"example.com/pod-group": group, "example.com/pod-group-min": str(size)}
    return [make_pod(f"{group}-{i}", labels=labels, requests={"cpu": "1"}, **more) for i in range(n)]


def placed(report: Report) -> dict[str, str]:
    return {placement.pod.removeprefix("default/"): placement.node for placement in report.placements}


def run(n_cpus: int, *pods) -> Report:
    node = make_node("n1", allocatable={"cpu": str(n_cpus), "pods": "20"})
    return Simulator([node, *pods], plugins=[PodGroup]).run()


def test_a_group_that_has_room_is_placed_as_a_whole():
    assert placed(run(3, *members("mpi", 3, size=3))) == dict.fromkeys(("mpi-0", "mpi-1", "mpi-2"), "n1")


def test_a_group_without_room_takes_none():
    other = make_pod("other", requests={"cpu": "2"}, priority=-1)
    nodes = placed(run(2, *members("mpi", 3, size=3), other))
    assert nodes == {"mpi-0": "", "mpi-1": "", "mpi-2": "", "other": "n1"}


def test_a_group_is_not_tried_before_enough_of_its_pods_exist():
    (first, _) = run(9, *members("mpi", 2, size=3)).placements
    assert "pod group mpi has 2 of 3 pods" in first.message


def test_more_pods_than_the_least_number_are_placed_as_there_is_room():
    nodes = placed(run(3, *members("mpi", 4, size=2)))
    assert sorted(nodes.values()) == ["", "n1", "n1", "n1"]


def test_of_two_groups_for_one_room_one_is_placed():
    nodes = placed(run(3, *members("a", 3, size=3), *members("b", 3, size=3)))
    assert {name[0] for name, node in nodes.items() if node} in ({"a"}, {"b"})
    assert sum(map(bool, nodes.values())) == 3


def test_a_pod_without_a_group_is_placed_at_once():
    assert placed(run(1, make_pod("web", requests={"cpu": "1"}))) == {"web": "n1"}


def test_a_size_that_is_not_a_number_is_reported():
    labels = {"example.com/pod-group": "g", "example.com/pod-group-min": "two"}
    (placement,) = run(1, make_pod("web", labels=labels)).placements
    assert 'label example.com/pod-group-min is "two"; expected a number' in placement.message


def test_groups_of_the_same_name_in_two_namespaces_are_two():
    here, there = members("g", 1, size=2), members("g", 1, size=2, namespace="other")
    assert placed(run(9, *here, *there)) == {"g-0": "", "other/g-0": ""}


SCENARIO = varied_scenario().extended(pending=[*members("g", 3, size=3), *members("h", 2, size=3)])


@pytest.mark.parametrize(
    "check", [pytest.param(check, id=str(check)) for check in check_plugin(PodGroup, scenario=SCENARIO)]
)
def test_contract(check):
    check()
