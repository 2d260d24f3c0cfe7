"""Standard output belongs to the command: what a plugin prints goes to standard error."""

import ast
import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kubesched.testing import make_node, make_pod
from tests.architecture.sources import MODULES
from tests.cli.clusters import run, write

CHATTY = """
from kubesched import Plugin, PluginArgs, Status

print("chatty is imported")


class Chatty(Plugin):
    class Args(PluginArgs):
        def __post_init__(self):
            print("chatty has arguments")

    def start(self, handle):
        print("chatty starts")

    def filter(self, state, pod, node):
        print("chatty looks at", node.name)
        return Status.unresolvable("node(s) were small") if node.name == "n1" else Status.SUCCESS

    def explain_rejection(self, state, pod, node, status):
        print("chatty explains")
        yield "small"
"""
COMMANDS = [
    ["simulate"],
    ["simulate", "--no-preemption-effects"],
    ["explain"],
    ["explain", "default/web"],
    ["explain", "default/web", "--node", "n1"],
    ["fit", "--resource", "cpu=1"],
    ["drain", "n1"],
    ["drain", "--each"],
    ["compare", "--seeds", "5"],
]


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    (tmp_path / "chatty.py").write_text(CHATTY)
    return f"{tmp_path / 'chatty.py'}:Chatty"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    return write(tmp_path, make_node("n1"), make_node("n2"), make_pod("web"))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_report_is_not_mixed_with_what_a_plugin_prints(cluster: Path, plugin: str, command: list[str]) -> None:
    name, *options = command
    result = run(name, cluster, *options, "--plugin", plugin, "-o", "json")
    assert json.loads(result.stdout)["schema"].startswith("kubesched/")
    assert "chatty is imported\n" in result.stderr
    assert "chatty looks at n2\n" in result.stderr


@pytest.mark.parametrize("output", ["csv", "jsonl", "junit"])
def test_no_format_is_mixed_with_it(cluster: Path, plugin: str, output: str) -> None:
    told = run("simulate", cluster, "--plugin", plugin, "-o", output).stdout
    if output == "csv":
        assert {len(row) for row in csv.reader(io.StringIO(told))} == {len(told.splitlines()[0].split(","))}
    elif output == "jsonl":
        assert [json.loads(line)["pod"] for line in told.splitlines()] == ["default/web"]
    else:
        assert ElementTree.fromstring(told).tag == "testsuites"


def test_a_check_begins_with_its_verdict(plugin: str) -> None:
    result = run("plugin", "check", plugin)
    assert result.stdout.startswith("Chatty ")
    assert "chatty explains\n" in result.stderr


@pytest.mark.parametrize("command", [["plugin", "list"], ["config", "show", "-o", "json"]], ids=" ".join)
def test_a_command_that_only_imports_a_plugin_prints_its_own_words(
    tmp_path: Path, plugin: str, command: list[str]
) -> None:
    config = tmp_path / "scheduler.yaml"
    config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
    files = [config] if command[0] == "config" else []
    result = run(*command, *files, "--plugin", plugin)
    assert "is imported" not in result.stdout
    assert "chatty is imported\n" in result.stderr


def test_commands_print_through_one_door() -> None:
    """Where `print` works, so would that of a plugin."""
    doors = {"kubesched.cli.output", "kubesched.cli.standard_streams"}
    printing = ("sys.stdout", "click.echo", "print")
    calls = {
        (module.name, ast.unparse(node))
        for module in MODULES
        if module.room == "cli" and module.name not in doors and module.has_any(printing)
        for node in module.nodes
        if isinstance(node, ast.Attribute | ast.Name)
    }
    assert [one for one in calls if one[1] in printing] == []
