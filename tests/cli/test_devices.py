"""`kubesched devices` as a user runs it, and the tables of devices of other commands."""

import csv
import io
import json

import pytest

from kubesched import devices, load_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.session.test_device_use import claim, device, device_class, slice_of


@pytest.fixture
def snapshot(tmp_path):
    return write(
        tmp_path,
        make_node("n1", allocatable={"cpu": "8", "memory": "8Gi", "pods": "10"}),
        make_node("n2", allocatable={"cpu": "8", "memory": "8Gi", "pods": "10", "example.com/fpga": "4"}),
        make_pod("coder", node="n2", requests={"example.com/fpga": "3"}),
        device_class("gpu", "true"),
        slice_of("n1", device("a"), device("b"), device("c", taints=[{"key": "hot", "effect": "NoSchedule"}])),
        slice_of("gone", device("a"), device("b")),
        claim("train", {"pool": "n1", "device": "a"}, pods=["p"]),
        make_object("ResourceClaim", "waits"),
    )


def test_the_first_line_counts_and_the_table_names_who_holds_them(snapshot):
    said = run("devices", snapshot).stdout
    assert said.startswith(
        "3 devices in ResourceSlices: 1 free, 1 taken, 1 unusable; 4 devices of device plugins: 1 free, 3 taken."
    )
    rows = [" ".join(line.split()) for line in said.splitlines()]
    assert "gpu.example.com gpu A100 1 3 1 1 1 default/p" in rows
    assert "device plugin example.com/fpga - 1 4 1 3 0 default/coder" in rows
    assert "Unusable: taint hot:NoSchedule (1 device)." in said
    assert "2 devices of ResourceSlices that no node of the cluster can use." in said
    assert "1 claim without devices: default/waits." in said


def test_wide_has_each_device_with_its_claim(snapshot):
    said = [" ".join(line.split()) for line in run("devices", snapshot, "-o", "wide").stdout.splitlines()]
    assert "NODE DEVICE STATE CLASS MODEL WHY PODS CLAIMS" in said
    assert "n1 gpu.example.com/a taken gpu A100 - default/p default/train" in said
    assert "n1 gpu.example.com/c unusable gpu A100 taint hot:NoSchedule - -" in said


def test_wide_names_the_pool_of_a_device_unless_it_is_the_node(tmp_path):
    rack = slice_of("rack", device("a"), nodeName=None, allNodes=True)
    path = write(tmp_path, make_node("n1"), make_node("n2"), slice_of("n1", device("a")), rack)
    said = [" ".join(line.split()) for line in run("devices", path, "-o", "wide").stdout.splitlines()]
    assert "n1 gpu.example.com/a free A100" in said
    assert "2 nodes gpu.example.com/rack/a free A100" in said


def test_the_formats_for_programs_have_each_device(snapshot):
    document = json.loads(run("devices", snapshot, "-o", "json").stdout)
    assert document["schema"] == "kubesched/devices/v1"
    assert [one["device"] for one in document["devices"]] == ["a", "b", "c"]
    assert document["kinds"] == [
        {
            "driver": "gpu.example.com",
            "classes": ["gpu"],
            "model": "A100",
            "resources": ["deviceclass.resource.kubernetes.io/gpu"],
            "devices": 3,
            "free": 1,
            "shared": 0,
            "taken": 1,
            "unusable": 1,
        }
    ]
    holders = {"pods": ["default/coder"]}
    assert document["plugins"] == [{"resource": "example.com/fpga", "devices": 4, "taken": 3, "nodes": 1, **holders}]
    rows = list(csv.DictReader(io.StringIO(run("devices", snapshot, "-o", "csv").stdout)))
    assert [row["state"] for row in rows] == ["taken", "free", "unusable"]
    assert {(row["driver"], row["pool"], row["used"]) for row in rows} == {("gpu.example.com", "n1", "")}


def test_a_capacity_that_is_very_large_is_written(tmp_path):
    path = write(tmp_path, make_node("n1"), slice_of("n1", device("a", capacity={"memory": {"value": "1e30"}})))
    (one,) = json.loads(run("devices", path, "-o", "json").stdout)["devices"]
    assert one["capacity"] == {"memory": 10**39}


def test_a_cluster_without_devices_says_so(tmp_path):
    path = write(tmp_path, make_node("n1"), make_pod("p"))
    assert run("devices", path).stdout.startswith("No node has devices")


def test_python_gives_the_same(snapshot, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    answer = devices(load_snapshot(snapshot))
    assert [one.state.value for one in answer.devices] == ["taken", "free", "unusable"]
    assert repr(answer) == run("devices", snapshot).stdout.rstrip("\n")
    assert list(answer.devices_frame()["state"]) == ["taken", "free", "unusable"]


@pytest.mark.parametrize(
    "command", [["simulate"], ["fit", "--resource", "cpu=1"], ["drain", "n1"], ["compare", "--pack", "--pods", "all"]]
)
def test_other_reports_have_a_table_of_devices(snapshot, command):
    name, *options = command
    said = [" ".join(line.split()) for line in run(name, snapshot, *options).stdout.splitlines()]
    assert any(line.startswith("Devices in ResourceSlices, ") for line in said)
    assert any(line.startswith("gpu.example.com gpu A100 3 ") for line in said)


def test_compare_has_figures_of_devices_in_every_format(snapshot):
    names = ["devicesTaken", "devicesFree", "devicesMismatched"]
    options = ("compare", snapshot, "--pack", "--pods", "all", "--seeds", 5)
    figures = {one["name"]: one["a"] for one in json.loads(run(*options, "-o", "json").stdout)["figures"]}
    assert [figures[name] for name in names] == [1, 1, 0]
    rows = {row["name"]: row["a"] for row in csv.DictReader(io.StringIO(run(*options, "-o", "csv").stdout))}
    assert [float(rows[name]) for name in names] == [1, 1, 0]
    assert "free devices that no pending claim fits" in run(*options).stdout
    failed = run(*options, "--fail-on", "devicesFree<2")
    assert failed.exit_code == 1
