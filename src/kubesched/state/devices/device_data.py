"""The devices of the cluster in addition to the objects: the parts that need work are created on first use."""

from collections import Counter, defaultdict
from functools import cached_property
from typing import Any

import numpy as np

from kubesched.api import parse_quantity
from kubesched.engine import IntVector
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_classes import DeviceClasses
from kubesched.state.devices.device_pools import DeviceId, DevicePool
from kubesched.state.devices.device_slices import DeviceSlices
from kubesched.state.devices.devices_in_use import DevicesInUse
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore


class Devices:
    """The pools of the nodes and the devices in use. Its owner is ClusterState.

    Attributes:
        classes: the device classes.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore) -> None:
        self._columns = columns
        self._objects = objects
        self.classes = DeviceClasses(objects)

    @cached_property
    def in_use(self) -> DevicesInUse:
        """The devices that claims have been allocated."""
        return DevicesInUse(self._objects, self._slices.note_use)

    def pools_of(self, row: int) -> tuple[DevicePool, ...]:
        """The pools that a node can use, in the order in which they are tried."""
        self._slices.refresh()
        return self._slices.pools_of(row)

    def used_counters(self, pool: DevicePool) -> dict[str, Counter[str]]:
        """What the taken devices of a pool use of its counters: counter set -> counter -> billionths."""
        used: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for device in pool.devices:
            if device.spec.consumes_counters and self.in_use.is_taken(device.id):
                for consumed in device.spec.consumes_counters:
                    for name, counter in (consumed.counters or {}).items():
                        used[consumed.counter_set][name] += parse_quantity(counter.amount)
        return used

    def alike(self, nodes: Nodes, reads: Any) -> IntVector:
        """(n,) int64: rows with the same number have equal devices, as far as a search can tell."""
        numbers: dict[Any, int] = {}
        keys = (tuple(map(self._content, self.pools_of(row))) for row in nodes.all_rows.tolist())
        return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)

    def sizes(self) -> dict[str, int]:
        """Entries by registry, as far as each has been made."""
        sizes = {"resources of device classes": len(self.classes)}
        if "in_use" in self.__dict__:
            sizes |= {f"devices in use, {name}": size for name, size in self.in_use.sizes().items()}
        if "_slices" in self.__dict__:
            sizes |= {f"device slices, {name}": size for name, size in self._slices.sizes().items()}
        return sizes

    def _content(self, pool: DevicePool) -> tuple[DeviceId, ...]:
        return tuple(device.id for device in pool.devices)

    @cached_property
    def _slices(self) -> DeviceSlices:
        return DeviceSlices(self._columns, self._objects)
