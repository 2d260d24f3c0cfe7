"""The body of a request that may be sent only while something holds, asked for the last time when it is written.

A request may have to wait for a connection and its TLS handshake after it was allowed. A process that is stopped there
for half a minute would go on and send it. aiohttp writes the headers with the body, so a body can keep both back.
"""

from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesPayload


class GuardedBody(BytesPayload):
    """A body that raises in place of being written.

    Args:
        guard: called right before the request is written; what it raises is the cause of a ClientError.
    """

    def __init__(self, value: bytes, guard: Callable[[], None]) -> None:
        super().__init__(value)
        self._guard = guard

    async def write_with_length(self, writer: AbstractStreamWriter, content_length: int | None) -> None:
        """Write it."""
        self._guard()
        await super().write_with_length(writer, content_length)
