"""The devices of the cluster in addition to the objects: the parts that need work are created on first use."""

from collections import Counter, OrderedDict
from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from kubesched.engine import IntVector
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state.columns import NodeColumns
from kubesched.state.devices.device_classes import DeviceClasses
from kubesched.state.devices.device_pools import DevicePool
from kubesched.state.devices.device_projections import DeviceProjection
from kubesched.state.devices.device_slices import DeviceSlices
from kubesched.state.devices.devices_by_node import DevicesByNode, NodeDevices
from kubesched.state.devices.devices_in_use import DevicesInUse
from kubesched.state.devices.special_claims import SpecialClaims
from kubesched.state.nodes import Nodes
from kubesched.state.objects import ObjectStore

if TYPE_CHECKING:
    from kubesched.cel import Reads

_MAX_PROJECTIONS: Final = 64


class Devices:
    """The pools of the nodes and the devices in use. Its owner is ClusterState.

    Attributes:
        classes: the device classes.
        release: the version of Kubernetes that decides.
    """

    def __init__(self, columns: NodeColumns, objects: ObjectStore, release: Release = DEFAULT_RELEASE) -> None:
        self.release = release
        self._columns = columns
        self._objects = objects
        self.classes = DeviceClasses(objects)
        self._projections: OrderedDict[Reads, DeviceProjection] = OrderedDict()  # the last one is the last used

    @property
    def is_asked(self) -> bool:
        """Whether pools or what is in use were asked for, and are kept since."""
        return "_slices" in self.__dict__

    @property
    def kept_reads(self) -> "list[Reads]":
        """What the searches read of devices for which it is kept which rows are alike."""
        return list(self._projections)

    @cached_property
    def in_use(self) -> DevicesInUse:
        """The devices that claims have been allocated."""
        return DevicesInUse(self._columns, self._objects, self._slices.rows_of)

    @cached_property
    def special_claims(self) -> SpecialClaims:
        """The claims that schedulers made for extended resources."""
        return SpecialClaims(self._objects)

    def pools_of(self, row: int) -> tuple[DevicePool, ...]:
        """The pools that a node can use, in the order in which they are tried."""
        self._slices.refresh()
        return self._slices.all_pools_of(row)

    def by_node(self) -> tuple[NodeDevices, ...]:
        """The devices of every node with what of them is in use now."""
        self._slices.refresh()
        return self._by_node.now()

    def used_counters(self, pool: DevicePool) -> dict[str, Counter[str]]:
        """What is used of the counters of a pool, on whatever nodes: counter set -> counter -> billionths."""
        return self.in_use.used_counters((*pool.devices, *pool.elsewhere))

    def alike(self, nodes: Nodes, reads: "Reads") -> IntVector:
        """(n,) int64: a search for devices has the same result on rows with the same number.

        Args:
            reads: what the search reads of devices at most; hashable.
        """
        projections = self._projections
        projection = projections.get(reads)
        if projection is None:
            projection = projections[reads] = DeviceProjection(reads, self._columns, self._slices, self.in_use)
            if len(projections) > _MAX_PROJECTIONS:
                projections.popitem(last=False)
        projections.move_to_end(reads)
        self._slices.refresh()
        projection.refresh()
        return nodes.take(projection.numbers)

    def results(self, reads: "Reads", key: Hashable) -> dict[int, Any]:
        """Results of searches by the numbers that `alike` has just returned, to read and to add to.

        A claim that is freed and taken again finds them, as long as some row has the number.

        Args:
            key: what else decides, apart from the devices.
        """
        broken = [(*of_pool, pool.is_complete, pool.is_valid) for of_pool, pool in self._slices.broken.items()]
        return self._projections[reads].results((key, *broken))

    def forget_all(self) -> None:
        """Drop what is kept about which nodes are alike."""
        self._projections.clear()

    def sizes(self) -> dict[str, int]:
        """Entries by registry, as far as each has been made."""
        sizes = {"resources of device classes": len(self.classes)}
        if "in_use" in self.__dict__:
            sizes |= {f"devices in use, {name}": size for name, size in self.in_use.sizes().items()}
        if "special_claims" in self.__dict__:
            sizes["claims made by schedulers"] = len(self.special_claims)
        if "_slices" in self.__dict__:
            sizes |= {f"device slices, {name}": size for name, size in self._slices.sizes().items()}
        if "_by_node" in self.__dict__:
            sizes["devices by node"] = len(self._by_node)
        for projection in self._projections.values():
            for name, size in projection.sizes().items():
                sizes[f"alike devices, {name}"] = sizes.get(f"alike devices, {name}", 0) + size
        return sizes

    @cached_property
    def _by_node(self) -> DevicesByNode:
        return DevicesByNode(self._columns, self._slices, self.in_use)

    @cached_property
    def _slices(self) -> DeviceSlices:
        return DeviceSlices(self._columns, self._objects, self.release)
