"""Refuses requests of web pages: a browser on the same machine sends any page's requests to loopback addresses, too."""

import ipaddress
import logging
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from kubesched.framework import LimitedLog

AllowsHost = Callable[[str], bool]
"""Whether the value of a Host header names this server."""

_SENT_BY_BROWSERS: Final = ("Origin", "Sec-Fetch-Site")
_SHOWN: Final = 100  # characters of a header that are repeated

_LOG: Final = logging.getLogger(__name__)


def allows_host_on(address: str, name: str) -> AllowsHost:
    """Build the check of Host headers for a server.

    On a loopback address only loopback names and the server's own are allowed: any other name may be made to
    resolve to this machine (DNS rebinding). On other addresses the names under which it is reached are unknown.

    Args:
        address: the IP address that it listens on.
        name: the host that it was given to listen on.
    """
    if not ipaddress.ip_address(address.partition("%")[0]).is_loopback:
        return lambda host: True

    @lru_cache(maxsize=64)
    def is_own(host: str) -> bool:
        bare = _without_port(host).lower().rstrip(".")
        return not host or bare in ("localhost", name.lower()) or is_loopback(bare)  # none: a client of HTTP/1.0

    return is_own


def refuse_web_pages(allows_host: AllowsHost) -> Middleware:
    """Build the middleware that answers 403 to what a web page has a browser send."""
    warnings = LimitedLog(_LOG, "%d more requests of web pages were not logged", time.monotonic)

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        for header in _SENT_BY_BROWSERS:
            if header in request.headers:
                raise _refusal(warnings, request, f"it has the header {header}, so it comes from a web page")
        host = request.headers.get("Host", "")
        if not allows_host(host):
            why = f'its Host is "{host[:_SHOWN]}"; expected localhost, or the name given with --host'
            raise _refusal(warnings, request, why)
        return await handler(request)

    return check


def _refusal(warnings: LimitedLog, request: web.Request, why: str) -> web.HTTPException:
    shown = why.encode(errors="backslashreplace").decode()
    warnings.note(f"{request.method} {request.path[:_SHOWN]} from {request.remote} was refused: {shown}")
    return web.HTTPForbidden(text=f"this request is refused because {shown}\n")


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Whether a host is an address of this machine alone; a name is not."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
