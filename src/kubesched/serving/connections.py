"""Decides which connections a server keeps: a client that keeps it waiting gives way to later ones.

A connection is either the server's turn, while a request is answered, or its client's turn: to send something, to send
the rest of a request, or to take an answer. Each stage of a connection has a bounded number of places. When all are
taken, the newcomer gets the place of the client that has taken longest. So silent connections are closed one after
another, and they do not keep out the clients that have something to say.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from typing import Final

from kubesched.serving.stalls import abort, sent

_MOVING: Final = threading.Lock()  # two threads move connections; each move is short


class Stage:
    """Places for connections of one stage. All methods may be called in any thread.

    Args:
        limit: how many there are.
        patience: seconds that each client has before it may have to give way.
        on_give_way: called when one has.
    """

    def __init__(self, limit: int, *, patience: float, on_give_way: Callable[[], object] = lambda: None) -> None:
        self._limit = limit
        self._patience = patience
        self._on_give_way = on_give_way
        self._waiting: set[Connection] = set()  # it is the client's turn
        self._working: set[Connection] = set()  # ours
        self._all_early_until = 0.0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._working)

    @property
    def is_full(self) -> bool:
        """Whether all places are taken."""
        return len(self) >= self._limit

    @property
    def has_early(self) -> bool:
        """Whether there is a client that has not had its time yet."""
        with _MOVING:
            early = time.monotonic() - self._patience
            return any(each.since > early for each in self._waiting)

    def close_one(self) -> bool:
        """Close the connection whose client has taken longest.

        Returns: whether there was one: every other client waits for us, or has not had its time.
        """
        with _MOVING:
            late = self._latest()
            if late is None:
                return False
            self.remove(late)
            late.shut()
        self._on_give_way()
        return True

    def look(self, seconds: float) -> None:
        """Close connections whose clients have taken so long. The time of a client that waits for us begins again."""
        with _MOVING:
            before = time.monotonic() - seconds
            for each in list(self._waiting):
                if each.has_unread():
                    self.wait_for(each)
                elif each.since <= before:
                    self.remove(each)
                    each.shut()

    def _latest(self) -> "Connection | None":
        now = time.monotonic()
        if now < self._all_early_until:
            return None
        waiting = sorted(self._waiting, key=lambda each: each.since)
        for each in waiting:
            if now - each.since < self._patience:
                self._all_early_until = each.since + self._patience
                return None
            if not each.has_unread():
                return each
        return None

    # --- for a connection that holds the lock ---

    def wait_for(self, connection: "Connection") -> None:
        """It is the client's turn from now on."""
        self._working.discard(connection)
        self._waiting.add(connection)
        connection.since = time.monotonic()

    def work_for(self, connection: "Connection") -> None:
        """It is our turn from now on."""
        self._waiting.discard(connection)
        self._working.add(connection)

    def remove(self, connection: "Connection") -> None:
        """Give the place back."""
        self._waiting.discard(connection)
        self._working.discard(connection)


class Connection(socket.socket):
    """An accepted connection, which is counted until somebody closes it. All methods may be called in any thread.

    Args:
        accepted: the socket, which it takes over.
        open_: contains it until it is closed.

    Attributes:
        since: when it became the client's turn, by the monotonic clock. Code that answers a request in one step only
            sets this time.
        stage: where it has a place; None if it has none.
    """

    def __init__(self, accepted: socket.socket, open_: "set[Connection]") -> None:
        super().__init__(accepted.family, accepted.type, accepted.proto, accepted.detach())
        self.setblocking(False)
        self._open = open_
        self.since = time.monotonic()
        self.stage: Stage | None = None
        self._on_close: Callable[[Connection], None] = _forget
        self._end: Callable[[], object] = partial(self.shutdown, socket.SHUT_RDWR)  # during a handshake
        open_.add(self)

    def close(self) -> None:
        """Close it and give its place back."""
        with _MOVING:
            self._open.discard(self)
            self._leave()
            self._end = _nothing  # it refers to this one, and would keep it until the collector comes
            super().close()
        self._on_close(self)

    def enter(self, stage: Stage, *, may_close: bool = True) -> bool:
        """Take a place and leave the one before. It is the client's turn from now on.

        Args:
            may_close: whether another connection may be closed for it.
        Returns: whether there was a place; if not, it keeps the one before.
        """
        if self.stage is not stage:
            if stage.is_full and not (may_close and stage.close_one()):
                return False
            self.move(stage)
        return True

    def move(self, stage: Stage) -> None:
        """Take a place even if there is none."""
        with _MOVING:
            self._leave()
            if self.fileno() >= 0:
                self.stage = stage
                stage.wait_for(self)

    def wait(self) -> None:
        """It is the client's turn from now on."""
        with _MOVING:
            if self.stage is not None and self.fileno() >= 0:
                self.stage.wait_for(self)

    def work(self) -> None:
        """It is our turn from now on."""
        with _MOVING:
            if self.stage is not None and self.fileno() >= 0:
                self.stage.work_for(self)

    def has_unread(self) -> bool:
        """Whether we have not read what the client sent: then it waits for us, unless it does not take our answers."""
        try:
            return bool(self.recv(1, socket.MSG_PEEK)) and sent(self)[0] == 0
        except OSError:
            return False

    def belongs_to(self, transport: asyncio.BaseTransport, on_close: "Callable[[Connection], None]") -> None:
        """Let the transport end it from now on. Called in the loop of the transport."""
        assert isinstance(transport, asyncio.Transport)
        if self.fileno() < 0:
            on_close(self)
            return
        self._on_close = on_close
        self._end = partial(asyncio.get_running_loop().call_soon_threadsafe, abort, transport)

    def shut(self) -> None:
        """End it, for its owner to close it. The caller holds the lock."""
        self.stage = None
        with suppress(OSError, RuntimeError):  # RuntimeError: the loop is closed
            self._end()

    def _leave(self) -> None:
        if self.stage is not None:
            self.stage.remove(self)
            self.stage = None


def _nothing() -> None:
    """Nothing is left to end."""


def _forget(_connection: Connection) -> None:
    """Keep nothing of a closed connection."""


CURRENT: Final[ContextVar[Connection | None]] = ContextVar("connection", default=None)
"""The connection that is served: asyncio runs all that comes of one in the context in which its transport was made."""


def clients_turn() -> None:
    """It is the turn of the client that is served."""
    if connection := CURRENT.get():
        connection.wait()


def our_turn() -> None:
    """It is our turn to answer the client that is served."""
    if connection := CURRENT.get():
        connection.work()
