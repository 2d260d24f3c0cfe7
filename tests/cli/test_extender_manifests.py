import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched.cli.extender import extender
from tests.cli.clusters import TEAM_ZONE, ZONED_CONFIG


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in (("team_zone.py", TEAM_ZONE), ("zone.yaml", "zone: a\n"), ("extender.yaml", ZONED_CONFIG)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*options: str, image: str = "kubesched:1") -> Result:
    return CliRunner().invoke(main, ["extender", "manifests", "--image", image, *options])


def documents(*options: str) -> dict[tuple[str, str], dict]:
    result = run(*options)
    assert result.exit_code == 0, result.output
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(result.stdout)}


def command_of(found: dict) -> list[str]:
    return found["Deployment", "kubesched"]["spec"]["template"]["spec"]["initContainers"][0]["command"]


def extenders_of(found: dict) -> dict:
    return yaml.safe_load(found["ConfigMap", "kubesched"]["data"]["kube-scheduler.yaml"])["extenders"][0]


def test_files_of_the_options_are_mounted_where_the_options_say(folder):
    found = documents("--plugin", f"{folder}/team_zone.py:TeamZone", "--plugin-args", "TeamZone=zone.yaml")
    assert found["ConfigMap", "kubesched-extender"]["data"] == {"team_zone.py": TEAM_ZONE, "zone.yaml": "zone: a\n"}
    assert "--plugin=/etc/kubesched/team_zone.py:TeamZone" in command_of(found)
    assert "--plugin-args=TeamZone=/etc/kubesched/zone.yaml" in command_of(found)
    assert (extenders_of(found)["prioritizeVerb"], extenders_of(found)["weight"]) == ("prioritize", 1)


def test_a_configuration_gives_weights_and_scheduler_names(folder):
    found = documents("--plugin", "team_zone.py:TeamZone", "--config", "extender.yaml")
    assert "--config=/etc/kubesched/extender.yaml" in command_of(found)
    assert extenders_of(found)["weight"] == 7
    configuration = yaml.safe_load(found["ConfigMap", "kubesched"]["data"]["kube-scheduler.yaml"])
    assert configuration["profiles"] == [{"schedulerName": "zoned"}]


def test_further_files_go_along(folder):
    (folder / "zones.py").write_text("A = 1\n")
    found = documents("--plugin", "team_zone.py:TeamZone", "--plugin-file", "zones.py")
    assert found["ConfigMap", "kubesched-extender"]["data"]["zones.py"] == "A = 1\n"


def test_a_plugin_of_the_image_needs_no_file(folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    found = documents("--plugin", "team_zone:TeamZone")
    assert ("ConfigMap", "kubesched-extender") not in found
    assert "--plugin=team_zone:TeamZone" in command_of(found)


def test_what_is_worth_knowing_goes_to_standard_error(folder):
    result = run(
        "--plugin", "team_zone.py:TeamZone", "--bind", "--ignorable", "--kube-scheduler-image", "r:5/k:v1.29.1"
    )
    notes = result.stderr.splitlines()
    assert all(line.startswith("kubesched: note: ") for line in notes)
    assert any("ignorable" in line for line in notes)
    assert any("0 to 10" in line for line in notes)
    newer = run("--plugin", "team_zone.py:TeamZone", "--bind", "--ignorable")
    assert "ignorable" not in newer.stderr


def test_options_reach_the_extender(folder):
    command = command_of(
        documents("--plugin", "team_zone.py:TeamZone", "--bind", "--preemption-helps", "--http-timeout", "1m")
    )
    assert {"--bind", "--preemption-helps", "--http-timeout=60s"} <= set(command)


def test_what_is_skipped_here_is_skipped_in_the_container(folder):
    enabled = "plugins: {multiPoint: {enabled: [{name: InGo}]}}"
    with (folder / "extender.yaml").open("a") as file:
        file.write(f"- schedulerName: other\n  {enabled}\n")
    options = ("--plugin", "team_zone.py:TeamZone", "--config", "extender.yaml", "--skip-plugin", "InGo")
    assert "--skip-plugin=InGo" in command_of(documents(*options))


def test_managed_resources_are_in_the_configuration_of_kube_scheduler(folder):
    resources = ("--managed-resource", "example.com/gpu-mem", "--managed-resource", "example.com/gpu=ignored")
    found = documents("--plugin", "team_zone.py:TeamZone", *resources)
    assert extenders_of(found)["managedResources"] == [
        {"name": "example.com/gpu-mem"},
        {"name": "example.com/gpu", "ignoredByScheduler": True},
    ]
    assert "managedResources" not in extenders_of(documents("--plugin", "team_zone.py:TeamZone"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "no plugin to serve"),
        (("--plugin", "gone.py:TeamZone"), "gone.py: no such file"),
        (("--plugin", "team_zone.py:TeamZone", "--config", "gone.yaml"), "open gone.yaml: no such file or directory"),
        (("--plugin", "team_zone.py:TeamZone", "--plugin-file", "gone"), "open gone: no such file or directory"),
        (
            ("--plugin", "team_zone.py:TeamZone", "--plugin-file", "sub/zone.yaml", "--plugin-file", "zone.yaml"),
            "have the same name",
        ),
        (("--plugin", "team_zone.py:TeamZone", "--plugin-file", "raw"), "not UTF-8 text"),
        (("--plugin", "team_zone.py:TeamZone", "--plugin-file", "my zone"), "rename the file"),
        (("--plugin", "team_zone.py:TeamZone", "--name", "Team"), "expected up to 40 of"),
        (("--plugin", "team_zone.py:TeamZone", "--scheduler-name", "a b"), "as in spec.schedulerName"),
        (("--plugin", "team_zone.py:TeamZone", "--scheduler-name", "default-scheduler"), "own kube-scheduler"),
        (("--plugin", "team_zone.py:TeamZone", "--http-timeout", "5x"), "'5x' is not a duration"),
        (("--plugin", "team_zone.py:TeamZone", "--http-timeout", "0s"), "must be more than 0"),
        (("--plugin", "team_zone.py:TeamZone", "--service", "--bind"), "--client-secret"),
        (
            ("--plugin", "team_zone.py:TeamZone", "--service", "--client-secret", "c", "--client-cn", " "),
            "'--client-cn': found ' '; give the common name of a client certificate",
        ),
        (
            ("--plugin", "team_zone.py:TeamZone", "--managed-resource", "cpu"),
            '--managed-resource: Invalid value: "cpu": is an invalid extended resource name',
        ),
    ],
)
def test_a_mistake_is_one_sentence(folder, options, words):
    (folder / "sub").mkdir()
    (folder / "sub" / "zone.yaml").write_text("zone: b\n")
    (folder / "raw").write_bytes(b"\xff")
    (folder / "my zone").write_text("")
    result = run(*options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


@pytest.mark.parametrize(
    "options", [(), ("--service", "--client-secret", "client", "--client-cn", "system:kube-scheduler")]
)
def test_the_extender_understands_what_it_is_started_with(folder, options):
    plugin = ("--plugin", "team_zone.py:TeamZone", "--plugin-args", "TeamZone=zone.yaml", "--config", "extender.yaml")
    found = documents(*plugin, *options, "--bind", "--preemption-helps", "--http-timeout", "500ms")
    pods = [one["spec"]["template"]["spec"] for (kind, _), one in found.items() if kind == "Deployment"]
    containers = [container for pod in pods for container in [*pod["containers"], *pod.get("initContainers", [])]]
    (command,) = [container["command"] for container in containers if container["name"] == "extender"]
    assert command[:2] == ["kubesched", "extender"]
    params = extender.make_context("extender", command[2:]).params
    assert params["references"] == ("/etc/kubesched/team_zone.py:TeamZone",)
    assert params["plugin_args"] == {"TeamZone": "/etc/kubesched/zone.yaml"}
    assert (params["http_timeout"], params["in_cluster"], params["offers_bind"]) == (0.5, True, True)
    assert bool(params["client_names"]) is bool(options)


def test_a_kind_that_a_plugin_reads_is_granted_with_a_comment_that_names_it(folder):
    (folder / "quota.py").write_text(
        "from kubesched import Plugin, Status\n\n\nclass Quotas(Plugin):\n"
        '    reads = ("example.com/v1/Quota",)\n\n'
        "    def filter(self, state, pod, node):\n        return Status.SUCCESS\n"
    )
    printed = run("--plugin", "quota.py:Quotas").stdout
    assert "# Read quotas.example.com, for Quotas." in printed
    assert "- apiGroups:\n  - example.com\n  resources:\n  - quotas\n  verbs:\n  - list\n  - watch\n" in printed


WRITES = TEAM_ZONE.replace(
    "class TeamZone(Plugin):",
    """class TeamZone(Plugin):
    name = "my-plugin"
    rbac = [{"apiGroups": ["example.com"], "resources": ["quotas"], "verbs": ["get", "patch"]}]
""",
)


def test_the_rights_of_a_plugin_are_granted_with_a_comment_that_names_it(folder):
    (folder / "team_zone.py").write_text(WRITES)
    rule = {"apiGroups": ["example.com"], "resources": ["quotas"], "verbs": ["get", "patch"]}
    found = documents("--plugin", "team_zone.py:TeamZone")
    assert found["ClusterRole", "kubesched-extender"]["rules"][-1] == rule
    lines = run("--plugin", "team_zone.py:TeamZone").stdout.splitlines()
    assert lines[lines.index("# For the plugin my-plugin.") + 1 :][:2] == ["- apiGroups:", "  - example.com"]
