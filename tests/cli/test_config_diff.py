import json

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
READ = "Read as kube-scheduler v1.36.\n"
WEIGHT = "profiles: [{plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 5}]}}}]\n"
EVERY_WEIGHT = """profiles:
- plugins:
    multiPoint:
      disabled: [{name: NodeResourcesFit}]
      enabled: [{name: NodeResourcesFit, weight: 5}]
    filter: {disabled: [{name: NodeResourcesFit}]}
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a subcommand in a folder with a.yaml, b.yaml and so on."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")

    def run_on(*words: str, files: tuple[str, ...] = ()) -> Result:
        for name, content in zip("abc", files, strict=False):
            (tmp_path / f"{name}.yaml").write_text(content)
        return CliRunner().invoke(main, ["config", *words])

    return run_on


def test_equal_configurations_end_with_0(run):
    result = run("diff", "a.yaml", "b.yaml", files=(V1, V1 + "# the default\nparallelism: 16\n"))
    assert (result.exit_code, result.stdout) == (0, "")


def test_a_difference_is_a_line_and_ends_with_1(run):
    result = run("diff", "a.yaml", "b.yaml", files=(V1, V1 + WEIGHT))
    assert result.exit_code == 1
    assert result.stdout == "profiles[default-scheduler].plugins.score.NodeResourcesFit.weight: 1 -> 5\n"


def test_plugins_are_compared_as_they_run(run):
    result = run("diff", "a.yaml", "b.yaml", files=(V1 + WEIGHT, V1 + EVERY_WEIGHT))
    assert (result.exit_code, result.stdout) == (
        1,
        (
            "profiles[default-scheduler].plugins.preFilter.NodeResourcesFit: moved after NodeDeclaredFeatures\n"
            "profiles[default-scheduler].plugins.filter.NodeResourcesFit: disabled\n"
        ),
    )


def test_differences_are_given_as_json(run):
    result = run("diff", "a.yaml", "b.yaml", "-o", "json", files=(V1, V1 + WEIGHT))
    path = "profiles[default-scheduler].plugins.score.NodeResourcesFit.weight"
    assert json.loads(result.stdout) == {
        "schema": "kubesched/config-diff/v1",
        "kubernetesVersion": "v1.36",
        "old": "a.yaml",
        "new": "b.yaml",
        "changes": [{"path": path, "kind": "changed", "old": 1, "new": 5}],
    }


@pytest.mark.parametrize("output", ["table", "wide", "jsonl", "csv", "markdown", "html", "junit"])
def test_differences_are_a_report_in_every_format(run, output):
    result = run("diff", "a.yaml", "b.yaml", "-o", output, files=(V1, V1 + WEIGHT))
    assert result.exit_code == 1
    assert "NodeResourcesFit.weight" in result.stdout
    assert run("diff", "a.yaml", "a.yaml", "-o", output).exit_code == 0


def test_the_table_of_differences_begins_with_the_verdict(run):
    result = run("diff", "a.yaml", "b.yaml", "-o", "table", files=(V1, V1 + WEIGHT))
    assert result.stdout.startswith("b.yaml differs from a.yaml in 1 place.\n")
    assert "profiles[default-scheduler].plugins.score.NodeResourcesFit.weight   1 -> 5\n" in result.stdout
    assert run("diff", "a.yaml", "a.yaml", "-o", "table").stdout == f"a.yaml is equal to a.yaml.\n{READ}"


def test_an_older_version_is_compared_as_it_is_converted(run):
    older = V1.replace("/v1", "/v1beta3") + "parallelism: 3\n"
    result = run("diff", "a.yaml", "b.yaml", files=(older, V1))
    assert (result.exit_code, result.stdout) == (1, "parallelism: 3 -> 16\n")


def test_a_configuration_that_is_not_valid_ends_with_2(run):
    result = run("diff", "a.yaml", "b.yaml", files=(V1, V1 + "parallelism: 0\n"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "parallelism: Invalid value: 0" in result.stderr


def test_a_file_with_several_configurations_ends_with_2(run):
    result = run("diff", "a.yaml", "b.yaml", files=(V1, f"{V1}---\n{V1}"))
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "kubesched: error: b.yaml: expected one configuration, found 2: b.yaml: line 1; b.yaml: "
    )


def test_the_flags_of_a_scheduler_are_compared(run):
    pod = "kind: Pod\nspec: {containers: [{command: [kube-scheduler, --leader-elect=false]}]}\n"
    assert run("diff", "a.yaml", "b.yaml", files=(V1, pod)).stdout == "leaderElection.leaderElect: true -> false\n"


def test_what_differs_from_the_defaults_is_shown(run):
    result = run("diff", "a.yaml", files=(V1 + WEIGHT,))
    assert result.exit_code == 1
    assert result.stdout == "profiles[default-scheduler].plugins.score.NodeResourcesFit.weight: 1 -> 5\n"


@pytest.mark.parametrize("text", ["", "clientConnection: {qps: 50, burst: 100}\n", "parallelism: 16"])
def test_the_defaults_of_kube_scheduler_are_not_shown_as_different(run, text):
    result = run("diff", "a.yaml", files=(V1 + text,))
    assert (result.exit_code, result.stdout) == (0, "")
    equal = "a.yaml is equal to the defaults of kube-scheduler v1.36."
    assert run("diff", "a.yaml", "-o", "table").stdout == f"{equal}\n{READ}"
    document = json.loads(run("diff", "a.yaml", "-o", "json").stdout)
    assert (document["old"], document["new"]) == ("the defaults of kube-scheduler v1.36", "a.yaml")
    assert document["changes"] == []


def test_the_default_request_rate_is_that_of_kube_scheduler(run):
    result = run("diff", "a.yaml", files=(V1 + "clientConnection: {qps: 20}\n",))
    assert result.stdout == "clientConnection.qps: 50 -> 20\n"


def test_a_plugin_that_is_disabled_where_it_runs_is_one_difference(run):
    text = "profiles: [{plugins: {score: {disabled: [{name: ImageLocality}]}}}]\n"
    result = run("diff", "a.yaml", files=(V1 + text,))
    assert result.stdout == "profiles[default-scheduler].plugins.score.ImageLocality: disabled (weight 1)\n"


def test_three_configurations_are_too_many(run):
    result = run("diff", "a.yaml", "b.yaml", "c.yaml", files=(V1, V1, V1))
    assert result.exit_code == 2
    assert result.stderr.startswith("kubesched: error: expected one or two configurations, found 3\n")


def test_a_long_line_is_folded_on_a_terminal(run, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "70")
    text = "profiles: [{plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}}]\n"
    lines = run("diff", "a.yaml", "b.yaml", files=(V1, V1 + text)).stdout.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 70
    assert all(line.startswith("    ") for line in lines[1:])


def test_a_long_line_is_not_broken_in_a_pipe(run):
    name = "x" * 200
    files = (V1, f"{V1}leaderElection: {{resourceName: {name}}}\n")
    assert run("diff", "a.yaml", "b.yaml", files=files).stdout == (
        f"leaderElection.resourceName: kube-scheduler -> {name}\n"
    )
