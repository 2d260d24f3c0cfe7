"""Configurations in the shape of articles: kubesched schedules with the file, kube-scheduler with the converted one."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.review import check_configuration
from kubesched.testing import make_node, make_pod
from tests.articles.table import ARTICLES, Article
from tests.integration.api_client import ApiClient
from tests.integration.conftest import StartScheduler
from tests.integration.control_plane import ControlPlane
from tests.integration.processes import Process, wait_until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]

every_article = pytest.mark.parametrize("article", ARTICLES, ids=lambda article: article.file)
STOCK = [article for article in ARTICLES if not article.plugins]
WITH_PLUGINS = [article for article in ARTICLES if article.plugins]


class WillingExtender(BaseHTTPRequestHandler):
    """Accepts every node, at any path, and notes the paths."""

    protocol_version = "HTTP/1.1"
    paths: list[str] = []

    def do_POST(self) -> None:
        args = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.paths.append(self.path)
        answer: Any = {"Nodes": args["Nodes"], "FailedNodes": {}, "Error": ""}
        if "priorities" in self.path:
            answer = []
        elif "preemption" in self.path:
            answer = {"NodeNameToMetaVictims": {}}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def extender() -> Iterator[ThreadingHTTPServer]:
    """The extender that the Policies name."""
    WillingExtender.paths.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), WillingExtender) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def holders(client: ApiClient) -> dict[str, str]:
    """The holders of the Leases in kube-system, by the names of the Leases."""
    leases = client.read_all("Lease", "kube-system")
    return {one["metadata"]["name"]: one["spec"].get("holderIdentity", "") for one in leases if one.get("spec")}


def is_placed(client: ApiClient, name: str) -> bool:
    return bool(client.get("Pod", name)["spec"].get("nodeName"))


def places_a_pod_of_each(article: Article, client: ApiClient) -> None:
    client.create(make_node("n1", allocatable={"cpu": "4", "memory": "8Gi", "pods": "9"}))
    for name in article.schedulers:
        client.create(make_pod(f"of-{name}", spec={"schedulerName": name}, requests={"cpu": "1"}))
        wait_until(lambda name=name: is_placed(client, f"of-{name}"), f"the pod of {name}")


def check_the_lease_and_the_extender(article: Article, client: ApiClient, lease: str) -> None:
    wait_until(lambda: holders(client).get(lease), f"a holder of {lease}: {holders(client)}")
    assert [name for name, holder in holders(client).items() if holder and not name.startswith("apiserver-")] == [lease]
    if article.is_old and not article.plugins:
        verb = "/api/scheduler/filter" if article.lease == "" else "/scheduler/predicates/always_true"
        assert verb in WillingExtender.paths


@every_article
def test_kubesched_schedules_with_the_file(
    article: Article, cluster: ControlPlane, tmp_path: Path, extender: ThreadingHTTPServer
) -> None:
    file = article.write(tmp_path, extender.server_port)
    command = [sys.executable, "-m", "kubesched", "scheduler", "--config", file, "--secure-port", "0"]
    command += ["--kubeconfig", cluster.kubeconfig(tmp_path / "kubeconfig"), *article.plugin_options]
    process = Process("kubesched scheduler", command, tmp_path / "log")
    try:
        schedules = f"schedules pods of {', '.join(article.schedulers)} "
        process.wait_until(lambda: schedules in "".join(process.logs()), schedules)
        places_a_pod_of_each(article, cluster.client)
        check_the_lease_and_the_extender(article, cluster.client, article.lease or "kubesched")
    finally:
        process.stop()
    converted = [line for line in process.logs() if ": converted from " in line]
    assert len(converted) == article.is_old


@pytest.mark.parametrize("article", STOCK, ids=lambda article: article.file)
def test_kube_scheduler_schedules_with_the_converted_file(
    article: Article,
    cluster: ControlPlane,
    start_scheduler: StartScheduler,
    tmp_path: Path,
    extender: ThreadingHTTPServer,
) -> None:
    document = convert(article, tmp_path, extender.server_port)
    start_scheduler({"leaderElection": {"leaderElect": True}, **document})
    places_a_pod_of_each(article, cluster.client)
    check_the_lease_and_the_extender(article, cluster.client, article.lease_of_the_file)


@pytest.mark.parametrize("article", WITH_PLUGINS, ids=lambda article: article.file)
def test_kube_scheduler_misses_only_the_plugins_of_the_converted_file(
    article: Article, cluster: ControlPlane, tmp_path: Path
) -> None:
    document = {
        **convert(article, tmp_path),
        "clientConnection": {"kubeconfig": str(cluster.kubeconfig(tmp_path / "k"))},
    }
    config = tmp_path / "converted.yaml"
    config.write_text(yaml.safe_dump(document))
    command = [cluster.binary, "kube-scheduler", f"--config={config}", "--secure-port=0", f"--cert-dir={tmp_path}"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode != 0
    expected = check_configuration(config.read_text()).error.partition("\n")[0]
    assert '" does not exist' in expected
    assert expected in run.stderr.replace(r"\"", '"')


def convert(article: Article, folder: Path, port: int = 0) -> dict[str, Any]:
    """What kube-scheduler reads of `kubesched config convert`: the first document."""
    command = [sys.executable, "-m", "kubesched", "config", "convert", article.write(folder, port)]
    run = subprocess.run([*command, *article.plugin_options], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 3), run.stderr
    document: dict[str, Any] = next(yaml.safe_load_all(run.stdout))
    return document
