"""A network that tests can break: connections to a port of this machine, passed on until somebody says otherwise."""

import socket
import threading
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self


class TcpProxy:
    """Listens on a port of its own, inside `with`.

    Attributes:
        port: where.
        is_open: whether connections are passed on; else they are closed as soon as they are made.
        is_mute: whether what the server says is thrown away. To be followed by `cut`, for no stream survives that.
    """

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self.port: int = self._listener.getsockname()[1]
        self.is_open = True
        self.is_mute = False

    def __enter__(self) -> Self:
        self._run(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_open = False
        self._listener.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def cut(self) -> None:
        """Break all connections that there are."""
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _run(self, work: object, *args: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()
        return thread

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._run(self._pass_on, client)

    def _pass_on(self, client: socket.socket) -> None:
        with ExitStack() as stack:
            stack.enter_context(client)
            if not self.is_open:
                return
            try:
                server = stack.enter_context(socket.create_connection(("127.0.0.1", self._to_port)))
            except OSError:
                return
            pair = {client, server}
            self._sockets |= pair
            answers = self._run(self._pump, server, client, True)
            self._pump(client, server, False)
            answers.join()
            self._sockets -= pair

    def _pump(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                if not (is_answer and self.is_mute):
                    target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
