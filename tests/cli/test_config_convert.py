import json

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched.config import effective
from kubesched.release import DEFAULT_RELEASE
from kubesched.setup import load_configuration

GROUP = "kubescheduler.config.k8s.io"
HEADER = "apiVersion: kubescheduler.config.k8s.io/{}\nkind: KubeSchedulerConfiguration\n"
POLICY = '{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "SelectorSpreadPriority", "weight": 1}]}'
PACKING = '{"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": "MostRequestedPriority", "weight": 1}]}'
OLDER = [
    PACKING,
    HEADER.format("v1beta3") + "parallelism: 8\n",
    HEADER.format("v1beta2") + "profiles: [{schedulerName: a}, {schedulerName: b}]\n",
]


def convert(text: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["config", "convert", "-", *options], input=text)


@pytest.mark.parametrize("text", OLDER)
@pytest.mark.parametrize("reader", ["kube-scheduler", "kubesched"])
def test_converting_twice_is_converting_once(text, reader):
    once = convert(text, "--for", reader)
    assert once.exit_code == 0
    twice = convert(once.stdout, "--for", reader)
    assert (twice.exit_code, twice.stdout) == (0, once.stdout)


@pytest.mark.parametrize("text", OLDER)
def test_the_effective_configuration_is_the_same_before_and_after(text):
    after = convert(text, "--for", "kubesched").stdout
    assert effective(load_configuration(text.encode()), DEFAULT_RELEASE) == effective(
        load_configuration(after.encode()), DEFAULT_RELEASE
    )


def test_what_has_no_equivalent_is_a_comment_and_ends_with_3():
    result = convert(POLICY)
    assert result.exit_code == 3
    assert "# no equivalent: priority SelectorSpreadPriority (SelectorSpread, weight 1); " in result.stdout
    assert convert(result.stdout).exit_code == 0


def test_kubesched_has_the_legacy_plugins():
    result = convert(POLICY, "--for", "kubesched")
    assert result.exit_code == 0
    assert "- name: SelectorSpread\n" in result.stdout


def test_a_v1_file_is_printed_as_it_is():
    text = HEADER.format("v1") + "# mine\nparallelism:   3\n"
    assert convert(text).stdout == text


def test_a_v1_file_for_kube_scheduler_loses_legacy_plugins():
    ours = convert(POLICY, "--for", "kubesched").stdout
    result = convert(ours)
    assert result.exit_code == 3
    assert "name: SelectorSpread" not in result.stdout


def test_a_bundled_plugin_is_kept_for_kubesched_alone():
    ours = HEADER.format("v1") + "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeUsage, weight: 5}]}}}]\n"
    result = convert(ours)
    assert result.exit_code == 3
    assert "# no equivalent: NodeUsage, which only kubesched has; " in result.stdout
    assert "name: NodeUsage" not in result.stdout
    kept = convert(ours, "--for", "kubesched")
    assert (kept.exit_code, kept.stdout) == (0, ours)


def test_what_is_not_valid_ends_with_2(tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text(HEADER.format("v1beta2") + "parallelism: 0\n")
    result = CliRunner().invoke(main, ["config", "convert", str(file)])
    assert result.exit_code == 2
    assert "parallelism: Invalid value: 0" in result.stderr
    assert result.stdout == ""


def test_check_refuses_an_older_version_and_names_the_command(tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text(POLICY)
    result = CliRunner().invoke(main, ["config", "check", str(file)])
    assert result.exit_code == 1
    assert result.stdout.startswith('no kind "Policy" is registered for version "v1"\n')
    assert "kubesched config convert FILE" in result.stdout


def test_json_of_an_older_version_becomes_yaml():
    document = {"apiVersion": f"{GROUP}/v1beta3", "kind": "KubeSchedulerConfiguration", "clientConnection": {"qps": 7}}
    result = convert(json.dumps(document))
    assert result.exit_code == 0
    assert "clientConnection:\n  qps: 7\n" in result.stdout


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": ["KubeSchedulerConfiguration"]},
        {"apiVersion": {}},
        {"profiles": [{"plugins": {"filter": {"enabled": [{"name": ["NodeName"]}]}}}]},
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeLabel"}]}}, "pluginConfig": ["NodeLabel"]}]},
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeLabel"}]}}, "pluginConfig": {"a": 1}}]},
    ],
)
def test_a_value_of_a_wrong_type_ends_with_2(fields):
    document = {"apiVersion": f"{GROUP}/v1", "kind": "KubeSchedulerConfiguration", **fields}
    result = convert(json.dumps(document))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("kubesched: error: ")
