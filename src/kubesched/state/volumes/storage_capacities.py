"""CSIStorageCapacity objects by storage class: the nodes where a published capacity is large enough."""

from typing import Final

import numpy as np

from kubesched.api import (
    CSIStorageCapacity,
    KubeObject,
    ParsedNodeTerm,
    Selector,
    parse_quantity,
    parse_selector,
    whole_units,
)
from kubesched.engine import IntMatrix, IntVector
from kubesched.errors import SelectorError
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore
from kubesched.state.volumes.node_reach import ValueIndex

NO_CAPACITY: Final = -(2**63)
"""The largest volume where no object of the class says how large it may be."""
_Room = tuple[int, int]
"""The largest volume, and the capacity."""
_NO_ROOM: Final = (NO_CAPACITY, NO_CAPACITY)


class StorageCapacities:
    """Published capacities, kept by class; a class is read again after one of its objects changed, and dropped with its
    StorageClass.
    """

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._classes: dict[str, _ClassCapacities] = {}
        objects.listen("CSIStorageCapacity", self._changed)
        objects.listen("StorageClass", self._class_changed)

    def sizes(self) -> dict[str, int]:
        """Entries by registry."""
        return {"classes": len(self._classes)}

    def largest(self, class_name: str, nodes: Nodes) -> IntVector:
        """(n,) the largest volume, in bytes, that one object of the class has room for in a node's topology."""
        largest: IntVector = self._of(class_name).found(nodes)[0]
        return largest

    def published(self, class_name: str, nodes: Nodes) -> IntVector:
        """(n,) the capacity, in bytes, that the same object has; NO_CAPACITY where there is none or it does not say."""
        capacity: IntVector = self._of(class_name).found(nodes)[1]
        return capacity

    def _of(self, class_name: str) -> "_ClassCapacities":
        if class_name not in self._classes:
            self._classes[class_name] = _ClassCapacities(self._of_class(class_name))
        return self._classes[class_name]

    def _of_class(self, class_name: str) -> list[CSIStorageCapacity]:
        every = self._objects.list("CSIStorageCapacity")
        return [c for c in every if isinstance(c, CSIStorageCapacity) and c.storage_class_name == class_name]

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        for obj in (old, new):
            if isinstance(obj, CSIStorageCapacity):
                self._classes.pop(obj.storage_class_name, None)

    def _class_changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if old is not None and new is None:
            self._classes.pop(old.name, None)


class _ClassCapacities:
    """The capacities of one class: those whose topology is one value of one label in arrays, all others one by one.

    Of each the largest volume counts, and beside it the capacity.
    """

    def __init__(self, published: list[CSIStorageCapacity]) -> None:
        self._others: list[tuple[_Room, ParsedNodeTerm]] = []
        by_label: dict[str, dict[str, _Room]] = {}
        for capacity in published:
            limit, selector = capacity_limit(capacity), _parsed_topology(capacity)
            if limit is None or selector is None:
                continue
            room = (limit, _bytes_of(capacity.capacity))
            only = selector.requirements[0] if len(selector.requirements) == 1 else None
            if only is None or only.operator != "In":
                self._others.append((room, ParsedNodeTerm(selector.requirements, ())))
                continue
            largest = by_label.setdefault(only.key, {})
            for value in only.values:
                largest[value] = max(room, largest.get(value, room))
        self._by_label: list[tuple[ValueIndex, IntVector]] = [
            (ValueIndex(key, list(largest)), np.array([*largest.values(), _NO_ROOM], dtype=np.int64).T)
            for key, largest in by_label.items()
        ]

    def found(self, nodes: Nodes) -> IntMatrix:
        """(2, n): the largest volume on each node, and the capacity that goes with it."""
        found = np.full((2, len(nodes)), NO_CAPACITY, dtype=np.int64)
        for index, largest in self._by_label:
            here = largest[:, index.of(nodes)]
            found = np.where(here[0] > found[0], here, found)
        for room, term in self._others:
            found[:, nodes.matching(term) & (found[0] < room[0])] = np.array(room)[:, np.newaxis]
        return found


def capacity_limit(capacity: CSIStorageCapacity) -> int | None:
    """The largest volume that can be made there, in bytes; None where the object does not say.

    Raises:
        QuantityError: the text is not a quantity.

    Example:
        assert capacity_limit(make_object("CSIStorageCapacity", "fast-a", capacity="1Gi")) == 2**30
    """
    limit = _bytes_of(capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size)
    return None if limit == NO_CAPACITY else limit


def _bytes_of(text: str | int | float | None) -> int:
    return NO_CAPACITY if text is None else whole_units("storage", parse_quantity(text))


def _parsed_topology(capacity: CSIStorageCapacity) -> Selector | None:
    """The nodes it is for; None where that is absent or does not parse, which means no node."""
    if capacity.node_topology is None:
        return None
    try:
        return parse_selector(capacity.node_topology)
    except SelectorError:
        return None
