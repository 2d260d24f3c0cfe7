"""Accepts and counts connections in a separate thread, and passes them to the server that answers them.

The main event loop is blocked while a plugin computes. Kubelets and Prometheus must not notice. So the door looks at
the first bytes of each connection: those that ask for health or metrics are answered in its own thread, all others go
to the main loop with every byte still unread. With TLS the bytes are encrypted: these paths are answered by the
main loop, and promptly at the health port only.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

__all__ = ["Door"]

_SPARE: Final = 32  # connections beyond the limit that may ask for health, so that it is answered in a flood, too
_FIRST_BYTES: Final = 64
_FIRST_SECONDS: Final = 1.0  # for a connection to send something; one that is silent for longer goes to the main loop
_PAUSE_SECONDS: Final = 1.0  # after an accept that failed, mostly for lack of file descriptors
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 21\r\n\r\ntoo many connections\n"
)

_LOG: Final = logging.getLogger(__name__)

Admit = Callable[[socket.socket], object]
"""Takes a connection over; called in the door's thread."""


class Door:
    """Accepts connections. All methods belong to one event loop, which is not the main one.

    Attributes:
        connections: sockets that were accepted and are not closed yet, also those passed to the server.
    """

    def __init__(self, aside: web.AppRunner, admit: Admit, *, max_connections: int, is_encrypted: bool) -> None:
        """Prepare.

        Args:
            aside: answers here, one request a connection.
            admit: takes all other connections.
            max_connections: open at a time; those beyond are refused.
            is_encrypted: whether `admit` gets TLS.
        """
        self.connections: set[socket.socket] = set()
        self._admit = admit
        self._max = max_connections
        self._is_encrypted = is_encrypted
        self._asks_aside = _requests_for(aside.app)
        self._aside = aside
        self._accepting: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()
        self._answering: set[asyncio.Task[None]] = set()

    async def open(self, listeners: Iterable[socket.socket], health: Iterable[socket.socket]) -> None:
        """Accept from now on.

        Args:
            listeners: sockets that listen, for everything.
            health: the same for what `aside` answers, in plain HTTP.
        """
        await self._aside.setup()
        for listener in listeners:
            _spawn(self._accept(listener, self._let_in if self._is_encrypted else self._look), self._accepting)
        for listener in health:
            _spawn(self._accept(listener, self._answer), self._accepting)

    async def close(self) -> None:
        """Accept nothing more; what was accepted goes on."""
        await _cancel(self._accepting)
        await asyncio.sleep(0)  # a task that is cancelled before its first step would lose its connection
        await _cancel(self._looking)

    async def end(self) -> None:
        """End the connections that are answered here."""
        await asyncio.gather(*self._answering, return_exceptions=True)
        await self._aside.cleanup()

    async def _accept(self, listener: socket.socket, receive: "_Receive") -> None:
        """Accept until cancelled, then what has come by then."""
        with listener:
            try:
                while True:
                    await _until_readable(listener)  # not sock_accept: to cancel that may lose a connection
                    try:
                        self._take(listener.accept()[0], receive)
                    except BlockingIOError:  # it left again
                        continue
                    except Exception as error:  # noqa: BLE001 - to stop accepting would go unnoticed
                        _LOG.warning("a connection was not accepted: %s", error)
                        await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                with suppress(OSError):
                    while True:
                        self._take(listener.accept()[0], receive)

    def _take(self, accepted: socket.socket, receive: "_Receive") -> None:
        connection = _Accepted(accepted, self.connections, self._max)
        if len(self.connections) > self._max + _SPARE:
            self._refuse(connection)
        else:
            receive(connection)

    def _look(self, connection: "_Accepted") -> None:
        _spawn(self._decide(connection), self._looking)

    async def _decide(self, connection: "_Accepted") -> None:
        """Find out what a connection asks for; one that is silent when the door closes goes to the main loop, too."""
        with suppress(TimeoutError, asyncio.CancelledError):
            async with asyncio.timeout(_FIRST_SECONDS):
                await _until_readable(connection)
        try:
            first = connection.recv(_FIRST_BYTES, socket.MSG_PEEK)
        except BlockingIOError:  # nothing came
            first = b""
        except OSError:
            connection.close()
            return
        (self._answer if self._asks_aside(first) else self._let_in)(connection)

    def _let_in(self, connection: "_Accepted") -> None:
        if connection.is_spare:
            self._refuse(connection)
        else:
            self._admit(connection)

    def _answer(self, connection: "_Accepted") -> None:
        _spawn(self._serve(connection), self._answering)

    async def _serve(self, connection: "_Accepted") -> None:
        serve = self._aside.server
        assert serve is not None  # set by setup()
        try:
            await asyncio.get_running_loop().connect_accepted_socket(serve, connection)
        except OSError:
            connection.close()

    def _refuse(self, connection: "_Accepted") -> None:
        if not self._is_encrypted:
            with suppress(OSError):
                connection.send(_REFUSAL)
        connection.close()


class _Accepted(socket.socket):
    """A connection that is counted until somebody closes it.

    Attributes:
        is_spare: whether it is one more than there should be.
    """

    def __init__(self, accepted: socket.socket, open_: set[socket.socket], limit: int) -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self.setblocking(False)
        self._open = open_
        self.is_spare = len(open_) >= limit
        open_.add(self)

    def close(self) -> None:
        """Close it, in whatever thread."""
        self._open.discard(self)
        super().close()


_Receive = Callable[[_Accepted], None]


def _spawn(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _until_readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(connection, lambda: None if readable.done() else readable.set_result(None))
    try:
        await readable
    finally:
        loop.remove_reader(connection)


def _requests_for(app: web.Application) -> Callable[[bytes], object]:
    """Build the check whether a connection's first bytes request one of the application's paths."""
    paths = {route.resource.canonical for route in app.router.routes() if route.resource is not None}
    either = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
    return re.compile(rf"(?:GET|HEAD) (?:{either})[ ?]".encode()).match
