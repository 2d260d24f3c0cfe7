"""Accepts and counts connections in a separate thread, and passes them to the server that answers them.

The main event loop is blocked while a plugin computes. Kubelets and Prometheus must not notice. So the door looks at
the first bytes of each connection: those that ask for health or metrics are answered in its own thread, all others go
to the main loop with every byte still unread. With TLS the bytes are encrypted: these paths are answered by the
main loop, and promptly at the health port only.

A connection that has sent nothing stays here. There are separate places (`connections.py`) for arrivals at each port,
for handshakes and first requests, for health, for metrics, and for connections that have asked for something else.
None of them can take the places of the others. When file descriptors run out, those that have asked for something else
are closed last.
"""

import asyncio
import logging
import re
import socket
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

from kubesched.framework import LimitedLog
from kubesched.serving.connections import CURRENT, Connection, Stage
from kubesched.serving.establish import establish
from kubesched.serving.health import HEALTH_PATHS

_FIRST_BYTES: Final = 64
_PATIENCE_SECONDS: Final = 0.5  # that a client has before it may have to give way
_PAUSE_SECONDS: Final = 1.0  # after an accept that failed, mostly for lack of file descriptors
_FULL_SECONDS: Final = 0.02  # between two looks for a place
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: 21\r\n\r\ntoo many connections\n"
)
_CLOSED_SILENT: Final = "connections that had sent no request were closed to make room for others"
_CLOSED_IDLE: Final = "connections were closed to make room for others: their clients kept the server waiting longest"

_LOG: Final = logging.getLogger(__name__)

Admit = Callable[[Connection], object]
"""Takes a connection over; called in the door's thread."""

_Receive = Callable[[Connection, bytes], Awaitable[None]]
"""Gets a connection and its first bytes, none where the door closes before they come."""


def max_open(max_connections: int, max_silent: int) -> int:
    """How many connections a door has open at most."""
    return max_connections + 5 * max_silent


class Door:
    """Accepts connections. All methods belong to one event loop, which is not the main one.

    Every client has some patience's time before it may have to give way. Until one has had it, those that come wait to
    be accepted.

    Attributes:
        connections: those that were accepted and are not closed yet, also those passed to the server.
        asked: the places of connections that have sent a request to the main loop, for the server to give.
    """

    def __init__(
        self,
        aside: web.AppRunner,
        admit: Admit,
        *,
        max_connections: int,
        max_silent: int,
        first_seconds: float,
        is_encrypted: bool,
    ) -> None:
        """Prepare.

        Args:
            aside: answers here, one request a connection.
            admit: takes all other connections.
            max_connections: places for connections that have sent a request.
            max_silent: places for arrivals, at each of two ports; for handshakes and first requests; for health; and
                for metrics.
            first_seconds: for something to arrive, and for the whole head of the first request.
            is_encrypted: whether `admit` gets TLS.
        """
        self.connections: set[Connection] = set()
        self._log = LimitedLog(_LOG, "%d more lines about connections were not logged", time.monotonic)
        patience = min(_PATIENCE_SECONDS, first_seconds / 4)

        def stage(limit: int, closed: str) -> Stage:
            return Stage(limit, patience=patience, on_give_way=lambda: self._log.note(closed))

        self.asked = stage(max_connections, _CLOSED_IDLE)
        self._beginning = stage(max_silent, _CLOSED_SILENT)
        self._arriving, self._arriving_at_health = (stage(max_silent, _CLOSED_SILENT) for _ in range(2))
        self._health, self._metrics = (stage(max_silent, _CLOSED_IDLE) for _ in range(2))
        self._queues = {each: asyncio.Lock() for each in (self._beginning, self._health, self._metrics)}
        self._max_open = max_open(max_connections, max_silent)
        self._patience, self._first_seconds = patience, first_seconds
        self._admit = admit
        self._is_encrypted = is_encrypted
        self._asks_aside = _requests_for(_paths(aside.app))
        self._asks_health = _requests_for(HEALTH_PATHS)
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
            receive = self._let_in if self._is_encrypted else self._sort
            _spawn(self._accept(listener, self._arriving, receive), self._accepting)
        for listener in health:
            _spawn(self._accept(listener, self._arriving_at_health, self._answer), self._accepting)
        _spawn(self._close_late(), self._accepting)

    async def close(self) -> None:
        """Accept nothing more; what was accepted goes on."""
        await _cancel(self._accepting)
        await asyncio.sleep(0)  # a task that is cancelled before its first step would lose its connection
        await _cancel(self._looking)

    async def end(self) -> None:
        """End the connections that are answered here."""
        await asyncio.gather(*self._answering, return_exceptions=True)
        await self._aside.cleanup()

    async def _close_late(self) -> None:
        """Close connections whose first request is not there in time, until cancelled."""
        while True:
            await asyncio.sleep(self._patience)
            self._beginning.look(self._first_seconds)

    async def _accept(self, listener: socket.socket, arriving: Stage, receive: _Receive) -> None:
        """Accept until cancelled, then what has come by then."""
        with listener:
            try:
                while True:
                    await _until_readable(listener)  # not sock_accept: to cancel that may lose a connection
                    await self._accept_one(listener, arriving, receive)
            finally:
                with suppress(OSError):
                    while True:
                        self._look(Connection(listener.accept()[0], self.connections), receive)

    async def _accept_one(self, listener: socket.socket, arriving: Stage, receive: _Receive) -> None:
        try:
            connection = Connection(listener.accept()[0], self.connections)
        except BlockingIOError:  # it left again
            return
        except Exception as error:  # noqa: BLE001 - to stop accepting would go unnoticed
            self._log.note(f"a connection was not accepted: {error}")
            await asyncio.sleep(_FULL_SECONDS if self._makes_room(arriving) else _PAUSE_SECONDS)
            return
        try:
            await _until_place(connection, arriving)
        finally:
            self._look(connection, receive)

    def _makes_room(self, arriving: Stage) -> bool:
        """Close the connection whose client has taken longest, one that has sent a request to the main loop last.

        Returns: whether one was closed, or will be as soon as its client has had its time.
        """
        stages = (arriving, self._arriving, self._arriving_at_health, self._beginning, self._health, self._metrics)
        if any(each.close_one() for each in stages) or any(each.has_early for each in stages):
            return True
        return self.asked.close_one()

    def _look(self, connection: Connection, receive: _Receive) -> None:
        _spawn(self._receive(connection, receive), self._looking)

    async def _receive(self, connection: Connection, receive: _Receive) -> None:
        """Wait for the first bytes of a connection; one that is silent when the door closes goes on without."""
        try:
            async with asyncio.timeout(self._first_seconds):
                await _until_readable(connection)
        except TimeoutError:
            connection.close()
            return
        except asyncio.CancelledError:
            pass
        try:
            first = connection.recv(_FIRST_BYTES, socket.MSG_PEEK)
        except BlockingIOError:
            await receive(connection, b"")
            return
        except OSError:
            first = b""
        if first:
            await receive(connection, first)
        else:  # the client left, or had to give way
            connection.close()

    async def _sort(self, connection: Connection, first: bytes) -> None:
        await (self._answer if self._asks_aside(first) else self._let_in)(connection, first)

    async def _let_in(self, connection: Connection, _first: bytes) -> None:
        if len(self.connections) <= self._max_open and await self._finds_place(connection, self._beginning):
            self._admit(connection)
        else:
            self._refuse(connection)

    async def _answer(self, connection: Connection, first: bytes) -> None:
        if await self._finds_place(connection, self._health if self._asks_health(first) else self._metrics):
            _spawn(self._serve(connection), self._answering)
        else:
            self._refuse(connection)

    async def _finds_place(self, connection: Connection, stage: Stage) -> bool:
        """Enter; if all clients there came just now, wait until they have had their time, one after another."""
        connection.work()  # it does not have to give way: its client has said something
        try:
            async with asyncio.timeout(2 * self._patience), self._queues[stage]:
                await _until_place(connection, stage)
        except TimeoutError:
            return False
        except asyncio.CancelledError:  # the door closes
            connection.move(stage)
        return True

    async def _serve(self, connection: Connection) -> None:
        serve = self._aside.server
        assert serve is not None  # set by setup()
        CURRENT.set(connection)
        transport = await establish(connection, serve)
        if transport is not None:
            connection.belongs_to(transport, lambda _: None)

    def _refuse(self, connection: Connection) -> None:
        if not self._is_encrypted:
            with suppress(OSError):
                connection.send(_REFUSAL)
        connection.close()


def _spawn(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.get_running_loop().create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancel(tasks: set[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _until_place(connection: Connection, stage: Stage) -> None:
    while not connection.enter(stage):  # noqa: ASYNC110 - time makes places
        await asyncio.sleep(_FULL_SECONDS)


async def _until_readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(connection, lambda: None if readable.done() else readable.set_result(None))
    try:
        await readable
    finally:
        loop.remove_reader(connection)


def _paths(app: web.Application) -> set[str]:
    return {route.resource.canonical for route in app.router.routes() if route.resource is not None}


def _requests_for(paths: Iterable[str]) -> Callable[[bytes], object]:
    """Build the check whether a connection's first bytes request one of some paths."""
    either = "|".join(map(re.escape, sorted(paths, key=len, reverse=True)))
    return re.compile(rf"(?:GET|HEAD) (?:{either})[ ?]".encode()).match
