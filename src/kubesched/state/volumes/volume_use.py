"""The claims and inline disks that placed pods use, with their rows."""

from collections.abc import Iterable
from typing import TypeVar

import numpy as np

from kubesched.engine import BoolVector
from kubesched.state.pod_info import PodInfo
from kubesched.state.pod_volumes import Disk

KeyT = TypeVar("KeyT")


class VolumeUse:
    """Kept while pods come and go; pods without claims and disks are not brought here.

    Attributes:
        claim_rows: claim key -> row -> how many volumes of pods there use it.
        direct_uses: claim key -> how many persistentVolumeClaim volumes of placed pods name it.
    """

    def __init__(self) -> None:
        self.claim_rows: dict[str, dict[int, int]] = {}
        self.direct_uses: dict[str, int] = {}
        self._disks: dict[tuple[str, ...], dict[int, list[int]]] = {}  # row -> [disks that are read only, that are not]

    def move(self, row: int, info: PodInfo, sign: int) -> None:
        """A pod came to a row (+1) or left it (-1)."""
        volumes, namespace = info.volumes, info.pod.namespace
        for claim in volumes.claims:
            key = f"{namespace}/{claim.name}"
            _count(self.claim_rows.setdefault(key, {}), row, sign)
            if not self.claim_rows[key]:
                del self.claim_rows[key]
            if not claim.is_ephemeral:
                _count(self.direct_uses, key, sign)
        for disk in volumes.disks:
            rows = self._disks.setdefault(disk.key, {})
            here = rows.setdefault(row, [0, 0])
            here[not disk.read_only] += sign
            if here == [0, 0]:
                del rows[row]
                if not rows:
                    del self._disks[disk.key]

    def sizes(self) -> dict[str, int]:
        """Claims and disks in use."""
        return {"claims": len(self.claim_rows), "direct": len(self.direct_uses), "disks": len(self._disks)}

    def rows_with_conflicts(self, disks: Iterable[Disk], n_slots: int) -> BoolVector:
        """(n_slots,) bool per row: where a pod has one of these disks and they cannot share it."""
        rows = [
            row
            for disk in disks
            for row, (_, n_writing) in self._disks.get(disk.key, {}).items()
            if n_writing or not disk.read_only
        ]
        conflicts = np.zeros(n_slots, dtype=np.bool_)
        conflicts[rows] = True
        return conflicts


def disks_conflict(mine: Iterable[Disk], theirs: Iterable[Disk]) -> bool:
    """Whether two pods have a disk that they cannot share on one node.

    Example:
        assert disks_conflict([Disk(("gce", "d1"), True)], [Disk(("gce", "d1"), False)])
    """
    return any(a.key == b.key and not (a.read_only and b.read_only) for a in mine for b in theirs)


def _count(counts: dict[KeyT, int], key: KeyT, sign: int) -> None:
    total = counts.get(key, 0) + sign
    if total:
        counts[key] = total
    else:
        del counts[key]
