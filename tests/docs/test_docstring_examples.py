"""The examples in the docstrings of public names run, in a folder with a snapshot, a configuration and a pod."""

import gzip
import importlib
import json
import logging
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kubesched
from kubesched import Plugin, PluginArgs, Status, programs
from kubesched.testing import make_node, make_pod, record_golden
from tests.docs.lint import FOR_USERS, example_of

DOORS = (
    *FOR_USERS,
    "kubesched.explanation",
    "kubesched.framework",
    "kubesched.pages.explanations",
    "kubesched.pages.formats",
    "kubesched.session",
    "kubesched.state",
)


def listed(*doors: str) -> dict[str, object]:
    """What these modules list in `__all__`, by name."""
    modules = [importlib.import_module(door) for door in doors]
    return {name: getattr(module, name) for module in modules for name in module.__all__}


EVERYTHING = {"kubesched": kubesched} | listed(*DOORS)
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: new}\nspec: {containers: [{name: c, image: app}]}\n"


class TeamZone(Plugin):
    """The plugin of an author who tests it."""

    class Args(PluginArgs):
        owners: dict[str, str] = {}

    def score(self, state, pod, node):
        owned = self.args.owners.get(pod.labels.get("team"))
        return 100 if owned and owned == node.labels.get("topology.kubernetes.io/zone") else 0


class TeamNodes(Plugin):
    """Another one, for filters."""

    def filter(self, state, pod, node):
        return Status.SUCCESS


OF_AUTHORS = {"TeamZone": TeamZone, "TeamNodes": TeamNodes, "args": TeamZone.Args(owners={"shop": "a"})}


EXAMPLES = [name for name, known in EVERYTHING.items() if not isinstance(known, str) and example_of(known)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [make_node("n1"), make_node("n2"), make_pod("web-7", namespace="shop")]
    kubesched.write_snapshot(objects, tmp_path / "cluster.json")
    (tmp_path / "pods.csv").write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np1,100,64,1,500\n")
    (tmp_path / "nodes.csv").write_text("sn,cpu_milli,memory_mib,gpu,model\nn1,4000,8192,1,T4\n")
    (tmp_path / "scheduler.yaml").write_text(CONFIGURATION)
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "tests/cases").mkdir(parents=True)
    case = record_golden({"kind": "List", "items": [make_node("n1").document]}, plugins=[TeamZone])
    (tmp_path / "tests/cases/team-zone.json.gz").write_bytes(gzip.compress(json.dumps(case).encode()))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def programs_end_at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs set everything up, and end instead of reaching a cluster."""

    async def end(setup: object, options: object, **how: object) -> None:
        pass

    module = types.ModuleType("team_zone")
    module.TeamZone = TeamZone  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "team_zone", module)
    for driver in ("run_live", "run_extender"):
        monkeypatch.setattr(programs, driver, end)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("folder", "programs_end_at_once")
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name: str):
    exec(example_of(EVERYTHING[name]), {**EVERYTHING, **OF_AUTHORS, "np": np, "pytest": pytest})
