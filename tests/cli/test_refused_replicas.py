"""Pods that the API server refuses are named by every report on pods, in each of its formats."""

import json
from pathlib import Path

import pytest

from kubesched.testing import make_node
from tests.admission.test_refused_replicas import noted, owner, pods
from tests.cli.clusters import run, write

SENTENCE = "3 of 6 pods do not exist: exceeded quota team (requests.cpu 3 of 3)"
ADVICE = "raise quota default/team: requests.cpu from 3 to 6, or lower the requests"
COMMAND = """kubectl patch resourcequota team -n default --type merge -p '{"spec":{"hard":{"requests.cpu":"6"}}}'"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    node = make_node("n1", allocatable={"cpu": "9", "pods": "9"})
    return write(tmp_path, node, owner(status=noted()), *pods(3))


@pytest.mark.parametrize(
    "question", [["explain"], ["explain", "deploy/ads"], ["explain", "ads-5d-0"], ["simulate"], ["check"]]
)
@pytest.mark.parametrize("output", ["table", "markdown", "html", "json"])
def test_every_report_says_which_pods_do_not_exist(cluster, question, output):
    command, *names = question
    printed = run(command, cluster, *names, "-o", output).stdout
    if output == "json":
        document = json.loads(printed)
        assert (document["findings"][0]["message"] if command == "check" else document["refused"][0]["why"]) in SENTENCE
    else:
        assert {"exist:", "quota"} <= set(printed.split()), printed


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_the_quota_is_raised_by_a_command_and_a_test_of_the_workload_fails(cluster, command):
    assert COMMAND in run(command, cluster, "-o", "patch").stdout.splitlines()
    assert SENTENCE in run(command, cluster, "-o", "junit").stdout
    assert run(command, cluster).stdout.splitlines()[0].endswith("3 pods do not exist: the API server refuses them.")


def test_a_summary_has_the_cause_and_the_fix(cluster):
    last = run("simulate", cluster, "-o", "summary").stdout.splitlines()[-1]
    assert last == f"3 of Deployment default/ads: {SENTENCE}; fix: {ADVICE}"


def test_the_rollout_of_pods_that_are_refused_is_not_said_to_need_another_strategy(cluster):
    findings = json.loads(run("check", cluster, "-o", "json").stdout)["findings"]
    (refused,) = [one for one in findings if one["severity"] == "error"]
    assert (refused["rule"], refused["objects"]) == ("pods-refused", ["Deployment default/ads"])
    assert refused["help"] == ADVICE


def test_a_workload_without_a_pod_is_explained(tmp_path):
    cluster = write(tmp_path, make_node("n1"), owner(status=noted()))
    assert "6 of 6 pods do not exist" in run("explain", cluster, "deploy/ads").stdout
