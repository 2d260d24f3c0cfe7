"""Establishes accepted connections so that one that fails leaves nothing for the garbage collector.

A TLS connection holds 300 KB. Clients without credentials open and abort hundreds of handshakes a second, and the
collector comes too rarely for them.
"""

import asyncio
import ssl
import traceback
from collections.abc import Callable

from kubesched.serving.connections import Connection


async def establish(
    connection: Connection,
    new_protocol: Callable[[], asyncio.BaseProtocol],
    *,
    tls: ssl.SSLContext | None = None,
    handshake_seconds: float | None = None,
    goodbye_seconds: float | None = None,
) -> asyncio.Transport | None:
    """Do the TLS handshake, if there is TLS, and serve a connection.

    Args:
        new_protocol: builds what serves it, called after the handshake.
        tls: None serves it without TLS.
        handshake_seconds: for the handshake.
        goodbye_seconds: for the client to confirm the end of TLS.
    Returns: its transport; None if it was not established, and is closed.
    """
    try:
        transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
            lambda: _Handshaking(new_protocol),
            connection,
            ssl=tls,
            ssl_handshake_timeout=handshake_seconds if tls else None,
            ssl_shutdown_timeout=goodbye_seconds if tls else None,
        )
    except (OSError, asyncio.CancelledError) as error:  # OSError: a handshake that failed is one, and is noted by then
        # The error refers to the frames that it passed, and asyncio's future in one of these to the error.
        traceback.clear_frames(error.__traceback__)
        connection.close()
        return None
    return transport


class _Handshaking(asyncio.Protocol):
    """Stands for a protocol until the handshake is done.

    aiohttp's refers to itself until its `connection_lost` is called, which needs a handshake that succeeds.
    """

    def __init__(self, new_protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._new_protocol = new_protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the protocol have the connection."""
        assert isinstance(transport, asyncio.Transport)
        protocol = self._new_protocol()
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
