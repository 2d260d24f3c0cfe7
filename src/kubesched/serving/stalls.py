"""Ends connections whose clients take nothing of what is sent to them."""

import asyncio
import logging
import socket
from typing import Final

__all__ = ["Stalls"]

_LOOK_SECONDS: Final = 5.0

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

    def add(self, connection: socket.socket, transport: asyncio.Transport) -> None:
        """Watch a connection until it is closed."""
        self._transports[connection] = transport

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
            size = transport.get_write_buffer_size()
            if not size:
                continue
            was, since = before.get(connection, (0, now))
            if size != was:
                since = now
            if now - since >= self._seconds:
                _LOG.warning("a client took nothing for %g s; its connection is closed", now - since)
                transport.abort()
            else:
                self._unsent[connection] = (size, since)
