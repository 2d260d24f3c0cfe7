# ruff: noqa: ASYNC109 - the timeout is for one try of several
"""Requests to an API server: credentials, TLS, JSON, errors, retries where they are safe, a rate limit.

Theory of operation. One session with pooled connections. Plain requests take one of `pool_size` slots and have one
deadline for each try; watches take none, so that they never starve requests, and have a limit on silence instead.
A request that gets 401 is repeated once, if there are newer credentials.
"""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Final, Self, TypeVar, overload

import aiohttp
import msgspec

from kubesched.cluster.api_access import Access
from kubesched.cluster.client_tls import TlsContexts
from kubesched.cluster.credentials import Auth
from kubesched.cluster.last_moment import GuardedBody
from kubesched.cluster.pacing import Backoff, RateLimit
from kubesched.cluster.status_errors import UNTRUSTED, UNUSABLE, missing_answer, refusal, unusable
from kubesched.cluster.timing import Timing
from kubesched.documents import decode_nested, describe_fault
from kubesched.errors import ClusterError, ConfigError, NotSentError, UnauthorizedError
from kubesched.version import VERSION

T = TypeVar("T")

Query = Mapping[str, str | int]

_MAX_TRIES: Final = 5
_MAX_DELAY: Final = 30.0
_RETRIED: Final = (0, 429, 503)  # no answer; too many requests; not ready
_SAFE: Final = ("GET", "HEAD")
_MAX_PAGE = 2**30  # bytes; 500 objects of the largest size that etcd takes have three quarters of it
_MAX_ANSWER = 2**32  # bytes of a list that is not in pages
_MAX_REFUSAL: Final = 2**20
_SLOW_SECONDS = 5.0  # after which a user may ask what is going on
_FAULTS: Final = (aiohttp.ClientError, OSError)  # OSError has TimeoutError in it
_KEPT_SECONDS: Final = 15.0
_LIST_KEPT_SECONDS: Final = 2.0
_NO_LIMITS: Final = aiohttp.ClientTimeout(total=None)
_encode: Final = msgspec.json.Encoder().encode


class _Request(msgspec.Struct, frozen=True):
    method: str
    url: str
    query: Query
    body: bytes | None
    content_type: str
    accept: str = ""

    @property
    def label(self) -> str:
        return f"{self.method} {self.url}"

    @property
    def max_bytes(self) -> int:
        """How large the answer may be."""
        return _MAX_PAGE if self.query.get("limit") else _MAX_ANSWER

    @property
    def is_list(self) -> bool:
        """Whether it asks for a list. A connection keeps buffers of the size of its largest answer, so lists have
        connections that are closed soon afterwards.
        """
        return "limit" in self.query or ("resourceVersion" in self.query and "watch" not in self.query)


class ApiClient:
    """A client of one API server, used inside `async with`, which raises where there are no usable credentials.

    Args:
        access: where and who.
        pool_size: how many requests may be in flight at once; watches do not count.
        timeout: seconds that one try of a request may take.
        qps, burst: requests per second on average and at once; no limit by default.
        may_write: asked right before each try of a request that writes, after it has waited for its turn, and again
            when there is a connection for it; a request that may not be sent fails.
        on_wait: called with a sentence when a request has had no answer for five seconds, and when it is tried again
            after a while.
    """

    def __init__(
        self,
        access: Access,
        *,
        pool_size: int = 64,
        timeout: float = 30.0,
        qps: float = 0.0,
        burst: int = 1,
        may_write: Callable[[], bool] = lambda: True,
        on_wait: Callable[[str], None] | None = None,
        timing: Timing | None = None,
    ) -> None:
        self.access = access
        self.timing = timing or Timing()
        self._timeout = timeout
        self._may_write = may_write
        self._on_wait = on_wait
        self._slots = asyncio.Semaphore(pool_size)
        self._rate = RateLimit(qps, burst, self.timing)
        self._tls = TlsContexts(access)
        self._session: aiohttp.ClientSession | None = None
        self._lists: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._tls.context(await self.access.credentials.current())  # so that bad certificates and plugins show at once
        self._session = self._opened(_KEPT_SECONDS)
        self._lists = self._opened(_LIST_KEPT_SECONDS)
        return self

    def _opened(self, kept_seconds: float) -> aiohttp.ClientSession:
        """A pool of connections, which are kept for so long after a request."""
        access = self.access
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, socket_factory=_open_socket, keepalive_timeout=kept_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=[
                ("User-Agent", f"kubesched/{VERSION}"),
                ("Accept", "application/json"),
                ("Accept-Encoding", "gzip" if access.compression else "identity"),
                *access.headers,
            ],
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sessions, self._session, self._lists = (self._session, self._lists), None, None
        async with AsyncExitStack() as stack:  # closes them all, also when it is cancelled
            for session in sessions:
                if session is not None:
                    stack.push_async_callback(session.close)

    @overload
    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = ...,
        body: object = ...,
        type: None = ...,
        timeout: float | None = ...,
        retry: bool | None = ...,
        content_type: str = ...,
        accept: str = ...,
        is_patient: bool = ...,
    ) -> bytes: ...

    @overload
    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query = ...,
        body: object = ...,
        type: type[T],
        timeout: float | None = ...,
        retry: bool | None = ...,
        content_type: str = ...,
        accept: str = ...,
        is_patient: bool = ...,
    ) -> T: ...

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        type: type[Any] | None = None,
        timeout: float | None = None,
        retry: bool | None = None,
        content_type: str = "application/json",
        accept: str = "",
        is_patient: bool = False,
    ) -> Any:
        """Ask and wait for the answer.

        Args:
            path: as `list_path` and `object_path` give it.
            body: anything that msgspec encodes, or bytes as they are; None for no body.
            type: what the answer is decoded to; None for its bytes.
            timeout: seconds for one try, the client's by default.
            retry: whether a request that was not answered, or was answered 429 or 503, may be sent again; true
                for GET by default. Five tries at most, after the seconds that the server asks for.
            content_type: of the body, for patches.
            accept: of the answer; JSON by default.
            is_patient: whether requests that are not may go first, where the rate is limited.
        Raises:
            ClusterError: refused, not answered, answered with something else, or not sent because our credentials are
                not valid at the moment; one of its subclasses where it fits.
        """
        encoded = body if body is None or isinstance(body, bytes) else _encode(body)
        request = _Request(method, self.access.server + path, query or {}, encoded, content_type, accept)
        seconds, is_repeatable = timeout or self._timeout, method in _SAFE if retry is None else retry
        answer = await self._ask(request, seconds, is_repeatable, is_patient=is_patient)
        return answer if type is None else _decode(answer, type, request.label)

    @asynccontextmanager
    async def stream(self, path: str, *, query: Query, idle_timeout: float) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a watch, or anything else that is read as it comes.

        Args:
            idle_timeout: seconds of silence after which the stream counts as lost.
        Returns: the answer in pieces, which end where the network cut them.
        Raises:
            ClusterError: as with `request`, also while the pieces are read.
        """
        request = _Request("GET", self.access.server + path, query, None, "")
        limits = aiohttp.ClientTimeout(total=None, sock_read=idle_timeout)
        await self._rate.acquire()
        response = await self._as_ourselves(lambda auth: self._begin(request, auth, limits))
        async with response, aclosing(_pieces(response, request.label)) as pieces:
            yield pieces

    async def _ask(self, request: _Request, seconds: float, is_repeatable: bool, *, is_patient: bool) -> bytes:
        backoff = Backoff(self.timing, first=0.2, longest=_MAX_DELAY)
        tries, may_be_done = 0, False
        while True:
            tries += 1
            await self._rate.acquire(is_patient=is_patient)
            try:
                return await self._as_ourselves(lambda auth: self._exchange(request, auth, seconds))
            except ClusterError as error:
                may_be_done = error.may_be_done = may_be_done or error.may_be_done
                is_final = tries == _MAX_TRIES or error.status not in _RETRIED or error.reason == UNUSABLE
                is_final = is_final or isinstance(error, NotSentError)
                if not is_repeatable or is_final:
                    raise
                delay = backoff.next() if error.retry_after is None else error.retry_after
                if self._on_wait and (delay >= _SLOW_SECONDS or error.reason == "Timeout"):
                    self._on_wait(f"{error}; try {tries + 1} of {_MAX_TRIES} is in {delay:.3g} s")
            await self.timing.sleep(delay)

    async def _as_ourselves(self, attempt: Callable[[Auth], Awaitable[T]]) -> T:
        """Make an attempt with our credentials, and one with newer ones, if there are any, when those are refused. So
        it is with the authorities that we trust, when the server's certificate is not signed by one of them.
        """
        try:
            auth = await self.access.credentials.current()
            try:
                return await attempt(auth)
            except UnauthorizedError:
                renewed = await self.access.credentials.renew(auth)
                if renewed == auth:
                    raise
            except ClusterError as error:
                if error.reason != UNTRUSTED or not self._tls.has_new_authority():
                    raise
                renewed = auth
            return await attempt(renewed)
        except ConfigError as error:
            raise unusable(error) from error

    async def _exchange(self, request: _Request, auth: Auth, seconds: float) -> bytes:
        try:
            async with self._slots:  # the time to wait for one does not count
                self._guard(request)
                with self._noting_waits(request, seconds):
                    async with asyncio.timeout(seconds), await self._open(request, auth, _NO_LIMITS) as response:
                        return await _body(response, request.max_bytes, request.label)
        except _FAULTS as error:
            raise missing_answer(request.label, error) from error

    def _guard(self, request: _Request) -> None:
        if request.method not in _SAFE and not self._may_write():
            raise NotSentError(f"{request.label}: not sent, because the lease of this process is over")

    @contextmanager
    def _noting_waits(self, request: _Request, seconds: float) -> Iterator[None]:
        if self._on_wait is None:
            yield
            return
        sentence = f"still waiting for {request.label}, {seconds:g} s at most"
        timer = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self._on_wait, sentence)
        try:
            yield
        finally:
            timer.cancel()

    async def _begin(self, request: _Request, auth: Auth, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        try:
            async with asyncio.timeout(self._timeout):
                return await self._open(request, auth, limits)
        except TimeoutError as error:
            raise missing_answer(request.label, error) from error

    async def _open(self, request: _Request, auth: Auth, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        """The answer, read up to its body, if it is a success."""
        response = await self._send(request, auth, limits)
        if response.status >= 300:
            raise await _refusal(request.label, response)
        return response

    async def _send(self, request: _Request, auth: Auth, limits: aiohttp.ClientTimeout) -> aiohttp.ClientResponse:
        session = self._lists if request.is_list else self._session
        if session is None:
            raise ClusterError(f"{request.label}: the client is closed; use it inside `async with`")
        headers = {"Content-Type": request.content_type} if request.body is not None else {}
        if request.accept:
            headers["Accept"] = request.accept
        if auth.authorization:
            headers["Authorization"] = auth.authorization
        body = None if request.body is None else GuardedBody(request.body, lambda: self._guard(request))
        try:
            return await session.request(
                request.method,
                request.url,
                params=request.query,
                data=body,
                headers=headers,
                ssl=self._tls.context(auth),
                server_hostname=self.access.tls_server_name or None,
                proxy=self.access.proxy or None,
                timeout=limits,
                allow_redirects=False,
            )
        except aiohttp.ClientResponseError as error:
            raise missing_answer(request.label, error) from None  # it quotes headers and the proxy's password
        except _FAULTS as error:
            if isinstance(error.__cause__, NotSentError):
                raise error.__cause__ from None
            raise missing_answer(request.label, error) from error
        except ValueError:  # it quotes the header
            why = "a header of it has a line break or a null byte; check the credentials"
            raise ClusterError(f"{request.label}: the request cannot be sent: {why}", reason=UNUSABLE) from None


def _decode(answer: bytes, type: type[T], label: str) -> T:
    try:
        return decode_nested(lambda text: msgspec.json.decode(text, type=type), answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        fault = describe_fault(error)
        raise ClusterError(f"{label}: the answer does not match the request: {fault}", status=200) from error


async def _refusal(label: str, response: aiohttp.ClientResponse) -> ClusterError:
    async with response:
        try:
            return refusal(label, response, await _body(response, _MAX_REFUSAL, label))
        except (*_FAULTS, ClusterError):
            return refusal(label, response, b"")


async def _body(response: aiohttp.ClientResponse, max_bytes: int, label: str) -> bytes:
    """The body of an answer.

    Raises:
        ClusterError: it is larger than any answer that an API server gives.
    """
    parts, size = list[bytes](), 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > max_bytes:
            raise ClusterError(f"{label}: the answer has more than {max_bytes >> 20} MiB; expected less", status=200)
        parts.append(part)
    return b"".join(parts)


async def _pieces(response: aiohttp.ClientResponse, label: str) -> AsyncGenerator[bytes]:
    try:
        async for piece in response.content.iter_any():
            yield piece
    except _FAULTS as error:
        raise missing_answer(label, error) from error


def _open_socket(address: Any) -> socket.socket:
    """A socket that detects within about a minute that the other side is gone, also while no data is sent."""
    family, kind, protocol, *_ = address
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, option):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), seconds)
    return opened
