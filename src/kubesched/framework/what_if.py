"""Questions about a cluster that is not: some rows with pods moved onto and off them, and what the filters say then."""

from typing import TYPE_CHECKING, Final

import numpy as np

from kubesched.api import Pod
from kubesched.engine import BoolVector
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.verdicts import FilterResult, PodChanges, Rejections, Verdicts
from kubesched.state import Nodes, PodBatch, Rows, WhatIfNodes

if TYPE_CHECKING:
    from kubesched.framework.framework import Framework

__all__ = ["WhatIf"]

_NOBODY: Final = (np.zeros(0, dtype=np.intp), PodBatch(()))


class WhatIf:
    """Some rows of the cluster with pods moved onto and off them, and what the filters say then.

    Attributes:
        nodes: the copy; its positions are those of the table that it was made from.
    """

    __slots__ = ("_framework", "_nominated", "_pod", "_state", "_with_nominated", "nodes")

    def __init__(
        self, framework: "Framework", state: CycleState, pod: Pod, nodes: Nodes, *, with_nominated: bool
    ) -> None:
        self.nodes: WhatIfNodes = nodes.copy()
        self._framework = framework
        self._state = state.clone()
        self._pod = pod
        self._with_nominated = with_nominated
        self._nominated: tuple[Rows, PodBatch] | None = None  # found once: nobody is nominated while a hook asks

    def add(self, positions: Rows, pods: PodBatch) -> None:
        """Put the i-th pod on the node at positions[i]."""
        self.nodes.add(positions, pods)
        changes = PodChanges(self.nodes, positions, pods)
        self._framework.pods_moved(self._state, self._pod, changes, added=True)

    def remove(self, positions: Rows, pods: PodBatch) -> None:
        """Take the i-th pod off the node at positions[i]."""
        self.nodes.remove(positions, pods)
        changes = PodChanges(self.nodes, positions, pods)
        self._framework.pods_moved(self._state, self._pod, changes, added=False)

    def filter(self) -> FilterResult:
        """What the filters say of every row now."""
        plain = self._plain()
        positions, found = self._crowded()
        if found is None or found.all_fit:
            return plain
        statuses = found.statuses()
        touched = np.zeros(len(self.nodes), dtype=np.bool_)
        touched[positions] = True
        values = np.where(touched, statuses.index, 0)
        if not values.any():
            return plain
        return FilterResult(self.nodes, [Rejections("", Verdicts(values, statuses.distinct[1:])), *plain.rejections])

    def fits(self) -> BoolVector:
        """(rows,) whether each row passes now: as `filter().fits`, without the words for those that do not."""
        fits = self._plain().fits
        positions, found = self._crowded()
        if found is not None:
            fits[positions] &= found.fits[positions]
        return fits

    def _plain(self) -> FilterResult:
        """What the filters say without the pods that are nominated."""
        return self._framework.run_filter(self._state, self._pod, self.nodes, is_whole=False)

    def _crowded(self) -> tuple[Rows, FilterResult | None]:
        """What the filters say with the nominated pods there too, and where these are; None without any."""
        framework = self._framework
        if self._nominated is None:
            nominated = framework.handle.nominated if self._with_nominated else None
            self._nominated = nominated.on(self.nodes, self._state.pod) if nominated else _NOBODY
        positions, pods = self._nominated
        if not len(positions):
            return positions, None
        crowded = WhatIf(framework, self._state, self._pod, self.nodes, with_nominated=False)
        crowded.add(positions, pods)
        return positions, crowded.filter()
