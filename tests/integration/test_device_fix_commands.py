"""The commands of `-o patch` for claims, templates and classes change a real API server as the fix says."""

from pathlib import Path
from typing import Any

import pytest

from kubesched.api import ADMIN_ACCESS
from tests.explanation.claiming import CLASS, claim, gpu, template
from tests.integration.api_client import ApiError
from tests.integration.control_plane import ControlPlane
from tests.integration.test_fix_commands import POD, Kubectl, named, node, pod
from tests.plugins.dynamic_resources.device_objects import allocation, ask, resource_slice, using

pytestmark = [pytest.mark.integration, pytest.mark.timeout(180)]

Document = dict[str, Any]
MADE = f"{POD}-gpu-x"
ENTRY = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]


@pytest.fixture
def kubectl(cluster: ControlPlane, tmp_path: Path) -> Kubectl:
    known = Kubectl(cluster, tmp_path)
    known.create(node("n1"), CLASS, resource_slice("n1", [gpu("a"), gpu("b")]))
    return known


def waiting(*claims: str, **metadata: Any) -> Document:
    """The pending pod, with claims that no template makes."""
    return pod({"resourceClaims": using(*claims)}, **metadata)


def without_status(document: Document) -> Document:
    """The object as it is created, without uid."""
    metadata = {name: value for name, value in document["metadata"].items() if name != "uid"}
    return {**{name: value for name, value in document.items() if name != "status"}, "metadata": metadata}


def count_of(document: Document) -> int:
    spec = document["spec"]["spec"] if "spec" in document["spec"] else document["spec"]
    n: int = spec["devices"]["requests"][0]["exactly"]["count"]
    return n


def create_made(kubectl: Kubectl, cluster: ControlPlane, **metadata: Any) -> None:
    """The pod, and the claim that the controller makes for it."""
    kubectl.create(template("gpu", ask(3)), pod({"resourceClaims": ENTRY}, **metadata))
    known = kubectl.get("Pod", POD)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": POD, "uid": known["metadata"]["uid"], "controller": True}
    made = without_status(claim(MADE, ask(3)))
    kubectl.create({**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}})
    statuses = [{"name": "gpu", "resourceClaimName": MADE}]
    cluster.client.patch("Pod", POD, {"status": {"resourceClaimStatuses": statuses}}, part="status")


def test_a_template_is_created_again_and_its_pod_deleted(kubectl: Kubectl, cluster: ControlPlane) -> None:
    replicas = named("ReplicaSet", "web", {"selector": {"matchLabels": {"app": "web"}}}, "apps/v1")
    replicas["spec"]["template"] = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app"}], "resourceClaims": ENTRY},
    }
    kubectl.create(replicas)
    known = kubectl.get("ReplicaSet", "web")["metadata"]
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": known["uid"], "controller": True}
    create_made(kubectl, cluster, ownerReferences=[owner])
    assert kubectl.fix("deviceRequest")["kind"] == "ResourceClaimTemplate"
    assert count_of(kubectl.get("ResourceClaimTemplate", "gpu")) == 2
    assert not kubectl.has("Pod", POD)


def test_a_pod_alone_is_created_again_with_its_template(kubectl: Kubectl, cluster: ControlPlane) -> None:
    create_made(kubectl, cluster)
    before = kubectl.get("Pod", POD)["metadata"]["uid"]
    kubectl.fix("deviceRequest")
    assert count_of(kubectl.get("ResourceClaimTemplate", "gpu")) == 2
    assert kubectl.get("Pod", POD)["metadata"]["uid"] != before
    assert "resourceClaimStatuses" not in kubectl.get("Pod", POD)["status"]


def test_a_claim_that_no_template_makes_is_created_again(kubectl: Kubectl) -> None:
    kubectl.create(without_status(claim("c", ask(3))), waiting("c"))
    assert kubectl.fix("deviceRequest")["kind"] == "ResourceClaim"
    assert count_of(kubectl.get("ResourceClaim", "c")) == 2
    assert kubectl.explain()["feasible"]


def test_a_claim_that_no_pod_uses_gives_its_devices_back(kubectl: Kubectl, cluster: ControlPlane) -> None:
    kubectl.create(*(without_status(claim(name, ask(2))) for name in ("c", "old")), waiting("c"))
    status = allocation("n1", "a", "b")
    cluster.client.patch("ResourceClaim", "old", {"status": status}, part="status")
    assert kubectl.fix("unusedClaim")["name"] == "old"
    assert "allocation" not in kubectl.get("ResourceClaim", "old").get("status", {})
    assert kubectl.explain()["feasible"]


def test_a_class_is_created(kubectl: Kubectl) -> None:
    kubectl.create(without_status(claim("c", ask(class_name="all.example.com"))), waiting("c"))
    assert kubectl.fix("deviceClass")["kind"] == "DeviceClass"
    assert kubectl.explain()["feasible"]


def test_a_namespace_is_labelled_for_claims_with_admin_access(kubectl: Kubectl, cluster: ControlPlane) -> None:
    label = {"metadata": {"labels": {ADMIN_ACCESS: "true"}}}
    admin = without_status(claim("c", ask(adminAccess=True)))
    with pytest.raises(ApiError, match="adminAccess: Forbidden: admin access to devices requires the"):
        cluster.client.create(admin)
    cluster.client.patch("Namespace", "default", label, namespace="")
    kubectl.create(template("gpu", ask(adminAccess=True)), pod({"resourceClaims": ENTRY}))
    cluster.client.patch("Namespace", "default", {"metadata": {"labels": {ADMIN_ACCESS: None}}}, namespace="")
    kubectl.fix("label")
    assert cluster.client.create(admin)["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"]
