"""Clients that break off, send too much, or take nothing, and the memory of the extender that they leave behind."""

import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from tests.extender.asking import node, with_nodes
from tests.integration.extender_process import ExtenderProcess

KIB, MIB = 2**10, 2**20
GROWTH = 1.1  # allowed, of what it was
MOST_ANSWERS = 250 * MIB  # for answers that nobody takes
SETTLE_SECONDS = 12.0
SOME = with_nodes(*(node(f"node-{i}") for i in range(100)))
WORDY = """
from kubesched import Plugin, Status

class Wordy(Plugin):
    def filter(self, state, pod, node):
        return Status.unresolvable("no" * 10_000)
"""


@contextmanager
def raw(extender: ExtenderProcess, **options: int) -> Iterator[socket.socket]:
    """A connection, spoken to by hand."""
    with socket.socket() as client:
        for name, value in options.items():
            client.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
        client.settimeout(20)
        client.connect(("127.0.0.1", extender.port))
        yield client


def announce(size: int, *more: str) -> bytes:
    head = ["POST /filter HTTP/1.1", "Host: localhost", f"Content-Length: {size}", *more]
    return "\r\n".join([*head, "", ""]).encode()


def leave(client: socket.socket) -> None:
    """Cut the connection off without a goodbye."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def ask(extender: ExtenderProcess, **headers: str) -> int:
    """One filter call; its status."""
    client = HTTPConnection("127.0.0.1", extender.port, timeout=20)
    client.request("POST", "/filter", SOME, headers)
    answer = client.getresponse()
    answer.read()
    client.close()
    return answer.status


def resident(extender: ExtenderProcess) -> float:
    return extender.metric("process_resident_memory_bytes")


def n_unread(extender: ExtenderProcess) -> float:
    return extender.metric('kubesched_extender_requests_total{outcome="unread",verb="filter"}')


class Size(NamedTuple):
    """How much of it there is.

    Attributes:
        rounds: of clients that break off.
        clients: at a time; a fifth of them sends the largest bodies, half takes no answer.
    """

    rounds: int = 5
    clients: int = 40


def break_off(extender: ExtenderProcess, size: Size, *, announced: int, sent: int, is_reset: bool) -> Iterator[str]:
    """Uploads that end in the middle."""
    before, part = n_unread(extender), bytes(sent)
    for _ in range(size.rounds):
        with ExitStack() as stack:
            clients = [stack.enter_context(raw(extender)) for _ in range(size.clients)]
            for client in clients:
                client.sendall(announce(announced) + part)
            for client in clients:
                if is_reset:
                    leave(client)
    expected = size.rounds * size.clients
    if not eventually(lambda: n_unread(extender) - before == expected):
        yield f"{n_unread(extender) - before:.0f} of {expected} requests are counted as unread"


def hold(extender: ExtenderProcess, size: Size) -> Iterator[str]:
    """Bodies that are announced and do not come: they cost what has arrived, and hold nobody up."""
    before = resident(extender)
    with ExitStack() as stack:
        for _ in range(size.clients // 5):
            stack.enter_context(raw(extender)).sendall(announce(250 * MIB) + b"{")
        began = time.monotonic()
        statuses = {ask(extender, **{"X-Long": "way"}) for _ in range(10)}
        if statuses != {200}:
            yield f"calls meanwhile have the statuses {statuses}"
        if time.monotonic() - began > 5:
            yield f"ten calls meanwhile took {time.monotonic() - began:.1f} s"
        if resident(extender) > GROWTH * before:
            yield f"{resident(extender) / MIB:.0f} MiB while nothing arrives, {before / MIB:.0f} before"


def unpack(extender: ExtenderProcess, size: Size) -> Iterator[str]:
    """Bodies that would unpack to gigabytes: they are refused before they do."""
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(16 * MIB)) for _ in range(128)) + packer.flush()
    with ExitStack() as stack:
        clients = [stack.enter_context(raw(extender)) for _ in range(size.clients // 5)]
        for client in clients:
            client.sendall(announce(len(bomb), "Content-Encoding: gzip") + bomb)
        for client in clients:
            if not (answer := client.recv(1000)).startswith(b"HTTP/1.1 413 "):
                yield f"the answer is {answer[:60]!r}"


def take_nothing(extender: ExtenderProcess, size: Size, header: str) -> Iterator[str]:
    """Large answers that nobody takes."""
    call = with_nodes(*(node(f"node-{i}") for i in range(1000)))
    before = highest = resident(extender)
    with ExitStack() as stack:
        for _ in range(size.clients // 2):
            client = stack.enter_context(raw(extender, SO_RCVBUF=4 * KIB))
            client.sendall(announce(len(call), header) + call)
        end = time.monotonic() + 1 + size.rounds
        while time.monotonic() < end:
            highest = max(highest, resident(extender))
            time.sleep(0.2)
    if highest - before > MOST_ANSWERS:
        yield f"answers took {(highest - before) / MIB:.0f} MiB"


class Scenario(NamedTuple):
    """What clients do, and whether answers are large."""

    play: Callable[[ExtenderProcess, Size], Iterator[str]]
    is_wordy: bool = False


def broken(announced: int, sent: int, *, is_reset: bool) -> Scenario:
    return Scenario(lambda e, size: break_off(e, size, announced=announced, sent=sent, is_reset=is_reset))


SCENARIOS = {
    "large uploads, closed": broken(70 * MIB, 5 * MIB, is_reset=False),
    "large uploads, reset": broken(70 * MIB, 5 * MIB, is_reset=True),
    "small uploads, closed": broken(250 * KIB, 250 * KIB - 1, is_reset=False),
    "small uploads, reset": broken(250 * KIB, 250 * KIB - 1, is_reset=True),
    "announced bodies": Scenario(hold),
    "bodies that unpack to gigabytes": Scenario(unpack),
    "answers not taken, short way": Scenario(lambda e, size: take_nothing(e, size, "Accept: */*"), is_wordy=True),
    "answers not taken, long way": Scenario(lambda e, size: take_nothing(e, size, "X-Long: way"), is_wordy=True),
}


class Account(NamedTuple):
    """Memory in MiB before and after, and what must not happen."""

    before: float
    after: float
    harm: list[str]


def play(name: str, folder: Path, size: Size) -> Account:
    """Play one scenario to an extender of its own."""
    scenario = SCENARIOS[name]
    folder.mkdir(parents=True, exist_ok=True)
    plugin = folder / "wordy.py"
    plugin.write_text(WORDY)
    extender = ExtenderProcess(
        folder / "extender", [f"{plugin}:Wordy"] if scenario.is_wordy else ["OddNodes"], record=False
    )
    try:
        for _ in range(20):
            ask(extender)  # after which its memory is what it needs
        before = resident(extender)
        harm = list(scenario.play(extender, size))
        if not eventually(lambda: resident(extender) <= GROWTH * before):
            harm.append(f"{resident(extender) / MIB:.0f} MiB after it, {before / MIB:.0f} before")
        after = resident(extender)
        harm += [f"log: {line}" for line in extender.process.logs() if "ERROR" in line or "Traceback" in line]
    finally:
        extender.stop()
    return Account(before / MIB, after / MIB, harm)


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether something holds at some time in the next seconds."""
    end = time.monotonic() + SETTLE_SECONDS
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
