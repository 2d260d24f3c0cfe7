"""The short path for small calls in the form of Go's client: one POST, plain headers, a body of known size.

aiohttp spends more on a call of a few kilobytes than answering it takes. So a connection begins here: as long as it
brings nothing but plain calls, each is read, answered and forgotten in one step of the event loop. The first thing that
is different (another method, path or header, a large, slow or chunked body, a request sent before the last one was
answered, a server that drains or is short of memory) hands the connection, with every byte that is not answered yet, to
aiohttp for good. So nothing is refused here, and no rule of HTTP is written twice.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, Protocol

from aiohttp.helpers import rfc822_formatted_time

from kubesched.serving.bodies import Buffer, blocks
from kubesched.serving.byte_budget import ByteBudget, Transfer
from kubesched.serving.connections import Connection, Stage
from kubesched.version import VERSION

SERVER_NAME: Final = f"kubesched/{VERSION}"
"""The `Server` header of every answer."""

QuickAnswer = tuple[int, bytes, Sequence[Buffer]]
"""Status, 200 or 500; content type; the body in pieces."""


class QuickHandler(NamedTuple):
    """What answers the calls of one path.

    Attributes:
        answer: gives the answer to a body at once. It raises nothing.
        note_unread: is called with the client's address when a client leaves in the middle of a body.
    """

    answer: Callable[[bytearray], QuickAnswer]
    note_unread: Callable[[str], None]


class QuickHandlers(Protocol):
    """The quick handlers of a server."""

    def get(self, path: bytes, /) -> QuickHandler | None:
        """What answers the calls of a path; None if they take the long way."""
        ...


_MAX_HEAD: Final = 4096
_MAX_BODY: Final = 2**18
_AT_ONCE: Final = 2**18  # bytes of an answer that are given to the socket in one go
_PATIENCE: Final = 1.0  # seconds for the rest of a body
_END: Final = b"\r\n\r\n"
_PLAIN: Final = frozenset((b"host", b"user-agent", b"content-type", b"content-length", b"accept-encoding", b"accept"))
_ODD: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_REASONS: Final = {200: b"OK", 500: b"Internal Server Error"}


class QuickCalls(asyncio.BufferedProtocol):
    """One connection, until it is handed over.

    Requests are read into a buffer that is kept: asyncio's, 256 KiB allocated for each read, costs more than all else
    that it does for a call. All connections share it, for the loop hands over what it has read before it reads on.

    Args:
        new_general: makes what takes over.
        handlers: by path.
        allows: whether a Host header names this server.
        connections: contains this while it is one of these.
        connection: the one that is served.
        asked: the places of connections that have sent a request.
        room: to read into.
        uploads: what bodies hold that have not arrived as a whole.
        answers: what answers hold that clients have not taken.
        max_body_bytes: what is larger is handed over.
        keep_alive: seconds after which an idle connection is closed.
        seconds: for a large answer to be taken.
    """

    def __init__(
        self,
        new_general: Callable[[], asyncio.Protocol],
        handlers: QuickHandlers,
        allows: Callable[[str], bool],
        connections: set["QuickCalls"],
        connection: Connection,
        asked: Stage,
        room: bytearray,
        uploads: ByteBudget,
        answers: ByteBudget,
        *,
        max_body_bytes: int,
        keep_alive: float,
        seconds: float,
    ) -> None:
        self._new_general = new_general
        self._handlers = handlers
        self._allows = allows
        self._connections = connections
        self._connection = connection
        self._asked = asked
        self._uploads = uploads
        self._answers = answers
        self._max_body = min(max_body_bytes, _MAX_BODY)
        self._keep_alive = keep_alive
        self._seconds = seconds
        self._room = room
        self._is_last = False
        self._general: asyncio.Protocol | None = None  # what the connection was handed over to
        self._head = b""  # of the call whose body is arriving, as it came
        self._handler: QuickHandler | None = None
        self._body = bytearray()
        self._size = 0
        self._upload: Transfer | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_paused = False  # the socket takes nothing
        self._unsent: Iterator[Buffer] | None = None  # of a large answer
        self._transfer: Transfer | None = None
        self._rest = b""  # what came behind the call whose answer is being sent

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
        if self._handler is not None:
            self._handler.note_unread(_peer(self._transport))
        if self._transfer is not None:
            self._answers.end(self._transfer)
        self._unsent, self._rest = None, b""
        self._leave()
        del self._transport  # with TLS it refers to this one, and both would stay until the collector comes

    def pause_writing(self) -> None:
        """The client does not take its answers: read nothing more before it does."""
        self._is_paused = True
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """The client took some."""
        self._is_paused = False
        if self._unsent is None:
            self._transport.resume_reading()
        else:
            self._send()

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

    def finish(self) -> None:
        """The server ends: first send `Connection: close` with the next answer.

        Asked once more, close an idle connection and leave a call that has begun to aiohttp. A large answer that is
        being sent is the last one.
        """
        if not self._is_last:
            self._is_last = True
        elif self._handler is not None:
            self.hand_over()
        elif self._unsent is None:
            self._transport.close()

    def hand_over(self, data: bytes = b"") -> None:
        """Let aiohttp have the connection for good, with the call that has begun and with what came last."""
        if self._transport.is_closing():  # its end is on the way, and would meet aiohttp before its beginning
            return
        unanswered = b"".join((self._head, self._body, data))
        self._leave()
        general = self._new_general()
        self._transport.set_protocol(general)
        general.connection_made(self._transport)
        if self._is_paused:
            self._transport.resume_reading()  # aiohttp has its own way to wait
            general.pause_writing()
        if unanswered:
            general.data_received(unanswered)
        del self._transport  # as in `connection_lost`

    def _leave(self) -> None:
        self._forget()
        self._idle.cancel()
        self._connections.discard(self)

    # --- one call ---

    def _begin(self, n: int) -> bool:
        """Read the head of a call at the beginning of so many bytes. Returns: whether it is a plain one."""
        end = self._room.find(_END, 0, min(n, _MAX_HEAD))
        head = _read_head(bytes(self._room[:end])) if end >= 0 else _Head()
        handler = self._handlers.get(head.path)
        if handler is None or not 0 <= head.size <= self._max_body or not self._allows(head.host):
            return False
        if self._connection.stage is not self._asked and not self._connection.enter(self._asked):
            return False
        self._handler, self._size = handler, head.size
        self._head = bytes(self._room[: end + 4])
        self._body = self._room[end + 4 : n]
        return True

    def _go_on(self) -> None:
        """Answer the call if it is whole."""
        missing = self._size - len(self._body)
        if missing > 0:
            self._wait_for_rest()
            return
        if self._answers.is_used_up:
            self.hand_over()
            return
        handler, body = self._handler, self._body
        assert handler is not None
        rest = bytes(body[self._size :])
        if rest:
            del body[self._size :]
        answer = handler.answer(body)
        self._forget()
        self._rest = rest
        self._write(*answer)
        if self._unsent is None:
            self._after_answer()

    def _wait_for_rest(self) -> None:
        """Count what has arrived of a body, and wait for the rest."""
        if self._upload is None:
            self._connection.since = self._loop.time()
            self._upload = self._uploads.begin(self._transport.abort)
            self._timer = self._loop.call_later(_PATIENCE, self.hand_over)
        self._uploads.hold(self._upload, len(self._body) - self._upload.held)

    def _after_answer(self) -> None:
        """An answer is with the socket."""
        rest, self._rest = self._rest, b""
        if self._is_last:
            self._transport.close()
        elif rest:  # the next call has come before this one was answered
            self.hand_over(rest)

    def _write(self, status: int, content_type: bytes, pieces: Sequence[Buffer]) -> None:
        size = sum(map(len, pieces))
        head = b"HTTP/1.1 %d %b\r\nContent-Type: %b\r\nContent-Length: %d\r\nDate: %b\r\nServer: %b\r\n%b\r\n" % (
            status,
            _REASONS[status],
            content_type,
            size,
            rfc822_formatted_time().encode(),
            SERVER_NAME.encode(),
            b"Connection: close\r\n" if self._is_last else b"",
        )
        if size <= _AT_ONCE:
            self._transport.write(b"".join((head, *pieces)))
            return
        self._transport.pause_reading()
        self._unsent = blocks((head, *pieces))
        self._transfer = self._answers.begin(self._transport.abort)
        self._answers.hold(self._transfer, size)
        self._timer = self._loop.call_later(self._seconds, self._transport.abort)
        self._send()

    def _send(self) -> None:
        """Give the socket as much of a large answer as it takes."""
        unsent, transfer = self._unsent, self._transfer
        assert unsent is not None
        assert transfer is not None
        while not self._is_paused and not self._transport.is_closing():
            block = next(unsent, None)
            if block is None:
                self._unsent = self._transfer = None
                self._answers.end(transfer)
                self._forget()
                self._transport.resume_reading()
                self._after_answer()
                return
            self._transport.write(block)
            transfer.note(len(block))
            self._connection.since = self._loop.time()

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._upload is not None:
            self._uploads.end(self._upload)
            self._upload = None
        self._handler, self._head, self._body = None, b"", bytearray()
        self._last = self._connection.since = self._loop.time()

    def _close_if_idle(self) -> None:
        left = self._last + self._keep_alive - self._loop.time()
        if self._handler is None and self._unsent is None and left <= 0:
            self._transport.close()
        else:
            self._idle = self._loop.call_later(max(left, _PATIENCE), self._close_if_idle)


def _peer(transport: asyncio.Transport) -> str:
    """The client's address."""
    address = transport.get_extra_info("peername")
    return str(address[0]) if address else "?"


class _Head(NamedTuple):
    """The head of a call.

    Attributes:
        size: of the body; -1 where anything in the head needs thought.
    """

    path: bytes = b""
    host: str = ""
    size: int = -1


@lru_cache(maxsize=1024)  # a kube-scheduler's calls differ in path and size alone, and not often in these
def _read_head(head: bytes) -> _Head:
    line, *headers = head.split(b"\r\n")
    if not line.startswith(b"POST ") or not line.endswith(b" HTTP/1.1"):
        return _Head()
    fields: dict[bytes, bytes] = {}
    for header in headers:
        name, colon, value = header.partition(b":")
        name = name.lower()
        if not colon or name in fields or name not in _PLAIN or _ODD.search(value):
            return _Head()
        fields[name] = value.strip(b" ")
    size = fields.get(b"content-length", b"")
    if not size.isdigit() or len(size) > 7 or not fields.get(b"host"):
        return _Head()
    return _Head(line[5:-9], fields[b"host"].decode("latin-1"), int(size))
