"""Answers that an API server would compress come through the fault proxy as they are."""

import gzip
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from campaigns.faults.fault_proxy import FaultProxy

TEXT = b'{"items": []}' + b" " * 2**18


class Compressing(BaseHTTPRequestHandler):
    """Compresses for who accepts that."""

    def do_GET(self) -> None:
        is_accepted = "gzip" in self.headers.get("Accept-Encoding", "")
        body = gzip.compress(TEXT) if is_accepted else TEXT
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        if is_accepted:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Write no log."""


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Compressing) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_client_that_accepts_no_compression_gets_none(server):
    with FaultProxy(server, seed=0) as proxy, urllib.request.urlopen(f"{proxy.url}/api/v1/pods") as answer:
        assert answer.read() == TEXT
