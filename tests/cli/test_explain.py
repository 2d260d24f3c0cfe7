import json
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, shop, write


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return write(tmp_path, *shop())


def test_all_pending_pods_come_in_the_order_of_the_queue_without_foreign_ones(cluster):
    result = run("explain", cluster, "--all", "-o", "jsonl")
    lines = list(map(json.loads, result.stdout.splitlines()))
    assert [line["pod"] for line in lines] == ["default/urgent", "default/fits", "default/huge", "default/gated"]
    assert all(list(line) == sorted(line) for line in lines)
    assert lines[1]["feasible"] == ["n2"]


def test_all_pending_pods_as_one_document(cluster):
    document = json.loads(run("explain", cluster, "--all", "-o", "json").stdout)
    assert len(document["pods"]) == 4


def test_all_pending_pods_as_text_say_where_or_why_nowhere(cluster):
    lines = [line.strip() for line in run("explain", cluster, "--all").stdout.splitlines()]
    assert lines[lines.index("default/fits") + 1].startswith("fits on 1 of 2 nodes, best on n2 (")
    assert lines[lines.index("default/huge") + 1] == "0/2 nodes are available: 2 Insufficient cpu."


def test_one_pod_as_a_document(cluster):
    document = json.loads(run("explain", cluster, "--pod", "huge", "-o", "json").stdout)
    assert document["pod"] == "default/huge"
    assert [near["node"] for near in document["nearest"]] == ["n2", "n1"]
    assert json.loads(run("explain", cluster, "--pod", "huge", "-o", "jsonl").stdout) == document


def test_a_pod_that_runs_is_explained_as_if_it_did_not(cluster):
    assert "Fits on 1 of 2 nodes and goes to n1." in run("explain", cluster, "--pod", "default/cheap").stdout


def test_a_pod_may_come_in_a_file(cluster, tmp_path):
    pod = tmp_path / "new.yaml"
    pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c, image: app}]}\n")
    result = run("explain", cluster, "--pod", pod)
    assert "Pod default/new" in result.stdout
    assert "goes to" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            [],
            "name the pod with --pod NAMESPACE/NAME or --pod FILE.yaml, or use --all; 5 are pending: default/urgent,",
        ),
        (["--pod", "default/hug"], 'no pod has the name "default/hug"; did you mean "default/huge"?'),
        (["--pod", "missing.yaml"], "missing.yaml: no such file"),
        (["--pod", "foreign"], 'no profile has the scheduler name "volcano"; found: default-scheduler'),
        (["--pod", "huge", "--all"], "--all and --pod are mutually exclusive"),
        (["--all", "--node", "n1"], "--node and --all-nodes need one pod"),
        (["--pod", "huge", "--node", "n3"], "--node: no node has the name n3; found: n1, n2"),
    ],
)
def test_a_question_that_cannot_be_answered_is_one_message(cluster, options, words):
    result = run("explain", cluster, *options)
    assert result.exit_code == 2
    assert result.stderr.startswith("kubesched: error: ")
    assert words in result.stderr


def test_rows_may_be_plugins_or_all_nodes(cluster):
    assert "NodeResourcesFit" in run("explain", cluster, "--pod", "huge", "--by", "plugin").stdout
    text = run("explain", cluster, "--pod", "fits", "--all-nodes").stdout
    assert "cpu is short by 500m" in text


def test_a_node_may_be_named_without_its_domain(tmp_path):
    nodes = [make_node("n1.eu.internal"), make_node("n2.eu.internal", unschedulable=True)]
    text = run("explain", write(tmp_path, *nodes, make_pod("p")), "--pod", "p", "--node", "n2").stdout
    assert "Node n2.eu.internal" in text
    assert "the node is cordoned" in text


def test_a_cluster_without_pending_pods_says_so(tmp_path):
    result = run("explain", write(tmp_path, make_node("n1")))
    assert "no pod is pending" in result.stderr


def test_an_extender_that_does_not_answer_is_explained_in_the_words_of_kube_scheduler(tmp_path):
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- urlPrefix: http://127.0.0.1:1\n  filterVerb: filter\n"
    )
    snapshot = write(tmp_path, make_node("n1"), make_pod("p"))
    text = run("explain", snapshot, "--pod", "p", "--config", config, "--extenders", "call").stdout
    assert '\nPost "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused\n' in text
