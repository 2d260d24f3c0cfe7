"""Probes of /livez while a storm lasts, as a kubelet sends them."""

import threading

from campaigns.idle.probes import probe

EVERY_SECONDS = 1.0
FAILURE_THRESHOLD = 3  # of a kubelet, which then restarts the container


class Probes:
    """Asks until `close`.

    Attributes:
        n, n_failed: probes so far.
        most_failed: at most that many failed one after the other.
    """

    def __init__(self, port: int) -> None:
        self.n = self.n_failed = self.most_failed = 0
        self._port = port
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; may be called twice."""
        self._is_over.set()
        self._thread.join()

    def _go_on(self) -> None:
        in_a_row = 0
        while not self._is_over.wait(EVERY_SECONDS):
            in_a_row = in_a_row + 1 if probe(self._port, is_encrypted=True) is None else 0
            self.n += 1
            self.n_failed += in_a_row > 0
            self.most_failed = max(self.most_failed, in_a_row)
