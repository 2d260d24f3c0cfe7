"""A plugin whose class sets `name`: that name, and no other, is in configurations, flags, reports and messages."""

import json
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

PLUGIN = """
from kubesched import Plugin, PluginArgs, Status


class MyPlugin(Plugin):
    \"\"\"Reject the nodes of a zone.\"\"\"

    name = "{name}"

    class Args(PluginArgs):
        zone: str = "b"

    def filter(self, state, pod, node):
        if node.labels.get("topology.kubernetes.io/zone") == self.args.zone:
            return Status.unschedulable("node(s) were in the wrong zone")
        return Status.SUCCESS

    def score(self, state, pod, node):
        return 7
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {{multiPoint: {{enabled: [{{name: {name}}}]}}}}
  pluginConfig: [{{name: {name}, args: {{zone: a}}}}]
"""


@pytest.fixture(params=["my-plugin", "sample.plugin"])
def name(request, tmp_path: Path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(PLUGIN.format(name=request.param))
    (tmp_path / "scheduler.yaml").write_text(CONFIG.format(name=request.param))
    write(tmp_path, make_node("n1", zone="a"), make_node("n2", zone="b"), make_pod("p"))
    return str(request.param)


def node_in(report: str) -> str:
    (pod,) = json.loads(report)["pods"]
    return str(pod["node"])


def test_a_configuration_names_it_and_gives_its_arguments(name):
    result = run("simulate", "cluster.json", "--config", "scheduler.yaml", "--plugin", "mine.py:MyPlugin", "-o", "json")
    assert node_in(result.stdout) == "n2"


def test_reports_have_its_name(name):
    result = run("explain", "cluster.json", "--pod", "default/p", "--plugin", "mine.py:MyPlugin", "-o", "json")
    shown = json.dumps(json.loads(result.stdout))
    assert f'"{name}"' in shown
    assert "MyPlugin" not in shown


def test_arguments_are_given_to_its_name(name, tmp_path):
    (tmp_path / "args.yaml").write_text("zone: a")
    given = ["simulate", "cluster.json", "--plugin", "mine.py:MyPlugin", "-o", "json", "--plugin-args"]
    assert node_in(run(*given, f"{name}=args.yaml").stdout) == "n2"
    refused = run(*given, "MyPlugin=args.yaml")
    assert refused.exit_code == 2
    assert f'the class MyPlugin is the plugin "{name}"; write {name}' in refused.stderr


def test_a_configuration_with_the_name_of_the_class_is_told_the_right_one(name, tmp_path):
    (tmp_path / "wrong.yaml").write_text(CONFIG.format(name="MyPlugin"))
    for command in (["simulate", "cluster.json", "--config", "wrong.yaml"], ["config", "check", "wrong.yaml"]):
        refused = run(*command, "--plugin", "mine.py:MyPlugin")
        assert refused.exit_code in (1, 2)
        assert f'the class MyPlugin is the plugin "{name}"' in " ".join(refused.output.split())


def test_a_name_that_is_nearly_right_is_told_the_right_one(name, tmp_path):
    (tmp_path / "wrong.yaml").write_text(CONFIG.format(name=f"{name}s"))
    refused = run("simulate", "cluster.json", "--config", "wrong.yaml", "--plugin", "mine.py:MyPlugin")
    assert f'did you mean "{name}"?' in refused.stderr


def test_both_names_describe_it(name):
    first, second = (run("plugin", "show", known, "--plugin", "mine.py:MyPlugin") for known in (name, "MyPlugin"))
    assert first.stdout == second.stdout
    assert first.stdout.startswith(f"{name} (mine.py): Reject the nodes of a zone.")


def test_the_contract_is_checked_under_its_name(name):
    assert run("plugin", "check", "mine.py:MyPlugin").stdout.startswith(f"{name} passes all ")


def test_its_faults_have_its_name(name, tmp_path):
    text = PLUGIN.format(name=name).replace("return Status.SUCCESS", "return 1 / 0")
    (tmp_path / "mine.py").write_text(text)
    result = run("simulate", "cluster.json", "--plugin", "mine.py:MyPlugin")
    assert name in result.output
    assert "MyPlugin" not in result.output
