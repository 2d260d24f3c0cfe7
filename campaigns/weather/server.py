"""The extender under test: a process, its memory and open files, and the faults in its log."""

import re
import ssl
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from campaigns.weather.calls import PLUGIN
from campaigns.weather.connections import Target
from tests.integration.extender_process import ExtenderProcess
from tests.serving.certificates import Authority

MIB = 2**20
LIMIT = f"-v {8 * MIB}"
"""KiB of address space, so that a server without limits of its own does not exhaust the machine."""
FAULTS = re.compile(r"^\S+ (?:ERROR|CRITICAL) |Traceback \(most recent call last\)")
VARYING = re.compile(r"0x[0-9a-f]+|\d+")


class Sample(NamedTuple):
    """What the process uses.

    Attributes:
        rss: resident memory in MiB.
        files: open files, sockets among them.
    """

    rss: float
    files: int


class Server:
    """A running extender.

    Attributes:
        target: where its clients reach it.
    """

    def __init__(self, folder: Path, *, tls: bool) -> None:
        """Start it; `folder` takes its plugin, certificates and log."""
        folder.mkdir(parents=True, exist_ok=True)
        plugin = folder / "weather_plugin.py"
        plugin.write_text(PLUGIN)
        self.log = folder / "extender.log"
        self.log.unlink(missing_ok=True)
        options, context = _tls(folder) if tls else ([], None)
        self._extender = ExtenderProcess(folder, [f"{plugin}:Weather"], *options, record=False, limit=LIMIT)
        self.target = Target(self._extender.port, context)

    @property
    def is_running(self) -> bool:
        return self._extender.process.is_running

    def sample(self) -> Sample:
        """Read /proc; zeros once the process has ended."""
        proc = Path("/proc", str(self._extender.process.pid))
        try:
            rss = re.search(r"^VmRSS:\s+(\d+) kB", (proc / "status").read_text(), re.M)
            files = len(list((proc / "fd").iterdir()))
        except OSError:
            return Sample(0, 0)
        return Sample(int(rss[1]) / 1024 if rss else 0, files)

    def faults(self) -> Counter[str]:
        """Lines of the log that are errors or begin a stack trace, without times and numbers."""
        lines = self.log.read_text(errors="replace").splitlines()
        return Counter(VARYING.sub("N", line.partition("Z ")[2] or line) for line in lines if FAULTS.search(line))

    def stop(self) -> None:
        self._extender.stop()


def _tls(folder: Path) -> tuple[list[str], ssl.SSLContext]:
    authority = Authority(folder)
    pair = authority.issue("localhost")
    options = ["--tls-cert-file", str(pair.certificate), "--tls-private-key-file", str(pair.key)]
    return options, ssl.create_default_context(cafile=authority.path)
