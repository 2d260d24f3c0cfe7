"""Pods share the GPUs of a node in thousandths: the filter and the choice of GPUs, which all policies here have.

A node offers `alibabacloud.com/gpu-milli`, 1000 for each of its GPUs, as `read_trace(..., gpu_shares=True)` writes it.
A pod that requests less than 1000 gets this share of one GPU; a pod that requests 2000 gets two whole ones.
kube-scheduler itself checks that the sum fits. This plugin checks that single GPUs have enough room, and `reserve`
writes into an annotation which ones the pod gets. From then on the pod itself records what it holds, so `unreserve` has
nothing to give back: a pod whose binding fails leaves the node with its annotation.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kubesched import (
    ActionType,
    ClusterEvent,
    CycleState,
    DependsOn,
    EventRegistration,
    EventResource,
    IntVector,
    NodeInfo,
    Nodes,
    Plugin,
    PluginArgs,
    Pod,
    PodInfo,
    Reservations,
    Status,
)
from kubesched.traces import GPU_SHARE

DEVICES = "example.com/gpus"
WHOLE = 1000
MOST = 8  # GPUs of a node

Room = npt.NDArray[np.int64]


class Wanted(NamedTuple):
    """What a pod wants: a share of each of some GPUs."""

    share: int
    n_gpus: int

    @classmethod
    def by(cls, pod: PodInfo) -> "Wanted":
        return cls.of(pod.wanted.get(GPU_SHARE, 0))

    @classmethod
    def of(cls, milli: int) -> "Wanted":
        return cls(milli, 1) if 0 < milli < WHOLE else cls(WHOLE, milli // WHOLE)


class Devices(tuple[int, ...]):
    """The numbers of the GPUs that a pod has, written as `0,3`."""

    __slots__ = ()

    def __str__(self) -> str:
        return ",".join(map(str, self))

    @classmethod
    def read(cls, text: str) -> "Devices":
        return cls(int(number) for number in text.split(","))


HELD = Reservations(DEVICES, Devices.read)


class GpuShare(Plugin):
    """Give a pod that wants a share the GPU with the least room that is enough, and others their whole GPUs.

    A policy is a subclass with `score_nodes`, and with `choose` if it has its own rule for the GPU.
    """

    depends_on = DependsOn.ROW
    equal_by = ("requests",)
    reasons = (Status.unschedulable("node(s) had no GPU with enough room"),)

    def __init__(self, args: PluginArgs | None = None) -> None:
        super().__init__(args)
        self.rows = GpuRows()

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return Wanted.by(state.pod)

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> npt.NDArray[np.int8]:
        wanted = Wanted.by(state.pod)
        n_fitting = (self.rows.room(nodes) >= wanted.share).sum(axis=0)
        return (n_fitting < wanted.n_gpus).astype(np.int8)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.requests

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        wanted = Wanted.by(state.pod)
        if not wanted.n_gpus:
            return Status.SUCCESS
        node = self.handle.snapshot().node_info(node_name)
        devices = self.choose(state, node, np.array(room_on(node, but=pod)))
        if len(devices) < wanted.n_gpus:
            return Status.unschedulable(f"the GPUs of node {node_name} were taken in the meantime")
        HELD.take(state, devices)
        return Status.SUCCESS

    def choose(self, state: CycleState, node: NodeInfo, room: IntVector) -> Devices:
        """The GPUs that the pod gets; fewer than it wants if there are not enough.

        Args:
            node: the node, with the pod on it.
            room: (GPUs,) the free thousandths of each GPU, without the pod.
        """
        return best_fit(room.tolist(), Wanted.by(state.pod))

    def events_to_register(self) -> list[EventRegistration]:
        """Retry when a pod leaves a node, or a node comes or gets more GPUs."""
        pod = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
        return [EventRegistration(pod), EventRegistration(node)]


def best_fit(room: Sequence[int], wanted: Wanted) -> Devices:
    """The GPUs with the least room that is enough, the first ones of equals."""
    order = sorted((free, device) for device, free in enumerate(room) if free >= wanted.share)
    return Devices(device for _, device in order[: wanted.n_gpus])


def room_on(node: NodeInfo, but: Pod | None = None) -> list[int]:
    """The free thousandths of each GPU of a node, 0 for the GPUs that it lacks.

    Pods without the annotation, such as those that are nominated to the node, count on the GPUs that fit best.

    Args:
        but: a pod to leave out.
    """
    n_gpus = node.allocatable.get(GPU_SHARE, 0) // WHOLE
    room = [WHOLE] * n_gpus + [0] * (MOST - n_gpus)
    held = HELD.held_on(node, but=but)
    for pod, devices in held.items():
        _take(room, devices, Wanted.by(pod))
    for pod in node.pods:
        if pod not in held and (but is None or pod.pod.uid != but.uid):
            wanted = Wanted.by(pod)
            _take(room, best_fit(room, wanted), wanted)
    return room


def _take(room: list[int], devices: Iterable[int], wanted: Wanted) -> None:
    for device in devices:
        if 0 <= device < len(room):
            room[device] -= wanted.share


class GpuRows:
    """The free thousandths of each GPU by row of the cluster.

    They are computed again for the rows in the change log, as kept columns are. Every change is in this log: events,
    pods that are assumed, and what a fork takes back.
    """

    def __init__(self) -> None:
        self._columns: object = None
        self._generation = 0
        self._room: Room = np.zeros((MOST, 0), dtype=np.int64)

    def room(self, nodes: Nodes) -> Room:
        """(GPUs, nodes) free thousandths."""
        columns = nodes.columns
        if nodes.is_copy:
            return np.array([room_on(node) for node in nodes], dtype=np.int64).reshape(-1, MOST).T
        for row in self._changed(columns):
            self._room[:, row] = room_on(Nodes(columns)[row]) if columns.alive[row] else 0
        self._generation = columns.row_log.generation
        return self._room[:, : nodes.n] if nodes.rows is None else self._room[:, nodes.rows]

    def _changed(self, columns) -> Iterable[int]:
        if columns is self._columns and self._room.shape[1] == columns.capacity:
            changed = columns.row_log.since(self._generation)
            if changed is not None:
                return changed
        self._columns, self._room = columns, np.zeros((MOST, columns.capacity), dtype=np.int64)
        return range(columns.n_rows)
