"""A small metrics-server behind a real aggregated API: NodeMetrics without a watch, as the real one has them."""

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kubesched.serving import self_signed_pair
from tests.integration.api_client import ApiClient
from tests.integration.processes import wait_until

GROUP, VERSION = "metrics.k8s.io", "v1beta1"
_NODES = {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]}
_GROUP_VERSION = {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}


class MetricsServer:
    """Answers discovery and lists of NodeMetrics, each measured when it is asked for.

    Attributes:
        usage: node -> (cpu, memory).
        n_lists: how many lists were answered.
    """

    def __init__(self) -> None:
        self.usage: dict[str, tuple[str, str]] = {}
        self.n_lists = 0

    def answer(self, path: str) -> dict[str, Any] | None:
        root = f"/apis/{GROUP}/{VERSION}"
        if path == root:
            return {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": f"{GROUP}/{VERSION}",
                "resources": [_NODES],
            }
        if path == f"{root}/nodes":
            self.n_lists += 1
            return {
                "kind": "NodeMetricsList",
                "apiVersion": f"{GROUP}/{VERSION}",
                "metadata": {},
                "items": [self._item(name, *usage) for name, usage in self.usage.items()],
            }
        if path == f"/apis/{GROUP}":
            known = {"versions": [_GROUP_VERSION], "preferredVersion": _GROUP_VERSION}
            return {"kind": "APIGroup", "apiVersion": "v1", "name": GROUP, **known}
        return None

    def _item(self, name: str, cpu: str, memory: str) -> dict[str, Any]:
        timestamp = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        usage = {"cpu": cpu, "memory": memory}
        return {"metadata": {"name": name}, "timestamp": timestamp, "window": "15s", "usage": usage}


@contextmanager
def aggregated_metrics(client: ApiClient, folder: Path) -> Iterator[MetricsServer]:
    """Register a metrics-server with the API server, for the time of the block."""
    metrics = MetricsServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = metrics.answer(self.path.partition("?")[0])
            body = json.dumps(answer or {"kind": "Status", "code": 404, "reason": "NotFound"}).encode()
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    certificate, key = self_signed_pair(folder, "metrics")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            _register(client, server.server_address[1])
            yield metrics
        finally:
            client.call("DELETE", f"/apis/apiregistration.k8s.io/v1/apiservices/{VERSION}.{GROUP}")
            client.delete("Service", "metrics", "default")
            server.shutdown()


def _register(client: ApiClient, port: int) -> None:
    outside = {"type": "ExternalName", "externalName": "localhost"}
    client.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "metrics"}, "spec": outside})
    spec = {
        "group": GROUP,
        "version": VERSION,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics", "namespace": "default", "port": port},
    }
    document = {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": f"{VERSION}.{GROUP}"},
        "spec": spec,
    }
    client.call("POST", "/apis/apiregistration.k8s.io/v1/apiservices", document)
    wait_until(lambda: client.is_up(f"/apis/{GROUP}/{VERSION}/nodes"), "the aggregated API", seconds=60)
