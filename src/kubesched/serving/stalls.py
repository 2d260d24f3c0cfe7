"""Ends connections whose clients take nothing of what is sent to them."""

import asyncio
import logging
import socket
import struct
import sys
from typing import Final

if sys.platform != "win32":
    import fcntl
    import termios

__all__ = ["Stalls"]

_LOOK_SECONDS: Final = 5.0
_INT: Final = struct.Struct("i")

_LOG: Final = logging.getLogger(__name__)


class Stalls:
    """Watches what is left to send on each connection.

    To close such a connection would wait for its client, for ever; it is aborted.
    """

    def __init__(self, *, seconds: float) -> None:
        """Watch.

        Args:
            seconds: how long a client may take nothing.
        """
        self._seconds = seconds
        self._transports: dict[socket.socket, asyncio.Transport] = {}
        self._unsent: dict[socket.socket, tuple[int, float]] = {}  # bytes, and since when it has been so many

    def __len__(self) -> int:
        return len(self._transports)

    def add(self, connection: socket.socket, transport: asyncio.Transport) -> None:
        """Watch a connection until it is closed."""
        self._transports[connection] = transport

    def end(self) -> None:
        """Abort all connections that are left."""
        for transport in self._transports.values():
            transport.abort()

    async def watch(self) -> None:
        """Look at all connections every now and then, until cancelled."""
        while True:
            await asyncio.sleep(min(_LOOK_SECONDS, self._seconds))
            self.look(asyncio.get_running_loop().time())

    def look(self, now: float) -> None:
        """Abort those that have not moved for too long."""
        self._transports = {one: transport for one, transport in self._transports.items() if one.fileno() >= 0}
        before, self._unsent = self._unsent, {}
        for connection, transport in self._transports.items():
            left = transport.get_write_buffer_size() + _in_kernel(connection)
            if not left:
                continue
            was, since = before.get(connection, (0, now))
            if left != was:
                since = now
            if now - since >= self._seconds:
                _LOG.warning("a client took nothing for %g s; its connection is closed", now - since)
                transport.abort()
            else:
                self._unsent[connection] = (left, since)


def _in_kernel(connection: socket.socket) -> int:
    """Bytes that the client's machine has not taken, where the system says so.

    What a TLS transport has passed on to the one below it is counted nowhere else; while the client takes nothing,
    this does not change either.
    """
    if sys.platform == "win32":
        return 0
    answer = fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(_INT.size))
    return int(_INT.unpack(answer)[0])
