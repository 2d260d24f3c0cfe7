"""A client that costs less than the servers it measures: prepared bytes, raw sockets, answers counted and not read.

It sends as Go's HTTP client does, on connections that stay open, one request at a time on each. Every request has a pod
of its own name, since a server may keep what it found out about a pod.
"""

import gc
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle
from typing import Final

from benchmarks.extender.payloads import PLACEHOLDER

_BUFFER: Final = 2**20
_PODS: Final = 2000  # names before they come again; more than a server keeps
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"
_IN_CHUNKS: Final = -1
_TAIL: Final = 64  # bytes that tell whether an answer ended well
_PATIENCE: Final = 60.0  # seconds without anything from the server


class CallError(Exception):
    """The server did not answer as it should."""


class Call:
    """A request, prepared but for the name of its pod."""

    def __init__(self, verb: str, body: bytes) -> None:
        self.verb = verb
        head = (
            f"POST /{verb} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: Go-http-client/1.1\r\n"
            f"Content-Length: {len(body)}\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n"
        )
        self._before, _, rest = body.partition(PLACEHOLDER.encode())
        self._before = head.encode() + self._before
        self._rest = memoryview(rest)
        self.good_end = b'"Error":""}' if verb == "filter" else b"}]"

    def pieces(self, number: int) -> list[memoryview]:
        """What is sent for one pod."""
        name = f"{PLACEHOLDER[:-5]}{number % _PODS:05}"
        return [memoryview(self._before + name.encode()), self._rest]


@dataclass(frozen=True)
class Times:
    """Seconds from the first byte of a request to the last of its answer.

    Attributes:
        each: sorted.
        total: from the first request to the last answer.
    """

    each: list[float]
    total: float

    @property
    def median(self) -> float:
        return self.percentile(50)

    @property
    def p99(self) -> float:
        return self.percentile(99)

    def percentile(self, percent: int) -> float:
        """The value that so many percent of the requests do not exceed."""
        return self.each[max(-(-len(self.each) * percent // 100) - 1, 0)]


class Client:
    """Connections to one server on this machine, kept open until `close`."""

    def __init__(self, port: int, n_connections: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._connections = [_Connection(port) for _ in range(n_connections)]
        self._buffer = bytearray(_BUFFER)
        self._numbers = count()
        for connection in self._connections:
            self._selector.register(connection.socket, selectors.EVENT_READ, connection)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._selector.close()
        for connection in self._connections:
            connection.socket.close()

    def run(self, calls: Sequence[Call], *, seconds: float = 0.0, least: int = 1) -> Times:
        """Send the calls in turn on all connections, for some seconds and until at least so many are answered.

        Raises:
            CallError: an answer was not as it should be, or did not come.
        """
        gc.collect()
        gc.disable()  # a pause of the client would count as the server's
        try:
            return self._run(cycle(calls), seconds, least)
        finally:
            gc.enable()

    def _run(self, calls: Iterator[Call], seconds: float, least: int) -> Times:
        began = time.perf_counter()
        times: list[float] = []
        n_started = 0
        idle = list(self._connections)
        while True:
            while idle and (n_started < least or time.perf_counter() - began < seconds):
                self._start(idle.pop(), next(calls))
                n_started += 1
            if len(idle) == len(self._connections):
                return Times(sorted(times), time.perf_counter() - began)
            ready = self._selector.select(_PATIENCE)
            if not ready:
                raise CallError(f"the server was silent for {_PATIENCE:g} seconds")
            for key, _ in ready:
                if self._go_on(key.data):
                    times.append(time.perf_counter() - key.data.started)
                    idle.append(key.data)

    def _start(self, connection: "_Connection", call: Call) -> None:
        connection.start(call, next(self._numbers))
        if not connection.send():
            self._selector.modify(connection.socket, selectors.EVENT_WRITE, connection)

    def _go_on(self, connection: "_Connection") -> bool:
        """Send or receive what is possible. Returns: whether the answer is complete."""
        if connection.has_more:
            if connection.send():
                self._selector.modify(connection.socket, selectors.EVENT_READ, connection)
            return False
        return connection.receive(self._buffer)


class _Connection:
    """One connection and how far its request has come."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.started = 0.0
        self._unsent: list[memoryview] = []

    @property
    def has_more(self) -> bool:
        """Whether something is left to send."""
        return bool(self._unsent)

    def start(self, call: Call, number: int) -> None:
        """Begin a request."""
        self._answer = _Answer(call)
        self._unsent = call.pieces(number)
        self.started = time.perf_counter()

    def send(self) -> bool:
        """Send what the socket takes. Returns: whether everything is sent."""
        try:
            while self._unsent:
                n = self.socket.sendmsg(self._unsent)
                while self._unsent and n >= len(self._unsent[0]):
                    n -= len(self._unsent.pop(0))
                if self._unsent:
                    self._unsent[0] = self._unsent[0][n:]
        except BlockingIOError:
            return False
        return True

    def receive(self, buffer: bytearray) -> bool:
        """Take in what is there. Returns: whether the answer is complete."""
        n = self.socket.recv_into(buffer)
        return self._answer.take(memoryview(buffer)[:n])


class _Answer:
    """How much of an answer has come, by its Content-Length or its last chunk."""

    __slots__ = ("_call", "_head", "_left", "_tail")

    def __init__(self, call: Call) -> None:
        self._call = call
        self._head = b""
        self._left: int | None = None  # None until the head has come; -1 in chunks
        self._tail = b""

    def take(self, data: memoryview) -> bool:
        """Take in a piece. Returns: whether it was the last one.

        Raises:
            CallError: kube-scheduler would not take the answer.
        """
        if not data:
            raise CallError(f"{self._call.verb}: the server closed the connection")
        if self._left is None:
            data = self._take_head(data)
            if self._left is None:
                return False
        self._tail = (self._tail + bytes(data[-_TAIL:]))[-_TAIL:]
        if self._left == _IN_CHUNKS:
            is_complete = self._tail.endswith(_LAST_CHUNK)
        else:
            self._left -= len(data)
            is_complete = self._left == 0
        if is_complete and self._call.good_end not in self._tail:
            raise CallError(f"{self._call.verb}: the answer ends with {self._tail!r}")
        return is_complete

    def _take_head(self, data: memoryview) -> memoryview:
        """Read status and length. Returns: what stands behind them."""
        head, end, _ = (self._head + bytes(data)).partition(b"\r\n\r\n")
        if not end:
            self._head = head
            return data[:0]
        status, *lines = head.decode("latin-1").lower().split("\r\n")
        if " 200 " not in f"{status} ":
            raise CallError(f"{self._call.verb}: the server answered {status!r}")
        headers = dict(line.split(": ", 1) for line in lines)
        self._left = int(headers.get("content-length", _IN_CHUNKS))
        return data[len(head) + len(end) - len(self._head) :]
