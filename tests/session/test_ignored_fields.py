"""The fields that a version does not read count for no decision, and stay in what is written."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kubesched.api import EventType, ResourceClaim, WatchEvent
from kubesched.cli import main
from kubesched.release import Release
from kubesched.session import Session
from kubesched.snapshot import load_snapshot
from kubesched.state import ClusterState
from kubesched.testing import make_node, make_object, make_pod

ROOM = {"cpu": "2", "memory": "4Gi", "pods": "10"}
KUBELET = {"nodeInfo": {"kubeletVersion": "v1.33.13"}}
SPEC: dict[str, Any] = {
    "resources": {"requests": {"cpu": "1500m"}},
    "resourceClaims": [{"name": "gpu", "resourceClaimName": "absent"}],
}
NODES = [make_node(name, allocatable=ROOM, status=KUBELET) for name in ("n1", "n2")]
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r", "controller": True}
PODS = [make_pod(name, spec=SPEC, metadata={"ownerReferences": [OWNER]}) for name in ("a", "b")]


def kept(objects: list[Any]) -> dict[str, tuple[Any, Any]]:
    """Of each pod, what v1.33 does not read, in the JSON."""
    specs = {one["metadata"]["name"]: one["spec"] for one in objects if one.get("kind", "Pod") == "Pod"}
    return {name: (spec.get("resources"), spec.get("resourceClaims")) for name, spec in specs.items()}


EXPECTED = {"a": (SPEC["resources"], SPEC["resourceClaims"]), "b": (SPEC["resources"], SPEC["resourceClaims"])}


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.json"
    items = [{"kind": "Node", "apiVersion": "v1", **one.document} for one in NODES]
    items += [{"kind": "Pod", "apiVersion": "v1", **one.document} for one in PODS]
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    return path


def test_simulate_and_drain_write_them(snapshot: Path, tmp_path: Path) -> None:
    placed, drained = tmp_path / "placed.json", tmp_path / "drained.json"
    assert CliRunner().invoke(main, ["simulate", str(snapshot), "--write", str(placed)]).exit_code == 0
    items = json.loads(placed.read_text())["items"]
    assert kept(items) == EXPECTED
    assert [one["spec"].get("nodeName") for one in items if one["kind"] == "Pod"] == ["n1", "n2"]
    CliRunner().invoke(main, ["drain", str(placed), "n1", "--write", str(drained)])
    moved = kept(json.loads(drained.read_text())["items"])
    assert [*moved.values()] == [*EXPECTED.values()]


@pytest.mark.parametrize("are_read", [True, False])
def test_a_session_has_them(snapshot: Path, are_read: bool) -> None:
    """Whether the pods come from a file or are made by a program."""
    with Session(load_snapshot(snapshot) if are_read else [*NODES, *PODS]) as session:
        session.schedule()
        now = [one for one in session.objects_now() if one.name in EXPECTED]
        assert [one.node_name for one in now] == ["n1", "n2"]
        assert all(one.spec.resources and one.spec.resource_claims for one in now)
        written = [one for one in session.objects() if one.name in EXPECTED]
        assert all(one.spec.resources and one.node_name for one in written)
        assert kept([one.document for one in written]) == EXPECTED
        later = session.in_version(Release(37))
        assert later is not None
        with later:
            assert later.cluster_state.snapshot().node_info("n1").requested["cpu"] == 1500


def test_the_json_of_any_object_has_them() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "c", "tolerations": [{"operator": "Exists"}]}}
    claim = make_object("ResourceClaim", "c", namespace="x", spec={"devices": {"requests": [request]}})
    state = ClusterState(Release(34))
    state.apply(WatchEvent(EventType.ADDED, "ResourceClaim", claim))
    known = state.objects.get("ResourceClaim", "x/c")
    assert isinstance(known, ResourceClaim)
    assert known.spec.devices.requests[0].exactly.tolerations in ((), None)
    assert known.document["spec"]["devices"]["requests"][0]["exactly"]["tolerations"]
