"""What plugins tell an operator is on standard error, without asking for it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TALKS = """
from kubesched import Plugin, Status


class Talks(Plugin):
    def filter(self, state, pod, node):
        self.handle.logger.info("not worth it")
        self.handle.logger.warning("node %s is odd", node.name)
        return Status.SUCCESS
"""
ROOM = {"cpu": "1", "pods": "9"}
CLUSTER = {
    "kind": "List",
    "apiVersion": "v1",
    "items": [
        {
            "kind": "Node",
            "apiVersion": "v1",
            "metadata": {"name": "n"},
            "status": {"allocatable": {"cpu": "1", "pods": "9"}},
        },
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "d", "uid": "1"}, "spec": {}},
    ],
}


@pytest.mark.parametrize("command", [["simulate"], ["explain", "--pod", "d/p"]])
def test_warnings_of_plugins_are_shown(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "talks.py").write_text(TALKS, encoding="utf-8")
    (tmp_path / "cluster.json").write_text(json.dumps(CLUSTER), encoding="utf-8")
    given = [command[0], "cluster.json", *command[1:], "--plugin", "talks.py:Talks"]
    ran = subprocess.run(
        [sys.executable, "-m", "kubesched", *given], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "node n is odd" in ran.stderr
    assert "not worth it" not in ran.stderr
    assert "odd" not in ran.stdout
