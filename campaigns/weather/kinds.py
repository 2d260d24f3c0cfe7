"""The table of the kinds of bad weather, and those of them that a plugin makes."""

import time
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from campaigns.weather import broken, clients
from campaigns.weather.calls import moody_call
from campaigns.weather.connections import Target


def plugin_raises(target: Target, rng: Random) -> str:
    call = moody_call("thunder", "thunder")
    with target.connection() as client:
        call.check(client.ask(call.data))
    return "200"


def plugin_sleeps(target: Target, rng: Random) -> str:
    call = moody_call("sleep", "no answer within 4s")
    with target.sleeps.next(), target.connection() as client:
        call.check(client.ask(call.data))
        time.sleep(0.1)  # the server starts on what has waited
    return "200"


Act = Callable[[Target, Random], str]
LEAVES = {"left", "closed"}
ANY = {"left", "200", "400", "403", "404", "405", "408", "413", "417", "431", "500", "501", "503", "505", "closed"}


class Kind(NamedTuple):
    """A kind of bad weather.

    Attributes:
        weight: how often it comes, against the others.
        allowed: what may come of it; anything else is harm.
    """

    act: Act
    weight: float
    allowed: set[str]


KINDS: dict[str, Kind] = {
    "half a body, then it leaves": Kind(clients.half_a_body, 3, LEAVES),
    "250 MiB announced, one byte sent": Kind(clients.silent_uploads, 3, LEAVES),
    "headers, a byte a second": Kind(clients.slow_heads, 3, LEAVES),
    "bodies, a byte a second": Kind(clients.slow_bodies, 3, LEAVES),
    "leaves before the answer": Kind(clients.leaves_before_the_answer, 8, LEAVES),
    "does not read its answers": Kind(clients.does_not_read, 4, LEAVES | {"200"}),
    "half-closed before the answer": Kind(clients.half_closed, 8, {"left", "200"}),
    "pipelined calls": Kind(clients.pipelined, 8, {"200"}),
    "connects without a word": Kind(clients.wordless, 4, LEAVES),
    "hundreds of connections": Kind(clients.flood, 2, LEAVES),
    "gzip of gigabytes": Kind(broken.gzip_bomb, 3, {"400", "413", "503"}),
    "broken gzip": Kind(broken.broken_gzip, 8, {"200", "400", "503"}),
    "broken bodies": Kind(broken.broken_body, 16, {"200", "404", "500"}),
    "deep JSON": Kind(broken.deep_json, 8, {"200", "500"}),
    "wrong Content-Length": Kind(broken.wrong_length, 8, ANY),
    "broken chunks": Kind(broken.broken_chunks, 8, ANY),
    "broken headers": Kind(broken.broken_head, 16, ANY),
    "broken TLS handshake": Kind(broken.broken_handshake, 8, LEAVES),
    "plugin raises": Kind(plugin_raises, 8, {"200"}),
    "plugin sleeps": Kind(plugin_sleeps, 0.5, {"200"}),
}
