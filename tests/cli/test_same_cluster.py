"""The command after `Next:` works on the same cluster with the same plugins."""

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.testing import make_node, make_pod
from tests.cli.clusters import run, write
from tests.planning.drain_clusters import owned_by

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2"}) for i in range(2)]
    running = [
        make_pod(f"db-{i}", node=f"n{i}", requests={"cpu": "1500m"}, metadata=owned_by("StatefulSet", "db"))
        for i in range(2)
    ]
    return write(tmp_path, *nodes, *running, make_pod("huge", requests={"cpu": "64"}))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "a b.yaml"
    path.write_text(CONFIG)
    return path


def following(*arguments: object) -> str:
    return run(*arguments).stdout.partition("\nNext: ")[2].strip()


@pytest.mark.parametrize("command", [("simulate",), ("explain",), ("explain", "huge")])
def test_the_configuration_and_options_on_input_are_kept(command, cluster, config):
    name, *pods = command
    said = following(name, cluster, *pods, "--config", config, "--skip-bad-objects")
    words = shlex.split(said)
    assert words[:3] == ["kubesched", "explain", str(cluster)]
    assert "--skip-bad-objects" in words
    assert words[words.index("--config") + 1] == str(config)
    assert run(*words[1:]).exit_code == 0


CHANGES = [
    ("--cordon", "n0"),
    ("--without-nodes", "n1", "--scale", "statefulset/db=3"),
    ("--without-nodes", "-l", "kubernetes.io/hostname=n0"),
    ("--add-nodes", "1", "--like", "n0", "--tie-break", "random", "--seed", "4"),
]


@pytest.mark.parametrize("changes", CHANGES)
def test_after_a_change_that_explain_cannot_repeat_the_wide_report_has_more(cluster, changes):
    said = following("simulate", cluster, *changes)
    assert said.endswith(" -o wide")
    wide, before = run(*shlex.split(said)[1:]), run("simulate", cluster, *changes)
    assert wide.exit_code == 0
    assert wide.stdout.splitlines()[0] == before.stdout.splitlines()[0]
    assert "Next:" not in wide.stdout


FITS = {
    ("--resource", "cpu=500m"): "--resource cpu=500m --max",
    ("--resource", "cpu=500m", "--max"): "--resource cpu=500m --max --nodes-like n0=1",
    ("--resource", "cpu=500m", "--replicas", "9"): "--resource cpu=500m --replicas 9 --nodes-like n0",
    ("--resource", "cpu=64"): "",
    ("--resource", "cpu=500m", "--replicas", "9", "--nodes-like", "n0"): "",
}


@pytest.mark.parametrize("asked", FITS)
def test_after_fit_comes_how_many_fit_or_how_many_nodes_are_missing(cluster, asked):
    said = following("fit", cluster, *asked)
    assert said == (f"kubesched fit {cluster} {FITS[asked]}" if FITS[asked] else "")
    assert not said or run(*shlex.split(said)[1:]).exit_code == 0


def test_fit_names_its_manifests_again(cluster, tmp_path):
    manifest = tmp_path / "new pod.json"
    write(tmp_path, make_pod("new"), name=manifest.name)
    said = following("fit", cluster, "-f", manifest)
    assert said == f"kubesched fit {cluster} -f '{manifest}' --max"
    assert run(*shlex.split(said)[1:]).exit_code == 0


def test_one_node_leads_back_to_the_whole_explanation(cluster):
    said = following("explain", cluster, "huge", "--node", "n0")
    assert said == f"kubesched explain {cluster} default/huge"


def test_a_comparison_of_the_pending_pods_leads_to_one_of_all_pods(cluster, config):
    said = following("compare", cluster, "--config", config, "--pack", "--seeds", "5")
    assert said == f"kubesched compare {cluster} --config '{config}' --pack --pods all"
    assert following("compare", cluster, "--pack", "--seeds", "5", "--pods", "all") == ""


@pytest.mark.parametrize("command", [("simulate",), ("explain",), ("explain", "--pod", "huge"), ("drain", "n0")])
def test_standard_input_cannot_be_read_again(command, cluster):
    name, *words = command
    done = CliRunner().invoke(main, [name, "-", *words], input=cluster.read_bytes())
    assert done.exit_code == 0, done.output
    assert "kubesched explain -" not in done.stdout
    assert "Next: kubesched" not in done.stdout


def test_the_two_commands_after_a_drain_decide_as_it_did(cluster, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drain, _, explain = following("drain", cluster, "n0", "--config", config).partition(" && ")
    for command in (drain, explain):
        words = shlex.split(command)
        assert words[words.index("--config") + 1] == str(config)
        assert run(*words[1:]).exit_code == 0
