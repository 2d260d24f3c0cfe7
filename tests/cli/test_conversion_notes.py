"""The note that a configuration was converted: a command that reads the file for each of its runs logs it once."""

from pathlib import Path

import pytest

from kubesched.testing import make_node, make_pod
from tests.cli.clusters import SMALL, TEAM_ZONE, run, write

POLICY = """\
kind: Policy
apiVersion: v1
predicates: [{name: PodFitsResources}]
priorities: [{name: LeastRequestedPriority, weight: 2}]
"""
WITH_ITSELF = ["--config", "policy.yaml", "--config", "policy.yaml"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, *(make_node(name, allocatable=SMALL) for name in ("n1", "n2")), make_pod("new"))
    for name in ("policy.yaml", "other.yaml"):
        (tmp_path / name).write_text(POLICY)
    (tmp_path / "team_zone.py").write_text(TEAM_ZONE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "cluster.json", "--config", "policy.yaml", "--pack"],
        ["compare", "cluster.json", "--config", "policy.yaml", "--plugin", "team_zone.py:TeamZone"],
        ["compare", "cluster.json", *WITH_ITSELF],
        ["fit", "cluster.json", "--resource", "cpu=1", "--max", "--config", "policy.yaml"],
        ["drain", "cluster.json", "--most", "--config", "policy.yaml"],
        ["drain", "cluster.json", "--each", "--config", "policy.yaml"],
        ["simulate", "cluster.json", "--cordon", "n1", "--config", "policy.yaml"],
        ["config", "diff", "policy.yaml", "policy.yaml"],
    ],
)
def test_a_conversion_is_noted_once_for_a_file(folder, caplog, command):
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert [message.partition(":")[0] for message in caplog.messages] == ["policy.yaml"]


def test_a_conversion_is_noted_for_each_file(folder, caplog):
    assert run("compare", "cluster.json", "--config", "policy.yaml", "--config", "other.yaml").exit_code == 0
    assert [message.partition(":")[0] for message in caplog.messages] == ["policy.yaml", "other.yaml"]


def test_the_next_command_notes_it_again(folder, caplog):
    for _ in range(2):
        run("config", "show", "policy.yaml")
        run("compare", "cluster.json", *WITH_ITSELF)
    assert len(caplog.messages) == 4
