"""A plugin that fails ends pods in an error: each command that tries pods names the fault, and exits with 1."""

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import owned_by

FAULTY = """\
from kubesched import Plugin


class Faulty(Plugin):
    def filter(self, state, pod, node):
        return team_of(pod)


def team_of(pod):
    return pod.labels["team"]
"""
FAULT = """running "Faulty" filter plugin: KeyError: 'team' (faulty.py:10 in team_of)"""
ROOM = {"cpu": "2", "memory": "4Gi", "pods": "10"}


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """A running pod and a pending one."""
    web = owned_by("ReplicaSet", "web")
    nodes = [make_node(name, allocatable=ROOM) for name in ("n1", "n2")]
    return write(
        tmp_path,
        *nodes,
        make_pod("web-1", node="n1", metadata=web),
        make_pod("new", labels={"example.com/gang": "red"}),
    )


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    (tmp_path / "faulty.py").write_text(FAULTY)
    return f"{tmp_path / 'faulty.py'}:Faulty"


@pytest.mark.parametrize(
    "command",
    [
        ["simulate"],
        ["fit", "--resource", "cpu=1"],
        ["fit", "--resource", "cpu=1", "--max"],
        ["explain"],
        ["explain", "default/new"],
        ["explain", "default/new", "-o", "json"],
        ["explain", "-o", "jsonl"],
        ["explain", "--group", "example.com/gang=red"],
        ["drain", "n1"],
        ["drain", "--each"],
        ["drain", "--most"],
        ["drain", "--each", "-o", "json"],
        ["drain", "n1", "-o", "json"],
    ],
)
def test_the_fault_is_named_and_the_command_exits_with_1(snapshot: Path, plugin: str, command: list[str]):
    name, *options = command
    assert run(name, snapshot, *options).exit_code == 0
    result = run(name, snapshot, *options, "--plugin", plugin)
    assert result.exit_code == 1
    assert "KeyError: 'team'" in result.stdout


def test_a_page_with_a_fault_promises_nothing(snapshot: Path, plugin: str):
    drained = run("drain", snapshot, "n2", "--plugin", plugin).stdout
    assert drained.startswith("A plugin failed, so it is not known whether n2 could be drained.")
    assert "Next: " not in drained
    asked = run("fit", snapshot, "--resource", "cpu=1", "--plugin", plugin)
    assert f"A plugin failed: {FAULT}." in asked.stdout
    assert "Next: " not in asked.stdout


def test_a_drain_says_first_that_a_plugin_failed(snapshot: Path, plugin: str):
    lines = run("drain", snapshot, "n1", "--plugin", plugin).stdout.splitlines()
    assert lines[1] == f"A plugin failed: {FAULT}."
    document = json.loads(run("drain", snapshot, "n1", "--plugin", plugin, "-o", "json").stdout)
    assert document["faults"] == [FAULT]
    assert [pod["message"] for pod in document["pods"]] == [FAULT]


SILENT = """\
from kubesched import Plugin, Status


class Silent(Plugin):
    def filter(self, state, pod, node):
        return Status.unresolvable("node(s) were closed")

    def explain_rejection(self, state, pod, node, status):
        raise ValueError("oops")
"""


@pytest.mark.parametrize("options", [["default/new", "--node", "n2"], ["default/new"], []], ids=" ".join)
def test_a_rejection_keeps_its_reason_if_the_plugin_fails_to_explain_it(
    tmp_path: Path, options: list[str], caplog: pytest.LogCaptureFixture
):
    (tmp_path / "silent.py").write_text(SILENT)
    pods = [make_pod("new"), make_pod("other")]
    cluster = write(tmp_path, make_node("n1", unschedulable=True), make_node("n2"), *pods, name="closed.json")
    result = run("explain", cluster, *options, "--plugin", f"{tmp_path / 'silent.py'}:Silent")
    assert result.exit_code == 0
    assert "node(s) were closed" in result.stdout
    assert "oops" not in result.stdout
    fault = 'running ExplainRejection plugin "Silent": ValueError: oops (silent.py:9 in explain_rejection)'
    (said,) = caplog.messages
    assert said.startswith(fault)


UNREADY = """\
from kubesched import Plugin


class Unready(Plugin):
    def start(self, handle):
        raise OSError("no prices")

    def score(self, state, pod, node):
        return 1
"""


@pytest.mark.parametrize("command", [["simulate"], ["explain", "default/new"], ["drain", "n1"]], ids=" ".join)
def test_a_start_that_fails_is_shown_with_its_line(snapshot: Path, command: list[str]):
    plugin = snapshot.parent / "unready.py"
    plugin.write_text(UNREADY)
    name, *options = command
    result = run(name, snapshot, *options, "--plugin", f"{plugin}:Unready")
    assert result.exit_code == 2
    fault = 'starting plugin "Unready": OSError: no prices (unready.py:6 in start)\n'
    assert result.stderr.endswith(f"kubesched: error: {fault}")


def test_a_check_shows_the_line_of_start_once(tmp_path: Path):
    plugin = tmp_path / "unready.py"
    plugin.write_text(UNREADY)
    told = run("plugin", "check", f"{plugin}:Unready").stdout
    assert "OSError: no prices (unready.py:6 in start)\n" in told
    assert "(unready.py:6 in start) (" not in told


def test_debug_shows_a_traceback_once_with_the_first_pod_and_node(snapshot: Path, plugin: str):
    result = run("simulate", snapshot, "--plugin", plugin, "--debug")
    assert result.stderr.count("Traceback") == 1
    assert (
        result.stderr.count("the stack trace of a plugin's fault hook=filter plugin=Faulty pod=default/new node=n1")
        == 1
    )


WHAT_IFS = [
    ["fit", "--resource", "cpu=1"],
    ["drain", "n1"],
    ["drain", "--each"],
    ["drain", "--most"],
    ["compare", "--seeds", "5"],
]


@pytest.mark.parametrize("command", WHAT_IFS, ids=" ".join)
def test_a_fault_is_an_error_in_junit(snapshot: Path, plugin: str, command: list[str]):
    name, *options = command
    suites = ElementTree.fromstring(run(name, snapshot, *options, "--plugin", plugin, "-o", "junit").stdout)
    assert (suites.get("errors"), suites.get("tests")) == ("1", str(len(list(suites.iter("testcase")))))
    (error,) = suites.iter("error")
    assert "KeyError: 'team' (faulty.py:10 in team_of)" in (error.text or "")


@pytest.mark.parametrize("command", WHAT_IFS, ids=" ".join)
def test_a_fault_is_noted_beside_csv(snapshot: Path, plugin: str, command: list[str]):
    name, *options = command
    result = run(name, snapshot, *options, "--plugin", plugin, "-o", "csv")
    (said,) = [line for line in result.stderr.splitlines() if "a plugin failed" in line]
    assert said.startswith("kubesched: note: a plugin failed: ")
    assert said.endswith("KeyError: 'team' (faulty.py:10 in team_of)")


def test_drains_of_a_node_agree_that_a_fault_leaves_it_unknown(snapshot: Path, plugin: str):
    def drained(*options: str) -> str:
        return run("drain", snapshot, *options, "--plugin", plugin).stdout

    unknown = "A plugin failed, so it is not known"
    assert drained("n2").startswith(f"{unknown} whether n2 could be drained.")
    assert drained("--each").startswith(f"{unknown} which of 2 nodes could be drained.")
    assert drained("--most").startswith(f"{unknown} which of 2 nodes could be drained together.")
    rows = csv.DictReader(io.StringIO(drained("--each", "-o", "csv")))
    assert [(row["canGo"], row["why"]) for row in rows] == [("not known", "a plugin failed")] * 2
    assert drained("--most", "-o", "csv") == "node\n"
    for options in (("n2",), ("--most",)):
        assert json.loads(drained(*options, "-o", "json"))["canGo"] is None
    each = json.loads(drained("--each", "-o", "json"))
    assert (each["canGo"], [node["canGo"] for node in each["nodes"]]) == (0, [None, None])
    suites = ElementTree.fromstring(drained("--each", "-o", "junit"))
    assert suites.get("failures") == "2"


def test_fit_says_once_what_failed_and_that_pods_would_fail(snapshot: Path, plugin: str):
    text = run("fit", snapshot, "--resource", "cpu=1", "--replicas", "2", "--plugin", plugin).stdout
    assert text.startswith("0 of 2 would fit: it would fail (SchedulerError).\n")
    assert "Would fail (SchedulerError): 2\n" in text
    assert "Would stay pending" not in text


@pytest.mark.parametrize("options", [["n1"], ["--each"], ["--most"]], ids=" ".join)
def test_drain_says_that_pending_pods_would_fail(snapshot: Path, plugin: str, options: list[str]):
    text = run("drain", snapshot, *options, "--plugin", plugin).stdout
    assert "placed first: 0 would get a node, 0 would stay pending, 1 would fail (SchedulerError).\n" in text
    document = json.loads(run("drain", snapshot, *options, "--plugin", plugin, "-o", "json").stdout)
    assert (document["pendingBefore"], document["failedBefore"]) == (0, 1)


def test_a_what_if_counts_pods_that_would_fail_once(snapshot: Path, plugin: str):
    """The difference and the outcome count the same pods as pending."""
    options = ("--cordon", "n2", "--plugin", plugin, "-o")
    text = run("simulate", snapshot, *options, "summary").stdout
    said = "no pod would stay pending; 1 pod would fail, as many as without this change. 1 pending pod: 1 would fail."
    assert said in text
    found = json.loads(run("simulate", snapshot, *options, "json").stdout)["whatIf"]
    assert (found["pending"], found["pendingBefore"], found["failed"], found["failedBefore"]) == (0, 0, 1, 1)
