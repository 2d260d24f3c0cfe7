"""Probes as a kubelet sends them: each on a connection of its own, with little patience."""

import socket
import ssl
import time
from typing import NamedTuple

TIMEOUT_SECONDS = 1.0  # the default of a probe
_ANY_SERVER = ssl.create_default_context()
_ANY_SERVER.check_hostname, _ANY_SERVER.verify_mode = False, ssl.CERT_NONE


class Probes(NamedTuple):
    """What came of some probes.

    Attributes:
        slowest: seconds, of those that were answered.
    """

    n: int
    failed: int
    slowest: float


def probe(port: int, *, is_encrypted: bool, seconds: float = TIMEOUT_SECONDS) -> float | None:
    """Ask /livez once. Returns: the seconds until 200; None without."""
    began = time.monotonic()
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=seconds) as plain,
            _ANY_SERVER.wrap_socket(plain) if is_encrypted else plain as client,
        ):
            client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = client.recv(64)
    except OSError:
        return None
    took = time.monotonic() - began
    return took if answer.startswith(b"HTTP/1.1 200 ") and took <= seconds else None


def send_probes(port: int, n: int, *, is_encrypted: bool, every: float, seconds: float = TIMEOUT_SECONDS) -> Probes:
    """Ask /livez so many times."""
    times = []
    for _ in range(n):
        times.append(probe(port, is_encrypted=is_encrypted, seconds=seconds))
        time.sleep(every)
    answered = [seconds for seconds in times if seconds is not None]
    return Probes(n, n - len(answered), max(answered, default=float("nan")))
