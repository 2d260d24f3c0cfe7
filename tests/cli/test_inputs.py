"""The command after `Next:` works on the same cluster with the same plugins."""

import json
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.cli.inputs import same_command
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


GIVEN = {
    "skip_bad_objects": ("--skip-bad-objects",),
    "kubeconfig": ("--kubeconfig", "kube config"),
    "context": ("--context", "test"),
    "manifests": ("--manifest", "new.yaml", "--manifest", "more.yaml"),
    "config": ("--config", "a b.yaml"),
    "references": ("--plugin", "team_zone.py:TeamZone"),
    "kubernetes_version": ("--kubernetes-version", "1.35"),
    "feature_gates": ("--feature-gates", "PodLevelResources=false"),
    "plugin_args": ("--plugin-args", "TeamZone=args.yaml"),
    "extenders": ("--extenders", "call"),
    "cordon": ("--cordon", "n0", "--cordon", "pool in (a)"),
    "uncordon": ("--uncordon", "n1"),
    "removed": ("--without-nodes", "--without-nodes", "n2"),
    "selectors": ("-l", "pool=a"),
    "add_nodes": ("--add-nodes", "2"),
    "like": ("--like", "n0"),
    "scale": ("--scale", "deploy/web=3"),
    "profile": ("--profile", "default-scheduler"),
    "tie_break": ("--tie-break", "random"),
    "seed": ("--seed", "4"),
    "no_preemption_effects": ("--no-preemption-effects",),
}
NOT_THE_ANSWER = {
    "output": ("-o", "markdown"),
    "fail_on_pending": ("--fail-on-pending",),
    "write": ("--write", "after.json"),
    "quiet": ("--quiet",),
    "notes": ("--notes",),
    "debug": ("--debug",),
}


def test_every_option_of_simulate_that_changes_the_answer_is_given_again():
    command = main.commands["simulate"]
    assert {one.name for one in command.params if isinstance(one, click.Option)} == {*GIVEN, *NOT_THE_ANSWER}
    words = [word for option in (GIVEN | NOT_THE_ANSWER).values() for word in option]
    with command.make_context("simulate", ["c.json", "./--odd", *words]):
        again = shlex.split(same_command())
    assert again[:4] == ["kubesched", "simulate", "c.json", "./--odd"]
    assert sorted(again[4:]) == sorted(word for option in GIVEN.values() for word in option)
    with command.make_context("simulate", again[2:]):
        assert shlex.split(same_command()) == again


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


def test_the_two_commands_after_a_drain_decide_as_the_configuration_of_an_export(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profile = {"schedulerName": "mine", "plugins": {"filter": {"disabled": [{"name": "NodeUnschedulable"}]}}}
    web = {**owned_by("ReplicaSet", "web"), "labels": {"app": "web"}}
    running = make_pod("web", node="n0", requests={"cpu": "1"}, metadata=web, spec={"schedulerName": "mine"})
    huge = make_pod("db", node="n0", requests={"cpu": "64"}, metadata=web, spec={"schedulerName": "mine"})
    export = {
        "nodes": [json.loads(make_node("n0", allocatable={"cpu": "2", "pods": "9"}).raw)],
        "pods": [json.loads(one.raw) for one in (running, huge)],
        "schedulerConfig": {"profiles": [profile]},
    }
    Path("export.json").write_text(json.dumps(export))
    drain, _, explain = following("drain", "export.json", "n0").partition(" && ")
    for command in (drain, explain):
        result = run(*shlex.split(command)[1:])
        assert (result.exit_code, "schedulerConfig of the snapshot" in result.stderr) == (0, True)
    assert "Profile mine" in result.stdout


def test_the_two_commands_after_a_drain_decide_as_it_did(cluster, config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    drain, _, explain = following("drain", cluster, "n0", "--config", config).partition(" && ")
    for command in (drain, explain):
        words = shlex.split(command)
        assert words[words.index("--config") + 1] == str(config)
        assert run(*words[1:]).exit_code == 0


HOSTILE = ("x\n```\n$(touch pwned)", "a;b", "`id`", "--all", "it's", "Web")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("command", [("simulate",), ("explain",), ("explain", "-o", "markdown")])
def test_a_pod_that_kubernetes_does_not_allow_is_in_no_command(name, command, tmp_path):
    path = write(tmp_path, make_node("n0"), make_pod(name, requests={"cpu": "64"}), make_pod("x", node="n0"))
    done = run(command[0], path, *command[1:])
    assert done.exit_code == 0
    assert "Next: " not in done.stdout
    assert "```shell" not in done.stdout


@pytest.mark.parametrize("name", HOSTILE)
def test_a_drained_pod_that_kubernetes_does_not_allow_is_in_no_command(name, tmp_path):
    nodes = [make_node(f"n{i}", allocatable={"cpu": "2"}) for i in range(2)]
    owned = owned_by("StatefulSet", "db")
    pods = [make_pod(one, node=f"n{i}", requests={"cpu": "2"}, metadata=owned) for i, one in enumerate((name, "x"))]
    path = write(tmp_path, *nodes, *pods)
    assert "breaks its only pod" in run("drain", path, "n0").stdout
    assert following("drain", path, "n0") == ""


def test_a_node_that_kubernetes_does_not_allow_is_in_no_command(tmp_path):
    path = write(tmp_path, make_node("$(id)"), make_node("b"), make_pod("web"))
    assert following("explain", path, "web") == ""
    path = write(tmp_path, make_node("$(id)"), make_node("b"), make_pod("web", node="$(id)"))
    assert following("drain", path, "$(id)") == "kubectl get pod -n default web -o yaml > lost-default.yaml"
    assert following("drain", path, "b") == "kubectl drain b"
