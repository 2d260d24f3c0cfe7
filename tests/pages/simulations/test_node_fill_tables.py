import pytest

from kubesched.api import DeviceClass
from kubesched.pages.formats import Level
from kubesched.pages.simulations import fill_level
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.device_cluster import device_cluster


def fill_lines(path) -> list[str]:
    text = run("simulate", path).stdout
    return [" ".join(line.split()) for line in text.partition("Nodes: ")[2].splitlines()]


def test_a_small_cluster_is_shown_node_by_node(tmp_path):
    pods = [make_pod("there", node="n1", requests={"cpu": "1"}), make_pod("p", requests={"cpu": "1"})]
    path = write(tmp_path, make_node("n1", allocatable={"cpu": "2"}), make_node("n2", allocatable={"cpu": "4"}), *pods)
    said = fill_lines(path)
    assert said[2] == "NODE CPU MEMORY pods"
    assert "n1 █████····· 50% ·········· 0% ·········· 1%" in said
    assert "n2 ▒▒········ 0% -> 25% ·········· 0% ·········· 0% -> 1%" in said
    assert "all ██▒······· 17% -> 33% ·········· 0% ·········· 0% -> 1%" in said


def test_a_large_cluster_is_shown_by_pool(tmp_path):
    nodes = [make_node(f"n{i}", labels={"example.com/pool": "ab"[i % 2]}, zone="z") for i in range(14)]
    said = fill_lines(write(tmp_path, *nodes, make_pod("p")))
    assert said[2].startswith("POOL NODES CPU MEMORY")
    assert [line.split()[:2] for line in said[4:6]] == [["a", "7"], ["b", "7"]]


def test_a_large_cluster_without_pools_is_shown_by_zone(tmp_path):
    nodes = [make_node(f"n{i}", zone="xy"[i % 2]) for i in range(14)]
    said = fill_lines(write(tmp_path, *nodes))
    assert said[2].startswith("ZONE NODES")


def test_a_large_cluster_without_either_is_shown_as_a_whole(tmp_path):
    said = fill_lines(write(tmp_path, *(make_node(f"n{i}") for i in range(14))))
    assert any(line.startswith("all 14") for line in said)


def test_all_devices_are_shown_and_a_line_names_the_rest(tmp_path):
    offered = {"cpu": "2", "memory": "1Gi", "pods": "9", "example.com/a": "2", "nvidia.com/gpu": "4"}
    pod = make_pod("p", requests={"nvidia.com/gpu": "1", "example.com/a": "1"})
    said = fill_lines(write(tmp_path, make_node("n1", allocatable=offered), pod))
    assert said[2] == "NODE CPU MEMORY example.com/a nvidia.com/gpu"
    assert "-o wide also has the column pods." in said


def test_devices_of_nodes_that_offer_none_are_in_the_table_of_devices_alone(tmp_path):
    said = fill_lines(write(tmp_path, *device_cluster(), make_pod("p", requests={"cpu": "1"})))
    assert said[2] == "NODE CPU MEMORY nvidia.com/gpu"
    assert {line.split()[0]: line.split()[-1] for line in said if line.startswith(("all", "plugin-1", "dra-1"))} == {
        "plugin-1": "100%",
        "dra-1": "-",
        "all": "100%",
    }
    assert not any("Not counted" in line for line in said)


def test_a_line_names_devices_that_neither_a_device_plugin_nor_a_class_has(tmp_path):
    cluster = [one for one in device_cluster() if not isinstance(one, DeviceClass)]
    (line,) = (line for line in fill_lines(write(tmp_path, *cluster)) if "Not counted" in line)
    assert line == (
        "Not counted: 3 nvidia.com/gpu of pods on 3 nodes that offer none, neither through a device plugin nor in "
        "ResourceSlices."
    )


def test_without_resource_slices_nothing_is_said_of_devices(tmp_path):
    assert "Not counted" not in run("simulate", write(tmp_path, make_node("n1"), make_pod("p"))).stdout


@pytest.mark.parametrize(
    ("share", "level"),
    [(0, Level.GOOD), (0.89, Level.GOOD), (0.9, Level.WARNING), (1, Level.BAD), (1.2, Level.BAD)],
)
def test_the_colour_of_a_bar_is_its_level(share: float, level: Level) -> None:
    assert fill_level(share) is level
