"""An HTTP proxy before the API server that refuses, delays, loses and cuts what it is told to."""

import asyncio
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, NamedTuple, TypeVar

import aiohttp
from aiohttp import web

T = TypeVar("T")

REASONS = {409: "Conflict", 410: "Gone", 429: "TooManyRequests", 500: "InternalError"}
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

    Attributes:
        url: where.
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

    def __init__(self, to_url: str, seed: int) -> None:
        self.bind_rate = self.slow_rate = self.slow_seconds = 0.0
        self.is_deaf = self.is_blind = False
        self.on_request: Callable[[str, str, str], None] = lambda phase, method, path: None
        self.bindings: list[SentBinding] = []
        self.claims: list[tuple[float, str]] = []
        self.counts: Counter[str] = Counter()
        self._to_url = to_url
        self._random = Random(seed)
        self._watches: dict[int, web.Request] = {}  # by id: requests are not hashable
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
        self.bind_rate = self.slow_rate = 0.0
        self.is_deaf = self.is_blind = False
        self.on_request = lambda phase, method, path: None

    def cut_watches(self) -> None:
        """Break the connections of all watches."""
        self._call(self._cut())

    def expire_watches(self) -> None:
        """Have all watches end with 410."""
        self._call(self._expire())

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(self) -> None:
        unchecked = ssl.create_default_context()
        unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
        self._http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=unchecked, limit=0), auto_decompress=False, read_bufsize=1 << 20
        )
        application = web.Application(client_max_size=1 << 24)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"

    async def _stop(self) -> None:
        await self._cut()
        await self._http.close()
        await self._runner.cleanup()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _cut(self) -> None:
        for request in list(self._watches.values()):
            self.counts["watch cut"] += 1
            _abort(request)

    async def _expire(self) -> None:
        status = {"kind": "Status", "apiVersion": "v1", "code": 410, "reason": "Expired", "message": "too old"}
        line = json.dumps({"type": "ERROR", "object": status}).encode() + b"\n"
        for request in list(self._watches.values()):
            self.counts["watch expired"] += 1
            if request.transport is not None:
                request.transport.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(line), line))
                request.transport.close()

    # --- requests ---

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            if not self.is_blind:
                return await self._watch(request)
            _abort(request)
            return web.Response(status=502)
        body = await request.read()
        is_binding = request.method == "POST" and request.path.endswith("/binding")
        if is_binding:
            pod = request.path.split("/")[-2]
            self.bindings.append(SentBinding(time.time(), pod, json.loads(body)["target"]["name"]))
        if request.method in ("POST", "PUT") and "/leases" in request.path:
            self.claims.append((time.time(), json.loads(body)["spec"].get("holderIdentity", "")))
        self.on_request("before", request.method, request.path)
        is_refused = is_binding and self._random.random() < self.bind_rate
        status, is_done = self._random.choice(list(REASONS)), self._random.random() < 0.5
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
            request.method, url, data=body, headers=_headers(request), timeout=timeout
        ) as answer:
            content_type = answer.headers.get("Content-Type", "application/json")
            return web.Response(status=answer.status, body=await answer.read(), headers={"Content-Type": content_type})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        limits = aiohttp.ClientTimeout(total=None)
        response = web.StreamResponse()
        try:
            async with self._http.get(
                self._to_url + request.path_qs, headers=_headers(request), timeout=limits
            ) as answer:
                if answer.status != 200:
                    return web.Response(status=answer.status, body=await answer.read())
                await response.prepare(request)
                self._watches[id(request)] = request
                async for piece in answer.content.iter_any():
                    await response.write(piece)
        except (aiohttp.ClientError, OSError):
            _abort(request)
        finally:
            self._watches.pop(id(request), None)
        return response


def _headers(request: web.Request) -> dict[str, str]:
    return {name: value for name, value in request.headers.items() if name.lower() not in DROPPED}


def _refusal(status: int) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": REASONS[status]}
    return web.json_response(body | {"message": "an injected fault"}, status=status)


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
