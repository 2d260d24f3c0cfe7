"""`drain --each-zone`: what becomes of the pods of each zone if it is drained, in one table."""

import json
import sys
from pathlib import Path

import pytest

from kubesched.pages.plans import each_zone_page
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import budget, owned_by

ROOM = {"cpu": "4", "memory": "8Gi", "pods": "20"}
BETA = "failure-domain.beta.kubernetes.io/zone"
IN_ZONE_B = {
    "nodeSelectorTerms": [
        {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}
    ]
}


def pod(app: str, node: str, cpu: str = "1", **fields) -> object:
    return make_pod(
        f"{app}-{node}",
        node=node,
        requests={"cpu": cpu},
        labels={"app": app},
        metadata=owned_by("ReplicaSet", app),
        **fields,
    )


def disk(name: str) -> list[object]:
    claim = make_object(
        "PersistentVolumeClaim",
        name,
        spec={"volumeName": f"pv-{name}"},
        status={"phase": "Bound"},
        annotations={"pv.kubernetes.io/bind-completed": "yes"},
    )
    about = {"claimRef": {"namespace": "default", "name": name, "uid": claim.uid}}
    spec = {**about, "nodeAffinity": {"required": IN_ZONE_B}}
    return [claim, make_object("PersistentVolume", f"pv-{name}", spec=spec, status={"phase": "Bound"})]


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Zone a can go; zone b has a disk, a bare pod and a budget that allows nothing; n4 has no zone."""
    mounts = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    return write(
        tmp_path,
        make_node("n1", allocatable=ROOM, zone="a"),
        make_node("n2", allocatable=ROOM, zone="b"),
        make_node("n3", allocatable=ROOM, zone="b"),
        make_node("n4", allocatable=ROOM),
        pod("web", "n1"),
        pod("web", "n2"),
        pod("db", "n2", spec=mounts),
        *disk("data"),
        make_pod("bare", node="n3"),
        pod("kept", "n3"),
        budget("kept", "kept", 0),
    )


def test_each_zone_is_drained_whole(cluster: Path):
    document = json.loads(run("drain", cluster, "--each-zone", "-o", "json").stdout)
    assert document["schema"] == "kubesched/drain-each-zone/v1"
    first, second = document["zones"]
    assert (first["zone"], first["nodes"], first["canGo"], first["harmed"]) == ("a", ["n1"], True, [])
    assert (second["zone"], second["nodes"], second["canGo"]) == ("b", ["n2", "n3"], False)
    fates = {pod["pod"].removeprefix("default/"): pod["fate"] for pod in second["harmed"]}
    assert fates == {"db-n2": "pending", "bare": "lost", "kept-n3": "blocked"}
    assert "pv-data" in next(pod["cause"] for pod in second["harmed"] if pod["fate"] == "pending")


@pytest.mark.parametrize("output", ["table", "wide", "markdown", "html"])
def test_one_page_has_the_zones_and_why(cluster: Path, output: str):
    text = " ".join(run("drain", cluster, "--each-zone", "-o", output).stdout.split())
    assert "1 of 2 zones could be drained without harm, each alone; most harm without b, to 3 of 4 pods." in text
    assert "1 node has no zone and would stay." in text
    assert "no controller would create it again" in text
    assert "budget default/kept" in text
    assert "A zone that fails takes all of its pods at once, and no budget is asked." in text


def test_rows_and_cases_are_zones(cluster: Path):
    rows = run("drain", cluster, "--each-zone", "-o", "csv").stdout.splitlines()
    assert [row.split(",")[:6] for row in rows] == [
        ["zone", "nodes", "canGo", "pods", "nHarmed", "steps"],
        ["a", "1", "yes", "1", "0", "1"],
        ["b", "2", "no", "4", "3", "1"],
    ]
    junit = run("drain", cluster, "--each-zone", "-o", "junit").stdout
    assert 'tests="2" failures="1"' in junit
    lines = [json.loads(line) for line in run("drain", cluster, "--each-zone", "-o", "jsonl").stdout.splitlines()]
    assert [line["zone"] for line in lines] == ["a", "b"]


def test_the_next_command_is_about_the_failure_of_the_worst_zone(cluster: Path):
    last = run("drain", cluster, "--each-zone").stdout.splitlines()[-1]
    assert last == f"Next: kubesched simulate {cluster} --without-nodes topology.kubernetes.io/zone=b"
    assert "Next:" not in run("drain", cluster, "--each-zone", "-l", "!x").stdout


def test_harm_in_any_zone_fails(cluster: Path, tmp_path: Path):
    assert run("drain", cluster, "--each-zone").exit_code == 0
    assert run("drain", cluster, "--each-zone", "--fail-on-harm").exit_code == 1
    folder = tmp_path / "good"
    folder.mkdir()
    nodes = [make_node(f"n{i}", allocatable=ROOM, zone=zone) for i, zone in enumerate("ab")]
    result = run("drain", write(folder, *nodes, pod("web", "n0")), "--each-zone", "--fail-on-harm")
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "Each of 2 zones could be drained alone.")


def test_a_selector_takes_a_part_of_each_zone(cluster: Path):
    document = json.loads(run("drain", cluster, "--each-zone", "-l", "kubernetes.io/hostname=n3", "-o", "json").stdout)
    assert [(zone["zone"], zone["nodes"]) for zone in document["zones"]] == [("b", ["n3"])]


def test_the_label_of_older_clusters_names_zones_too(tmp_path: Path):
    nodes = [make_node(f"n{i}", allocatable=ROOM, labels={BETA: zone}) for i, zone in enumerate("aab")]
    cluster = write(tmp_path, *nodes, pod("web", "n0"))
    document = json.loads(run("drain", cluster, "--each-zone", "-o", "json").stdout)
    assert [zone["nodes"] for zone in document["zones"]] == [["n0", "n1"], ["n2"]]
    assert run("drain", cluster, "--zone", "a").stdout.startswith("2 nodes could be drained")
    assert run("drain", cluster, "--each-zone").stdout.splitlines()[-1].endswith(f"--without-nodes {BETA}=a")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--each"], "--each and --each-zone are mutually exclusive"),
        (["--most"], "--each-zone and --most are mutually exclusive"),
        (["--zone", "a"], "--each-zone and --zone are mutually exclusive"),
        (["n1"], "--each-zone and NODE are mutually exclusive"),
        (["--write", "after.json"], "--each-zone and --write are mutually exclusive: --each-zone tries many drains"),
    ],
)
def test_what_it_excludes(cluster: Path, arguments: list[str], words: str):
    result = run("drain", cluster, "--each-zone", *arguments)
    assert (result.exit_code, words in result.stderr) == (2, True)


def test_a_cluster_without_zones_is_one_sentence(tmp_path: Path):
    result = run("drain", write(tmp_path, make_node("n1", allocatable=ROOM)), "--each-zone")
    assert result.exit_code == 2
    assert "no node has a zone; expected the label topology.kubernetes.io/zone" in result.stderr


def test_of_a_disk_in_the_zone_the_cause_is_the_volume_and_not_the_cordon_of_the_drain(cluster: Path):
    _, second = json.loads(run("drain", cluster, "--each-zone", "-o", "json").stdout)["zones"]
    (pod,) = (pod for pod in second["harmed"] if pod["fate"] == "pending")
    assert "zone b" in pod["cause"]
    assert "cordoned" not in pod["cause"]


def test_harm_that_the_terminal_does_not_show_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[each_zone_page.__module__], "_MAX_ROWS", 0)
    nodes = [make_node("n1", allocatable=ROOM, zone="a"), make_node("n2", allocatable=ROOM, zone="b")]
    snapshot = write(tmp_path, *nodes, make_pod("bare", node="n1"))
    assert "What would be harmed has 1 row" in run("drain", snapshot, "--each-zone").stdout
    assert run("drain", snapshot, "--each-zone", "-o", "csv").stdout.startswith("zone,nodes,canGo,pods,nHarmed,")
    zones = json.loads(run("drain", snapshot, "--each-zone", "-o", "json").stdout)["zones"]
    assert [zone["nHarmed"] for zone in zones] == [1, 0]
