"""Reads and writes large bodies within a memory budget.

A kube-scheduler that sends whole nodes posts tens of megabytes, several at a time. A body is read into pages
(`pages.py`), so it takes what has arrived and does not move. All bodies share a budget, as do answers that clients are
slow to take. What is compressed is unpacked here, a block at a time, so that a small body cannot become a large one
unnoticed. Answers are written from the pieces they consist of.
"""

import asyncio
import mmap
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from kubesched.errors import NoRoomError
from kubesched.serving.byte_budget import ByteBudget
from kubesched.serving.connections import clients_turn, our_turn
from kubesched.serving.free_memory import give_free_memory_back
from kubesched.serving.memory_pages import MemoryPages

_BLOCK: Final = 2**18  # bytes given to the socket at a time; pieces are joined up to here and cut from here on
_PROGRESS: Final = 2**16  # bytes of a body after which its client's time begins again
_KEPT: Final = 2**26  # bytes of pages
_LARGE: Final = 2**22  # bytes in all; less is not worth the effort
_LOOK_SECONDS: Final = 5.0
_ENCODINGS: Final = {"", "identity", "gzip"}
_GZIP: Final = 16 + zlib.MAX_WBITS  # for zlib: a gzip header

Buffer = bytes | bytearray | memoryview


async def expect_body(request: web.Request) -> None:
    """Answer `Expect: 100-continue`; for routes whose handlers find out themselves when the client has left.

    Raises:
        web.HTTPException: 417 for any other expectation.
    """
    if request.headers.get("Expect", "").lower() != "100-continue":
        raise web.HTTPExpectationFailed(text="Expect: expected 100-continue\n")
    with suppress(ConnectionError):
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    request.writer.output_size = 0  # the answer begins here


def abandon_body(request: web.BaseRequest) -> None:
    """Close the connection after the answer without waiting for the rest of the body."""
    request.protocol.close()  # first, for what arrives after the end that is set here must be dropped
    request.content.feed_eof()


class _TooLargeError(Exception):
    """More arrived than a body may have."""


class _ClientLeft(web.HTTPClientError):
    """Ends a request without an answer; aiohttp would log any other error as a fault of ours."""

    status_code = 499


_UNDECODABLE: Final = "the body does not match its headers\n"
_UNREADABLE: Final = (TimeoutError, NoRoomError, _TooLargeError, web.RequestPayloadError, zlib.error, ConnectionError)


class Bodies:
    """Reads request bodies within a server's limits and writes large answers.

    Attributes:
        uploads: what bodies hold that have arrived in part or as a whole.
        answers: what answers hold that are not sent yet.
    """

    def __init__(self, *, max_bytes: int, budget_bytes: int, answer_bytes: int, seconds: float) -> None:
        """Set the limits.

        Args:
            max_bytes: largest body, decompressed.
            budget_bytes: of all bodies held at a time; a single body is always let in.
            answer_bytes: of all answers held at a time; when they hold more, further calls wait.
            seconds: for a body to arrive, for a call to wait for room, and for an answer to be taken.
        """
        self.uploads = ByteBudget(budget_bytes, seconds=seconds)
        self.answers = ByteBudget(answer_bytes, seconds=seconds)
        self._pages = MemoryPages(_KEPT)
        self._max_bytes = max_bytes
        self._seconds = seconds

    @asynccontextmanager
    async def receive(self, request: web.BaseRequest) -> AsyncIterator[memoryview]:
        """Read the body. It counts against the budget until the block ends, so leave the block once it is decoded.

        Raises:
            web.HTTPException: 413 over `max_bytes`; 415 for a Content-Encoding other than gzip; 400 for a body that
                does not decompress; 408 when it does not arrive in time, or too slowly while others wait; 503 when
                others held too much for too long; 499, which is not sent, when the client left. The connection is
                closed where the body was not read to its end.
        """
        is_packed = self._check_headers(request)
        upload = _Upload(request, self.uploads, self._pages, self._max_bytes, self._seconds)
        failure = None
        try:
            try:
                clients_turn()
                await upload.read(_Gunzip() if is_packed else None)
            except _UNREADABLE as error:
                failure = self._failure(upload, error)
                # aiohttp keeps the error with the request, and the error our frames: what they hold would stay until
                # the collector comes.
                error.__traceback__ = None
                upload.discard()
            our_turn()
            if failure is not None:
                raise failure
            yield upload.view()
        finally:
            upload.end()

    async def has_room_to_answer(self, seconds: float) -> bool:
        """Wait until what other clients have not taken leaves room for one more answer; false after some seconds."""
        try:
            await self.answers.until_room(seconds)
        except NoRoomError:
            return False
        return True

    def answer(
        self, pieces: Iterable[Buffer], *, status: int = 200, content_type: str = "application/json"
    ) -> web.Response:
        """Build the answer whose body is the pieces in turn; they must not change before it is sent."""
        return web.Response(status=status, body=_Pieces(list(pieces), content_type, self.answers, self._seconds))

    async def trim_memory(self) -> None:
        """Give memory back after large bodies and answers, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self._pages.release_unused()
            for budget in (self.uploads, self.answers):
                if budget.peak > _LARGE and budget.held < _LARGE:
                    budget.peak = 0
                    give_free_memory_back()

    def _check_headers(self, request: web.BaseRequest) -> bool:
        """Refuse what can be refused unread. Returns: whether the body is compressed."""
        encoding = request.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise web.HTTPUnsupportedMediaType(
                text=f'Content-Encoding "{encoding[:40]}" is unknown; expected gzip or none\n'
            )
        length = request.content_length
        if request.can_read_body and length is not None and length > self._max_bytes:
            raise self._too_large(f"{length} bytes")
        return encoding == "gzip" and request.can_read_body

    def _failure(self, upload: "_Upload", error: Exception) -> web.HTTPException:
        """What a body that could not be read is answered with."""
        if isinstance(error, _TooLargeError):
            return self._too_large("larger")
        if isinstance(error, zlib.error):
            return web.HTTPBadRequest(text=_UNDECODABLE)
        upload.abandon()
        refusal: web.HTTPException
        if isinstance(error, ConnectionError):
            refusal = _ClientLeft(text="the client disconnected\n")
        elif isinstance(error, web.RequestPayloadError):
            refusal = web.HTTPBadRequest(text=_UNDECODABLE)
        elif isinstance(error, NoRoomError):
            refusal = web.HTTPServiceUnavailable(text="too many large requests at a time; try again later\n")
        elif upload.transfer.is_dropped:
            refusal = web.HTTPRequestTimeout(text="the body arrived too slowly while others waited for memory\n")
        else:
            refusal = web.HTTPRequestTimeout(text=f"the body did not arrive within {self._seconds:g} s\n")
        refusal.force_close()
        return refusal

    def _too_large(self, size: str) -> web.HTTPException:
        text = f"the body is {size}; expected at most {self._max_bytes} bytes\n"
        refusal = web.HTTPRequestEntityTooLarge(self._max_bytes, text=text)
        refusal.force_close()  # the rest of the body may still be on its way
        return refusal


class _Upload:
    """A body that is being read.

    Attributes:
        transfer: its place in the budget.
    """

    def __init__(
        self, request: web.BaseRequest, budget: ByteBudget, pages: MemoryPages, max_bytes: int, seconds: float
    ) -> None:
        self.transfer = budget.begin(self._lose_patience)
        self._pages = pages
        self._body: bytearray | mmap.mmap = bytearray()
        self._view: memoryview | None = None
        self._size = 0
        self._n_since_progress = 0
        self._request = request
        self._budget = budget
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._patience: asyncio.Timeout | None = None

    async def read(self, packed: "_Gunzip | None") -> None:
        """Read everything.

        Raises:
            Exception: one of `_UNREADABLE`.
        """
        size = self._request.content_length or 0
        if size > _BLOCK and packed is None:
            with suppress(OSError):  # a limit on addresses: then in what grows, and may move
                self._body = self._pages.take(size)
        async with asyncio.timeout(self._seconds) as self._patience:
            while chunk := await self._next_chunk():
                if packed is None:
                    await self._add(chunk)
                    continue
                for block in packed.unpack(chunk):
                    await self._add(block)
                    await asyncio.sleep(0)  # a chunk may unpack to a thousand times its size
        if packed is not None:
            packed.check_end()
        self._budget.complete(self.transfer)

    async def _add(self, block: bytes) -> None:
        end = self._size + len(block)
        if end > self._max_bytes:
            raise _TooLargeError
        if not self._budget.try_take(self.transfer, len(block)):
            await self._wait_for_room(len(block))
        self._body[self._size : end] = block
        self._size = end

    def view(self) -> memoryview:
        """The whole body, to be read until `end`."""
        self._view = memoryview(self._body)[: self._size]
        return self._view

    def end(self) -> None:
        """Give everything back; pages only if no part of the body is still in use."""
        self._budget.end(self.transfer)
        body, view, self._body, self._view = self._body, self._view, bytearray(), None
        if isinstance(body, mmap.mmap) and view is not None:
            with suppress(BufferError):
                view.release()
                self._pages.give(body)

    def discard(self) -> None:
        """Give the memory back to the system; the body was not handed out."""
        if isinstance(self._body, mmap.mmap):
            self._body.close()
        self._body = bytearray()

    async def _wait_for_room(self, n: int) -> None:
        """Wait without the client's clock running."""
        if self._patience is None or self.transfer.is_dropped:
            return
        now = asyncio.get_running_loop().time
        left = (self._patience.when() or 0.0) - now()
        self._patience.reschedule(None)
        our_turn()
        try:
            await self._budget.take(self.transfer, n)
        finally:
            clients_turn()
            self._patience.reschedule(now() + left)

    async def _next_chunk(self) -> bytes:
        if self._request.transport is None:  # aiohttp would call it a fault of ours to read then
            raise ConnectionResetError
        chunk = await self._request.content.readany()
        self._n_since_progress += len(chunk)
        if self._n_since_progress >= _PROGRESS:  # not for each byte: a client that hardly sends anything gives way
            self._n_since_progress = 0
            clients_turn()
        return chunk

    def _lose_patience(self) -> None:
        if self._patience is not None:
            _end(self._patience)

    def abandon(self) -> None:
        """Close the connection after the answer without waiting for the rest of the body."""
        abandon_body(self._request)


class _Gunzip:
    """Unpacks a gzip body, of one member or several, block by block."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)

    def unpack(self, packed: bytes) -> Iterator[bytes]:
        """Give what some bytes unpack to.

        Raises:
            zlib.error: they are not gzip.
        """
        while packed:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP)
            yield (block := self._member.decompress(packed, _BLOCK))
            while len(block) == _BLOCK and not self._member.eof:  # there may be more where nothing is left to feed
                yield (block := self._member.decompress(self._member.unconsumed_tail, _BLOCK))
            packed = self._member.unused_data

    def check_end(self) -> None:
        """Check that everything has come.

        Raises:
            zlib.error: the end is missing.
        """
        if not self._member.eof:
            raise zlib.error("the end is missing")


class _Pieces(Payload):
    """A body of several buffers, written in blocks, so that none is copied as a whole."""

    _autoclose = True  # nothing to close

    def __init__(self, pieces: list[Buffer], content_type: str, budget: ByteBudget, seconds: float) -> None:
        super().__init__(pieces, content_type=content_type)
        self._pieces = pieces
        self._size = self._n_bytes = sum(memoryview(piece).nbytes for piece in pieces)
        self._budget = budget
        self._seconds = seconds

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write everything; a client that does not take it in time loses the connection."""
        patience = asyncio.timeout(self._seconds)
        transfer = self._budget.begin(partial(_end, patience))
        self._budget.hold(transfer, self._n_bytes)
        try:
            async with patience:
                for block in blocks(self._pieces):
                    await writer.write(block)
                    transfer.note(len(block))
                    clients_turn()
            return
        except (TimeoutError, ConnectionError) as error:
            error.__traceback__ = None  # as in `receive`; the frames hold the block
            if writer.transport is not None:
                writer.transport.abort()  # to close it would wait for the client
        finally:
            block = b""
            self._pieces.clear()
            self._budget.end(transfer)
        raise ConnectionResetError("the client did not read the answer")

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the body as text."""
        return b"".join(self._pieces).decode(encoding, errors)


def _end(patience: asyncio.Timeout) -> None:
    if not patience.expired():
        patience.reschedule(0.0)


def blocks(pieces: Iterable[Buffer]) -> Iterator[Buffer]:
    """Join small pieces and cut large ones, for a socket to take one at a time."""
    small: list[Buffer] = []
    size = 0
    for piece in pieces:
        view = memoryview(piece).cast("B")
        if size + len(view) > _BLOCK and small:
            yield b"".join(small)
            small, size = [], 0
        if len(view) >= _BLOCK:
            yield from (view[at : at + _BLOCK] for at in range(0, len(view), _BLOCK))
        else:
            small.append(view)
            size += len(view)
    if small:
        yield b"".join(small)
