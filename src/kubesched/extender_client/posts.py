"""Posts bodies on aiohttp's connections, without its session, which takes 0.1 ms for each request.

Its connector makes, secures and keeps connections, and its parser reads answers, as for a session.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
from aiohttp.http import RawResponseMessage
from yarl import URL

_NO_LIMIT: Final = aiohttp.ClientTimeout(total=None)
_SWITCHING_PROTOCOLS: Final = 101


class Posts:
    """Requests to one address, whose head is made once; to be used on one event loop.

    Args:
        context: of TLS; True for plain HTTP.
        server_name: that its certificate has to have; None for the host of the address.
    """

    def __init__(self, url: URL, headers: Mapping[str, str], context: ssl.SSLContext | bool, server_name: str | None):
        loop = asyncio.get_running_loop()
        self._request = aiohttp.ClientRequest(
            "POST", url, headers=headers, loop=loop, ssl=context, server_hostname=server_name
        )
        fields = "".join(
            f"{name}: {value}\r\n" for name, value in self._request.headers.items() if name != "Content-Length"
        )
        self._head = f"POST {url.raw_path_qs} HTTP/1.1\r\n{fields}Content-Length: ".encode()

    @asynccontextmanager
    async def post(
        self, connector: aiohttp.BaseConnector, body: bytes
    ) -> AsyncIterator[tuple[RawResponseMessage, aiohttp.StreamReader]]:
        """Send a body. Yields: the head of the answer and its body, after which the connection is kept or closed.

        Raises:
            aiohttp.ClientError, HttpProcessingError, OSError: there is no answer.
        """
        connection = await connector.connect(self._request, [], _NO_LIMIT)
        content: aiohttp.StreamReader | None = None
        try:
            protocol, transport = connection.protocol, connection.transport
            assert protocol is not None
            assert transport is not None
            protocol.set_response_params(read_until_eof=True)
            transport.writelines([self._head, b"%d\r\n\r\n" % len(body), body])
            message, content = await protocol.read()
            while message.code < 200 and message.code != _SWITCHING_PROTOCOLS:
                message, content = await protocol.read()
            yield message, content
        finally:
            if content is not None and content.at_eof():
                connection.release()
            else:  # what is left of the answer would be the answer to the next request
                connection.close()
