"""Snapshots and a plugin as files, and commands run in this process."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from kubesched.api import KubeObject
from kubesched.cli import main
from kubesched.testing import make_node, make_object, make_pod

SMALL = {"cpu": "2", "memory": "4Gi", "pods": "10"}
TEAM_ZONE = """
from kubesched import Plugin, PluginArgs

class TeamZone(Plugin):
    class Args(PluginArgs):
        zone: str = ""

    def score(self, state, pod, node):
        return 1
"""
"""The file of a plugin."""
ZONED_CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: zoned
  plugins: {score: {enabled: [{name: TeamZone, weight: 7}]}}
"""
"""A configuration that enables it."""


def run(*arguments: object, input: str | None = None) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), input=input, env={"COLUMNS": "120"})


def write(folder: Path, *objects: KubeObject, name: str = "cluster.json") -> Path:
    """A v1 List with these objects."""
    path = folder / name
    items = [json.loads(obj.raw) for obj in objects]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def shop() -> list[KubeObject]:
    """Two nodes and pods of every fate: placed, preempting, too large, gated, foreign; one pod has to leave."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "nightly", "uid": "j", "controller": True}
    return [
        make_object("Namespace", "default"),
        make_object("Service", "any", spec={}),
        make_node("n1", allocatable=SMALL, zone="a"),
        make_node("n2", allocatable=SMALL, zone="b"),
        make_pod("cheap", node="n1", requests={"cpu": "2"}, priority=-1, metadata={"ownerReferences": [owner]}),
        make_pod("dear", node="n2", requests={"cpu": "1"}, priority=100),
        make_pod("urgent", requests={"cpu": "1500m"}, priority=50),
        make_pod("fits", requests={"cpu": "500m"}),
        make_pod("huge", requests={"cpu": "64"}),
        make_pod("gated", spec={"schedulingGates": [{"name": "not-yet"}]}),
        make_pod("foreign", spec={"schedulerName": "volcano"}),
    ]
