"""Large bodies, in and out, without holding more memory than they need.

A kube-scheduler that sends whole nodes posts tens of megabytes, several at a time. A body is read into one growing
buffer; a budget for the whole process makes further bodies wait in their sockets, so that a burst costs time
and not memory. Answers are written from the pieces they consist of.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Final, NoReturn

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

__all__ = ["Bodies", "Buffer", "ByteBudget"]

_BLOCK: Final = 2**18  # bytes given to the socket at a time; pieces are joined up to here and cut from here on
_ENCODINGS: Final = {"", "identity", "gzip"}

Buffer = bytes | bytearray | memoryview


class ByteBudget:
    """A number of bytes that many may hold parts of, first come, first served.

    Attributes:
        limit: bytes in all; whoever asks for more gets this much.
        free: bytes that nobody holds.
    """

    def __init__(self, limit: int) -> None:
        self.limit = self.free = limit
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, size: int, *, seconds: float) -> None:
        """Wait for `size` bytes and hold them until `give`.

        Raises:
            TimeoutError: others held too much for `seconds`; nothing is held then.
        """
        size = min(size, self.limit)
        if size <= self.free and not self._waiting:
            self.free -= size
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        async with asyncio.timeout(seconds):
            try:
                await turn
            except asyncio.CancelledError:
                self.give(0 if turn.cancelled() else size)  # it may have been granted in the same moment
                raise

    def give(self, size: int) -> None:
        """Give back what `take` took and let in those who wait."""
        self.free += min(size, self.limit)
        while self._waiting:
            wanted, turn = self._waiting[0]
            if not turn.cancelled():
                if wanted > self.free:
                    return
                self.free -= wanted
                turn.set_result(None)
            self._waiting.popleft()


class Bodies:
    """Reads request bodies within a server's limits and writes large answers.

    Attributes:
        budget: what all bodies of the process share.
    """

    def __init__(self, *, max_bytes: int, budget_bytes: int, seconds: float) -> None:
        """Set the limits.

        Args:
            max_bytes: largest body, decompressed.
            budget_bytes: of all bodies held at a time; a single body is always let in.
            seconds: for the budget to let a body in, again for it to arrive, and for an answer to be taken.
        """
        self.budget = ByteBudget(budget_bytes)
        self._max_bytes = max_bytes
        self._seconds = seconds

    @asynccontextmanager
    async def receive(self, request: web.BaseRequest) -> AsyncIterator[bytearray]:
        """Read the body. It counts against the budget until the block ends, so leave the block once it is decoded.

        Raises:
            web.HTTPException: 413 over `max_bytes`; 415 for a Content-Encoding other than gzip; 400 for a body that
                does not decompress; 408, and the connection is closed, when it does not arrive in time; 503 when the
                budget did not let it in.
            ConnectionError: the client left.
        """
        size = self._expected_size(request)
        try:
            await self.budget.take(size, seconds=self._seconds)
        except TimeoutError:
            raise web.HTTPServiceUnavailable(text="too many large requests at a time; try again later\n") from None
        try:
            yield await self._read(request)
        finally:
            self.budget.give(size)

    def answer(
        self, pieces: Iterable[Buffer], *, status: int = 200, content_type: str = "application/json"
    ) -> web.Response:
        """Build the answer whose body is the pieces in turn; they must not change before it is sent."""
        return web.Response(status=status, body=_Pieces(list(pieces), content_type, self._seconds))

    def _expected_size(self, request: web.BaseRequest) -> int:
        """Return the size of the body as it will be read, or the largest allowed where only reading tells."""
        encoding = request.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise web.HTTPUnsupportedMediaType(
                text=f'Content-Encoding "{encoding[:40]}" is unknown; allowed: gzip, none\n'
            )
        if not request.can_read_body:
            return 0
        length = request.content_length
        if length is not None and length > self._max_bytes:
            self._refuse_size(f"{length} bytes")
        return length if length is not None and encoding != "gzip" else self._max_bytes

    async def _read(self, request: web.BaseRequest) -> bytearray:
        # A body of known size has its room from the beginning: one that grows beside others moves again and again.
        is_plain = not request.headers.get("Content-Encoding", "").strip()
        body = bytearray(request.content_length or 0 if is_plain and request.can_read_body else 0)
        size = 0
        try:
            async with asyncio.timeout(self._seconds):
                while chunk := await request.content.readany():
                    body[size : size + len(chunk)] = chunk
                    size += len(chunk)
                    if size > self._max_bytes:
                        self._refuse_size("larger")
        except TimeoutError:
            _give_up(request)
            late = web.HTTPRequestTimeout(text=f"the body did not arrive within {self._seconds:g} s\n")
            late.force_close()
            raise late from None
        except web.RequestPayloadError as error:
            raise web.HTTPBadRequest(text="the body does not decode as its headers announce\n") from error
        del body[size:]
        return body

    def _refuse_size(self, found: str) -> NoReturn:
        text = f"the body is {found}; allowed are {self._max_bytes} bytes\n"
        refusal = web.HTTPRequestEntityTooLarge(self._max_bytes, text=text)
        refusal.force_close()  # the rest of the body may still be on its way
        raise refusal


class _Pieces(Payload):
    """A body of several buffers, written in blocks, so that none is copied as a whole."""

    _autoclose = True  # nothing to close

    def __init__(self, pieces: list[Buffer], content_type: str, seconds: float) -> None:
        super().__init__(pieces, content_type=content_type)
        self._pieces = pieces
        self._size = sum(memoryview(piece).nbytes for piece in pieces)
        self._seconds = seconds

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Write everything; a client that does not take it in time loses the connection."""
        try:
            async with asyncio.timeout(self._seconds):
                for block in _blocks(self._pieces):
                    await writer.write(block)
        except TimeoutError:
            raise ConnectionResetError(f"the client did not take the answer within {self._seconds:g} s") from None

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the body as text."""
        return b"".join(self._pieces).decode(encoding, errors)


def _give_up(request: web.BaseRequest) -> None:
    """Close the connection after the answer without waiting for the rest of the body."""
    request.protocol.close()  # first, for what arrives after the end that is set here must be dropped
    request.content.feed_eof()


def _blocks(pieces: Iterable[Buffer]) -> Iterator[Buffer]:
    """Join small pieces and cut large ones."""
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
