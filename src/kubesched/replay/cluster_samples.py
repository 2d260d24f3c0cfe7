"""Samples of a cluster over time: what pods hold of each resource, what is of no use to them, and who waits."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import Node, Pod, is_extended_resource
from kubesched.controllers import is_bound_to_node
from kubesched.replay.fragmentation import Fragmentation
from kubesched.replay.pod_runs import wait_figures
from kubesched.session import Session

_BASIC: Final = ("cpu", "memory")
_FRAGMENTED: Final = "cpu"
_COUNTS: Final = ("nodes", "nodes_in_use", "running", "pending")
_SINCE: Final = ("arrived", "bound", "ended", "evicted", "wait_mean", "wait_p50", "wait_p95")


class Interval:
    """What happened since the last sample.

    Attributes:
        arrived, ended, evicted: how many pods.
        waited: the waiting times of the pods that were bound.
    """

    def __init__(self) -> None:
        self.arrived = self.ended = self.evicted = 0
        self.waited: list[float] = []

    def figures(self) -> list[float | None]:
        """The figures under the names of the columns of `_SINCE`."""
        return [self.arrived, len(self.waited), self.ended, self.evicted, *wait_figures(self.waited)]


class ClusterSamples:
    """The samples so far, in columns.

    Args:
        session: of the cluster.
        pods: of the trace.

    Attributes:
        resources: what is sampled: cpu, memory and the extended resources of nodes and pods.
        fragmented: those of which it is counted what pods cannot use: all but memory.
        columns: `time`, and what `Replay.series` has.
    """

    def __init__(self, session: Session, pods: Sequence[Pod], nodes: Iterable[Node]) -> None:
        self._columns = session.cluster_state.columns
        offered = (name for node in nodes for name in node.status.allocatable or ())
        asked = (name for requests in {id(pod.requests): pod.requests for pod in pods}.values() for name in requests)
        further = sorted({name for name in (*offered, *asked) if is_extended_resource(name)})
        self.resources = (*_BASIC, *further)
        self.fragmented = (_FRAGMENTED, *further)
        self.fragmentation = Fragmentation(session.cluster_state, pods, self.fragmented)
        self._of_nodes = _pods_of_nodes(session)
        names = ("time", *_COUNTS, *_SINCE, *self._names())
        self.columns: dict[str, list[float | None]] = {name: [] for name in names}

    def _names(self) -> list[str]:
        held = [f"{name}_{what}" for name in self.resources for what in ("allocatable", "requested", "utilization")]
        return held + [f"{name}_stranded" for name in self.fragmented]

    def take(self, time: float, running: int, pending: int, since: Interval) -> None:
        """Take a sample.

        Args:
            running, pending: how many pods run, and wait.
            since: what happened since the last one.
        """
        columns = self._columns
        in_use = columns.n_pods > self._daemons()
        counts = [columns.n_nodes, int(np.count_nonzero(in_use)), running, pending]
        held = [figure for name in self.resources for figure in self._held(name, in_use)]
        row = [time, *counts, *since.figures(), *held, *self.fragmentation.shares()]
        for values, value in zip(self.columns.values(), row, strict=True):
            values.append(value)

    def _held(self, name: str, in_use: npt.NDArray[np.bool_]) -> tuple[int, int, float | None]:
        """What nodes offer of a resource, what pods request of it, and which share that is on nodes in use."""
        resource = self._columns.resources.find(name)
        if resource is None:
            return 0, 0, None
        offered, requested = self._columns.allocatable[resource], self._columns.requested[resource]
        there = int(offered[in_use].sum())
        return int(offered.sum()), int(requested.sum()), int(requested[in_use].sum()) / there if there else None

    def _daemons(self) -> npt.NDArray[np.int64]:
        """(capacity,) how many pods belong to each node."""
        capacity = self._columns.capacity
        if len(self._of_nodes) < capacity:
            self._of_nodes = np.pad(self._of_nodes, (0, capacity - len(self._of_nodes)))
        return self._of_nodes


def _pods_of_nodes(session: Session) -> npt.NDArray[np.int64]:
    """(capacity,) how many pods of DaemonSets, and mirror pods, are on each node at the beginning."""
    columns = session.cluster_state.columns
    found = np.zeros(columns.capacity, dtype=np.int64)
    for row in columns.row_of.values():
        found[row] = sum(is_bound_to_node(info.pod) for info in columns.pods[row])
    return found
