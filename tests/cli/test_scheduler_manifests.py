"""`kubesched scheduler manifests`: its options, up to what is printed."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.cli.scheduler_command import scheduler
from tests.cli.clusters import TEAM_ZONE, ZONED_CONFIG, run

CONFIG = f"{ZONED_CONFIG}clientConnection: {{kubeconfig: /etc/kubernetes/scheduler.conf}}\n"
PLUGIN = ("--plugin", "team_zone.py:TeamZone")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("team_zone.py", TEAM_ZONE), ("zone.yaml", "zone: a\n"), ("config.yaml", CONFIG)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def manifests(*options: str) -> dict[str, dict[str, Any]]:
    result = run("scheduler", "manifests", "--image", "kubesched:1", *options)
    assert result.exit_code == 0, result.output
    return {one["kind"]: one for one in yaml.safe_load_all(result.stdout)}


def command_of(documents: dict[str, dict[str, Any]]) -> list[str]:
    return documents["Deployment"]["spec"]["template"]["spec"]["containers"][0]["command"]


def test_files_of_the_options_are_mounted_where_the_options_say() -> None:
    documents = manifests(*PLUGIN, "--plugin-args", "TeamZone=zone.yaml", "--plugin-file", "config.yaml")
    files = documents["ConfigMap"]["data"]
    assert files.keys() == {"scheduler.yaml", "team_zone.py", "zone.yaml", "config.yaml"}
    assert files["team_zone.py"] == TEAM_ZONE
    assert "--plugin=/etc/kubesched/team_zone.py:TeamZone" in command_of(documents)
    assert "--plugin-args=TeamZone=/etc/kubesched/zone.yaml" in command_of(documents)


def test_the_configuration_is_the_users_with_the_lease_filled_in() -> None:
    configuration = yaml.safe_load(manifests(*PLUGIN, "--config", "config.yaml")["ConfigMap"]["data"]["scheduler.yaml"])
    given = yaml.safe_load(CONFIG)
    assert configuration == {**given, "leaderElection": configuration["leaderElection"]}
    assert configuration["leaderElection"]["resourceName"] == "kubesched"


def test_the_name_is_what_pods_ask_for_unless_another_is_given() -> None:
    def profiles(*options: str) -> list[dict[str, str]]:
        return yaml.safe_load(manifests(*options)["ConfigMap"]["data"]["scheduler.yaml"])["profiles"]

    assert profiles("--name", "gpu") == [{"schedulerName": "gpu"}]
    assert profiles("--scheduler-name", "gpu.v2") == [{"schedulerName": "gpu.v2"}]
    assert profiles("--replace") == [{"schedulerName": "default-scheduler"}]


def test_the_scheduler_understands_what_it_is_started_with() -> None:
    command = command_of(manifests(*PLUGIN, "--plugin-args", "TeamZone=zone.yaml"))
    assert command[:2] == ["kubesched", "scheduler"]
    params = scheduler.make_context("scheduler", command[2:]).params
    assert (params["in_cluster"], params["bind_address"], params["secure_port"]) == (True, "0.0.0.0", 10259)
    assert str(params["config"]) == "/etc/kubesched/scheduler.yaml"
    assert params["references"] == ("/etc/kubesched/team_zone.py:TeamZone",)
    assert params["plugin_args"] == {"TeamZone": "/etc/kubesched/zone.yaml"}


def test_a_plugin_that_reads_priority_classes_may_read_them(folder: Path) -> None:
    def resources(*options: str) -> list[str]:
        return [one for rule in manifests(*options)["ClusterRole"]["rules"] for one in rule["resources"]]

    assert "priorityclasses" not in resources(*PLUGIN)
    reads = TEAM_ZONE.replace("class TeamZone(Plugin):", 'class TeamZone(Plugin):\n    reads = ("PriorityClass",)')
    (folder / "team_zone.py").write_text(reads)
    assert "priorityclasses" in resources(*PLUGIN)


def test_notes_go_to_standard_error() -> None:
    def notes(*options: str) -> str:
        return run("scheduler", "manifests", "--image", "k", *options).stderr

    assert notes() == ""
    assert "apply these manifests while kube-scheduler runs" in notes("--replace")
    assert "no scheduler is left" not in notes("--replace")
    assert "no scheduler is left" in notes("--replace", "--replicas", "1")
    assert "clientConnection.kubeconfig is not used" in notes(*PLUGIN, "--config", "config.yaml")


def test_a_rate_limit_is_used_and_needs_no_note(folder: Path) -> None:
    config = CONFIG.replace("kubeconfig: /etc/kubernetes/scheduler.conf", "qps: 50")
    (folder / "config.yaml").write_text(config)
    result = run("scheduler", "manifests", "--image", "k", *PLUGIN, "--config", "config.yaml")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--plugin", "gone.py:TeamZone"), "gone.py: no such file"),
        (("--config", "gone.yaml"), "open gone.yaml: no such file or directory"),
        (("--config", "config.yaml"), "TeamZone"),
        ((*PLUGIN, "--config", "config.yaml", "--replace"), "found only zoned"),
        ((*PLUGIN, "--config", "config.yaml", "--scheduler-name", "a"), "are mutually exclusive"),
        ((*PLUGIN, "--plugin-file", "sub/scheduler.yaml"), "is the name of the configuration in the ConfigMap"),
        (("--scheduler-name", "default-scheduler"), "give --replace to replace kube-scheduler"),
        (("--name", "Team"), "expected up to 40 of"),
        (("--replicas", "0"), "0 is not in the range"),
    ],
)
def test_a_mistake_is_one_sentence(folder: Path, options: tuple[str, ...], words: str) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "scheduler.yaml").write_text("")
    result = run("scheduler", "manifests", "--image", "kubesched:1", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_options_of_the_scheduler_do_not_come_before_manifests() -> None:
    result = run("scheduler", *PLUGIN, "manifests", "--image", "kubesched:1")
    assert result.exit_code == 2
    assert "--plugin is before manifests; write options of manifests after it" in result.stderr


WRITES = TEAM_ZONE.replace(
    "class TeamZone(Plugin):",
    """class TeamZone(Plugin):
    name = "my-plugin"
    rbac = [{"apiGroups": ["example.com"], "resources": ["quotas"], "verbs": ["get", "patch"]}]
""",
)


def test_the_rights_of_a_plugin_are_granted_with_a_comment_that_names_it(folder: Path) -> None:
    (folder / "team_zone.py").write_text(WRITES)
    rule = {"apiGroups": ["example.com"], "resources": ["quotas"], "verbs": ["get", "patch"]}
    assert rule in manifests(*PLUGIN)["ClusterRole"]["rules"]
    lines = run("scheduler", "manifests", "--image", "kubesched:1", *PLUGIN).stdout.splitlines()
    assert lines[lines.index("# For the plugin my-plugin.") + 1 :][:2] == ["- apiGroups:", "  - example.com"]
