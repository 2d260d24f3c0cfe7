"""The HTTPS endpoints of `kubesched scheduler` ask the API server who may ask them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.api_client import ApiClient, ApiError
from tests.integration.control_plane import ControlPlane
from tests.integration.live_process import LiveProcess
from tests.integration.scheduler_process import SchedulerProcess

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture
def scheduler(cluster: ControlPlane, tmp_path: Path) -> Iterator[LiveProcess]:
    live = LiveProcess(cluster, tmp_path)
    yield live
    live.stop()


def test_master_takes_the_place_of_the_kubeconfigs_server(cluster: ControlPlane, tmp_path: Path) -> None:
    kubeconfig = cluster.kubeconfig(tmp_path / "other")
    kubeconfig.write_text(kubeconfig.read_text().replace(cluster.url, "https://127.0.0.1:1"))
    config = {"clientConnection": {"kubeconfig": str(kubeconfig)}}
    LiveProcess(cluster, tmp_path, config, "--master", cluster.url).stop()  # waits until it schedules


def refusal(scheduler: LiveProcess | SchedulerProcess, path: str, token: str = "") -> tuple[int, str]:
    """The status and the message of a request that is refused; 200 and the page where it is not."""
    url = f"https://localhost:{scheduler.port}"
    with closing(ApiClient(url, token=token, ca_file=scheduler.ca_file, connections=1)) as client:
        try:
            return 200, client.text(path)
        except ApiError as error:
            return error.status, str(error)


def test_health_is_open_and_the_rest_is_not(cluster: ControlPlane, scheduler: LiveProcess) -> None:
    assert [refusal(scheduler, path) for path in ("/healthz", "/livez", "/readyz")] == [(200, "ok")] * 3
    status, message = refusal(scheduler, "/metrics")
    assert (status, message) == (403, '403 Forbidden: forbidden: User "system:anonymous" cannot get path "/metrics"')
    assert refusal(scheduler, "/metrics", "wrong")[0] == 401
    status, page = refusal(scheduler, "/metrics", cluster.token)
    assert (status, 'scheduler_pending_pods{queue="active"} 0' in page) == (200, True)
    status, page = refusal(scheduler, "/metrics/resources", cluster.token)
    assert (status, "kube_pod_resource_request" in page) == (200, True)


def test_a_token_is_reviewed_where_anyone_may_ask_as_kube_scheduler_does(
    cluster: ControlPlane, scheduler: LiveProcess, tmp_path: Path
) -> None:
    assert cluster.audit_log is not None
    kubeconfig = cluster.kubeconfig(tmp_path / "reviews")
    (tmp_path / "stock").mkdir()
    stock = SchedulerProcess(cluster, tmp_path / "stock", {}, f"--authentication-kubeconfig={kubeconfig}")
    try:
        start = cluster.audit_log.end()
        answers = [[refusal(one, "/healthz", token)[0] for token in ("", "wrong")] for one in (stock, scheduler)]
        assert answers == [[200, 401], [200, 401]]
        writes = {agent: list(cluster.audit_log.writes(start, (agent,))) for agent in ("kube-scheduler", "kubesched")}
        reviews = {agent: [write[1] for write in made].count("tokenreviews") for agent, made in writes.items()}
        assert reviews == {"kube-scheduler": 1, "kubesched": 1}
    finally:
        stock.stop()


def test_a_service_account_needs_the_right_to_read_the_path(cluster: ControlPlane, scheduler: LiveProcess) -> None:
    api, name = cluster.client, {"metadata": {"name": "prometheus"}}
    api.call("POST", ACCOUNTS, name)
    try:
        token = api.call("POST", f"{ACCOUNTS}/prometheus/token", {"spec": {}})["status"]["token"]
        rules = [{"nonResourceURLs": ["/configz"], "verbs": ["get"]}]
        api.call("POST", f"{RBAC}/clusterroles", {**name, "rules": rules})
        subject = {"kind": "ServiceAccount", "name": "prometheus", "namespace": "default"}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "prometheus"}
        api.call("POST", f"{RBAC}/clusterrolebindings", {**name, "subjects": [subject], "roleRef": role})
        assert refusal(scheduler, "/configz", token)[0] == 200
        status, message = refusal(scheduler, "/metrics", token)
        assert status == 403
        assert 'User "system:serviceaccount:default:prometheus" cannot get path "/metrics"' in message
    finally:
        for path in (ACCOUNTS, f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings"):
            api.call("DELETE", f"{path}/prometheus")
