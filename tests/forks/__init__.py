"""`kubesched` and `python` as programs that start in milliseconds: forks of one process that has kubesched imported.

What a fork does is what a new process does. Its folder, environment, standard streams, arguments and largest size of
files are those of its caller. Use them where a test runs many commands; a test of the start of a process starts one.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

SOURCE = Path(__file__).parents[2] / "src"
CALL = Path(__file__).with_name("call.py")


class Forks:
    """The process, and a folder for PATH with the programs `kubesched`, `python` and `python3`."""

    def __enter__(self) -> "Forks":
        self._room = Path(tempfile.mkdtemp(prefix="forks-"))  # short: the name of a socket has 108 bytes at most
        self.bin = self._room / "bin"
        self.bin.mkdir()
        for name, program in (("kubesched", "kubesched"), ("python", "python"), ("python3", "python")):
            path = self.bin / name
            path.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{CALL}' '{self._socket}' {program} \"$@\"\n")
            path.chmod(0o755)
        command = [sys.executable, "-m", "tests.forks.parent", str(self._socket)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(SOURCE), str(SOURCE.parent)))}
        self._parent = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, start_new_session=True)
        assert self._parent.stdout is not None
        if not self._parent.stdout.readline():
            raise RuntimeError(f"{' '.join(command)} ended with exit code {self._parent.wait()}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.killpg(self._parent.pid, signal.SIGKILL)  # also forks of tests that timed out
        self._parent.communicate()
        shutil.rmtree(self._room)

    def run(self, program: str, *words: object, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a program of the folder to its end; the options are those of `subprocess.run`."""
        command = [self.bin / program, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)

    @property
    def _socket(self) -> Path:
        return self._room / "socket"
