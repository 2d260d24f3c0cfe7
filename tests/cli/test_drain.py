"""`kubesched drain` as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubesched.api import Pod
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write
from tests.device_cluster import NOT_DECIDED, STARTED, device_cluster, running
from tests.planning.drain_clusters import owned_by

ROOM = {"cpu": "2", "memory": "4Gi", "pods": "10"}


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Two pods on n1 and n2 in zone a that both fit on n3 in zone b."""
    web = owned_by("ReplicaSet", "web")
    return write(
        tmp_path,
        make_node("n1.example.com", allocatable=ROOM, zone="a", labels={"pool": "spot"}),
        make_node("n2.example.com", allocatable=ROOM, zone="a"),
        make_node("n3.example.com", allocatable=ROOM, zone="b"),
        make_pod("web-1", node="n1.example.com", requests={"cpu": "1"}, metadata=web),
        make_pod("web-2", node="n2.example.com", requests={"cpu": "1"}, metadata=web),
        make_pod("web-3", node="n3.example.com", requests={"cpu": "1"}, metadata=web),
    )


def places(snapshot: Path) -> dict[str, str]:
    return {pod.key: pod.node_name for pod in load_snapshot(snapshot).of(Pod)}


@pytest.mark.parametrize(
    "nodes",
    [["n1"], ["n1.example.com"], ["node/n1.example.com"], ["-l", "pool=spot"], ["--zone", "a", "-l", "pool in (spot)"]],
)
def test_nodes_are_named_or_selected(snapshot: Path, nodes: list[str]):
    result = run("drain", snapshot, *nodes)
    assert result.exit_code == 0
    assert result.stdout.startswith("n1 could be drained: its only pod would run elsewhere.")


def test_names_may_come_before_the_snapshot(snapshot: Path):
    assert run("drain", "n1", snapshot).stdout == run("drain", snapshot, "n1").stdout


def test_a_drain_with_pending_pods_exits_with_1_if_asked_to(snapshot: Path):
    assert run("drain", snapshot, "--zone", "a").exit_code == 0
    result = run("drain", snapshot, "--zone", "a", "--fail-on-pending")
    assert result.exit_code == 1
    assert "breaks 1 of 2 pods: 1 would stay pending" in result.stdout


@pytest.mark.parametrize("flag", ["--fail-on-harm", "--fail-on-pending"])
@pytest.mark.parametrize(
    ("metadata", "harm"),
    [
        ({}, "its only pod, which would be lost"),
        (owned_by("Job", "migrate"), "its only pod, which would be lost"),
        (owned_by("Workflow", "etl"), "its only pod, which may be lost"),
        (owned_by("ReplicaSet", "web"), ""),
    ],
)
def test_the_exit_code_agrees_with_the_verdict(tmp_path: Path, metadata: dict[str, Any], harm: str, flag: str):
    nodes = [make_node(name, allocatable=ROOM) for name in ("n1", "n2")]
    job = make_object("Job", "migrate", spec={"backoffLimit": 0})
    path = write(tmp_path, *nodes, job, make_pod("pod", node="n1", metadata=metadata))
    result = run("drain", path, "n1", flag)
    assert result.exit_code == bool(harm)
    assert harm in result.stdout.splitlines()[0]
    assert run("drain", path, "--each", flag).exit_code == bool(harm)
    assert run("drain", path, "--most", flag, "n1").exit_code == bool(harm)
    (line,) = run("drain", path, "n1", "-o", "jsonl").stdout.splitlines()
    fate = json.loads(line)["fate"]
    assert f",{fate}," in run("drain", path, "n1", "-o", "csv").stdout
    assert ('failures="1"' in run("drain", path, "n1", "-o", "junit").stdout) == bool(harm)
    (each, _) = map(json.loads, run("drain", path, "--each", "-o", "jsonl").stdout.splitlines())
    assert each["canGo"] == (not harm)
    assert each.get(fate, []) == (["default/pod"] if harm else [])


def test_a_pod_that_is_pending_already_does_not_fail_a_drain(tmp_path: Path):
    job, here = owned_by("Job", "job"), {"nodeSelector": {"kubernetes.io/hostname": "n1"}}
    path = write(
        tmp_path,
        *(make_node(name, allocatable=ROOM) for name in ("n1", "n2")),
        make_pod("waiting", requests={"cpu": "1"}, metadata=job, spec=here),
    )
    result = run("drain", path, "n1", "--fail-on-pending")
    assert result.exit_code == 0
    first = "n1 could be drained: no pod would have to move. 1 pod would stay pending, as before the drain."
    assert result.stdout.splitlines()[0] == first


def test_the_written_cluster_has_the_moved_pods_on_their_nodes(snapshot: Path, tmp_path: Path):
    after = tmp_path / "after.json"
    result = run("drain", snapshot, "n1", "--write", after, "-o", "json")
    assert result.exit_code == 0
    (pod,) = (pod for pod in json.loads(result.stdout)["pods"] if pod["fate"] == "moves")
    assert places(after)[pod["pod"]] == pod["to"]
    assert run("simulate", after, "-o", "jsonl").stdout == ""


def test_each_lists_every_node(snapshot: Path):
    result = run("drain", snapshot, "--each", "-o", "json")
    document = json.loads(result.stdout)
    assert document["schema"] == "kubesched/drain-each/v1"
    assert [line["canGo"] for line in document["nodes"]] == [True, True, True]


def test_prices_say_what_the_nodes_cost(tmp_path: Path):
    """What has no price is named, and in no sum."""
    types = {"n1": "large", "n2": "large", "n3": "odd"}
    nodes = [make_node(name, labels={"node.kubernetes.io/instance-type": of}) for name, of in types.items()]
    cluster, prices = write(tmp_path, *nodes), tmp_path / "prices.yaml"
    prices.write_text("large: 0.5\n")
    asked = ("drain", cluster, "--prices", prices)
    assert "The 2 nodes cost 730 a month (1.00 an hour) until they are deleted." in run(*asked, "n1", "n2").stdout
    said = run(*asked, "n1", "n3").stdout
    assert "The 1 node costs 365 a month (0.50 an hour) until it is deleted." in said
    assert "Without a price: odd (1)." in said
    lines = json.loads(run(*asked, "--each", "-o", "json").stdout)["nodes"]
    assert [line["cost"]["perHour"] for line in lines] == [0.5, 0.5, 0]
    assert "A MONTH" in run(*asked, "--each").stdout
    assert "A MONTH" not in run("drain", cluster, "--each").stdout


def test_most_finds_a_set(snapshot: Path):
    first = run("drain", snapshot, "--most").stdout.splitlines()[0]
    assert first == "Found 1 of 3 nodes that could be drained. A larger set may exist."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the nodes, or use -l LABELS, --zone ZONE, --each, --each-zone or --most"),
        (["n1", "-l", "pool=spot"], "NODE and -l are mutually exclusive"),
        (["--each", "--most"], "--each and --most are mutually exclusive"),
        (["--each", "--write", "after.json"], "--each and --write are mutually exclusive"),
        (["n11"], "no node has the name n11"),
        (["-l", "pool=spto"], "selects none of the 3 nodes"),
        (["n1", "--write", "after.txt"], "expected a name that ends with .json"),
    ],
)
def test_a_mistake_gets_one_sentence(snapshot: Path, arguments: list[str], words: str):
    result = run("drain", snapshot, *arguments)
    assert result.exit_code == 2
    assert words in result.stderr


def test_random_ties_need_a_seed_and_are_those_of_the_written_cluster(snapshot: Path, tmp_path: Path):
    result = run("drain", snapshot, "n1", "--tie-break", "random")
    assert result.exit_code == 2
    assert "--tie-break random needs --seed N" in result.stderr
    after, ties = tmp_path / "after.json", ("--tie-break", "random", "--seed", "3", "-o", "jsonl")
    drained = [json.loads(line) for line in run("drain", snapshot, "n1", "--write", after, *ties).stdout.splitlines()]
    assert [pod["to"] for pod in drained] == [places(after)[pod["pod"]] for pod in drained]


def test_the_next_command_explains_a_pending_pod_with_the_same_options(snapshot: Path, tmp_path: Path):
    config = tmp_path / "scheduler.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    options = ("--zone", "a", "--config", config, "--tie-break", "upstream")
    last = run("drain", snapshot, *options).stdout.splitlines()[-1]
    assert last == (
        f"Next: kubesched drain {snapshot} --tie-break upstream --config {config} --zone a --write after.json"
        f" && kubesched explain after.json --config {config} --pod default/web-2"
    )


def test_the_cluster_after_a_drain_does_not_replace_the_one_before(tmp_path: Path) -> None:
    path = write(tmp_path, *shop())
    before = path.read_bytes()
    result = run("drain", path, "n1", "--write", path)
    assert result.exit_code == 2
    assert f"--write {path} would replace an input; name another file" in result.stderr
    assert path.read_bytes() == before


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("output", ["wide", "json", "junit"])
def test_it_is_not_known_where_served_pods_would_run(tmp_path: Path, output: str):
    budget = make_object("PodDisruptionBudget", "train", spec={"selector": {}}, status={"disruptionsAllowed": 1})
    plain = make_pod("plain", node="dra-1", requests={"cpu": "1"}, metadata=owned_by("ReplicaSet", "web"))
    second = running("second", "dra-1", labels={"app": "train"})
    sets = [make_object("ReplicaSet", "train", spec={"replicas": 5}), make_object("ReplicaSet", "web")]
    cluster = [one for one in device_cluster() if one.name != "train"]
    path = write(tmp_path, *cluster, *sets, plain, second, budget)
    result = run("drain", path, "dra-1", "-o", output)
    assert result.exit_code == 1
    if output == "json":
        document = json.loads(result.stdout)
        assert (document["canGo"], document["summary"]["notKnown"], document["summary"]["pending"]) == (None, 2, 0)
        assert {pod["message"] for pod in document["pods"] if pod["fate"] == "notKnown"} == {NOT_DECIDED}
    elif output == "wide":
        said = "of 3 pods, 1 would run elsewhere, 2 cannot be decided."
        assert result.stdout.startswith(f"It is not known whether dra-1 could be drained: {said}")
        assert "stay pending" not in result.stdout
    else:
        assert result.stdout.count(f"2 of 2 pods: {NOT_DECIDED}</failure>") == 1


@pytest.mark.usefixtures("no_search")
def test_each_and_most_do_not_promise_nodes_with_served_pods(tmp_path: Path):
    free = make_node("free", allocatable=ROOM)
    path = write(tmp_path, *device_cluster(), free)
    result = run("drain", path, "--each", "-o", "json")
    assert result.exit_code == 1
    assert {line["node"]: line["canGo"] for line in json.loads(result.stdout)["nodes"]} == {
        **dict.fromkeys(("plugin-1", "dra-1", "dra-2", "dra-3")),
        "free": True,
    }
    said = run("drain", path, "--each").stdout
    assert "1 of 5 nodes could be drained, each alone. Of 4 it is not known, because some of their pods cannot" in said
    assert "1 not decided: ReplicaSet default/train" in " ".join(said.split())
    document = json.loads(run("drain", path, "--most", "-o", "json").stdout)
    assert (document["nodes"], len(document["undecidedNodes"])) == (["free"], 4)
    assert (
        "4 nodes are left out: it is not known where some of their pods would go."
        in run("drain", path, "--most").stdout
    )
    result = run("drain", write(tmp_path, *device_cluster()), "--most")
    unknown = "It is not known which of 4 nodes could be drained, nor where some pods of all would go."
    assert (result.stdout.splitlines()[0], result.exit_code) == (unknown, 1)


@pytest.mark.usefixtures("no_search")
def test_a_drain_that_is_blocked_anyway_is_not_called_unknown(tmp_path: Path):
    budget = make_object("PodDisruptionBudget", "web", spec={"selector": {"matchLabels": {"app": "web"}}})
    web = make_pod(
        "web",
        node="dra-1",
        labels={"app": "web"},
        status={"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **STARTED},
        metadata=owned_by("ReplicaSet", "web"),
    )
    result = run("drain", write(tmp_path, *device_cluster(), web, budget), "dra-1")
    outcome = "breaks 1 of 2 pods: 1 would never be evicted; 1 cannot be decided."
    assert result.stdout.startswith(f"Draining dra-1 {outcome}")
    assert result.exit_code == 0
