"""Blocking connections to the extender under test, with HTTP by hand; all of them end with the run."""

import socket
import ssl
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import NamedTuple

PATIENCE = 60.0
"""Seconds that a client waits at most, twice what the server gives itself for a body or an answer."""


class Reply(NamedTuple):
    """An answer as it came."""

    status: int
    body: bytes


class Connection:
    """One connection. What it raises is an OSError or an EOFError; an answer that does not come is a TimeoutError.

    Attributes:
        is_last: whether the server closes it after the last answer.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.is_last = False
        self._sock = sock
        self._reader = sock.makefile("rb")

    def send(self, data: bytes | memoryview, *, seconds: float = PATIENCE) -> None:
        self._sock.settimeout(seconds)
        self._sock.sendall(data)
        self._sock.settimeout(PATIENCE)

    def ask(self, data: bytes) -> Reply:
        """Send a request and read the answer. A server may refuse before it has taken everything."""
        with suppress(ConnectionError):
            self.send(data)
        return self.answer()

    def answer(self, *, seconds: float = PATIENCE) -> Reply:
        self._sock.settimeout(seconds)
        status = int(self._line().split()[1])
        size = 0
        while header := self._line().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                size = int(value)
            if name.lower() == b"connection":
                self.is_last = value.strip().lower() == b"close"
        body = self._reader.read(size)
        if len(body) < size:
            raise EOFError
        return Reply(status, body)

    def _line(self) -> bytes:
        line = self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line

    def finish(self) -> None:
        """Send FIN and go on reading; `SSLSocket.shutdown` would end TLS in both directions."""
        socket.socket.shutdown(self._sock, socket.SHUT_WR)

    def reset(self) -> None:
        """Leave with RST instead of FIN once the block ends."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def close(self) -> None:
        with suppress(OSError):  # the reader's, of a socket that was reset
            self._reader.close()
        self._sock.close()


class Sleeps:
    """The times when the plugin sleeps on purpose, one at a time. The server answers nobody then."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._times: list[list[float]] = []

    @contextmanager
    def next(self) -> Iterator[None]:
        with self._turn:
            times = [time.monotonic(), float("inf")]
            self._times.append(times)
            try:
                yield
            finally:
                times[1] = time.monotonic()

    def overlap(self, start: float, end: float) -> float:
        """The seconds between `start` and `end` in which the plugin slept."""
        return sum(max(0.0, min(end, to) - max(start, since)) for since, to in list(self._times))


class Target:
    """The extender as its clients see it.

    Attributes:
        is_ending: set when the run ends.
        flood: held by the one client that may open hundreds of connections.
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.port = port
        self.tls = tls
        self.is_ending = threading.Event()
        self.sleeps = Sleeps()
        self.flood = threading.Lock()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    @contextmanager
    def connection(self, *, is_raw: bool = False, receive_buffer: int = 0) -> Iterator[Connection]:
        """Connect for the length of the block.

        Args:
            is_raw: without TLS, whatever the server speaks.
            receive_buffer: bytes that the kernel takes from the server before anybody reads them.
        """
        sock = socket.socket()
        sock.settimeout(PATIENCE)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if self.tls and not is_raw:
            sock = self.tls.wrap_socket(sock, server_hostname="localhost", do_handshake_on_connect=False)
        with ExitStack() as stack:
            stack.callback(sock.close)
            self._track(sock)
            stack.callback(self._forget, sock)
            sock.connect(("127.0.0.1", self.port))
            if isinstance(sock, ssl.SSLSocket):
                sock.do_handshake()
            connection = Connection(sock)
            stack.callback(connection.close)
            yield connection

    @contextmanager
    def connections(self, n: int, *, is_raw: bool = False, receive_buffer: int = 0) -> Iterator[list[Connection]]:
        """Several at once."""
        with ExitStack() as stack:
            one = partial(self.connection, is_raw=is_raw, receive_buffer=receive_buffer)
            yield [stack.enter_context(one()) for _ in range(n)]

    def wait(self, seconds: float) -> bool:
        """Wait, or until the run ends. Returns: whether it ends."""
        return self.is_ending.wait(seconds)

    def end(self) -> None:
        """End every connection, and with it every wait for an answer; there are no new ones."""
        with self._lock:
            self.is_ending.set()
            for sock in self._open:
                with suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def _track(self, sock: socket.socket) -> None:
        with self._lock:
            if self.is_ending.is_set():
                raise ConnectionAbortedError
            self._open.add(sock)

    def _forget(self, sock: socket.socket) -> None:
        with self._lock:
            self._open.discard(sock)
