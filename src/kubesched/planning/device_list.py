"""devices: which devices a cluster has, and who has them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from kubesched.api import KubeObject, ResourceClaim, ResourceSlice, is_extended_resource
from kubesched.session import DeviceFill, DeviceMoment, DeviceUse, Session, device_fills
from kubesched.shown import Shown, data_frame
from kubesched.snapshot import as_read
from kubesched.state import ClusterState

if TYPE_CHECKING:
    import pandas as pd


class PluginDevices(msgspec.Struct, frozen=True, rename="camel"):
    """What device plugins offer of one extended resource.

    Attributes:
        n_devices: what nodes have as allocatable.
        n_taken: what the pods on these nodes request, even if it is more.
        n_nodes: how many nodes offer it.
        pods: `namespace/name` of the pods on these nodes that request it.
    """

    resource: str
    n_devices: int = msgspec.field(name="devices")
    n_taken: int = msgspec.field(name="taken")
    n_nodes: int = msgspec.field(name="nodes")
    pods: tuple[str, ...] = ()


class DeviceList(Shown, msgspec.Struct, frozen=True, eq=False):
    """The devices of a cluster.

    Attributes:
        kinds: the devices of ResourceSlices counted by driver, class and model; before and after are the same.
        devices: each of them that a node can use, in the order of the nodes and of their pools.
        plugins: the extended resources of device plugins, by name.
        n_elsewhere: how many devices of slices no node of the cluster can use.
        waiting: `namespace/name` of the claims without devices.
        taken_at: when the cluster was read; None where that is not known.

    Example:
        for kind in devices(load_snapshot("cluster.json")).kinds:
            print(kind.driver, kind.model, kind.after.free, "of", kind.after.n_devices)
    """

    kinds: tuple[DeviceFill, ...]
    devices: tuple[DeviceUse, ...]
    plugins: tuple[PluginDevices, ...] = ()
    n_elsewhere: int = 0
    waiting: tuple[str, ...] = ()
    taken_at: datetime | None = None

    def devices_frame(self) -> "pd.DataFrame":
        """The devices of slices as a DataFrame, a row for each in their order.

        Columns: the fields of a DeviceUse apart from `used` and `capacity`; `state` is the text.

        Raises:
            InputError: pandas is not installed.
        """
        names = ("driver", "pool", "device", "nodes", "classes", "model", "state", "why", "claims", "pods")
        columns = {name: [getattr(one, name) for one in self.devices] for name in names}
        return data_frame({**columns, "state": [one.state.value for one in self.devices]})


def devices(snapshot: Iterable[KubeObject]) -> DeviceList:
    """List the devices of a cluster: those of ResourceSlices one by one, those of device plugins by resource.

    Args:
        snapshot: the cluster, as load_snapshot gives it.

    Example:
        assert not devices(load_snapshot("cluster.json")).n_elsewhere
    """
    read = as_read(snapshot)
    with Session(read) as session:
        found, moment, state = session.device_uses(), session.fill().devices, session.cluster_state
        return _answer(found, moment, state, read.taken_at)


def _answer(found: list[DeviceUse], moment: DeviceMoment, state: ClusterState, taken_at: datetime | None) -> DeviceList:
    n_listed = sum(len(one.spec.devices or ()) for one in _newest(state))
    return DeviceList(
        device_fills(moment, moment),
        tuple(found),
        tuple(_of_plugins(state)),
        max(0, n_listed - len(found)),
        tuple(one.key for one in state.objects.list("ResourceClaim") if _is_waiting(one)),
        taken_at,
    )


def _newest(state: ClusterState) -> Iterator[ResourceSlice]:
    """The slices that no newer generation of their pool has replaced."""
    slices = [one for one in state.objects.list("ResourceSlice") if isinstance(one, ResourceSlice)]
    newest: dict[tuple[str, str], int] = {}
    for one in slices:
        key = (one.spec.driver, one.spec.pool.name)
        newest[key] = max(newest.get(key, 0), one.spec.pool.generation)
    return (one for one in slices if one.spec.pool.generation == newest[one.spec.driver, one.spec.pool.name])


def _is_waiting(claim: KubeObject) -> bool:
    return isinstance(claim, ResourceClaim) and claim.status.allocation is None


def _of_plugins(state: ClusterState) -> Iterator[PluginDevices]:
    columns = state.columns
    rows = list(columns.row_of.values())
    nodes = state.snapshot().nodes
    for resource in sorted(filter(is_extended_resource, filter(None, columns.resources.values))):
        number = columns.resources.find(resource)
        offered = columns.allocatable[number, rows]
        there = offered > 0
        if there.any():
            taken = columns.requested[number, rows][there]
            positions = np.flatnonzero(nodes.allocatable[number] > 0).tolist()
            infos = (info for position in positions for info in nodes.pods(position))
            pods = tuple(info.pod.key for info in infos if resource in info.requests.value.wanted)
            yield PluginDevices(resource, int(offered.sum()), int(taken.sum()), int(there.sum()), pods)
