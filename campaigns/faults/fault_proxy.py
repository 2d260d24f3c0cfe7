"""An HTTP proxy before the API server that refuses, delays, loses, cuts and changes what it is told to.

Two kinds of faults. A `Fault` happens to the requests that it matches, in the order in which they come: the same
requests get the same faults. The rates are for campaigns: chance decides, from a seed.
"""

import asyncio
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from random import Random
from typing import Any, NamedTuple, TypeVar

import aiohttp
from aiohttp import web

from campaigns.faults.fault import Call, Fault, called

T = TypeVar("T")

REASONS = {401: "Unauthorized", 409: "Conflict", 410: "Gone", 429: "TooManyRequests", 500: "InternalError"}
REFUSALS = [409, 410, 429, 500]  # of Bindings, by chance
DROPPED = ("host", "content-length", "transfer-encoding", "connection", "accept-encoding")
FORWARD_SECONDS = 30.0


class SentBinding(NamedTuple):
    """A Binding that left a scheduler.

    Attributes:
        at: when it came to the proxy, in seconds since 1970.
    """

    at: float
    pod: str
    node: str


class FaultProxy:
    """Listens on a port of its own, inside `with`. Attributes may be changed at any time, from any thread.

    Args:
        seed: of the chance with which rates and shares are met.
        tls: what it shows to its clients; plain HTTP without. Certificates that are loaded into it later count for
            connections that are made later.
    Attributes:
        url: where.
        faults: those that are made now; a request meets the first one that matches it.
        token: with which requests are passed on; empty for their own. client-go sends its token over TLS only.
        accepts: whether the credentials of a request hold: others are answered 401.
        calls: all requests that came, in order, with the status of their answer.
        bind_rate: the share of Bindings that are answered with an error; of these, half are carried out before.
        slow_rate, slow_seconds: the share of requests that take longer, and how much.
        is_deaf: whether requests are carried out and no answer comes back.
        is_blind: whether no watch begins.
        on_request: called for each request that writes or lists, with "before" when it comes, and "done" when the API
            server has answered.
        bindings: all that came.
        claims: (seconds since 1970, identity) of each write to the Lease.
        counts: the faults that were made.
    """

    def __init__(self, to_url: str, seed: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.faults: list[Fault] = []
        self.token = ""
        self.accepts: Callable[[web.Request], bool] = lambda request: True
        self.calls: list[Call] = []
        self._tls = tls
        self.bind_rate = self.slow_rate = self.slow_seconds = 0.0
        self.is_deaf = self.is_blind = False
        self.on_request: Callable[[str, str, str], None] = lambda phase, method, path: None
        self.bindings: list[SentBinding] = []
        self.claims: list[tuple[float, str]] = []
        self.counts: Counter[str] = Counter()
        self._to_url = to_url
        self._random = Random(seed)
        self._watches: dict[int, _Watch] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fault proxy", daemon=True)

    def __enter__(self) -> "FaultProxy":
        self._thread.start()
        self._call(self._start())
        return self

    def __exit__(self, *error: object) -> None:
        self._call(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def calm(self) -> None:
        """Make no more faults."""
        self.faults.clear()
        self.bind_rate = self.slow_rate = 0.0
        self.is_deaf = self.is_blind = False
        self.on_request = lambda phase, method, path: None

    def cut_watches(self) -> None:
        """Break the connections of all watches."""
        self._call(self._cut())

    def expire_watches(self) -> None:
        """Have all watches end with 410."""
        self._call(self._expire())

    def make(self, fault: Fault) -> Fault:
        """Make a fault from now on, before the others."""
        self.faults.insert(0, fault)
        return fault

    def called(self, verb: str, resource: str) -> list[Call]:
        """The requests of a kind that came."""
        return [call for call in list(self.calls) if (call.verb, call.resource) == (verb, resource)]

    def say(self, resource: str, *lines: bytes) -> int:
        """Send lines into the watches of a resource, as if the API server had. Returns: into how many."""
        return self._call(self._say(resource, b"".join(line + b"\n" for line in lines)))

    def cut_connections(self) -> None:
        """Break all connections, so that later requests make new ones, with new handshakes."""
        self._call(self._cut_all())

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(self) -> None:
        unchecked = ssl.create_default_context()
        unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=unchecked, limit=0),
            auto_decompress=False,
            skip_auto_headers=("Accept-Encoding",),  # the API server compresses large lists for clients that take that
            read_bufsize=1 << 20,
        )
        application = web.Application(client_max_size=1 << 24)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"{'https' if self._tls else 'http'}://{host}:{port}"

    async def _stop(self) -> None:
        await self._cut()
        await self._http.close()
        await self._runner.cleanup()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut(self) -> None:
        for watch in list(self._watches.values()):
            self.counts["watch cut"] += 1
            _abort(watch.request)

    async def _cut_all(self) -> None:
        server = self._runner.server
        for connection in list(server.connections) if server is not None else []:
            if connection.transport is not None:
                connection.transport.abort()

    async def _say(self, resource: str, data: bytes) -> int:
        open_watches = [watch for watch in self._watches.values() if watch.resource == resource]
        for watch in open_watches:
            with suppress(OSError):  # the client is gone
                await watch.response.write(data)
        return len(open_watches)

    async def _expire(self) -> None:
        status = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired", "message": "too old"}
        line = json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
        for request in [watch.request for watch in self._watches.values()]:
            self.counts["watch expired"] += 1
            if request.transport is not None:
                request.transport.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(line), line))
                request.transport.close()

    # --- requests ---

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        call = called(request.method, request.path, is_watch="watch" in request.query)
        self.calls.append(call)
        if not self.accepts(request):
            return self._answered(request, call, Fault(status=401))
        fault = self._fault(call)
        if fault is not None and fault.delay:
            await asyncio.sleep(fault.delay)
        if fault is not None and (fault.status or fault.is_lost) and not fault.is_done:
            return self._answered(request, call, fault)
        answer = await (self._watch(request, call, fault) if call.verb == "watch" else self._ask(request))
        if fault is not None and (fault.status or fault.is_lost):
            return self._answered(request, call, fault)
        call.status = answer.status
        if fault is not None and fault.change and isinstance(answer, web.Response) and isinstance(answer.body, bytes):
            answer.body = fault.change(answer.body)
        return answer

    def _fault(self, call: Call) -> Fault | None:
        """The fault that a request meets; one that has been made often enough is over."""
        for fault in list(self.faults):
            if fault.matches(call) and self._random.random() < fault.share:
                self.counts[fault.label] += 1
                fault.made += 1
                if fault.made == fault.times:
                    self.faults.remove(fault)
                return fault
        return None

    def _answered(self, request: web.Request, call: Call, fault: Fault) -> web.Response:
        """The answer of a fault in place of that of the API server."""
        if fault.is_lost:
            _abort(request)
            return web.Response(status=502)
        call.status = fault.status
        reason = REASONS.get(fault.status, "")
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": fault.status, "reason": reason}
        body = json.dumps(status | {"message": "an injected fault"}).encode() if fault.body is None else fault.body
        headers = {"Content-Type": "application/json"} | fault.headers
        return web.Response(status=fault.status, body=body, headers=headers)

    async def _ask(self, request: web.Request) -> web.StreamResponse:
        """Anything but a watch, with the faults of the rates."""
        body = await request.read()
        is_binding = request.method == "POST" and request.path.endswith("/binding")
        if is_binding:
            pod = request.path.split("/")[-2]
            self.bindings.append(SentBinding(time.time(), pod, json.loads(body)["target"]["name"]))
        if request.method in ("POST", "PUT") and "/leases" in request.path:
            self.claims.append((time.time(), json.loads(body)["spec"].get("holderIdentity", "")))
        self.on_request("before", request.method, request.path)
        is_refused = is_binding and self._random.random() < self.bind_rate
        status, is_done = self._random.choice(REFUSALS), self._random.random() < 0.5
        if self._random.random() < self.slow_rate:
            self.counts["slow"] += 1
            await asyncio.sleep(self._random.random() * self.slow_seconds)
        if is_refused and not is_done:
            self.counts[f"Binding refused with {status}"] += 1
            return _refusal(status)
        try:
            answer = await self._forward(request, body)
        except (aiohttp.ClientError, OSError):
            _abort(request)
            return web.Response(status=502)
        self.on_request("done", request.method, request.path)
        if self.is_deaf:
            self.counts["answer lost"] += 1
            _abort(request)
        if is_refused:
            self.counts[f"Binding carried out and answered {status}"] += 1
            return _refusal(status)
        return answer

    async def _forward(self, request: web.Request, body: bytes) -> web.Response:
        timeout = aiohttp.ClientTimeout(total=FORWARD_SECONDS)
        url = self._to_url + request.path_qs
        async with self._http.request(
            request.method, url, data=body, headers=self._headers(request), timeout=timeout
        ) as answer:
            content_type = answer.headers.get("Content-Type", "application/json")
            return web.Response(status=answer.status, body=await answer.read(), headers={"Content-Type": content_type})

    async def _watch(self, request: web.Request, call: Call, fault: Fault | None) -> web.StreamResponse:
        if self.is_blind:
            _abort(request)
            return web.Response(status=502)
        limits = aiohttp.ClientTimeout(total=None)
        response = web.StreamResponse()
        try:
            async with self._http.get(
                self._to_url + request.path_qs, headers=self._headers(request), timeout=limits
            ) as answer:
                if answer.status != 200:
                    return web.Response(status=answer.status, body=await answer.read())
                response.content_type = answer.content_type
                await response.prepare(request)
                call.status = 200
                self._watches[id(request)] = _Watch(request, response, call.resource)
                async for piece in _lines(answer):
                    await response.write(fault.change(piece) if fault is not None and fault.change else piece)
        except (aiohttp.ClientError, OSError):
            _abort(request)
        finally:
            self._watches.pop(id(request), None)
        return response

    def _headers(self, request: web.Request) -> dict[str, str]:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in DROPPED}
        return headers | ({"Authorization": f"Bearer {self.token}"} if self.token else {})


class _Watch(NamedTuple):
    request: web.Request
    response: web.StreamResponse
    resource: str


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """A watch in whole lines, so that `say` comes between two of them; in any pieces if it is not JSON."""
    rest = b""
    async for piece in answer.content.iter_any():
        whole, line_end, rest = (rest + piece).rpartition(b"\n") if "json" in answer.content_type else (piece, b"", b"")
        if whole:
            yield whole + line_end


def _refusal(status: int) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": REASONS[status]}
    return web.json_response(body | {"message": "an injected fault"}, status=status)


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
