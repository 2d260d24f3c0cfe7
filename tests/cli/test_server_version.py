"""The version of an API server decides: in what a live scheduler says and does, in snapshots, and in what follows."""

import json
import logging
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kubesched import SchedulerOptions, run_scheduler
from kubesched.release import Release
from kubesched.setup import Setup
from kubesched.snapshot import load_snapshot
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run
from tests.cli.live_server import api_server, kubeconfig_of

POD = make_pod("p", spec={"resources": {"requests": {"cpu": "3"}}})  # more than the node has, since v1.34
CLUSTER = (make_node("n1", allocatable={"cpu": "2", "memory": "4Gi", "pods": "10"}), POD)
OLDER = "and a kube-scheduler may be one minor version older than its API server"
TOO_OLD = f"{OLDER}, not more: this is not allowed"
NEWER = "and a kube-scheduler must not be newer than its API server"
KNOWN = "kubesched has the rules of v1.33 to v1.37"
SERVERS = pytest.mark.parametrize(
    ("server", "minor", "sentence"),
    [
        ("v1.35.4", 35, "decides as kube-scheduler v1.35; the API server is v1.35.4"),
        ("v1.37.2-eks-1a2b3c", 37, "decides as kube-scheduler v1.37; the API server is v1.37.2-eks-1a2b3c"),
        ("v1.40.0", 37, f"{KNOWN}; v1.40.0 is decided as v1.37; the API server is v1.40.0, {TOO_OLD}"),
        ("v1.20.1", 33, f"{KNOWN}; v1.20.1 is decided as v1.33; the API server is v1.20.1, {NEWER}"),
        (None, 36, "decides as kube-scheduler v1.36; the API server does not answer what its version is"),
        ("a\x1bz", 36, "the API server reports the version 'a\\x1bz'; decided as v1.36"),
    ],
)


@pytest.fixture
def setups(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Setup]]:
    """The setups of schedulers that start, and end at once."""
    made: list[Setup] = []

    async def start(setup: Setup, *_: Any, **how: Any) -> None:
        made.append(setup)
        how["on_started"]()

    monkeypatch.setattr("kubesched.programs.run_live", start)
    monkeypatch.setattr("kubesched.shadow.run_shadow", start)
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield made
    root.handlers[:] = handlers
    root.setLevel(level)


@SERVERS
def test_a_scheduler_decides_as_its_api_server(
    setups: list[Setup], tmp_path: Path, server: str | None, minor: int, sentence: str
) -> None:
    with api_server(CLUSTER, version=server) as (url, _):
        result = run("scheduler", "--kubeconfig", kubeconfig_of(url, tmp_path))
    assert result.stderr.splitlines()[0] == f"kubesched: note: {sentence}"
    assert [setup.release.minor for setup in setups] == [minor]


@pytest.mark.parametrize("mode", ["--dry-run", "--shadow"])
def test_so_it_does_where_it_writes_nothing(setups: list[Setup], tmp_path: Path, mode: str) -> None:
    with api_server(CLUSTER, version="v1.34.4") as (url, _):
        result = run("scheduler", "--kubeconfig", kubeconfig_of(url, tmp_path), mode)
    assert "note: decides as kube-scheduler v1.34; the API server is v1.34.4\n" in result.stderr
    assert [setup.release.minor for setup in setups] == [34]


@pytest.mark.parametrize(
    ("named", "server", "sentence"),
    [
        ("1.35", "v1.36.3", f"decides as kube-scheduler v1.35; the API server is v1.36.3, {OLDER}: this is allowed"),
        ("1.35", "v1.37.2", f"decides as kube-scheduler v1.35; the API server is v1.37.2, {TOO_OLD}"),
        ("1.37", "v1.36.3", f"decides as kube-scheduler v1.37; the API server is v1.36.3, {NEWER}"),
        ("1.35", "nonsense", "decides as kube-scheduler v1.35; the API server reports the version 'nonsense'"),
        ("1.35", None, "decides as kube-scheduler v1.35; the API server does not answer what its version is"),
    ],
)
def test_the_version_that_is_named_comes_first(
    setups: list[Setup], tmp_path: Path, named: str, server: str | None, sentence: str
) -> None:
    with api_server(CLUSTER, version=server) as (url, _):
        result = run("scheduler", "--kubeconfig", kubeconfig_of(url, tmp_path), "--kubernetes-version", named)
    assert f"note: {sentence}\n" in result.stderr
    assert [str(setup.release) for setup in setups] == [f"v{named}"]


def test_the_kubeconfig_and_the_fields_of_the_configuration_count(setups: list[Setup], tmp_path: Path) -> None:
    """A field of v1.37 is none of v1.36: the server is asked before the configuration is read."""
    args = [{"name": "VolumeBinding", "args": {"shape": [{"utilization": 0, "score": 10}]}}]
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    with api_server(CLUSTER, version="v1.37.2") as (url, _):
        connection = {"kubeconfig": str(kubeconfig_of(url, tmp_path))}
        config = tmp_path / "config.json"
        config.write_text(json.dumps({**head, "clientConnection": connection, "profiles": [{"pluginConfig": args}]}))
        result = run("scheduler", "--config", config)
    assert (result.exit_code, result.stderr.count("the API server is v1.37.2")) == (0, 1)
    assert [setup.release.minor for setup in setups] == [37]


def test_nobody_is_asked_for_a_configuration_that_is_written(tmp_path: Path) -> None:
    with api_server(CLUSTER, version="v1.35.4") as (url, asked):
        written = ("--write-config-to", tmp_path / "written.yaml")
        result = run("scheduler", "--kubeconfig", kubeconfig_of(url, tmp_path), *written)
    assert (result.exit_code, asked, "decides as" in result.stderr) == (0, [], False)


@pytest.mark.parametrize(("server", "is_placed"), [("v1.33.13", True), ("v1.35.4", False), (None, False), ("x", False)])
def test_a_snapshot_carries_the_version_and_a_simulation_takes_it(
    tmp_path: Path, server: str | None, is_placed: bool
) -> None:
    path = tmp_path / "cluster.json"
    with api_server(CLUSTER, version=server) as (url, _):
        assert run("snapshot", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", path).exit_code == 0
    assert load_snapshot(path).server_version == (server or "")
    (placed,) = json.loads(run("simulate", path, "-o", "json").stdout)["pods"]
    assert (placed.get("node") == "n1") is is_placed


@pytest.mark.parametrize(("release", "minor"), [(None, 35), (Release(37), 37)])
def test_a_program_decides_as_its_api_server_too(
    setups: list[Setup], tmp_path: Path, capsys: pytest.CaptureFixture[str], release: Release | None, minor: int
) -> None:
    with api_server(CLUSTER, version="v1.35.4") as (url, _):
        run_scheduler(options=SchedulerOptions(kubeconfig=str(kubeconfig_of(url, tmp_path))), release=release)
    assert [setup.release.minor for setup in setups] == [minor]
    assert f"decides as kube-scheduler v1.{minor}; the API server is v1.35.4" in capsys.readouterr().err


NOT_KNOWN = "Decided as kube-scheduler v1.36; the version of the cluster is not known."


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("simulate",), NOT_KNOWN),
        (("explain", "default/p"), NOT_KNOWN),
        (("snapshot", "-o", "cluster.json"), ""),
        (("scheduler",), "decides as kube-scheduler v1.36; the API server does not answer what its version is"),
        (("scheduler", "--shadow"), "decides as kube-scheduler v1.36; the API server does not answer what its version"),
    ],
    ids=" ".join,
)
def test_a_server_that_never_says_its_version_is_asked_for_seconds_alone(
    setups: list[Setup], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_module("kubesched.cluster.server_version"), "_SECONDS", 0.05)
    with api_server(CLUSTER, version_hangs=True) as (url, asked):
        result = run(*words, "--kubeconfig", kubeconfig_of(url, tmp_path))
    assert result.exit_code == 0
    assert asked.count("/version") == 1
    assert (result.stdout + result.stderr).count(line) == 1 or not line
    if words[0] == "snapshot":
        assert load_snapshot("cluster.json").server_version == ""
