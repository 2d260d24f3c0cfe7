"""As much of an API server as an extender watches: one list of nodes, nothing of any other kind, no changes.

    python benchmarks/extender/api_server.py NODE_LIST.json PORT

Lists come from memory; watches stay open and say that nothing happens.
"""

import asyncio
import sys
from pathlib import Path

from aiohttp import web

NODES = "/api/v1/nodes"
NOTHING = b'{"metadata":{"resourceVersion":"1"},"items":[]}'
BOOKMARK = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}\n'
BOOKMARK_SECONDS = 30


def make_app(nodes: bytes) -> web.Application:
    """The server, with what `GET /api/v1/nodes` answers."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" in request.query:
            return await watch(request)
        return web.Response(body=nodes if request.path == NODES else NOTHING, content_type="application/json")

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    return app


async def watch(request: web.Request) -> web.StreamResponse:
    """Send bookmarks until the client leaves."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(BOOKMARK)
        await asyncio.sleep(BOOKMARK_SECONDS)


if __name__ == "__main__":
    server = make_app(Path(sys.argv[1]).read_bytes())
    web.run_app(server, host="127.0.0.1", port=int(sys.argv[2]), print=None, shutdown_timeout=0.1)  # watches do not end
