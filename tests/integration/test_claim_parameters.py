"""A claim whose driver's parameters have blanks, which JSON loses: the API server compares their bytes."""

import asyncio
import json
from pathlib import Path

import pytest

from kubesched.api import ResourceClaim, decode_object
from kubesched.cluster import ApiClient, find_access
from kubesched.framework import DeleteObject, WriteObject
from kubesched.live import ApiWriter
from kubesched.plugins.dynamic_resources.allocation import protected, unprotected
from kubesched.state import ClusterState
from tests.integration.control_plane import ControlPlane
from tests.plugins.dynamic_resources.device_objects import API, ask

pytestmark = pytest.mark.integration

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"


def create(cluster: ControlPlane) -> ResourceClaim:
    config = {"opaque": {"driver": "gpu.example.com", "parameters": "BLANKS"}}
    devices = {"requests": [{"name": "r", "exactly": ask()}], "config": [config]}
    claim = {**API, "kind": "ResourceClaim", "metadata": {"name": "c"}, "spec": {"devices": devices}}
    text = json.dumps(claim).replace('"BLANKS"', '{"b":   1,  "a": 2}')
    made = decode_object("ResourceClaim", json.dumps(cluster.client.call("POST", CLAIMS, text)).encode())
    assert isinstance(made, ResourceClaim)
    return made


def test_its_finalizer_is_written_and_taken_off_again(cluster: ControlPlane, tmp_path: Path) -> None:
    claim = create(cluster)
    guarded = protected(claim)
    assert guarded is not None

    async def story() -> None:
        async with ApiClient(find_access(cluster.kubeconfig(tmp_path / "kubeconfig"))) as client:
            writer = ApiWriter(client, ClusterState(), lambda event: None)
            done = await writer.perform(WriteObject("ResourceClaim", guarded))
            assert done.error == ""
            assert isinstance(done.answer, ResourceClaim)
            assert cluster.client.get("ResourceClaim", "c")["metadata"]["finalizers"] == [
                "resource.kubernetes.io/delete-protection"
            ]
            late = await writer.perform(WriteObject("ResourceClaim", guarded))
            assert late.reason == "Conflict"
            done = await writer.perform(WriteObject("ResourceClaim", unprotected(guarded), again=unprotected))
            assert done.error == ""
            assert "finalizers" not in cluster.client.get("ResourceClaim", "c")["metadata"]
            assert (await writer.perform(DeleteObject("ResourceClaim", claim))).error == ""

    asyncio.run(story())
