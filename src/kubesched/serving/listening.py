"""Opens listening sockets, and explains why an address cannot be used."""

import asyncio
import errno
import socket
from typing import Final

from kubesched.errors import InputError

_BACKLOG: Final = 1024


async def listen(host: str, port: int) -> list[socket.socket]:
    """Open a port on each address of a host; the sockets do not block.

    Args:
        port: 0 picks a free port.
    Raises:
        InputError: the port is taken or not allowed, or the host is not an address of this machine.
    """
    loop = asyncio.get_running_loop()
    try:
        # asyncio resolves the host and opens the sockets; it is not to accept on them.
        opened = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
        try:
            sockets = [one.dup() for one in opened.sockets]
        finally:
            opened.close()
        for one in sockets:
            one.listen(_BACKLOG)
            one.setblocking(False)
    except (OSError, OverflowError, UnicodeError) as error:
        raise _cannot_listen(host, port, error) from error
    return sockets


def _cannot_listen(host: str, port: int, error: Exception) -> InputError:
    where = f"cannot listen on {host!r} port {port}"
    if isinstance(error, socket.gaierror | UnicodeError):
        return InputError(
            f"{where}: the host is neither an address nor a name that resolves; expected an address of this machine"
        )
    if isinstance(error, OverflowError):
        return InputError(f"{where}: not a valid port; expected 0 (any free port) to 65535")
    number = (error.errno or errno.EADDRNOTAVAIL) if isinstance(error, OSError) else None  # asyncio of 3.13 gives none
    if number == errno.EADDRINUSE:
        return InputError(f"{where}: the port is in use; stop the process that uses it, or give another port")
    if number == errno.EADDRNOTAVAIL:
        return InputError(
            f"{where}: the host is not an address of this machine; expected one of its addresses, or 0.0.0.0 for all"
        )
    if number == errno.EACCES:
        return InputError(f"{where}: this user may not open the port; give one above 1023")
    return InputError(f"{where}: {error}")
