"""Resolves paths: ignores extra slashes, and answers an unknown path or method with one sentence.

Go's client turns a redirected POST into a GET without a body, so a path with extra slashes is not redirected.
"""

import re
from collections.abc import Callable
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

SHOWN_PATH: Final[web.AppKey[Callable[[str], str]]] = web.AppKey("shown_path")
"""Of an app: how its answer to an unknown path shows the path of a route; without it, as it is."""

_SLASHES: Final = re.compile("/{2,}")
_SHOWN: Final = 200  # characters of a path that is repeated in an answer


class TidyPaths(web.DynamicResource):
    """The resource asked last: `//filter` and `/filter/` are `/filter`, unless a route differs."""

    def __init__(self, router: web.UrlDispatcher) -> None:
        super().__init__("/{path:.*}")
        self._router = router

    async def resolve(self, request: web.Request) -> tuple[web.UrlMappingMatchInfo | None, set[str]]:
        """Find the route of the tidy path, and its methods where the request has another."""
        path = request.rel_url.raw_path
        tidy = _SLASHES.sub("/", path).rstrip("/") or "/"
        if tidy == path:
            return None, set()
        match = await self._router.resolve(request.clone(rel_url=request.rel_url.with_path(tidy, encoded=True)))
        refusal = match.http_exception
        if refusal is None:
            return match, set()
        return None, refusal.allowed_methods if isinstance(refusal, web.HTTPMethodNotAllowed) else set()


@web.middleware
async def explain_refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Put one sentence into the 404 or 405 that the router answers."""
    refusal = request.match_info.http_exception
    path = request.rel_url.raw_path[:_SHOWN]
    if isinstance(refusal, web.HTTPNotFound):
        refusal.text = f'no such path: "{path}"; expected one of {_routes(request.app)}\n'
    elif isinstance(refusal, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(refusal.allowed_methods))
        refusal.text = f'method {refusal.method} is not allowed at "{path}"; allowed: {allowed}\n'
    return await handler(request)


def _routes(app: web.Application) -> str:
    paths = {route.resource.canonical for route in app.router.routes() if route.resource is not None}
    if (shown := app.get(SHOWN_PATH)) is not None:
        paths = set(map(shown, paths))
    return ", ".join(sorted(paths)) or "nothing"
