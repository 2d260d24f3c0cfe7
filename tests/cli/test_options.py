import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write

BONUS = """
from kubesched import Plugin, PluginArgs

class Bonus(Plugin):
    class Args(PluginArgs):
        node: str = ""

    def score(self, state, pod, node):
        return 100 if node.name == self.args.node else 0
"""


@pytest.fixture
def cluster(tmp_path):
    return write(tmp_path, make_node("n1"), make_node("n2"), make_pod("p"))


def test_a_plugin_with_arguments_decides(cluster, tmp_path):
    (tmp_path / "bonus.py").write_text(BONUS)
    (tmp_path / "bonus.yaml").write_text("node: n2\n")
    options = ("--plugin", f"{tmp_path}/bonus.py:Bonus", "--plugin-args", f"Bonus={tmp_path}/bonus.yaml")
    assert '"node": "n2"' in run("simulate", cluster, *options, "-o", "jsonl").stdout
    assert '"best": ["n2"]' in run("explain", cluster, "--all", *options, "-o", "jsonl").stdout


@pytest.mark.parametrize("wrong", ["Bonus", "=x.yaml", "Bonus="])
def test_arguments_need_a_name_and_a_file(cluster, wrong):
    result = run("simulate", cluster, "--plugin-args", wrong)
    assert result.exit_code == 2
    assert "write NAME=FILE" in result.stderr


def test_arguments_of_one_plugin_come_from_one_file(cluster):
    result = run("simulate", cluster, "--plugin-args", "Bonus=a", "--plugin-args", "Bonus=b")
    assert result.exit_code == 2
    assert "Bonus is given twice" in result.stderr


def test_manifests_are_expanded_beside_the_snapshot(cluster, tmp_path):
    deployment = tmp_path / "web.yaml"
    deployment.write_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
        "spec:\n  replicas: 3\n  selector: {matchLabels: {app: web}}\n"
        "  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: c, image: app}]}\n"
    )
    result = run("simulate", cluster, "--manifest", deployment, "-o", "summary")
    assert result.stdout.startswith("4 pending pods: 4 would be placed.")


def test_a_snapshot_may_come_by_standard_input(cluster):
    result = run("simulate", "-", "-o", "summary", input=cluster.read_text())
    assert result.stdout.startswith("1 pending pod: 1 would be placed.")
