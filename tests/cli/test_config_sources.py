import json

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched.config import effective
from kubesched.release import DEFAULT_RELEASE
from kubesched.setup import load_configuration

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: {}\n"
POLICY = '{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "MostRequestedPriority", "weight": 1}]}'
CONFIG_MAP = """apiVersion: v1
kind: ConfigMap
metadata: {name: my-scheduler, namespace: kube-system}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    parallelism: 3
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a subcommand in a folder with a.yaml, b.yaml and so on."""
    monkeypatch.chdir(tmp_path)

    def run_on(*words: str, files: tuple[str, ...] = (), text: str | None = None) -> Result:
        for name, content in zip("abc", files, strict=False):
            (tmp_path / f"{name}.yaml").write_text(content)
        return CliRunner().invoke(main, ["config", *words], input=text)

    return run_on


def test_the_configuration_in_a_config_map_is_shown(run):
    result = run("show", "a.yaml", files=(CONFIG_MAP,))
    assert yaml.safe_load(result.stdout) == effective(load_configuration(V1.format(3).encode()), DEFAULT_RELEASE)


def test_standard_input_is_read(run):
    assert run("show", "-", text=CONFIG_MAP).stdout == run("show", "a.yaml", files=(V1.format(3),)).stdout


def test_several_configurations_are_documents_below_their_names(run):
    result = run("show", "a.yaml", "b.yaml", files=(CONFIG_MAP, V1.format(5)))
    shown = list(yaml.safe_load_all(result.stdout))
    assert [one["parallelism"] for one in shown] == [3, 5]
    assert result.stdout.startswith("# a.yaml: ConfigMap kube-system/my-scheduler, config.yaml\napiVersion:")
    assert "\n---\n# b.yaml\napiVersion:" in result.stdout
    assert json.loads(run("show", "a.yaml", "b.yaml", "-o", "json").stdout) == shown


def test_what_is_converted_is_the_configuration_alone(run):
    result = run("convert", "a.yaml", "b.yaml", files=(CONFIG_MAP, POLICY))
    config_map, policy = yaml.safe_load_all(result.stdout)
    assert config_map == yaml.safe_load(V1.format(3))
    assert {"type": "MostAllocated"} in [
        e["args"].get("scoringStrategy") for e in policy["profiles"][0]["pluginConfig"]
    ]
    assert "# b.yaml\n# Converted from Policy v1" in result.stdout
    assert run("convert", "a.yaml").stdout == V1.format(3)


def test_a_message_names_the_place_in_the_file(run):
    result = run("show", "a.yaml", files=(CONFIG_MAP.replace("parallelism: 3", "parallelism: 0"),))
    assert result.exit_code == 2
    assert "\n  in a.yaml: ConfigMap kube-system/my-scheduler, config.yaml\n" in result.stderr


@pytest.mark.parametrize("command", ["show", "convert"])
def test_a_file_without_a_configuration_ends_with_2(run, command):
    result = run(command, "a.yaml", files=("kind: Service\n",))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kubesched: error: a.yaml: no scheduler configuration: found Service; expected ")


def test_a_policy_is_read_from_the_config_map_that_another_file_has(run):
    older = """apiVersion: kubescheduler.config.k8s.io/v1alpha1
kind: KubeSchedulerConfiguration
algorithmSource: {policy: {configMap: {namespace: kube-system, name: p}}}
"""
    policy = f"kind: ConfigMap\nmetadata: {{name: p, namespace: kube-system}}\ndata: {{policy.cfg: '{POLICY}'}}\n"
    result = run("convert", "a.yaml", "b.yaml", files=(older, policy))
    assert result.exit_code == 0
    assert "type: MostAllocated" in result.stdout


def test_what_our_own_manifests_run_with_is_shown(run):
    manifests = CliRunner().invoke(main, ["scheduler", "manifests", "--image", "example.com/kubesched:1"]).stdout
    result = run("show", "-", text=manifests)
    (shown,) = yaml.safe_load_all(result.stdout)
    assert shown["profiles"][0]["schedulerName"] == "kubesched"
    assert shown["leaderElection"]["resourceName"] == "kubesched"


def test_the_flags_of_a_static_pod_count_in_what_is_shown(run):
    pod = """kind: Pod
metadata: {name: kube-scheduler}
spec:
  containers:
  - command: [kube-scheduler, --leader-elect-lease-duration=30s, --config=/nowhere/at/all/b.yaml]
"""
    result = run("show", "a.yaml", files=(pod, V1.format(5)))
    shown = yaml.safe_load(result.stdout)
    assert (shown["parallelism"], shown["leaderElection"]["leaseDuration"]) == (5, "30s")


def test_the_provider_that_a_flag_names_is_converted(run):
    command = "[kube-scheduler, --algorithm-provider=ClusterAutoscalerProvider]"
    pod = f"kind: Pod\nspec: {{containers: [{{command: {command}}}]}}\n"
    result = run("convert", "-", text=pod)
    assert result.exit_code == 3  # the SelectorSpread of its time has no equivalent
    assert result.stdout.count("MostAllocated") == 1
