"""Bytes from a configuration, or from a file that may be replaced while the process runs."""

import logging
from pathlib import Path
from typing import Final

from kubesched.cluster.timing import Timing
from kubesched.documents import read_file
from kubesched.errors import ConfigError

_REREAD_SECONDS: Final = 10.0
_log = logging.getLogger(__name__)


class Content:
    """A token, certificate or key. Its bytes appear in no repr and in no message.

    A call reloads the file when the last reading is ten seconds old. When that fails, the last content
    stays in use: tokens and certificates are replaced well before they expire.

    Args:
        label: the name in messages, such as `kubeconfig k: users[0].user.tokenFile`.
        data: the bytes, if they are not in a file.
        path: the file.
    """

    def __init__(self, label: str, timing: Timing, *, data: bytes = b"", path: Path | None = None) -> None:
        self.label = label
        self._timing = timing
        self._data = data
        self._path = path
        self._read_at = float("-inf")

    def read(self, *, fresh: bool = False) -> bytes:
        """The bytes as they are now.

        Args:
            fresh: reload the file even if it was just read.
        Raises:
            ConfigError: the file never could be read.
        """
        now = self._timing.monotonic()
        if self._path is not None and (fresh or now - self._read_at >= _REREAD_SECONDS):
            self._data = self._read_file(self._path)
            self._read_at = now
        return self._data

    def _read_file(self, path: Path) -> bytes:
        try:
            data = read_file(path)
            fault = self._fault(data)
        except OSError as error:
            data, fault = b"", f"cannot be read: {error.strerror or error}"
        if not fault:
            return data
        if not self._data:
            raise ConfigError(f"{self.label}: the file {path} {fault}")
        _log.warning("%s: the file %s %s; its earlier content stays in use", self.label, path, fault)
        return self._data

    def _fault(self, data: bytes) -> str:
        """What is wrong with new bytes, after the name of their file; "" if nothing is."""
        return "" if data.strip() else "is empty"


class Token(Content):
    """Bytes that become part of a header.

    Raises:
        ConfigError: the data are nothing that a header can have.
    """

    def __init__(self, label: str, timing: Timing, *, data: bytes = b"", path: Path | None = None) -> None:
        super().__init__(label, timing, data=data, path=path)
        if data and (fault := self._fault(data)):
            raise ConfigError(f"{label}: the value {fault}")

    def _fault(self, data: bytes) -> str:
        is_line = all(32 <= byte != 127 for byte in data.strip())
        return super()._fault(data) or ("" if is_line else "has a line break or a control character; expected a token")
