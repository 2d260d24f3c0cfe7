"""An HTTP server for Go's client: long keep-alive, no redirects, and a shutdown that loses no request.

It serves an aiohttp application that its user fills with routes, and a second one for health and metrics in a
separate thread (`door.py`). Everything about connections is here; the content of answers is the user's.
"""

import asyncio
import ipaddress
import logging
import socket
import time
from typing import Any, Final

import msgspec
from aiohttp import web
from aiohttp.http import HttpProcessingError
from aiohttp.typedefs import Handler

from kubesched.errors import InputError
from kubesched.serving.bodies import Bodies, abandon_body
from kubesched.serving.connections import CURRENT, Connection, clients_turn, our_turn
from kubesched.serving.door import Door, max_open
from kubesched.serving.establish import establish
from kubesched.serving.health import HEALTH_PATHS
from kubesched.serving.listening import listen
from kubesched.serving.loop_thread import LoopThread
from kubesched.serving.open_files import allow_connections
from kubesched.serving.origins import AllowsHost, allows_host_on, refuse_web_pages
from kubesched.serving.quick import SERVER_NAME, QuickCalls, QuickHandlers
from kubesched.serving.routing import TidyPaths, explain_refusals
from kubesched.serving.stalls import Stalls
from kubesched.serving.tls import Certificates, TlsFiles

_READ_BUFFER: Final = 2**18  # bytes that wait for a handler, of each connection; twice as many at most
_GOODBYE_SECONDS: Final = 1.0  # for a TLS client to confirm the end
_LOOK_SECONDS: Final = 0.02  # between two looks at the connections that are left
_STEPS_TO_HANDLER: Final = 4  # of the event loop, from a request that is read to its handler, with some to spare
_ASIDE: Final = {"keepalive_timeout": 10.0, "lingering_time": 0.0, "shutdown_timeout": 0.1}
_LINGER_SECONDS: Final = 5.0  # for the unread rest of a body, so that the client gets the answer

_LOG: Final = logging.getLogger(__name__)


class ServerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a server listens and what it allows.

    Attributes:
        host: address to listen on; loopback by default, because every client of an extender may place pods.
        port: 0 picks a free one.
        health_port: a second port, for health and metrics alone, in plain HTTP; None opens none.
        tls: serves HTTPS from these files; None serves HTTP.
        max_body_bytes: largest request body, decompressed. 5,000 whole nodes of a real cluster are about 70 MB.
        body_budget_bytes: of all request bodies held at a time; when they hold more, further ones wait.
        answer_budget_bytes: of all answers that clients have not taken yet; when they hold more, further calls wait.
        body_seconds: for a body to arrive, and for a large answer to be taken.
        max_connections: that have sent a request, open at a time. When there are so many, the next one takes the place
            of the one whose client has kept the server waiting longest. Where no client keeps it waiting, requests of
            further connections get 503, except for requests for health.
        max_silent: connections that have sent nothing, open at a time, and as many whose first request has not come to
            the end of its head; beyond, the oldest is closed.
        first_seconds: for a connection to send something, and for the TLS handshake and the head of its first request.
        keep_alive_seconds: an idle connection stays open; also for the head of a further request to arrive. Above the
            90 seconds of Go's idle pool, so that the server never closes a connection the client is about to use.
        drain_seconds: for requests in flight to be answered once the server is asked to stop.
        max_header_bytes: of the request line, and of each header.
        max_headers: in one request.
    """

    host: str = "127.0.0.1"
    port: int = 0
    health_port: int | None = None
    tls: TlsFiles | None = None
    max_body_bytes: int = 256 * 2**20
    body_budget_bytes: int = 320 * 2**20
    answer_budget_bytes: int = 128 * 2**20
    body_seconds: float = 30.0
    max_connections: int = 1000
    max_silent: int = 256
    first_seconds: float = 10.0
    keep_alive_seconds: float = 120.0
    drain_seconds: float = 10.0
    max_header_bytes: int = 8190
    max_headers: int = 100


class Server:
    """Serves an application until `stop`, then waits for calls in flight.

    Attributes:
        app: answers in the event loop that the server is started in.
        aside: answers its paths in a separate thread, however busy the event loop is: on connections in plain HTTP
            that begin with such a path, and at the health port. With TLS, `app` has to have these paths, too.
        bodies: reads request bodies within the limits of the options; for handlers.
        quick: by path, what answers small plain POSTs in one step, past the routes and middlewares of `app`. Each of
            these paths has a route, too, for every other form of the call.
    """

    def __init__(self, app: web.Application, options: ServerOptions | None = None) -> None:
        """Prepare, without opening anything. Until `start`, `app` and `aside` take routes, and `quick` may be set.

        Raises:
            InputError: a TLS file cannot be used.
        """
        self.app = app
        self._options = options = options or ServerOptions()
        self._certificates = Certificates(options.tls) if options.tls else None
        self.bodies = Bodies(
            max_bytes=options.max_body_bytes,
            budget_bytes=options.body_budget_bytes,
            answer_bytes=options.answer_budget_bytes,
            seconds=options.body_seconds,
        )
        self.quick: QuickHandlers | None = None
        self._quick: set[QuickCalls] = set()
        self._room = bytearray(_READ_BUFFER)
        self._busy: set[asyncio.BaseProtocol] = set()
        self._draining = False
        self._door_is_closed = False
        self._drain_ends: float | None = None
        self._door: Door | None = None
        self._thread: LoopThread | None = None
        self._addresses: list[tuple[str, int]] = []  # the main ones, then that for health
        self._allows_host: AllowsHost = _no_host
        self._stalls = Stalls(seconds=options.body_seconds)
        self._arrivals: set[asyncio.Task[None]] = set()
        self._runner = _build_runner(
            app,
            options,
            keepalive_timeout=options.keep_alive_seconds,
            lingering_time=min(_LINGER_SECONDS, options.body_seconds),
            shutdown_timeout=_cut_off_seconds(options) / 2,  # aiohttp waits so long twice
        )
        self.aside = web.Application()
        for each, first in ((app, [self._mark_busy]), (self.aside, [_take_turns])):
            each.middlewares[:0] = [*first, refuse_web_pages(lambda host: self._allows_host(host)), explain_refusals]
            each.router.register_resource(TidyPaths(each.router))
        app.on_response_prepare.append(self._finish_headers)
        self.aside.on_response_prepare.append(_finish_aside)

    async def start(self) -> None:
        """Open the port; requests are answered from here on.

        Raises:
            InputError: the port is taken or not allowed, or the host is not an address of this machine.
        """
        options = self._options
        allow_connections(max_open(options.max_connections, options.max_silent))
        listeners = await listen(options.host, options.port)
        try:
            health = [] if options.health_port is None else await listen(options.host, options.health_port)
        except InputError:
            for listener in listeners:
                listener.close()
            raise
        self._addresses = [one.getsockname()[:2] for one in (*listeners, *health)]
        self._allows_host = allows_host_on(self._addresses[0][0], options.host)
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        self._door = Door(
            _build_runner(self.aside, options, **_ASIDE),
            lambda connection: loop.call_soon_threadsafe(self._take_in, connection),
            max_connections=options.max_connections,
            max_silent=options.max_silent,
            first_seconds=options.first_seconds,
            is_encrypted=options.tls is not None,
        )
        self._thread = LoopThread("serving")
        await self._thread.call(self._door.open(listeners, health))
        _LOG.info("listening on %s", self.url)
        if health:
            _LOG.info("health and metrics on port %d, in plain HTTP", self.health_address[1])

    @property
    def address(self) -> tuple[str, int]:
        """Host and port it listens on, after `start`."""
        if not self._addresses:
            raise RuntimeError("the server does not listen")
        return self._addresses[0]

    @property
    def health_address(self) -> tuple[str, int]:
        """Host and port for health and metrics alone, after `start`; the main ones where there are no others."""
        return self._addresses[0] if self._options.health_port is None else self._addresses[-1]

    @property
    def url(self) -> str:
        """Its address as `https://host:port`, after `start`; with this machine's name where it listens on all."""
        host, port = self.address
        if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
            host = socket.gethostname()
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self._certificates else 'http'}://{shown}:{port}"

    @property
    def n_connections(self) -> int:
        """Connections that are open, in whatever state."""
        return len(self._door.connections) if self._door else 0

    @property
    def n_refused_handshakes(self) -> int:
        """Connections so far that were not TLS, or whose certificate was not accepted on one of the two sides."""
        return self._certificates.n_refused if self._certificates else 0

    @property
    def drain_left(self) -> float:
        """Seconds of `drain_seconds` that are left, also for what its user has to end; all of them before a drain."""
        if self._drain_ends is None:
            return self._options.drain_seconds
        return max(self._drain_ends - time.monotonic(), 0.0)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop` is set, then drain; starts first if that has not been done."""
        if self._door is None:
            await self.start()
        try:
            async with asyncio.TaskGroup() as group:
                watches = [group.create_task(self._stalls.watch()), group.create_task(self.bodies.trim_memory())]
                if self._certificates:
                    watches.append(group.create_task(self._certificates.watch()))
                await stop.wait()
                for watch in watches:
                    watch.cancel()
        finally:
            await self.drain()

    async def drain(self) -> None:
        """Stop accepting, answer what is in flight with `Connection: close`, close idle connections; then end.

        What is not answered within `drain_seconds` is cut off.
        """
        if self._door is None or self._thread is None or self._draining:
            return
        self._draining = True
        self._drain_ends = time.monotonic() + self._options.drain_seconds
        await self._thread.call(self._door.close())
        self._door_is_closed = True  # from here on, clients that get `Connection: close` cannot connect again
        try:
            async with asyncio.timeout(self._options.drain_seconds - _cut_off_seconds(self._options)):
                await self._wait_for_connections()
        except TimeoutError:
            _LOG.warning(
                "%d requests were not answered before the end of the drain; their connections are closed",
                len(self._busy),
            )
        await self._runner.cleanup()
        self._stalls.end()
        await self._thread.call(self._door.end())
        await self._thread.stop()
        _LOG.info("stopped")

    async def _wait_for_connections(self) -> None:
        """Close connections as they fall idle, until none is left."""
        while (connections := _connections(self._runner)) or self._quick or self._arrivals:
            for quick in list(self._quick):  # also those whose TLS handshake has ended in the meantime
                quick.finish()
            await asyncio.sleep(_LOOK_SECONDS)  # first, so that what has just arrived reaches its handler
            for connection in self._idle(connections):
                connection.close()  # a request that it has read is answered, and no other is read
            for _ in range(_STEPS_TO_HANDLER):
                await asyncio.sleep(0)
            for connection in self._idle(connections):
                connection.force_close()

    def _idle(self, connections: list[web.RequestHandler]) -> list[web.RequestHandler]:
        return [connection for connection in connections if connection not in self._busy]

    # --- connections ---

    def _take_in(self, connection: Connection) -> None:
        """Serve a connection that has come through the door."""
        task = asyncio.get_running_loop().create_task(self._serve(connection))
        self._arrivals.add(task)
        task.add_done_callback(self._arrivals.discard)

    async def _serve(self, connection: Connection) -> None:
        tls = self._certificates
        CURRENT.set(connection)
        transport = await establish(
            connection,
            self._new_protocol,
            tls=tls.context if tls else None,
            handshake_seconds=self._options.first_seconds,
            goodbye_seconds=_GOODBYE_SECONDS,
        )
        if transport is None:
            return
        self._stalls.add(connection, transport)
        connection.belongs_to(transport, self._stalls.remove)

    def _new_protocol(self) -> asyncio.BaseProtocol:
        serve, options, connection = self._runner.server, self._options, CURRENT.get()
        assert serve is not None  # set by setup()
        assert self._door is not None
        if self.quick is None or self._door_is_closed or connection is None:
            return serve()
        return QuickCalls(
            serve,
            self.quick,
            self._allows_host,
            self._quick,
            connection,
            self._door.asked,
            self._room,
            self.bodies.uploads,
            self.bodies.answers,
            max_body_bytes=options.max_body_bytes,
            keep_alive=options.keep_alive_seconds,
            seconds=options.body_seconds,
        )

    @web.middleware
    async def _mark_busy(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        connection, task = request.protocol, asyncio.current_task()
        assert task is not None
        self._busy.add(connection)
        # aiohttp makes a task of each request and writes the answer in it, after this function has returned.
        task.add_done_callback(lambda _: self._busy.discard(connection))
        place, is_health = CURRENT.get(), request.path.startswith(HEALTH_PATHS)
        assert self._door is not None
        if place is None or place.enter(self._door.asked, may_close=not is_health):
            return await _take_turns(request, handler)
        if is_health:  # at its first place, which it cannot keep longer by asking again
            return await handler(request)
        raise _too_many(request)

    async def _finish_headers(self, _request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Server"] = SERVER_NAME
        if self._door_is_closed:
            response.force_close()
            response.headers["Connection"] = "close"  # aiohttp has written its own choice already


@web.middleware
async def _take_turns(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note that it is our turn until there is an answer, and the client's to take it."""
    our_turn()
    try:
        return await handler(request)
    finally:
        clients_turn()


def _too_many(request: web.Request) -> web.HTTPServiceUnavailable:
    refusal = web.HTTPServiceUnavailable(text="too many connections\n")
    if request.can_read_body:  # it may never come
        abandon_body(request)
        refusal.force_close()
    return refusal


async def _finish_aside(_request: web.Request, response: web.StreamResponse) -> None:
    """Give a connection back after one answer: what comes next may be for the main loop."""
    response.headers["Server"] = SERVER_NAME
    response.force_close()
    response.headers["Connection"] = "close"


def _no_host(_host: str) -> bool:
    """Until the server listens."""
    return False


def _build_runner(app: web.Application, options: ServerOptions, **seconds: Any) -> web.AppRunner:
    return web.AppRunner(
        app,
        access_log=None,
        logger=_build_http_log(),
        # A binding or a refresh that has begun must not be torn by a client that lost its patience.
        handler_cancellation=False,
        auto_decompress=False,  # it would unpack without a limit
        read_bufsize=_READ_BUFFER,
        max_line_size=options.max_header_bytes,
        max_field_size=options.max_header_bytes,
        max_headers=options.max_headers,
        **seconds,
    )


def _cut_off_seconds(options: ServerOptions) -> float:
    """Return the part of `drain_seconds` that is kept for ending what has not ended by itself."""
    return min(0.5, options.drain_seconds / 4)


def _build_http_log() -> logging.Logger:
    """Build a log in which a client that speaks no HTTP is one line at debug level and no stack trace."""

    def calm_down(record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not isinstance(error, HttpProcessingError):
            return True
        _LOG.debug("%s: %s", record.getMessage(), error.message.splitlines()[0] if error.message else "no HTTP")
        return False

    log = logging.getLogger("kubesched.serving.http")
    log.filters[:] = [calm_down]
    return log


def _connections(runner: web.AppRunner) -> list[web.RequestHandler]:
    return runner.server.connections if runner.server else []
