"""The short way for small calls that come as Go's client sends them: one POST, plain headers, a body of known size.

aiohttp spends more on a call of a few kilobytes than answering it takes. So a connection begins here: as long as it
brings nothing but plain calls, each is read, answered and forgotten in one step of the event loop. The first thing that
is different (another method, path or header, a large, slow or chunked body, a request sent before the last one was
answered, a server that drains) hands the connection, with every byte that is not answered yet, to aiohttp for good. So
nothing is refused here, and no rule of HTTP is written twice.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from aiohttp.helpers import rfc822_formatted_time

from kubesched.serving.bodies import Buffer
from kubesched.version import VERSION

__all__ = ["QuickAnswer", "QuickCalls", "QuickHandler"]

QuickAnswer = tuple[int, bytes, Sequence[Buffer]]
"""Status, 200 or 500; content type; the body in pieces."""
QuickHandler = Callable[[bytearray], QuickAnswer]
"""Answers a body at once. It raises nothing."""

_MAX_HEAD: Final = 4096
_MAX_BODY: Final = 2**20
_PATIENCE: Final = 1.0  # seconds for the rest of a body
_END: Final = b"\r\n\r\n"
_PLAIN: Final = frozenset((b"host", b"user-agent", b"content-type", b"accept-encoding", b"accept"))
_REASONS: Final = {200: b"OK", 500: b"Internal Server Error"}
_SERVER: Final = b"kubesched/" + VERSION.encode()


class QuickCalls(asyncio.BufferedProtocol):
    """One connection, until it is handed over.

    What arrives is read into room that stays: asyncio's own for a read, 256 KiB anew each time, costs more than all
    else that it does for a call. All connections share it, for the loop hands over what it has read before it reads on.

    Args:
        new_general: makes what takes over.
        handlers: by path.
        connections: where the connection stands as long as it is one of these.
        room: to read into.
        max_body_bytes: what is larger is handed over.
        keep_alive: seconds after which an idle connection is closed.
    """

    def __init__(
        self,
        new_general: Callable[[], asyncio.Protocol],
        handlers: Mapping[bytes, QuickHandler],
        connections: set["QuickCalls"],
        room: bytearray,
        *,
        max_body_bytes: int,
        keep_alive: float,
    ) -> None:
        self._new_general = new_general
        self._handlers = handlers
        self._connections = connections
        self._max_body = min(max_body_bytes, _MAX_BODY)
        self._keep_alive = keep_alive
        self._room = room
        self._is_last = False
        self._general: asyncio.Protocol | None = None  # what the connection was handed over to
        self._head = b""  # of the call whose body is arriving, as it came
        self._handler: QuickHandler | None = None
        self._body = bytearray()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None

    # --- the connection ---

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._last = self._loop.time()
        self._connections.add(self)
        self._idle = self._loop.call_later(self._keep_alive, self._close_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._leave()

    def eof_received(self) -> bool | None:
        """The client has said everything; what it began is aiohttp's to judge."""
        return self.hand_over().eof_received()

    def pause_writing(self) -> None:
        """The client does not take its answers; aiohttp knows how to wait."""
        self.hand_over().pause_writing()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to put what comes; a view, for asyncio's TLS fills slices of it, one with each record."""
        return memoryview(self._room)

    def buffer_updated(self, nbytes: int) -> None:
        """Take what came."""
        if self._handler is not None:
            self._body += memoryview(self._room)[:nbytes]
            self._go_on()
        elif self._begin(nbytes):
            self._go_on()
        else:
            self.hand_over(bytes(memoryview(self._room)[:nbytes]))

    def announce_end(self) -> None:
        """The server is about to end: tell the client with the next answer."""
        self._is_last = True

    def finish(self) -> None:
        """The server ends: close an idle connection, and leave a call that has begun to aiohttp."""
        if self._handler is None:
            self._transport.close()
        else:
            self.hand_over()

    def hand_over(self, data: bytes = b"") -> asyncio.Protocol:
        """Let aiohttp have the connection for good, with the call that has begun and with what came last."""
        unanswered = b"".join((self._head, self._body, data))
        self._leave()
        if self._general is None:
            self._general = self._new_general()
            self._transport.set_protocol(self._general)
            self._general.connection_made(self._transport)
        if unanswered:
            self._general.data_received(unanswered)
        return self._general

    def _leave(self) -> None:
        self._forget()
        self._idle.cancel()
        self._connections.discard(self)

    # --- one call ---

    def _begin(self, n: int) -> bool:
        """Read the head of a call at the beginning of so many bytes. Returns: whether it is a plain one."""
        end = self._room.find(_END, 0, min(n, _MAX_HEAD))
        path, size = _read_head(bytes(self._room[:end])) if end >= 0 else (b"", -1)
        handler = self._handlers.get(path)
        if handler is None or not 0 <= size <= self._max_body:
            return False
        self._handler, self._size = handler, size
        self._head = bytes(self._room[: end + 4])
        self._body = self._room[end + 4 : n]
        return True

    def _go_on(self) -> None:
        """Answer the call if it is whole."""
        missing = self._size - len(self._body)
        if missing > 0:
            if self._timer is None:
                self._timer = self._loop.call_later(_PATIENCE, self.hand_over)
            return
        handler, body = self._handler, self._body
        assert handler is not None
        rest = bytes(body[self._size :])
        if rest:
            del body[self._size :]
        status, content_type, pieces = handler(body)
        self._forget()
        self._write(status, content_type, pieces)  # which hands over where the client does not take its answers
        if self._is_last:
            self._transport.close()
        elif rest:  # the next call has come before this one was answered
            self.hand_over(rest)

    def _write(self, status: int, content_type: bytes, pieces: Sequence[Buffer]) -> None:
        body = b"".join(pieces)
        head = b"HTTP/1.1 %d %b\r\nContent-Type: %b\r\nContent-Length: %d\r\nDate: %b\r\nServer: %b\r\n%b\r\n" % (
            status,
            _REASONS[status],
            content_type,
            len(body),
            rfc822_formatted_time().encode(),
            _SERVER,
            b"Connection: close\r\n" if self._is_last else b"",
        )
        self._transport.write(head + body)

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._handler, self._head, self._body = None, b"", bytearray()
        self._last = self._loop.time()

    def _close_if_idle(self) -> None:
        left = self._last + self._keep_alive - self._loop.time()
        if self._handler is None and left <= 0:
            self._transport.close()
        else:
            self._idle = self._loop.call_later(max(left, _PATIENCE), self._close_if_idle)


@lru_cache(maxsize=1024)  # a kube-scheduler's calls differ in path and size alone, and not often in these
def _read_head(head: bytes) -> tuple[bytes, int]:
    """Path and size of the body; -1 where anything in the head needs thought."""
    line, *headers = head.split(b"\r\n")
    if not line.startswith(b"POST ") or not line.endswith(b" HTTP/1.1"):
        return b"", -1
    return line[5:-9], _body_size(headers)


def _body_size(headers: list[bytes]) -> int:
    """The size of the body; -1 where a header says anything that needs thought."""
    size = -1
    for header in headers:
        name, _, value = header.partition(b":")
        name = name.lower()
        if name == b"content-length":
            value = value.strip(b" ")
            if size >= 0 or not value.isdigit() or len(value) > 7:
                return -1
            size = int(value)
        elif name not in _PLAIN or b"\n" in value or b"\r" in value or b"\0" in value:
            return -1
    return size
