"""Closes connections whose clients do not read their answers."""

import asyncio
import logging
import socket
import struct
import sys
from contextlib import suppress
from typing import Final, NamedTuple

if sys.platform == "linux":
    import fcntl
    import termios

_LOOK_SECONDS: Final = 5.0
_INT: Final = struct.Struct("i")
_LONG: Final = struct.Struct("Q")
_ACKED_AT: Final = 120  # tcpi_bytes_acked in Linux' struct tcp_info

_LOG: Final = logging.getLogger(__name__)


class _Progress(NamedTuple):
    """What a connection looked like when it last moved.

    Attributes:
        left: bytes that are left to send.
        acked: bytes that the client's machine has taken so far, where the system counts them.
        since: when that was.
    """

    left: int
    acked: int
    since: float


class Stalls:
    """Watches what is left to send on each connection.

    Closing would wait for the client forever, so a connection that has stalled is aborted.
    """

    def __init__(self, *, seconds: float) -> None:
        """Watch.

        Args:
            seconds: how long a client may take nothing.
        """
        self._seconds = seconds
        self._transports: dict[socket.socket, asyncio.Transport] = {}
        self._unsent: dict[socket.socket, _Progress] = {}

    def __len__(self) -> int:
        return len(self._transports)

    def add(self, connection: socket.socket, transport: asyncio.Transport) -> None:
        """Watch a connection until it is closed."""
        self._transports[connection] = transport

    def remove(self, connection: socket.socket) -> None:
        """Forget a connection that is closed; with TLS, its transport holds 300 KB."""
        self._transports.pop(connection, None)
        self._unsent.pop(connection, None)

    def end(self) -> None:
        """Abort all connections that are left."""
        for transport in list(self._transports.values()):
            abort(transport)

    async def watch(self) -> None:
        """Look at all connections every few seconds, until cancelled."""
        while True:
            await asyncio.sleep(min(_LOOK_SECONDS, self._seconds))
            self.abort_stalled(asyncio.get_running_loop().time())

    def abort_stalled(self, now: float) -> None:
        """Abort those that have not moved for too long."""
        self._transports = {one: transport for one, transport in self._transports.items() if one.fileno() >= 0}
        before, self._unsent = self._unsent, {}
        for connection, transport in self._transports.items():
            queued, acked = sent(connection)
            left = _buffered(transport) + queued
            if not left:
                continue
            last = before.get(connection)
            if last is None or (left, acked) != (last.left, last.acked):
                last = _Progress(left, acked, now)
            if now - last.since >= self._seconds:
                _LOG.warning("a client read nothing for %g s; its connection is closed", now - last.since)
                abort(transport)
            else:
                self._unsent[connection] = last


def abort(transport: asyncio.Transport) -> None:
    """Close a connection without waiting for its client."""
    with suppress(AttributeError):  # as in _buffered
        transport.abort()


def _buffered(transport: asyncio.Transport) -> int:
    """Bytes that a transport has still to pass on; 0 for a TLS transport of CPython 3.11.2 that was closed twice.

    Such a transport has lost its protocol and fails with AttributeError. Its connection is already closing.
    """
    try:
        return transport.get_write_buffer_size()
    except AttributeError:
        return 0


def sent(connection: socket.socket) -> tuple[int, int]:
    """Bytes that the client's machine has still to take, and that it has taken so far; on Linux, else 0, 0.

    What a TLS transport has passed on to the one below it is counted nowhere else. The first number alone does not show
    whether anything moves: of a busy connection it may be the same at each look.
    """
    if sys.platform != "linux":
        return 0, 0
    queued = fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(_INT.size))
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _ACKED_AT + _LONG.size)
    acked = _LONG.unpack_from(info, _ACKED_AT)[0] if len(info) == _ACKED_AT + _LONG.size else 0
    return int(_INT.unpack(queued)[0]), int(acked)
