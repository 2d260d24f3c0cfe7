"""The free PersistentVolumes of one storage class, smallest first: a claim finds its volume on all nodes at once."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kubesched.api import Selector
from kubesched.engine import BoolVector, IntVector
from kubesched.state.nodes import Nodes
from kubesched.state.volumes.known_volume import KnownVolume
from kubesched.state.volumes.node_reach import NodeReach, ValueIndex

Places = npt.NDArray[np.intp]


class VolumeWish(NamedTuple):
    """What a claim requires of a volume.

    Attributes:
        size: at least, in billionths of a byte.
        mode: `Filesystem` or `Block`.
        attributes_class: its volumeAttributesClassName, empty for none.
        access_modes: all of them.
        selector: on the volume's labels; None for any.
    """

    size: int
    mode: str
    attributes_class: str
    access_modes: frozenset[str]
    selector: Selector | None

    def accepts(self, mode: str, attributes_class: str, access_modes: frozenset[str]) -> bool:
        """Whether a volume with these properties will do, its size and labels aside."""
        return mode == self.mode and attributes_class == self.attributes_class and self.access_modes <= access_modes


class Reachable(NamedTuple):
    """Some volumes by which nodes reach them.

    Attributes:
        number: that of the bundle, equal for all wishes.
        group: (n,) the group of volumes that each node reaches; -1 for none.
        starts, ends: (groups,) where each group lies in `places`.
        places: places of volumes in the list of the class, ascending within a group.
    """

    number: int
    group: IntVector
    starts: Places
    ends: Places
    places: Places


class FreeVolumes:
    """Volumes of one class that were free when the list was made; `switch` updates which still are.

    Attributes:
        numbers: (volumes + 1,) the volumes' numbers by place, and -1 in the end for "none".
    """

    def __init__(self, members: list[KnownVolume]) -> None:
        members = sorted(members, key=lambda known: (known.capacity, known.number))
        self._members = members
        self._capacities = [known.capacity for known in members]
        self._place_of = {known.number: place for place, known in enumerate(members)}
        self._is_free: BoolVector = np.ones(len(members), dtype=np.bool_)
        self._kinds: dict[tuple[str, str, frozenset[str]], int] = {}
        kinds = [self._kinds.setdefault(_kind(known), len(self._kinds)) for known in members]
        self._kind_of = np.array(kinds, dtype=np.intp)
        self.numbers: IntVector = np.array([*(known.number for known in members), -1], dtype=np.int64)
        self._by_label, self._by_reach = _grouped(members)

    def __len__(self) -> int:
        return len(self._members)

    def switch(self, number: int, *, is_free: bool) -> bool:
        """Note whether a volume is free. Returns: whether the list has the volume."""
        place = self._place_of.get(number)
        if place is None:
            return False
        self._is_free[place] = is_free
        return True

    def drop(self, number: int) -> None:
        """Forget a volume that is gone or no longer what it was."""
        place = self._place_of.pop(number, None)
        if place is not None:
            self._is_free[place] = False

    @property
    def is_mostly_gone(self) -> bool:
        """Whether fewer than half of the volumes of the list are still there."""
        return 2 * len(self._place_of) < len(self._members) or not self._place_of

    def eligible(self, wish: VolumeWish) -> BoolVector:
        """(volumes,) bool: free volumes that will do, wherever they can be reached from."""
        accepted = np.array([wish.accepts(*kind) for kind in self._kinds], dtype=np.bool_)
        eligible: BoolVector = self._is_free & accepted[self._kind_of]
        eligible[: bisect_left(self._capacities, wish.size)] = False
        if wish.selector is not None:
            for place in np.flatnonzero(eligible).tolist():
                eligible[place] = wish.selector.matches(self._members[place].volume.labels)
        return eligible

    def reachable(self, eligible: BoolVector, nodes: Nodes) -> Iterator[Reachable]:
        """The eligible volumes in bundles, each with the part of it that a node reaches."""
        for number, (index, groups, places) in enumerate(self._by_label):
            kept = eligible[places]
            if kept.any():
                counts = np.bincount(groups[kept], minlength=len(index.values))
                ends = np.cumsum(counts)
                yield Reachable(number, index.of(nodes), ends - counts, ends, places[kept])
        for number, (reach, places) in enumerate(self._by_reach, len(self._by_label)):
            kept_places = places[eligible[places]]
            if len(kept_places):
                group = np.where(reach.rows(nodes), 0, -1)
                yield Reachable(number, group, np.array([0]), np.array([len(kept_places)]), kept_places)


_ByLabel = list[tuple[ValueIndex, Places, Places]]  # by label key: the values; value index and place of each volume
_ByReach = list[tuple[NodeReach, Places]]


def _kind(known: KnownVolume) -> tuple[str, str, frozenset[str]]:
    spec = known.volume.spec
    return spec.volume_mode or "Filesystem", spec.volume_attributes_class_name or "", frozenset(spec.access_modes or ())


def _grouped(members: list[KnownVolume]) -> tuple[_ByLabel, _ByReach]:
    """Volumes that are found by a label's value, such as local ones by host name, and all others by equal affinity."""
    values: dict[str, dict[str, int]] = {}
    entries: dict[str, list[tuple[int, int]]] = {}
    others: dict[NodeReach, list[int]] = {}
    for place, known in enumerate(members):
        reach = known.reach
        if not reach.key:
            others.setdefault(reach, []).append(place)
            continue
        numbers = values.setdefault(reach.key, {})
        numbered = [(numbers.setdefault(value, len(numbers)), place) for value in reach.values]
        entries.setdefault(reach.key, []).extend(numbered)
    by_label: _ByLabel = []
    for key, pairs in entries.items():
        groups, places = np.array(sorted(pairs), dtype=np.intp).T
        by_label.append((ValueIndex(key, list(values[key])), groups, places))
    return by_label, [(reach, np.array(places, dtype=np.intp)) for reach, places in others.items()]
