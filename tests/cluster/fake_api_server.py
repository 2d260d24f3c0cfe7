"""An API server that says what a test tells it to say, on a real port."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from kubesched.api import KINDS
from kubesched.cluster import Access, ApiClient, Credentials, Timing, list_path
from kubesched.cluster.credentials import ConfiguredCredentials
from tests.cluster.fake_timing import FakeTiming

CLOSING = web.AppKey("closing", asyncio.Event)
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Asked:
    """A request that came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class FakeApiServer:
    """Answers each path with what `on` lined up for it; the last answer of a line is given again and again.

    Lists and watches of one path are lined up apart, under the methods LIST and WATCH.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.port = 0
        self._tls = tls
        self._answers: dict[tuple[str, str], list[Answer]] = {}
        self._runner: web.AppRunner | None = None
        self._closing = asyncio.Event()
        self._came = asyncio.Event()

    def on(self, method: str, path: str, *answers: Answer) -> None:
        self._answers.setdefault((method, path), []).extend(answers)

    def has(self, method: str, path: str) -> bool:
        return (method, path) in self._answers

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def asked_for(self, method: str, path: str = "") -> list[Asked]:
        return [a for a in self.asked if a.method == method and (not path or a.path == path)]

    async def until_asked(self, method: str, times: int, path: str = "") -> None:
        """Wait for the last of so many requests."""
        while len(self.asked_for(method, path)) < times:
            self._came.clear()
            await self._came.wait()

    async def start(self) -> None:
        """Listen, after a stop on the same port as before."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._closing = app[CLOSING] = asyncio.Event()
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._tls, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._closing.set()
        if self._runner:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        method = self._method(request)
        asked = Asked(method, request.path, dict(request.query), dict(request.headers), json.loads(body or b"null"))
        self.asked.append(asked)
        self._came.set()
        answers = self._answers.get((method, request.path), [status(404, "NotFound", "there is nothing here")])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return await answer(request)

    def _method(self, request: web.Request) -> str:
        if request.method != "GET":
            return request.method
        if "watch" in request.query:
            return "WATCH"
        return "LIST" if ("LIST", request.path) in self._answers else "GET"


def client_of(
    server: FakeApiServer, *, credentials: Credentials | None = None, timing: Timing | None = None, **options: Any
) -> ApiClient:
    access = Access(label="test", server=server.url, credentials=credentials or ConfiguredCredentials())
    return ApiClient(access, timing=timing or FakeTiming(), **options)


def says(value: object, code: int = 200, headers: dict[str, str] | None = None) -> Answer:
    """A JSON answer."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response(value, status=code, headers=headers)

    return answer


def text(body: str, code: int = 200) -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(text=body, status=code)

    return answer


def status_object(code: int, reason: str, message: str = "", **details: Any) -> dict[str, Any]:
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message} | (
        {"details": details} if details else {}
    )


def status(code: int, reason: str, message: str = "", headers: dict[str, str] | None = None, **details: Any) -> Answer:
    """A refusal."""
    return says(status_object(code, reason, message, **details), code, headers)


def objects(*items: dict[str, Any], version: str = "10", more: str = "") -> Answer:
    """A list, or a page of one where there is more."""
    metadata = {"resourceVersion": version} | ({"continue": more} if more else {})

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"kind": list_kind(request.path), "metadata": metadata, "items": list(items)})

    return answer


def list_kind(path: str) -> str:
    """The kind of the list at a path."""
    others = "ConfigMapList" if path == "/api/v1/configmaps" else "List"
    return next((f"{KINDS[kind].name}List" for kind in KINDS if path == list_path(kind)), others)


def line(type: str, obj: dict[str, Any]) -> bytes:
    return json.dumps({"type": type, "object": obj}).encode() + b"\n"


def bookmark(version: str) -> bytes:
    return line("BOOKMARK", {"metadata": {"resourceVersion": version}})


def stream(*pieces: bytes, end: str = "hang") -> Answer:
    """A watch that says some pieces, then hangs, is closed as it should be, or is cut off."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if end == "hang":
            await request.app[CLOSING].wait()
        elif end == "cut":
            cut(request)
        return response

    return answer


async def no_answer(request: web.Request) -> web.StreamResponse:
    """The connection is closed in the face of whoever asks."""
    cut(request)
    return web.Response()


async def silence(request: web.Request) -> web.StreamResponse:
    """Nothing at all."""
    await request.app[CLOSING].wait()
    return web.Response()


def cut(request: web.Request) -> None:
    assert request.transport is not None
    request.transport.close()


def node(name: str, version: str = "1", uid: str = "", **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": version, "labels": labels}}
