"""Commands without a SNAPSHOT read the cluster of a kubeconfig context."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from kubesched.testing import make_node, make_object, make_pod
from tests.cli.clusters import run, shop, write
from tests.cli.live_server import api_server, kubeconfig_of
from tests.cluster.kubeconfigs import kubeconfig
from tests.cluster.kubeconfigs import write as write_kubeconfig


def test_a_command_without_a_snapshot_decides_as_on_a_file_of_the_same_objects(tmp_path: Path) -> None:
    from_file = run("simulate", write(tmp_path, *shop()), "-o", "json")
    with api_server(shop()) as (url, asked):
        live = run("simulate", "--kubeconfig", kubeconfig_of(url, tmp_path), "-o", "json")
    assert live.stdout == from_file.stdout
    assert live.stderr == f"kubesched: note: read 2 nodes and 7 pods of the context dev ({url})\n"
    assert [request for request in asked if "limit=500" not in request] == ["/version"]


def test_the_kubeconfig_is_found_as_kubectl_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with api_server(shop()) as (url, _):
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig_of(url, tmp_path)))
        assert '"pod": "default/fits"' in run("explain", "--pod", "default/fits", "-o", "json").stdout
        assert "no context named 'prod'" in run("simulate", "--context", "prod").stderr


def test_manifests_are_added_to_the_live_cluster(tmp_path: Path) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: extra}\nspec: {containers: [{name: c, image: x}]}\n")
    with api_server(shop()) as (url, _):
        result = run("simulate", "--kubeconfig", kubeconfig_of(url, tmp_path), "--manifest", pod, "-o", "jsonl")
    assert '"pod": "default/extra"' in result.stdout


def test_what_this_user_may_not_list_is_noted_with_what_it_changes(tmp_path: Path) -> None:
    pod = make_pod("p", spec={"priorityClassName": "high", "priority": None})
    refused = ("PriorityClass", "PodDisruptionBudget", "CSINode", "CSIDriver", "LimitRange", "ResourceQuota")
    with api_server([make_node("n1"), pod], refused) as (url, _):
        result = run("simulate", "--kubeconfig", kubeconfig_of(url, tmp_path))
    assert result.exit_code == 0
    said = [line.removeprefix("kubesched: note: ") for line in result.stderr.splitlines()[1:]]
    refusal = "cannot be listed (403 Forbidden)"
    assert said == [
        f"priorityclasses {refusal}: the priority of 1 pod (default/p) counts as 0",
        f"poddisruptionbudgets {refusal}: preemption and drain ignore disruption budgets",
        (
            f"limitranges, resourcequotas {refusal}: new pods are tried without what an API server and its controllers "
            "take from them"
        ),
        f"csinodes, csidrivers {refusal}: no pod refers to them",
    ]


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_nodes_and_pods_are_needed(kind: str, tmp_path: Path) -> None:
    with api_server(shop(), [kind]) as (url, _):
        result = run("simulate", "--kubeconfig", kubeconfig_of(url, tmp_path))
    assert result.exit_code == 2
    assert f"/api/v1/{kind.lower()}s: 403 Forbidden" in result.stderr
    assert "needs a role that allows it" in result.stderr


def test_kinds_that_are_empty_in_a_live_cluster_are_not_missed(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "w", "controller": True}
    pod = make_pod("p", labels={"app": "web"}, metadata={"ownerReferences": [owner]})
    with api_server([make_node("n1"), pod]) as (url, _):
        result = run("simulate", "--kubeconfig", kubeconfig_of(url, tmp_path))
    assert len(result.stderr.splitlines()) == 1


def test_a_bad_object_is_named_with_its_place_in_the_list(tmp_path: Path) -> None:
    bad = make_object("Pod", "bad", spec={"nodeName": "n1", "containers": [{"name": "c"}]})
    bad.__dict__["raw_source"] = bad.raw.replace(b'"nodeName":"n1"', b'"nodeName":7')
    with api_server([make_node("n1"), bad]) as (url, _):
        config = kubeconfig_of(url, tmp_path)
        result = run("simulate", "--kubeconfig", config)
        skipped = run("simulate", "--kubeconfig", config, "--skip-bad-objects")
    assert f"{url}/api/v1/pods, item 1 (Pod default/bad): spec.nodeName" in result.stderr
    assert skipped.exit_code == 0
    assert "left out: " in skipped.stderr


@pytest.mark.parametrize("option", ["--kubeconfig", "--context"])
def test_a_snapshot_and_a_context_are_mutually_exclusive(option: str, tmp_path: Path) -> None:
    result = run("simulate", write(tmp_path, make_node("n1")), option, "x")
    assert result.exit_code == 2
    assert f"{option} and SNAPSHOT are mutually exclusive" in result.stderr


def test_sigterm_ends_a_plugin_of_the_kubeconfig_too(tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    login = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never",
        "command": "sh",
        "args": ["-c", f"sleep 60 & started=$!; sleep 1; echo $started > {started}; wait"],  # it is awaited by then
    }
    config = write_kubeconfig(tmp_path / "kubeconfig", kubeconfig({"server": "http://127.0.0.1:1"}, {"exec": login}))
    command = [sys.executable, "-m", "kubesched", "simulate", "--kubeconfig", str(config)]
    with subprocess.Popen(command) as process:
        pid = int(started.read_text())
        plugin = os.pidfd_open(pid)
        process.terminate()
        assert process.wait(timeout=30) == 143
    with os.fdopen(plugin):
        assert select.select([plugin], [], [], 30)[0]  # it has ended


def test_without_a_cluster_the_message_names_both_ways() -> None:
    result = run("explain", "--all")
    assert result.exit_code == 2
    assert "no cluster: found no kubeconfig" in result.stderr
    assert "or name a SNAPSHOT file" in result.stderr
