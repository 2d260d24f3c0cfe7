"""`kubesched fit --shapes` as a user runs it."""

import json
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, write

TYPE = "node.kubernetes.io/instance-type"
CSV = "name,cpu,memory,price\nsmall,2,4Gi,0.1\nlarge,16,64Gi,0.5\n"
FULL = make_node("n1", allocatable={"cpu": "1"}, labels={TYPE: "tiny"})
PENDING = [make_pod(f"web-{i}", requests={"cpu": "3"}) for i in range(2)]


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    gpu = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    pool = make_object("NodePool", "gpu", spec={"template": {"spec": gpu}, "limits": {"cpu": "16"}})
    return write(tmp_path, FULL, pool, *PENDING)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "types.csv"
    path.write_text(CSV)
    return path


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_pending_pods_are_asked_about(cluster, tmp_path, file):
    plain = write(tmp_path, FULL, *PENDING)
    result = run("fit", plain, f"--shapes={file}")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "2 pods have no node; all of them would fit a node of a known shape."
    assert "would fit a node" in words(result.stdout)
    assert "will be" not in result.stdout
    assert "the rules of the autoscaler itself, such as cool-down and backoff, and the quotas" in words(result.stdout)


def test_why_no_scale_up_has_both_wordings(cluster, file):
    result = run("fit", cluster, f"--shapes={file}", "--fail-on-pending")
    assert result.exit_code == 1
    said = words(result.stdout)
    assert "Why no scale-up" in said
    assert "node(s) had untolerated taint(s)" in said
    assert "taint gpu:NoSchedule is not tolerated" in said


def test_every_format_has_the_answer(cluster, file):
    document = json.loads(run("fit", cluster, f"--shapes={file}", "-o", "json").stdout)
    assert (document["schema"], document["left"], document["wouldFit"]) == ("kubesched/shapes/v1", 2, 0)
    assert [one["shape"] for one in document["shapes"]] == ["gpu/tiny", "gpu/small", "gpu/large"]
    assert (document["shapes"][2]["mayBeAdded"], document["shapes"][2]["limit"]) == (1, "limit 16 cpu, now 0")
    assert document["pods"][0]["shapes"][2]["reasons"] == ["node(s) had untolerated taint(s)"]
    assert run("fit", cluster, f"--shapes={file}", "-o", "csv").stdout.startswith("pods,workload,shape,nodes")
    for form in ("wide", "markdown", "html", "junit", "jsonl"):
        result = run("fit", cluster, f"--shapes={file}", "-o", form)
        assert result.exit_code == 0
        assert "web-0" in result.stdout, form


def test_the_pods_of_a_manifest_are_asked_about_and_prices_count(cluster, tmp_path, file):
    pod = tmp_path / "pod.json"
    pod.write_bytes(bytes(make_pod("new", requests={"cpu": "1500m"}).raw))
    prices = tmp_path / "prices.yaml"
    prices.write_text("small: 3\nlarge: 1\n")
    plain = write(tmp_path, FULL, *PENDING)
    (only,) = json.loads(run("fit", plain, "-f", pod, f"--shapes={file}", "-o", "json").stdout)["pods"]
    assert (only["pods"], only["shape"]) == (["default/new"], "small")
    file.write_text(CSV.replace(",0.1", ",").replace(",0.5", ","))
    (only,) = json.loads(run("fit", plain, "-f", pod, f"--shapes={file}", "--prices", prices, "-o", "json").stdout)[
        "pods"
    ]
    assert only["shape"] == "large"


def test_the_pods_of_removed_nodes_are_asked_about(tmp_path, file):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "a", "controller": True}
    placed = make_pod("a-1", node="n1", requests={"cpu": "1"}, metadata={"ownerReferences": [owner]})
    result = run("fit", write(tmp_path, FULL, placed), f"--shapes={file}", "--without-nodes", "n1")
    assert result.stdout.startswith("If n1 were removed: 1 pod has no node; it would fit a node of a known shape.")
    assert "1 pod of the removed node would be re-created" in words(result.stdout)


def test_equal_pods_without_a_workload_are_one_row(tmp_path, file):
    plain = write(tmp_path, FULL)
    options = ("--resource", "cpu=3", "--replicas", 4, f"--shapes={file}", "-o", "json")
    (only,) = json.loads(run("fit", plain, *options).stdout)["pods"]
    assert (len(only["pods"]), only["shape"]) == (4, "large")


def test_a_cluster_where_nothing_waits_needs_no_node(tmp_path, file):
    result = run("fit", write(tmp_path, FULL), f"--shapes={file}")
    assert result.stdout.startswith("No pod needs a new node.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shapes", "--max"), "--shapes and --max are mutually exclusive"),
        (("--shapes", "--replicas", "3"), "--shapes without -f and --replicas are mutually exclusive"),
        (("--shapes=types.yaml",), "found 'types.yaml'; write --shapes=FILE.csv, or --shapes behind the snapshot"),
        (("--shapes=no.csv",), "no.csv: no such file"),
        (("--resource", "cpu=1", "--prices", __file__), "--prices needs --shapes"),
    ],
)
def test_what_does_not_go_together_is_refused(cluster, arguments, message):
    result = run("fit", cluster, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_without_a_shape_one_sentence_says_what_is_missing(tmp_path):
    result = run("fit", write(tmp_path, FULL, *PENDING), "--shapes")
    assert result.exit_code == 2
    assert "no shape of a node is known: the cluster has no NodePool" in result.stderr
    assert "--shapes=FILE.csv" in result.stderr


def test_the_changes_under_which_it_is_answered_come_first(cluster, file):
    command = ("fit", cluster, f"--shapes={file}", "--cordon", "n1")
    first = run(*command).stdout.splitlines()[0]
    assert first.startswith("If n1 were cordoned: 2 pods have no node; ")
    assert json.loads(run(*command, "-o", "json").stdout)["assumed"] == ["n1 were cordoned"]


def test_there_are_no_patches_of_shapes(cluster):
    result = run("fit", cluster, "--shapes", "-o", "patch")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--shapes and -o patch are mutually exclusive" in result.stderr


@pytest.mark.parametrize("output", ["csv", "jsonl", "junit"])
def test_rows_alone_have_the_notes_beside_them(cluster, output):
    result = run("fit", cluster, "--shapes", "-o", output)
    assert "of Karpenter's types of machines only those of nodes" in result.stderr
