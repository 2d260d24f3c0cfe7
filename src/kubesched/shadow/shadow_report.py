"""What shadow mode reports: metrics, a summary, and a file per disagreement that `kubesched explain` opens.

The folder has `disagreements.jsonl`, one line per disagreement, and next to it snapshots of the cluster as it was. Both
are bounded: the lines start a new file at 8 MiB and keep one old one; of the snapshots, the newest 20 are kept. Other
files in the folder are left alone. A snapshot is written in a thread, and one at a time: a disagreement that comes
meanwhile has a line at once, and no snapshot. A line that names a snapshot is written after the snapshot.
"""

import asyncio
import logging
import os
import re
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.metrics import ShadowMetrics
from kubesched.shadow.verdict import Agreement, Verdict
from kubesched.snapshot import write_snapshot

_LINES: Final = "disagreements.jsonl"
_OLD_LINES: Final = "disagreements.1.jsonl"
_MAX_BYTES: Final = 8 * 2**20
_MAX_SNAPSHOTS: Final = 20
_MAX_REASONS: Final = 20
_SUFFIX: Final = ".snapshot.json.gz"
_OUR_NAME: Final = re.compile(r"\d{8}T\d{6}\.\d{6}-.+" + re.escape(_SUFFIX))
_OWNER_ONLY: Final = 0o600  # a snapshot has the commands and annotations of all pods
_OWNER_ONLY_FOLDER: Final = 0o700
_LOG: Final = logging.getLogger("kubesched.shadow")


class _Line(Verdict, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A line of the file.

    Attributes:
        time: when it was found.
        snapshot: the file in the same folder; "" if none was written.
        explain: the command that shows the decision.
    """

    time: str
    snapshot: str = ""
    explain: str = ""


class ShadowReport:
    """Takes verdicts.

    Args:
        metrics: counts them.
        folder: for disagreements; None to write none. If there is none, it is created for this user alone.
        options: of `kubesched explain`, so that it decides as this process does.

    Raises:
        InputError: the folder cannot be used.
    """

    def __init__(self, metrics: ShadowMetrics, folder: Path | None = None, options: Sequence[str] = ()) -> None:
        self.metrics = metrics
        self._folder = folder
        self._options = options
        self._writing: asyncio.Task[None] | None = None
        self._n_undecided = 0
        self._undecided: dict[str, None] = {}  # why, each once
        if folder is not None:
            try:
                folder.mkdir(_OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
                _append(folder / _LINES, b"")
            except OSError as error:
                raise InputError(f"{folder}: cannot be written ({error.strerror}); give a folder that can") from error

    def take(self, verdict: Verdict, cluster: Callable[[], list[KubeObject]]) -> None:
        """Count a final verdict, and write down a disagreement."""
        if verdict.agreement is Agreement.UNDECIDED:
            self._leave_out(verdict.reason)
            return
        self.metrics.count(verdict.agreement.value, verdict.profile)
        if verdict.agreement is not Agreement.DISAGREED:
            return
        fields = ("pod", "node", "ours", "plugin", "points", "reason")
        _LOG.info("disagreed", extra={name: value for name in fields if (value := getattr(verdict, name))})
        if self._folder is None:
            return
        line = self._line(verdict)
        if self._writing is not None and not self._writing.done():
            _write_line(self._folder, line)
            return
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{verdict.uid}{_SUFFIX}"
        self._writing = asyncio.create_task(self._write(self._folder, name, cluster(), verdict, line))

    def _leave_out(self, why: str) -> None:
        """Note a binding that is not judged; each reason is logged once."""
        self._n_undecided += 1
        if why not in self._undecided and len(self._undecided) < _MAX_REASONS:
            self._undecided[why] = None
            _LOG.info("bindings are not judged: %s", why)

    def summary(self) -> str:
        """How many bindings there were of each class, and how many are not judged and why."""
        counts = self.metrics.counts
        judged = sum(counts.values()) - counts[Agreement.UNSEEN.value]
        classes = ", ".join(f"{counts[one.value]} {one.value}" for one in Agreement if one is not Agreement.UNDECIDED)
        left_out = f"; {self._n_undecided} not judged: {'; '.join(self._undecided)}" if self._n_undecided else ""
        return f"{judged} bindings judged: {classes}{left_out}"

    async def finish(self) -> None:
        """Wait for the snapshot that is being written."""
        if self._writing is not None:
            await asyncio.wait((self._writing,))

    # --- the folder ---

    async def _write(self, folder: Path, name: str, objects: list[KubeObject], verdict: Verdict, line: _Line) -> None:
        """Write a snapshot, then the line of its verdict."""
        if await asyncio.to_thread(_write_snapshot, folder, name, objects):
            command = self._command(folder / name, verdict)
            line = msgspec.structs.replace(line, snapshot=name, explain=command)
        _write_line(folder, line)

    def _line(self, verdict: Verdict) -> _Line:
        fields = {name: getattr(verdict, name) for name in Verdict.__struct_fields__}
        return _Line(**fields, time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))

    def _command(self, snapshot: Path, verdict: Verdict) -> str:
        nodes = [option for name in (verdict.node, verdict.ours) if name for option in ("--node", name)]
        return shlex.join(["kubesched", "explain", str(snapshot), "--pod", verdict.pod, *nodes, *self._options])


def _write_snapshot(folder: Path, name: str, objects: list[KubeObject]) -> bool:
    """Write a snapshot for this user alone, and delete the oldest. Returns: whether it was written."""
    try:
        ours = sorted(path for path in folder.iterdir() if _OUR_NAME.fullmatch(path.name))
        for old in ours[: -_MAX_SNAPSHOTS + 1]:
            old.unlink(missing_ok=True)
        with TemporaryDirectory(prefix=".", dir=folder) as private:
            unfinished = Path(private, name)
            write_snapshot(objects, unfinished, strip=True)
            unfinished.chmod(_OWNER_ONLY)
            unfinished.replace(folder / name)
    except (InputError, OSError) as error:
        _LOG.warning("%s", error)
        return False
    return True


def _write_line(folder: Path, line: _Line) -> None:
    path = folder / _LINES
    try:
        if path.exists() and path.stat().st_size >= _MAX_BYTES:
            path.replace(folder / _OLD_LINES)
        _append(path, msgspec.json.encode(line) + b"\n")
    except OSError as error:
        _LOG.warning("%s: cannot be written: %s", path, error.strerror)


def _append(path: Path, data: bytes) -> None:
    """Append to a file, which is created for this user alone. A full disk leaves it as it was, without half a line."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _OWNER_ONLY), "ab", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        try:
            while data:
                data = data[file.write(data) :]
        except OSError:
            file.truncate(size)
            raise
