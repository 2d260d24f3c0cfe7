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
    assert document["schema"] == "kubesched/explain-pods/v1"


@pytest.mark.parametrize("options", [(), ("--all",), ("-A",), ("-n", "default")])
def test_all_pending_pods_as_text_say_where_or_why_nowhere(cluster, options):
    text = run("explain", cluster, *options).stdout
    assert text.startswith("4 pending pods: 2 on no node, 1 held back, 1 would fit now.\n")
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "1 Pod default/fits 1 n2" in rows
    assert "1 no node Pod default/huge all nodes: requests 64 cpu; the whole node has 2" in rows
    assert "1 held back Pod default/gated waiting for scheduling gates: [not-yet]; fits on 2 of 2 nodes" in rows
    assert "1 more pod is for schedulers that no profile of the configuration serves: volcano." in rows
    assert rows[-1] == f"Next: kubesched explain {cluster} default/urgent"


def test_one_pod_as_a_document(cluster):
    document = json.loads(run("explain", cluster, "--pod", "huge", "-o", "json").stdout)
    assert document["pod"] == "default/huge"
    assert [near["node"] for near in document["nearest"]] == ["n2", "n1"]
    assert document.pop("schema") == "kubesched/explain/v1"
    assert json.loads(run("explain", cluster, "--pod", "huge", "-o", "jsonl").stdout) == document


def test_a_pod_that_runs_is_explained_as_if_it_did_not(cluster):
    text = run("explain", cluster, "--pod", "default/cheap").stdout
    assert text.startswith("Pod default/cheap runs on n1, rank 1 of 1 nodes that fit, with ")
    assert "a new decision would take it again." in " ".join(text.split())


def test_a_pod_may_come_in_a_file(cluster, tmp_path):
    pod = tmp_path / "new.yaml"
    pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c, image: app}]}\n")
    result = run("explain", cluster, "--pod", pod)
    assert "Pod default/new" in result.stdout
    assert "would go to" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-A", "-n", "default"], "-n and -A are mutually exclusive"),
        (["-l", "app=web"], "-l app=web: none of 7 pods has these labels"),
        (["-l", "app in web"], "-l app in web: "),
        (["-n", "nowhere", "huge"], 'no pod has the name "huge"'),
        (["--pod", "default/hug"], 'no pod has the name "default/hug"; did you mean "default/huge"?'),
        (["--pod", "missing.yaml"], "missing.yaml: no such file"),
        (["--pod", "foreign"], 'no profile has the scheduler name "volcano"; found: default-scheduler'),
        (["--pod", "huge", "--all"], "--all and --pod are mutually exclusive"),
        (["--all", "--node", "n1"], "--node and --all-nodes need one pod"),
        (["huge", "--all"], "--all and POD are mutually exclusive"),
        (["-l", "a=b", "--all"], "--all and -l are mutually exclusive"),
        (["huge", "fits", "--node", "n1"], "--node and --all-nodes need one pod; 2 are chosen"),
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
    assert result.exit_code == 0
    assert result.stdout == "No pod is pending.\n"


def test_an_extender_that_does_not_answer_is_explained_in_the_words_of_kube_scheduler(tmp_path):
    config = tmp_path / "scheduler.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- urlPrefix: http://127.0.0.1:1\n  filterVerb: filter\n"
    )
    snapshot = write(tmp_path, make_node("n1"), make_pod("p"))
    text = run("explain", snapshot, "--pod", "p", "--config", config, "--extenders", "call").stdout
    assert '\nPost "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused\n' in text
