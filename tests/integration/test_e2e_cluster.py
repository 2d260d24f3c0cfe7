"""The cluster of the end-to-end campaign: kubelets that are played, with real controllers and admission."""

import time
from collections.abc import Iterator

import pytest

from campaigns.e2e.cluster import Cluster
from kubesched.testing import make_pod
from tests.integration.api_client import ApiError
from tests.integration.build import find_binary
from tests.integration.processes import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]


SLEEPS_BEFORE_ITS_END = {"name": "app", "image": "app", "lifecycle": {"preStop": {"sleep": {"seconds": 2}}}}


@pytest.fixture(scope="module")
def e2e_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(find_binary(lambda line: None), tmp_path_factory.mktemp("e2e-cluster")) as cluster:
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        wait_until(lambda: cluster.client.is_up(account), "the service account that pods get")
        yield cluster


def test_a_bound_pod_runs_until_it_is_deleted(e2e_cluster: Cluster) -> None:
    client = e2e_cluster.client
    client.create(make_pod("web"))
    client.bind("web", "node-0")
    wait_until(lambda: client.get("Pod", "web")["status"]["phase"] == "Running", "a running pod")
    client.call("DELETE", "/api/v1/namespaces/default/pods/web", {"gracePeriodSeconds": 30})
    wait_until(lambda: not client.is_up("/api/v1/namespaces/default/pods/web"), "the end of the pod")
    with pytest.raises(ApiError, match="404"):
        client.get("Pod", "web")


def test_a_deleted_pod_stays_while_its_hook_sleeps(e2e_cluster: Cluster) -> None:
    client = e2e_cluster.client
    client.create(make_pod("slow", spec={"containers": [SLEEPS_BEFORE_ITS_END]}))
    client.bind("slow", "node-0")
    began = time.monotonic()
    client.call("DELETE", "/api/v1/namespaces/default/pods/slow", {"gracePeriodSeconds": 30})
    wait_until(lambda: not client.is_up("/api/v1/namespaces/default/pods/slow"), "the end of the pod")
    assert time.monotonic() - began > 2


def test_an_added_resource_can_be_requested(e2e_cluster: Cluster) -> None:
    client = e2e_cluster.client
    client.patch("Node", "node-1", {"status": {"capacity": {"example.com/foo": "5"}}}, part="status")
    allocatable = wait_until(
        lambda: "example.com/foo" in (offered := client.get("Node", "node-1")["status"]["allocatable"]) and offered,
        "the resource in allocatable",
    )
    assert allocatable == {**client.get("Node", "node-0")["status"]["allocatable"], "example.com/foo": "5"}
