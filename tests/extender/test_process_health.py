"""Health and metrics of an extender as a process, while a plugin computes."""

import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest

from tests.extender.as_process import SOME, Start
from tests.integration.processes import free_port, wait_until
from tests.serving.certificates import Authority

PAGES = ("/healthz", "/livez", "/readyz", "/metrics", "/version")
GATED = """
import time
from pathlib import Path
from kubesched import Plugin, Status

HERE = Path(__file__).parent

class Gated(Plugin):
    def filter(self, state, pod, node):
        (HERE / "entered").touch()
        while not (HERE / "open").exists():
            time.sleep(0.01)
        return Status.SUCCESS
"""


@pytest.fixture
def gated(tmp_path: Path) -> str:
    """A plugin whose filter does not return before there is a file `open` beside it."""
    (tmp_path / "gated.py").write_text(GATED)
    return f"{tmp_path}/gated.py:Gated"


@contextmanager
def while_it_computes(tmp_path: Path, client: HTTPConnection) -> Iterator[None]:
    """A filter call is being computed for the length of the block, and answered after it."""

    def call() -> int:
        client.request("POST", "/filter", SOME)
        return client.getresponse().status

    with closing(client), ThreadPoolExecutor(1) as pool:
        called = pool.submit(call)
        try:
            wait_until((tmp_path / "entered").exists, "the filter to be asked")
            yield
            assert not called.done()
        finally:
            (tmp_path / "open").touch()
        assert called.result() == 200


def status_of(port: int, path: str, *, method: str = "GET") -> int:
    """The status of a page, over plain HTTP and without a certificate."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as client:
        client.request(method, path)
        return client.getresponse().status


def test_health_and_metrics_are_answered_at_the_same_port(start: Start, tmp_path: Path, gated: str) -> None:
    extender = start("--http-timeout", "1m", plugins=[gated], record=False)
    with while_it_computes(tmp_path, HTTPConnection("127.0.0.1", extender.port, timeout=20)):
        assert [status_of(extender.port, path) for path in PAGES] == [200] * 5


def test_with_client_certificates_they_are_answered_to_everybody_at_the_health_port(
    start: Start, tmp_path: Path, gated: str
) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("extender")
    trusting = ssl.create_default_context(cafile=authority.path)
    trusting.load_cert_chain(*authority.issue("kube-scheduler"))
    port = free_port()
    options = ("--tls-cert-file", certificate, "--tls-private-key-file", key, "--client-ca-file", authority.path)
    names = ("--client-cn", "kube-scheduler", "--health-port", str(port), "--http-timeout", "1m")
    extender = start(*map(str, options), *names, plugins=[gated], record=False)
    client = HTTPSConnection("localhost", extender.port, timeout=20, context=trusting)
    with while_it_computes(tmp_path, client):
        assert [status_of(port, path) for path in PAGES] == [200] * 5
    assert [status_of(port, path) for path in ("/inspect", "/nothing")] == [404, 404]
    assert status_of(port, "/filter", method="POST") == 404
