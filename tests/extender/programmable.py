"""Extenders that answer what a test says, and keep each request: one HTTP server in threads of its own."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


@dataclass(frozen=True)
class Call:
    """A request.

    Attributes:
        extender: the part of the path before the verb, such as `one` in `/one/filter`; empty for `/filter`.
        headers: as they were sent, in their order.
    """

    extender: str
    verb: str
    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True)
class Answer:
    """What a request gets.

    Attributes:
        seconds: how long the server waits before it answers.
        is_dropped: close the connection instead.
    """

    body: bytes = b"{}"
    status: int = 200
    seconds: float = 0.0
    is_dropped: bool = False


class ProgrammableExtender:
    """A running server, to be used in a `with` statement.

    Attributes:
        answer: decides what each request gets; may be replaced at any time.
        calls: the requests so far, in the order in which they arrived.
    """

    def __init__(self, answer: Callable[[Call], Answer]) -> None:
        self.answer = answer
        self.calls: list[Call] = []
        self._lock = threading.Lock()
        self._n_in_flight = 0
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def url(self, extender: str = "") -> str:
        """The urlPrefix of one of its extenders."""
        return f"http://127.0.0.1:{self._server.server_address[1]}" + (f"/{extender}" if extender else "")

    def activity(self) -> tuple[int, int]:
        """How many requests have arrived, and how many of them wait for their answer."""
        with self._lock:
            return len(self.calls), self._n_in_flight

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answered(self, call: Call) -> Answer:
        with self._lock:
            self.calls.append(call)
            self._n_in_flight += 1
        try:
            answer = self.answer(call)
            self._ended.wait(answer.seconds)
        finally:
            with self._lock:
                self._n_in_flight -= 1
        return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answered = self._answered

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                extender, _, verb = self.path.lstrip("/").rpartition("/")
                answer = answered(Call(extender, verb, self.command, tuple(self.headers.items()), body))
                if answer.is_dropped:
                    self.close_connection = True
                    return
                try:
                    self.send_response(answer.status)
                    self.send_header("Content-Type", "application/json")
                    if answer.status != 204:
                        self.send_header("Content-Length", str(len(answer.body)))
                    self.end_headers()
                    self.wfile.write(b"" if answer.status == 204 else answer.body)
                except ConnectionError:  # the caller did not wait
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # callers keep their connections

    def handle_error(self, request: object, client_address: object) -> None:
        """Callers may end at any time."""
