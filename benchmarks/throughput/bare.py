"""The least that an extender can do: copy the names of a request into an answer. Prints its URL, and serves.

It decodes nothing and decides nothing, so no extender that does is called at a higher rate by the same kube-scheduler.
"""

import asyncio
import itertools

COUNT = itertools.count()
END = b"\r\n\r\n"
LENGTH = b"content-length:"
NAMES = b'"NodeNames":["'
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


class Bare(asyncio.Protocol):
    """One connection that brings one request after another."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, _, body = self._received.partition(END)
        size = int(head.lower().partition(LENGTH)[2].split(b"\r\n", 1)[0] or 0)
        if len(body) >= size > 0:
            self._received = b""
            answer = filtered(body) if b"/filter" in head[:64] else prioritized(body)
            self._transport.write(HEAD % len(answer) + answer)


def filtered(body: bytes) -> bytes:
    """Every node passes."""
    return b'{"NodeNames":["%b"]}' % names(body)


def prioritized(body: bytes) -> bytes:
    """Every node has the same score, and the next answer has another one."""
    score = b"%d" % (next(COUNT) % 10)
    return b'[{"Host":"%b","Score":%b}]' % (names(body).replace(b'","', b'","Score":%b},{"Host":"' % score), score)


def names(body: bytes) -> bytes:
    """What stands between the first and the last quote of the list."""
    start = body.index(NAMES) + len(NAMES)
    return body[start : body.rindex(b'"]')]


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
