"""What shadow mode reports: metrics, a summary, and a file per disagreement that `kubesched explain` opens.

The folder has `disagreements.jsonl`, one line per disagreement, and next to it snapshots of the cluster as it was. Both
are bounded: the lines start a new file at 8 MiB and keep one old one; of the snapshots, the newest 20 are kept. A
snapshot is written in a thread, and one at a time: a disagreement that comes meanwhile has a line, and no snapshot.
"""

import asyncio
import logging
import shlex
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from kubesched.api import KubeObject
from kubesched.errors import InputError
from kubesched.live.shadow_verdict import Agreement, Verdict
from kubesched.metrics import ShadowMetrics
from kubesched.snapshot import write_snapshot

__all__ = ["ShadowReport"]

_LINES: Final = "disagreements.jsonl"
_OLD_LINES: Final = "disagreements.1.jsonl"
_MAX_BYTES: Final = 8 * 2**20
_MAX_SNAPSHOTS: Final = 20
_SUFFIX: Final = ".snapshot.json.gz"
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
        folder: for disagreements; None to write none. It is created.
        options: of `kubesched explain`, so that it decides as this process does.

    Raises:
        InputError: the folder cannot be used.
    """

    def __init__(self, metrics: ShadowMetrics, folder: Path | None = None, options: Sequence[str] = ()) -> None:
        self.metrics = metrics
        self._folder = folder
        self._options = options
        self._writing: asyncio.Task[None] | None = None
        if folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / _LINES).open("ab").close()
            except OSError as error:
                raise InputError(f"{folder}: cannot be written ({error.strerror}); give a folder that can") from error

    def take(self, verdict: Verdict, cluster: Callable[[], list[KubeObject]]) -> None:
        """Count a final verdict, and write down a disagreement."""
        self.metrics.count(verdict.agreement.value, verdict.profile)
        if verdict.agreement is not Agreement.DISAGREED:
            return
        fields = ("pod", "node", "ours", "plugin", "points", "reason")
        _LOG.info("disagreed", extra={name: value for name in fields if (value := getattr(verdict, name))})
        if self._folder is not None:
            self._write_line(self._folder, verdict, self._begin_snapshot(self._folder, verdict, cluster))

    def summary(self) -> str:
        """How many bindings there were of each class."""
        counts = self.metrics.counts
        judged = sum(counts.values()) - counts[Agreement.UNSEEN.value]
        classes = ", ".join(f"{counts[one.value]} {one.value}" for one in Agreement)
        return f"{judged} bindings judged: {classes}"

    async def finish(self) -> None:
        """Wait for the snapshot that is being written."""
        if self._writing is not None:
            await asyncio.wait((self._writing,))

    # --- the folder ---

    def _write_line(self, folder: Path, verdict: Verdict, snapshot: str) -> None:
        nodes = [option for name in (verdict.node, verdict.ours) if name for option in ("--node", name)]
        command = ["kubesched", "explain", str(folder / snapshot), "--pod", verdict.pod, *nodes, *self._options]
        line = _Line(
            **{name: getattr(verdict, name) for name in Verdict.__struct_fields__},
            time=datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            snapshot=snapshot,
            explain=shlex.join(command) if snapshot else "",
        )
        path = folder / _LINES
        try:
            if path.exists() and path.stat().st_size >= _MAX_BYTES:
                path.replace(folder / _OLD_LINES)
            with path.open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
        except OSError as error:
            _LOG.warning("%s: cannot be written: %s", path, error.strerror)

    def _begin_snapshot(self, folder: Path, verdict: Verdict, cluster: Callable[[], list[KubeObject]]) -> str:
        if self._writing is not None and not self._writing.done():
            return ""
        name = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}-{verdict.uid}{_SUFFIX}"
        self._writing = asyncio.create_task(asyncio.to_thread(_write, folder, name, cluster()))
        return name


def _write(folder: Path, name: str, objects: list[KubeObject]) -> None:
    try:
        for old in sorted(folder.glob(f"*{_SUFFIX}"))[: -_MAX_SNAPSHOTS + 1]:
            old.unlink(missing_ok=True)
        write_snapshot(objects, folder / name, strip=True)
    except (InputError, OSError) as error:
        _LOG.warning("%s", error)
