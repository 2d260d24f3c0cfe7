"""Memory of an extender whose clients break off, send too much, or take nothing."""

import socket
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.extender.asking import node, with_nodes
from tests.extender.server.as_process import KIB, MIB, SOME, Start, ask, metrics, resident
from tests.integration.extender_process import ExtenderProcess

ALLOWED = 1.1  # of what it was


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


def settled(extender: ExtenderProcess, limit: float) -> float:
    """Memory once it is below a limit, or after some seconds."""
    end = time.monotonic() + 12
    while (now := resident(extender)) > limit and time.monotonic() < end:
        time.sleep(0.1)
    return now


@pytest.fixture
def extender(start: Start) -> ExtenderProcess:
    """One that has answered, so that its memory is what it needs."""
    running = start(record=False)
    for _ in range(20):
        ask(running, SOME)
    return running


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_memory_of_uploads_that_break_off_comes_back(extender: ExtenderProcess, is_reset: bool) -> None:
    before = resident(extender)
    part = bytes(5 * MIB)
    for _ in range(5):
        with ExitStack() as stack:
            clients = [stack.enter_context(raw(extender)) for _ in range(40)]
            for client in clients:
                client.sendall(announce(70 * MIB))
                client.sendall(part)
            for client in clients:
                if is_reset:
                    leave(client)
    assert settled(extender, ALLOWED * before) <= ALLOWED * before
    assert metrics(extender)['kubesched_extender_requests_total{outcome="unread",verb="filter"}'] == 200
    assert not [line for line in extender.process.logs() if "ERROR" in line or "Traceback" in line]


def test_bodies_that_are_announced_cost_what_has_arrived_and_hold_nobody_up(extender: ExtenderProcess) -> None:
    before = resident(extender)
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(raw(extender)).sendall(announce(250 * MIB) + b"{")
        start = time.monotonic()
        for _ in range(10):
            assert ask(extender, SOME, "X-Long: way")["Error"] == ""
        assert time.monotonic() - start < 5
        assert resident(extender) <= ALLOWED * before


def test_bodies_that_unpack_to_gigabytes_are_refused_before_they_do(extender: ExtenderProcess) -> None:
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(bytes(16 * MIB)) for _ in range(128)) + packer.flush()
    before = resident(extender)
    with ExitStack() as stack:
        clients = [stack.enter_context(raw(extender)) for _ in range(8)]
        for client in clients:
            client.sendall(announce(len(bomb), "Content-Encoding: gzip") + bomb)
        for client in clients:
            assert client.recv(1000).startswith(b"HTTP/1.1 413 ")
    assert settled(extender, ALLOWED * before) <= ALLOWED * before


@pytest.mark.parametrize("header", ["Accept: */*", "X-Long: way"], ids=["short way", "long way"])
def test_answers_that_nobody_takes_are_bounded(start: Start, tmp_path: Path, header: str) -> None:
    (tmp_path / "wordy.py").write_text(WORDY)
    extender = start(record=False, plugins=[f"{tmp_path}/wordy.py:Wordy"])
    call = with_nodes(*(node(f"node-{i}") for i in range(1000)))
    before = resident(extender)
    with ExitStack() as stack:
        for _ in range(20):
            client = stack.enter_context(raw(extender, SO_RCVBUF=4 * KIB))
            client.sendall(announce(len(call), header) + call)
        highest = 0.0
        end = time.monotonic() + 6
        while time.monotonic() < end:
            highest = max(highest, resident(extender))
            time.sleep(0.2)
    assert highest - before < 250 * MIB
    assert settled(extender, ALLOWED * before) <= ALLOWED * before


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
def test_small_bodies_that_break_off_give_their_memory_back(extender: ExtenderProcess, is_reset: bool) -> None:
    before = resident(extender)
    size = 250 * KIB
    for _ in range(8):
        with ExitStack() as stack:
            clients = [stack.enter_context(raw(extender)) for _ in range(40)]
            for client in clients:
                client.sendall(announce(size) + bytes(size - 1))
            for client in clients:
                if is_reset:
                    leave(client)
    assert settled(extender, ALLOWED * before) <= ALLOWED * before
    assert not [line for line in extender.process.logs() if "ERROR" in line or "Traceback" in line]


def test_a_client_that_leaves_where_it_waits_for_the_word_to_go_on_is_counted(extender: ExtenderProcess) -> None:
    for _ in range(5):
        with raw(extender) as client:
            client.sendall(announce(len(SOME), "Expect: 100-continue") + SOME[:100])
            leave(client)
    counted = 'kubesched_extender_requests_total{outcome="unread",verb="filter"}'
    end = time.monotonic() + 5
    while metrics(extender)[counted] < 5 and time.monotonic() < end:
        time.sleep(0.05)
    assert metrics(extender)[counted] == 5
    assert not [line for line in extender.process.logs() if "ERROR" in line or "Traceback" in line]


WORDY = """
from kubesched import Plugin, Status

class Wordy(Plugin):
    def filter(self, state, pod, node):
        return Status.unresolvable("no" * 10_000)
"""
