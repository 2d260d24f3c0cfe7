"""`kubesched snapshot` of a real API server: the rights that its guide names, refusals, and equal decisions."""

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from click.testing import Result

from kubesched.api import KINDS
from kubesched.testing import make_object, make_pod
from tests.cli.clusters import run
from tests.docs.pages import ROOT, read_blocks
from tests.integration.api_client import ApiClient, document_of
from tests.integration.control_plane import ControlPlane
from tests.integration.installed import apply_all, delete_all
from tests.integration.random_cluster import homeless_pods, random_nodes, random_pods, random_services
from tests.kinds import SERVED_KINDS

pytestmark = pytest.mark.integration

GUIDE = ROOT / "docs" / "guides" / "save-a-snapshot.md"
ACCOUNT = {"kind": "ServiceAccount", "name": "ann", "namespace": "default"}
Reader = Callable[..., Path]


@pytest.fixture
def reader(cluster: ControlPlane, tmp_path: Path) -> Iterator[Reader]:
    """Gives a kubeconfig for an account that has the role of the guide, without some resources."""
    applied: list[dict[str, Any]] = []

    def make(without: Collection[str] = ()) -> Path:
        (role,) = [
            yaml.safe_load(block.text)
            for block in read_blocks(GUIDE.read_text())
            if block.options.get("file") == "snapshot-reader.yaml"
        ]
        for rule in role["rules"]:
            rule["resources"] = [resource for resource in rule["resources"] if resource not in without]
        role["rules"] = [rule for rule in role["rules"] if rule["resources"]]
        group = "rbac.authorization.k8s.io"
        reference = {"apiGroup": group, "kind": "ClusterRole", "name": role["metadata"]["name"]}
        binding = {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": role["metadata"]}
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "ann", "namespace": "default"}}
        applied.extend([account, role, {**binding, "roleRef": reference, "subjects": [ACCOUNT]}])
        apply_all(cluster.client, applied)
        path = "/api/v1/namespaces/default/serviceaccounts/ann/token"
        token = cluster.client.call("POST", path, {"spec": {}})["status"]["token"]
        return cluster.kubeconfig(tmp_path / "kubeconfig", token)

    yield make
    delete_all(cluster.client, applied)


@pytest.fixture
def client(cluster: ControlPlane) -> ApiClient:
    """The client of a cluster with running pods, pending pods, services, a claim and a disruption budget."""
    random = Random(3)
    nodes = random_nodes(random, 12)
    slow = {"provisioner": "slow.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
    size = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    budget = {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 0}
    cluster.client.create_all(
        [
            *nodes,
            *random_services(),
            make_object("StorageClass", "slow", **slow),
            make_object("PersistentVolumeClaim", "data", spec={**size, "storageClassName": "slow"}),
            make_object("PodDisruptionBudget", "web", spec=budget),
            make_object("PriorityClass", "high", value=1000),
        ]
    )
    running = [document_of(pod) for pod in random_pods(random, 24)]
    for i, document in enumerate(running):
        document["spec"]["nodeName"] = nodes[i % len(nodes)].name
        document["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": "hunter2"}]
    claim = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    urgent = {"priorityClassName": "high"}
    waiting = [make_pod("claimant", spec=claim), make_pod("urgent", requests={"cpu": "7"}, priority=1000, spec=urgent)]
    cluster.client.create_all([*running, *homeless_pods(random, 6), *waiting])
    return cluster.client


def snapshot(kubeconfig: Path, path: Path) -> Result:
    return run("snapshot", "--kubeconfig", kubeconfig, "-o", path)


def whole_objects(client: ApiClient, path: Path, without: Collection[str] = ()) -> Path:
    """The file that `kubectl get -A -o json` writes for an account that may list everything else."""
    items = [
        {"apiVersion": kind.api_version, "kind": kind.name, **document}
        for kind in (KINDS[key] for key in SERVED_KINDS)
        if kind.plural not in without
        for document in client.read_all(kind.name)
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def decisions(path: Path) -> tuple[str, str]:
    """What each pending pod is told alone, and where a run places all of them."""
    explained, simulated = run("explain", path, "--all", "-o", "jsonl"), run("simulate", path, "-o", "jsonl")
    assert simulated.stdout.count("\n") == 8
    assert explained.stdout.count("\n") == 10  # with two that name their node, where no kubelet starts them
    return explained.stdout, simulated.stdout


def notes(result: Result) -> list[str]:
    lines = [line.removeprefix("kubesched: note: ") for line in result.stderr.splitlines()]
    return [line for line in lines if not line.startswith(("read ", "wrote "))]


def test_the_rights_of_the_guide_are_enough_for_the_same_decisions(
    client: ApiClient, reader: Reader, tmp_path: Path
) -> None:
    saved = snapshot(reader(), tmp_path / "saved.json")
    assert saved.exit_code == 0, saved.output
    assert notes(saved) == []
    assert "hunter2" not in (tmp_path / "saved.json").read_text()
    assert decisions(tmp_path / "saved.json") == decisions(whole_objects(client, tmp_path / "whole.json"))


def test_without_some_rights_the_rest_is_saved_and_notes_describe_what_changes(
    client: ApiClient, reader: Reader, tmp_path: Path
) -> None:
    without = ("services", "poddisruptionbudgets", "csidrivers")
    unspread = "default/homeless-4, default/homeless-5"  # they have labels, and no constraints
    saved = snapshot(reader(without), tmp_path / "saved.json")
    assert saved.exit_code == 0, saved.output
    assert [note.partition(" (403 Forbidden): ")[::2] for note in notes(saved)] == [
        ("services cannot be listed", f"default spreading is skipped for 2 pods ({unspread})"),
        ("poddisruptionbudgets cannot be listed", "preemption and drain ignore disruption budgets"),
        ("csidrivers cannot be listed", "no pod refers to them"),
    ]
    whole = whole_objects(client, tmp_path / "whole.json", without)
    assert decisions(tmp_path / "saved.json") == decisions(whole)


@pytest.mark.parametrize("needed", ["nodes", "pods"])
def test_without_nodes_or_pods_nothing_is_written(
    needed: str, client: ApiClient, reader: Reader, tmp_path: Path
) -> None:
    refused = snapshot(reader([needed]), tmp_path / "saved.json")
    assert refused.exit_code == 2
    assert f'User "system:serviceaccount:default:ann" cannot list resource "{needed}"' in refused.stderr
    assert "needs a role that allows it" in refused.stderr
    assert not (tmp_path / "saved.json").exists()
