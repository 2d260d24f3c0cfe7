"""A server on a free loopback port, and raw HTTP to it: what a client sees to the byte."""

import asyncio
from contextlib import asynccontextmanager

from aiohttp import web

from kubesched.serving import Server, ServerOptions


class Conversation:
    """One connection, spoken by hand."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def send(self, method, path, body=b"", *, length=None, headers=()):
        """Send a request; `length` announces another size than the body has."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
        if length is not None or body:
            lines.append(f"Content-Length: {len(body) if length is None else length}")
        await self.send_raw("\r\n".join([*lines, "", ""]).encode() + body)

    async def send_raw(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self):
        """Read one answer: status, headers in lower case, body."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(head[0].split()[1]), headers, body.decode()

    async def ask(self, method, path, body=b"", **more):
        await self.send(method, path, body, **more)
        return await self.answer()

    async def is_closed(self):
        """Wait for the server to close the connection."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True


@asynccontextmanager
async def connected(server, ssl=None, **more):
    reader, writer = await asyncio.open_connection(*server.address, ssl=ssl, **more)
    try:
        yield Conversation(reader, writer)
    finally:
        writer.close()


@asynccontextmanager
async def serving(server):
    """Run the server for the length of the block."""
    await server.start()
    stop = asyncio.Event()
    run = asyncio.create_task(server.run(stop))
    try:
        yield server
    finally:
        stop.set()
        await run


def new_server(routes=(), app=None, **options):
    """Build a server with routes as (method, path, handler)."""
    app = web.Application() if app is None else app
    server = Server(app, ServerOptions(**options))
    for method, path, handler in routes:
        app.router.add_route(method, path, handler)
    return server


async def hello(request):
    return web.Response(text=f"hello {request.method}")
