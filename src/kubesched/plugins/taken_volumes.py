"""The free volumes that the claims of one pod get, claim by claim and on all nodes at once.

The claims come in order of size, smallest first. So the volumes that are too small for a claim, or that an earlier one
got, are of no use to later claims that differ from it in size alone: each of those begins where the last one ended. A
pod may have a thousand claims.
"""

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from kubesched.engine import BoolVector, IntVector
from kubesched.state import FreeVolumes, Nodes, Reachable, VolumeWish

Places = npt.NDArray[np.intp]


class TakenVolumes:
    """What the claims so far get on each node."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, _Kind] = {}
        self._by_kind: dict[Hashable, list[IntVector]] = {}

    def add(self, kind: Hashable, numbers: IntVector) -> None:
        """Note the volume that the next claim gets on each node.

        Args:
            kind: what the claim asks for, without its size.
        """
        self._by_kind.setdefault(kind, []).append(numbers)

    def have(self, numbers: IntVector) -> BoolVector:
        """(n,) whether some claim gets the volume of that number on the node."""
        return _are_among(numbers, [taken for some in self._by_kind.values() for taken in some])

    def smallest(self, kind: Hashable, free: FreeVolumes, wish: VolumeWish, nodes: Nodes) -> IntVector:
        """(n,) the smallest free volume that each node reaches and that no claim gets there; -1 for none."""
        rivals = [taken for key, some in self._by_kind.items() for taken in (some[-1:] if key == kind else some)]
        known = self._kinds.get(kind)
        if known is None or known.size != wish.size:
            known = self._kinds[kind] = _Kind(free, wish, nodes, known)
        best = np.full(len(nodes), len(free), dtype=np.intp)
        for bundle in known.bundles.values():
            while np.count_nonzero(
                is_taken := (bundle.at < bundle.end) & _are_among(free.numbers[bundle.here()], rivals)
            ):
                bundle.at += is_taken
            best = np.minimum(best, bundle.here())
        return free.numbers[best]


class _Kind:
    """The bundles of volumes for claims of one kind and size, with how far the claims have come in each.

    Attributes:
        n_passed: how many claims of the kind got volumes that no bundle has before it any more.
    """

    __slots__ = ("bundles", "n_passed", "size")

    def __init__(self, free: FreeVolumes, wish: VolumeWish, nodes: Nodes, smaller: "_Kind | None") -> None:
        self.size = wish.size
        self.n_passed: int = 0 if smaller is None else smaller.n_passed
        self.bundles: dict[int, _Bundle] = {}
        for reachable in free.reachable(free.eligible(wish), nodes):
            bundle = self.bundles[reachable.number] = _Bundle(reachable, len(free))
            if smaller is not None and reachable.number in smaller.bundles:
                bundle.go_on_from(smaller.bundles[reachable.number].here())


class _Bundle:
    """Some volumes by which nodes reach them, and the first one for each node that may not be taken.

    Attributes:
        at, end: (n,) in the list of places.
    """

    __slots__ = ("_group", "_none", "_places", "_reachable", "at", "end")

    def __init__(self, reachable: Reachable, none: int) -> None:
        has_some = reachable.group >= 0
        self._reachable = reachable
        self._none = none
        self._places = np.append(reachable.places, none)
        self._group = np.where(has_some, reachable.group, 0)
        self.at: Places = np.where(has_some, reachable.starts[self._group], 0)
        self.end: Places = np.where(has_some, reachable.ends[self._group], 0)

    def here(self) -> Places:
        """(n,) the place of the volume at which each node is; the place for none at the end."""
        return np.where(self.at < self.end, self._places[np.minimum(self.at, len(self._places) - 1)], self._none)

    def go_on_from(self, places: Places) -> None:
        """Leave out, on each node, what comes before a place."""
        reachable, n_places = self._reachable, self._none + 1
        group_of = np.repeat(np.arange(len(reachable.starts)), reachable.ends - reachable.starts)
        found = np.searchsorted(group_of * n_places + reachable.places, self._group * n_places + places)
        self.at = np.minimum(np.maximum(self.at, found), self.end)


def _are_among(numbers: IntVector, taken: list[IntVector]) -> BoolVector:
    """(n,) whether one of these claims gets the volume of that number on the node."""
    are_among = np.zeros(len(numbers), dtype=np.bool_)
    for others in taken:
        are_among |= numbers == others
    return are_among
