"""Configurations with the traps of articles on extending the scheduler, as `kubesched config` reads them."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main

ARTICLES = Path(__file__).parents[1] / "articles"
MANIFEST = str(ARTICLES / "scheduler-with-policy.yaml")


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    """A file with one node, which has room."""
    file = tmp_path / "cluster.json"
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    file.write_text(json.dumps({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "status": status}))
    return str(file)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["config", *words])


COMMANDS = [
    ("scheduler", "--kubeconfig", "gone"),
    ("scheduler", "manifests", "--image", "example.com/kubesched:1"),
    ("simulate", "{}"),
    ("explain", "{}", "--all"),
    ("compare", "{}", "--pack"),
    ("drain", "{}", "n1"),
    ("fit", "{}", "--resource", "cpu=1"),
    ("extender", "--plugin", f"{ARTICLES}/article_plugins.py:skipMaintenance"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_every_command_refuses_a_file_with_two_configurations_and_names_them(command, snapshot, tmp_path):
    file = tmp_path / "both.yaml"
    file.write_text("---\n".join((ARTICLES / name).read_text() for name in ("multipoint.yaml", "points.yaml")))
    words = [word.format(snapshot) for word in command]
    result = CliRunner().invoke(main, [*words, "--config", str(file)])
    assert result.exit_code == 2, result.output
    assert f"{file}: expected one configuration, found 2: {file}: line 1; {file}: line 12\n" in result.stderr
    assert f"give one of them as a file; `kubesched config convert {file}`" in result.stderr


@pytest.mark.parametrize("command", ["simulate", "explain"])
def test_the_manifest_of_a_scheduler_decides_as_its_configuration(command, snapshot):
    words = [command, snapshot, *(["--all"] if command == "explain" else [])]
    assert CliRunner().invoke(main, [*words, "--config", MANIFEST]).exit_code == 0


def test_the_manifest_of_a_scheduler_names_the_profile_and_the_lease(tmp_path):
    written = tmp_path / "written.yaml"
    result = CliRunner().invoke(main, ["scheduler", "--config", MANIFEST, "--write-config-to", str(written)])
    assert result.exit_code == 0, result.stderr
    document = yaml.safe_load(written.read_text())
    assert [profile["schedulerName"] for profile in document["profiles"]] == ["blue-scheduler"]
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"


def test_manifests_have_the_converted_configuration_and_its_lease():
    words = ["scheduler", "manifests", "--image", "example.com/kubesched:1", "--config", MANIFEST]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.stderr
    (config_map,) = (one for one in yaml.safe_load_all(result.stdout) if one["kind"] == "ConfigMap")
    document = yaml.safe_load(config_map["data"]["scheduler.yaml"])
    assert (document["kind"], document["profiles"][0]["schedulerName"]) == (
        "KubeSchedulerConfiguration",
        "blue-scheduler",
    )
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"


def test_show_converts_an_older_version_and_says_so(caplog):
    result = run("show", MANIFEST)
    assert result.exit_code == 0, result.stderr
    assert yaml.safe_load(result.stdout)["profiles"][0]["schedulerName"] == "blue-scheduler"
    assert [message.partition(";")[0] for message in caplog.messages] == [
        f"{MANIFEST}: converted from kubescheduler.config.k8s.io/v1alpha1"
    ]


def test_a_policy_in_a_manifest_is_converted_once_as_a_part_of_its_configuration():
    result = run("convert", MANIFEST)
    (document,) = yaml.safe_load_all(result.stdout)
    assert document["profiles"][0]["schedulerName"] == "blue-scheduler"
    assert document["leaderElection"]["resourceName"] == "blue-scheduler"
    assert document["extenders"][0]["filterVerb"] == "predicates/always_true"


def test_a_manifest_with_a_configuration_and_its_policy_is_one_side_of_a_diff():
    result = run("diff", MANIFEST, MANIFEST)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("command", ["check", "show"])
def test_a_manifest_is_judged_as_one_configuration(command):
    assert "blue-scheduler-policy, policy.cfg" not in run(command, MANIFEST).output
