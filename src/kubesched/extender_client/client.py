"""Sends requests to one extender as kube-scheduler does: a POST, within httpTimeout.

Rule: kube-scheduler v1.36 HTTPExtender and its transport. All slashes at the end of urlPrefix are dropped, and the verb
follows as it is. Only status 200 is an answer. Redirects are followed: 307 and 308 repeat the request, others make it a
GET without a body, as in Go. enableHTTPS without an authority trusts any server, and does not change the URL. Proxies
of the environment are used. A request that was sent is never repeated. Differences: HTTP/1.1 alone; an answer has at
most 256 MiB.
"""

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from kubesched.cluster import client_context, proxy_from_environment
from kubesched.config import ExtenderConfig, ExtenderTLSConfig
from kubesched.documents import read_file
from kubesched.errors import ConfigError, ExtenderError
from kubesched.extender_client.posts import Posts
from kubesched.extender_client.transport_errors import body_error, transport_error
from kubesched.version import VERSION
from kubesched.wire import utf8_text

_DEFAULT_SECONDS: Final = 5.0
_IDLE_SECONDS: Final = 90.0
_SHORTEST: Final = 0.001  # seconds
_MAX_REDIRECTS: Final = 10
_REPEATING: Final = (307, 308)  # redirects that repeat the request
_REDIRECTS: Final = (301, 302, 303, *_REPEATING)
_MAX_ANSWER: Final = 256 * 2**20  # 5,000 whole nodes of 18 KB are 90 MB
_FRESH_SECONDS: Final = 0.05
_CLOSING_STEPS: Final = 3  # of the loop, in which it learns of connections that the extender closed in the meantime
_TIMEOUT: Final = "context deadline exceeded"
_HEADERS: Final = {"Content-Type": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"kubesched/{VERSION}"}
_NO_TLS: Final = ExtenderTLSConfig()


class ExtenderClient:
    """Connections to one extender, which are kept alive; to be used on one event loop.

    Args:
        config: where it is and how it is reached.
    Raises:
        ConfigError: a certificate, key or authority cannot be read or used, or urlPrefix is not a URL.
    """

    def __init__(self, config: ExtenderConfig) -> None:
        self.config = config
        self._prefix = config.url_prefix.rstrip("/")
        try:
            url = URL(self._prefix)
        except ValueError as error:
            raise ConfigError(f"extender {config.shown_url!r}: urlPrefix is not a URL: {error}") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise ConfigError(
                f"extender {config.shown_url!r}: urlPrefix has to begin with http:// or https:// and a host"
            )
        self._shown = config.shown_url.rstrip("/")  # in errors, as in Go
        self._context: ssl.SSLContext | bool = _context(config) if url.scheme == "https" else True
        self._proxy = proxy_from_environment(self._prefix, os.environ) or None
        self._server_name = (config.tls_config or _NO_TLS).server_name or None
        self._seconds = max(config.http_timeout or _DEFAULT_SECONDS, _SHORTEST)
        self._session: aiohttp.ClientSession | None = None
        self._posts: dict[str, Posts] = {}  # by verb
        self._last_call = 0.0  # monotonic seconds

    def url(self, verb: str) -> str:
        """Where a verb is asked for."""
        return f"{self._prefix}/{verb}"

    async def call(self, verb: str, body: bytes) -> bytes:
        """Send a request. Returns: the body of the answer.

        Args:
            verb: as the configuration names it.
        Raises:
            ExtenderError: there was no answer with status 200 in time.
        """
        request = f'Post "{self._shown}/{verb}"'
        is_reading = False
        try:
            async with asyncio.timeout(self._seconds), self._answered(verb, body) as (status, content):
                if status != 200:
                    where = f"{self._shown}/{verb}"
                    raise ExtenderError(f"failed {verb} with extender at URL {where}, code {status}")
                is_reading = True
                return await _read(content, request)
        except TimeoutError as error:
            if is_reading:
                where = "(Client.Timeout or context cancellation while reading body)"
                raise ExtenderError(f"{_TIMEOUT} {where}") from error
            raise ExtenderError(f"{request}: {_TIMEOUT} (Client.Timeout exceeded while awaiting headers)") from error
        except (aiohttp.ClientError, HttpProcessingError, OSError, ValueError) as error:
            raise ExtenderError(f"{request}: {utf8_text(transport_error(error))}") from error

    @asynccontextmanager
    async def _answered(self, verb: str, body: bytes) -> AsyncIterator[tuple[int, aiohttp.StreamReader]]:
        """Send a request. Yields: the status of the answer, and its body."""
        if time.monotonic() - self._last_call > _FRESH_SECONDS:
            for _ in range(_CLOSING_STEPS):
                await asyncio.sleep(0)
        session, url = self._opened(), URL(self.url(verb), encoded=True)
        target, method, n_redirects = url, "POST", _MAX_REDIRECTS
        if self._proxy is None:
            if verb not in self._posts:
                self._posts[verb] = Posts(url, _HEADERS, self._context, self._server_name)
            assert session.connector is not None
            async with self._posts[verb].post(session.connector, body) as (message, content):
                self._last_call = time.monotonic()
                location = message.headers.get("Location") if message.code in _REDIRECTS else None
                if location is None:
                    yield message.code, content
                    return
            target, n_redirects = _redirected(url, location), _MAX_REDIRECTS - 1
            method = "POST" if message.code in _REPEATING else "GET"
        async with session.request(
            method,
            target,
            data=body if method == "POST" else None,
            ssl=self._context,
            server_hostname=self._server_name,
            max_redirects=n_redirects,
            proxy=self._proxy,
        ) as response:
            self._last_call = time.monotonic()
            yield response.status, response.content

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None
            self._posts.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
                headers=_HEADERS,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),  # `call` has one
            )
        return self._session


def _redirected(url: URL, location: str) -> URL:
    try:
        return url.join(URL(location))
    except ValueError as error:
        raise aiohttp.InvalidUrlRedirectClientError(location, str(error)) from error


async def _read(content: aiohttp.StreamReader, request: str) -> bytes:
    body = bytearray()
    try:
        async for piece in content.iter_any():
            body += piece
            if len(body) > _MAX_ANSWER:
                raise ExtenderError(f"{request}: the answer is larger than {_MAX_ANSWER >> 20} MiB")
    except aiohttp.ClientError as error:
        raise ExtenderError(body_error(error)) from error
    return bytes(body)


def _context(config: ExtenderConfig) -> ssl.SSLContext:
    tls = config.tls_config or _NO_TLS
    where = f"extender {config.shown_url}"
    authority = _material(tls.ca_data, tls.ca_file, where)
    is_insecure = tls.insecure or (config.enable_https and not authority)
    if tls.insecure and authority:
        raise ConfigError(f"{where}: specifying a root certificates file with the insecure flag is not allowed")
    pair = _material(tls.cert_data, tls.cert_file, where), _material(tls.key_data, tls.key_file, where)
    if bool(pair[0]) != bool(pair[1]):
        raise ConfigError(f"{where}: tlsConfig needs certFile and keyFile together, or certData and keyData")
    return client_context((authority, where) if authority else None, (*pair, where), is_insecure=is_insecure)


def _material(data: bytes, file: str, where: str) -> bytes:
    if data or not file:
        return data
    try:
        return read_file(Path(file))
    except OSError as error:
        raise ConfigError(f"{where}: {file} cannot be read: {error.strerror}") from error
