"""`kubesched snapshot` of a real API server: the rights that its guide names, refusals, and equal decisions."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from click.testing import Result

from kubesched.api import KINDS, KubeObject
from kubesched.testing import make_node, make_object, make_pod
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


def whole_objects(
    client: ApiClient, path: Path, without: Collection[str] = (), kinds: Iterable[str] = SERVED_KINDS
) -> Path:
    """The file that `kubectl get -A -o json` writes for an account that may list everything else."""
    items = [
        {"apiVersion": kind.api_version, "kind": kind.name, **document}
        for kind in (KINDS[key] for key in kinds)
        if kind.plural not in without
        for document in client.read_all(kind.name)
    ]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return path


def decisions(path: Path) -> tuple[list[Any], list[Any]]:
    """What each pending pod is told alone, and where a run places all of them."""
    explained, simulated = run("explain", path, "--all", "-o", "jsonl"), run("simulate", path, "-o", "jsonl")
    assert simulated.stdout.count("\n") == 8
    assert explained.stdout.count("\n") == 10  # with two that name their node, where no kubelet starts them
    return decided(explained.stdout), decided(simulated.stdout)


def decided(lines: str) -> list[Any]:
    """What is decided, without where the version was found: kubectl writes no version of the cluster."""
    read = [json.loads(line) for line in lines.splitlines()]
    for line in read:
        line.pop("clusterVersion")
    return read


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


# --- devices ---

DEVICE_KINDS = ("DeviceClass", "ResourceSlice", "ResourceClaim", "ResourceClaimTemplate")
SECRET = "hunter2"
OPAQUE = {"opaque": {"driver": "gpu.example.com", "parameters": {"token": SECRET}}}
MODEL = {"cel": {"expression": 'device.attributes["gpu.example.com"].model == "H100"'}}


def device_slice(node: str, model: str) -> KubeObject:
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    attributes = {"model": {"string": model}, "uuid": {"string": f"GPU-{node}"}}
    devices = [{"name": f"gpu-{i}", "attributes": attributes} for i in range(2)]
    spec = {"driver": "gpu.example.com", "nodeName": node, "pool": pool, "devices": devices}
    return make_object("ResourceSlice", f"{node}-gpu", spec=spec)


def test_claims_of_a_saved_cluster_get_the_same_devices_and_no_parameters_of_drivers_are_saved(
    cluster: ControlPlane, reader: Reader, tmp_path: Path
) -> None:
    client = cluster.client
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "selectors": [MODEL]}}
    wanted = {"devices": {"requests": [request], "config": [OPAQUE]}}
    room = {"cpu": "8", "memory": "16Gi", "pods": "20"}
    uses = {f"p{i}": {"resourceClaimName": f"own-{i}"} for i in range(3)}
    uses["of-template"] = {"resourceClaimTemplateName": "acme"}
    client.create_all(
        [
            *(make_node(name, allocatable=room) for name in ("n1", "n2")),
            *(device_slice(*one) for one in (("n1", "A100"), ("n2", "H100"))),
            make_object("DeviceClass", "gpu", spec={"config": [OPAQUE]}),
            make_object("ResourceClaimTemplate", "acme", spec={"spec": wanted}),
            *(make_object("ResourceClaim", f"own-{i}", spec=wanted) for i in range(3)),
            *(make_pod(name, spec={"resourceClaims": [{"name": "g", **use}]}) for name, use in uses.items()),
        ]
    )
    saved = snapshot(reader(), tmp_path / "saved.json")
    assert saved.exit_code == 0, saved.output
    assert SECRET not in (tmp_path / "saved.json").read_text()
    whole = whole_objects(client, tmp_path / "whole.json", kinds=(*SERVED_KINDS, *DEVICE_KINDS))
    assert SECRET in whole.read_text()
    for command in (["explain", "--all"], ["simulate"]):
        found, expected = (run(*command, path, "-o", "jsonl").stdout for path in (tmp_path / "saved.json", whole))
        assert without_parameters(found) == without_parameters(expected)
        assert "all 2 devices are taken" in found
    renamed = tmp_path / "renamed.json"
    done = run("snapshot", tmp_path / "saved.json", "--anonymize", "-o", renamed)
    assert "compare: A100, H100, gpu.example.com, model" in " ".join(done.stderr.split())
    assert not {"acme", "own", "GPU"} & set(re.findall("[A-Za-z]+", renamed.read_text()))
    places = [json.loads(line).get("node", "") for line in run("simulate", renamed, "-o", "jsonl").stdout.splitlines()]
    assert sorted(places) == ["", "", "node-2", "node-2"]


def without_parameters(lines: str) -> list[Any]:
    """What is decided, without what drivers get of classes and claims."""
    read = decided(lines)
    for line in read:
        for claim in line.get("claims", []):
            claim.get("allocation", {}).get("devices", {}).pop("config", None)
    return read
