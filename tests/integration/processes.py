"""Programs that tests run beside themselves: ports, a log to read, and an end in every case."""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.02
FREE_PORTS = range(20_000, 32_000)  # below those that outgoing connections take: a stopped server gets its port back
_given: set[int] = set()  # a program may open its port long after it was chosen


class NotInTime(AssertionError):
    """What a test waited for did not come before its deadline."""


def wait_until(check: Callable[[], T], what: str, *, seconds: float = 15, every: float = POLL_SECONDS) -> T:
    """The first true answer of `check`, asked again and again.

    Raises:
        NotInTime: there was none within `seconds`; names `what` and the last answer.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise NotInTime(f"waited {seconds:g} s for {what}; the last answer was {answer!r}")
        time.sleep(every)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, and another one each time."""
    while True:
        port = random.choice(FREE_PORTS)
        if port in _given:
            continue
        _given.add(port)
        with socket.socket() as candidate:
            candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do
            try:
                candidate.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class Process:
    """A running program.

    Its standard input is a pipe from this process and ends with it, however it ends: what reads its input to the end
    and then exits, as the test control plane does, cannot be left behind. It is in a process group of its own, so that
    Ctrl-C reaches the tests alone, which then stop it in order.
    """

    def __init__(self, name: str, command: Sequence[str | Path], log: Path, *, env: dict[str, str] | None = None):
        """Start it.

        Args:
            name: for messages.
            log: the file that its output is added to.
            env: variables besides those of this process.
        """
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    def terminate(self) -> None:
        """Ask it to end, as `stop` does, and go on at once."""
        self._signal(signal.SIGTERM)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._signal(number)

    def exit_code(self, *, seconds: float = 15) -> int:
        """Wait for its end; negative where a signal ended it."""
        return self._popen.wait(seconds)

    def logs(self) -> list[str]:
        """The lines it has written so far."""
        return self.log.read_text(errors="replace").splitlines()

    def wait_until(self, check: Callable[[], T], what: str, *, seconds: float = 60) -> T:
        """The first true answer of `check`, as long as the program runs.

        Raises:
            NotInTime: there was none, or the program ended; with the end of its log.
        """

        def checked() -> T:
            if not self.is_running:
                raise NotInTime(f"it ended with exit code {self._popen.returncode}")
            return check()

        try:
            return wait_until(checked, what, seconds=seconds)
        except NotInTime as error:
            said = "\n  ".join(self.logs()[-20:])
            raise NotInTime(f"{self.name}: {error}; the end of its log:\n  {said}") from None

    def stop(self, *, seconds: float = 10) -> None:
        """Ask it to end, and end it if it does not; nothing to do for one that has ended."""
        self._signal(signal.SIGTERM)
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._close()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._signal(signal.SIGKILL)
        self._popen.wait()
        self._close()

    def _signal(self, number: signal.Signals) -> None:
        if self.is_running:
            os.killpg(self._popen.pid, number)

    def _close(self) -> None:
        assert self._popen.stdin
        self._popen.stdin.close()
