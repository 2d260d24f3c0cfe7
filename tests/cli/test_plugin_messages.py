"""What plugins tell an operator is on standard error, without asking for it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.forks import Forks

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


COMMANDS = pytest.mark.parametrize("command", [["simulate"], ["explain", "--pod", "d/p"]])


def run(
    forks: Forks, folder: Path, command: list[str], plugin: str, text: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    (folder / f"{plugin.lower()}.py").write_text(text, encoding="utf-8")
    (folder / "cluster.json").write_text(json.dumps(CLUSTER), encoding="utf-8")
    given = [command[0], "cluster.json", *command[1:], "--plugin", f"{plugin.lower()}.py:{plugin}"]
    return forks.run("kubesched", *given, cwd=folder, env={**os.environ, **environ})


@COMMANDS
def test_warnings_of_plugins_are_shown(command: list[str], tmp_path: Path, forks: Forks) -> None:
    ran = run(forks, tmp_path, command, "Talks", TALKS)
    assert ran.returncode == 0, ran.stderr
    assert "node n is odd" in ran.stderr
    assert "not worth it" not in ran.stderr
    assert "odd" not in ran.stdout


BOOM = """
from kubesched import Plugin


class Boom(Plugin):
    def filter(self, state, pod, node):
        raise KeyError("x")
"""


@COMMANDS
def test_the_stack_trace_of_a_plugin_s_fault_is_shown_at_level_debug(
    command: list[str], tmp_path: Path, forks: Forks
) -> None:
    ran = run(forks, tmp_path, command, "Boom", BOOM, LOG_LEVEL="debug")
    assert 'boom.py", line 7, in filter' in ran.stderr
    assert "Traceback" not in run(forks, tmp_path, command, "Boom", BOOM).stderr
