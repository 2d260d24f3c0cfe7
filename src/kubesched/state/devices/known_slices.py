"""ResourceSlices with their devices, and what of them belongs to a node."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kubesched.api import Device, NodeSelector, ResourceSlice, ResourceSliceSpec
from kubesched.engine import BoolVector
from kubesched.release import Release
from kubesched.state.devices.device_pools import PoolDevice
from kubesched.state.node_terms import NodeTerms
from kubesched.state.nodes import Nodes


class KnownSlice:
    """A ResourceSlice with its devices.

    Attributes:
        name, spec: of the object.
        pool: driver and name of its pool.
        devices: all of them.
        is_everywhere: whether it belongs to every node, whatever it says. Rule: kube-scheduler before v1.37 does that
            with slices that have shared counters.
        is_of_one_node: whether it names a node that all of it belongs to.
    """

    __slots__ = ("_places", "devices", "is_everywhere", "is_of_one_node", "name", "pool", "spec")

    def __init__(self, known: ResourceSlice, release: Release) -> None:
        spec = known.spec
        self.name = known.name
        self.spec = spec
        self.pool = (spec.driver, spec.pool.name)
        self.devices = tuple(PoolDevice(device, spec) for device in spec.devices or ())
        self.is_everywhere = bool(spec.shared_counters) and release.before(37)
        self.is_of_one_node = bool(spec.node_name) and not spec.per_device_node_selection
        placed = [device.spec for device in self.devices] if spec.per_device_node_selection else [spec]
        self._places = [] if self.is_of_one_node else [_Place(one) for one in placed]

    def reached(self, nodes: Nodes) -> BoolVector:
        """(n,) bool: nodes that something of it belongs to; it is not of one node."""
        reached = np.zeros(len(nodes), dtype=np.bool_)
        for place in self._places:
            reached |= place.reached(nodes)
        return reached

    def parts_on(self, nodes: Nodes) -> Iterator[tuple[int, "SlicePart"]]:
        """The rows that something of it belongs to, with what that is; it is not of one node."""
        rows = nodes.all_rows
        if not self.spec.per_device_node_selection:
            whole = SlicePart(self)
            yield from ((row, whole) for row in rows[self.reached(nodes)].tolist())
        elif self._places:
            chosen = np.vstack([place.reached(nodes) for place in self._places]).T
            for position in np.flatnonzero(chosen.any(axis=1)).tolist():
                yield int(rows[position]), SlicePart(self, chosen[position].tobytes())


class SlicePart(NamedTuple):
    """A slice that belongs to a node, or some devices of it.

    Attributes:
        known: the slice.
        chosen: a byte for each device, not 0 where it belongs to the node; empty for all.
    """

    known: KnownSlice
    chosen: bytes = b""

    @property
    def devices(self) -> Sequence[PoolDevice]:
        """The devices of the slice that belong to the node."""
        devices = self.known.devices
        return [devices[i] for i, is_chosen in enumerate(self.chosen) if is_chosen] if self.chosen else devices


class _Place:
    """Where a slice or a device is."""

    __slots__ = ("_node_name", "_terms")

    def __init__(self, written: ResourceSliceSpec | Device) -> None:
        self._node_name = written.node_name
        self._terms = None if written.all_nodes else NodeTerms(written.node_selector or NodeSelector())

    def reached(self, nodes: Nodes) -> BoolVector:
        if not self._node_name:
            return np.ones(len(nodes), dtype=np.bool_) if self._terms is None else self._terms.matches(nodes)
        reached = np.zeros(len(nodes), dtype=np.bool_)
        position = nodes.position_of(self._node_name)
        if position is not None:
            reached[position] = True
        return reached
