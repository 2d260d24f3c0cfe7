"""Bad clients: those that leave, those that hold on, and those that are too many.

Here and in `broken.py`, each function is one kind of bad weather. It opens the connections it needs, misbehaves, and
returns what came of it: the status of the answer, or `left` where it did not wait for one. A connection that the server
ends raises.
"""

from collections.abc import Iterable
from contextlib import suppress
from random import Random

from campaigns.weather.calls import filter_call, head, large, small
from campaigns.weather.connections import Connection, Target

MIB = 2**20
FILLER = memoryview(bytes(35 * MIB))


def half_a_body(target: Target, rng: Random) -> str:
    """Announce up to 70 MiB, send half of it, and leave; a server that does not take it is given ten seconds."""
    size = rng.randrange(MIB, 70 * MIB)
    with target.connection() as client:
        client.send(head("/filter", size))
        with suppress(TimeoutError):
            client.send(FILLER[: size // 2], seconds=10)
        if rng.random() < 0.5:
            client.reset()
    return "left"


def silent_uploads(target: Target, rng: Random) -> str:
    """Announce 250 MiB on several connections, send one byte of each, and hold them."""
    with target.connections(rng.randint(2, 5)) as clients:
        for client in clients:
            client.send(head("/filter", 250 * MIB) + b"{")
        target.wait(rng.uniform(1, 15))
    return "left"


def slow_heads(target: Target, rng: Random) -> str:
    """Send headers a byte a second."""
    with target.connections(rng.randint(1, 10)) as clients:
        _drip(target, clients, head("/filter", 100)[: rng.randint(5, 20)])
    return "left"


def slow_bodies(target: Target, rng: Random) -> str:
    """Send a body a byte a second, small ones and large ones."""
    with target.connections(rng.randint(1, 10)) as clients:
        for client in clients:
            client.send(head("/filter", rng.choice((100, 10_000, 10 * MIB))))
        _drip(target, clients, b"{" * rng.randint(5, 20))
    return "left"


def _drip(target: Target, clients: Iterable[Connection], data: bytes) -> None:
    for i in range(len(data)):
        for client in clients:
            client.send(data[i : i + 1])
        if target.wait(1):
            return


def leaves_before_the_answer(target: Target, rng: Random) -> str:
    call = rng.choice((small, large))(rng)
    with target.connection() as client:
        client.send(call.data)
        if rng.random() < 0.5:
            client.reset()
    return "left"


def does_not_read(target: Target, rng: Random) -> str:
    """Ask for answers of 3 MB, leave them in the socket for a while, then read the first one or none."""
    call = filter_call(range(1000))
    with target.connections(rng.randint(1, 8), receive_buffer=2**16) as clients:
        for client in clients:
            client.send(call.data)
        if target.wait(rng.uniform(1, 15)) or rng.random() < 0.5:
            return "left"
        call.check(clients[0].answer())
    return "200"


def half_closed(target: Target, rng: Random) -> str:
    """Send a call and FIN, and wait for the answer; over TLS a FIN ends both directions."""
    call = rng.choice((small, large))(rng)
    with target.connection() as client:
        client.send(call.data)
        client.finish()
        if target.tls:
            return "left"
        call.check(client.answer())
    return "200"


def pipelined(target: Target, rng: Random) -> str:
    """Send several calls before reading the first answer; each gets its own."""
    calls = [small(rng) for _ in range(rng.randint(2, 10))]
    with target.connection() as client:
        client.send(b"".join(call.data for call in calls))
        for call in calls:
            call.check(client.answer())
    return "200"


def wordless(target: Target, rng: Random) -> str:
    """Connect and leave without a word."""
    with target.connections(rng.randint(1, 30), is_raw=True):
        pass
    return "left"


def flood(target: Target, rng: Random) -> str:
    """Hold hundreds of connections open."""
    with target.flood, target.connections(rng.randint(100, 400), is_raw=True):
        target.wait(1)
    return "left"
