"""NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio: resource scores by themselves.

Rule: kube-scheduler v1.20 plugins of these names, the priorities LeastRequestedPriority, MostRequestedPriority and
RequestedToCapacityRatioPriority. They differ from the strategies of NodeResourcesFit: a resource that the node lacks
counts, with 0 or as fully used; MostAllocated gives 0 for a resource that would be exceeded; the ratio rounds the
utilization up. Of a resource that is listed twice, the last weight counts. Sidecar containers, which v1.20 does not
have, count as in v1.36.
"""

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from kubesched.api import Pod
from kubesched.engine import BoolVector, IntVector, floor_divide, round_half_away
from kubesched.framework import CycleState, DependsOn, Plugin
from kubesched.legacy.plugins.legacy_args import (
    NodeResourcesLeastAllocatedArgs,
    NodeResourcesMostAllocatedArgs,
    RequestedToCapacityRatioArgs,
)
from kubesched.plugins import ResourceSpec, broken_linear
from kubesched.state import CPU, MEMORY, Nodes


class NodeResourcesLeastAllocated(Plugin):
    """Prefer nodes with much room left."""

    Args = NodeResourcesLeastAllocatedArgs
    args: NodeResourcesLeastAllocatedArgs
    depends_on = DependsOn.ROW

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weighted mean of what stays free of each resource."""
        return _weighted_mean(self.args.resources, state, nodes, lambda used, room: room - used)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.requests


class NodeResourcesMostAllocated(Plugin):
    """Prefer nodes that the pod fills."""

    Args = NodeResourcesMostAllocatedArgs
    args: NodeResourcesMostAllocatedArgs
    depends_on = DependsOn.ROW

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weighted mean of what is used of each resource."""
        return _weighted_mean(self.args.resources, state, nodes, lambda used, room: used)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.requests


class RequestedToCapacityRatio(Plugin):
    """Score each resource by a broken line over its utilization."""

    Args = RequestedToCapacityRatioArgs
    args: RequestedToCapacityRatioArgs
    depends_on = DependsOn.ROW

    def __init__(self, args: RequestedToCapacityRatioArgs | None = None) -> None:
        super().__init__(args)
        points = [(point.utilization, 10 * point.score) for point in self.args.shape]
        self._shape = broken_linear(points) if points else np.zeros(101, dtype=np.int64)

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The weighted mean over the resources that score more than 0, rounded half away from zero."""
        total, weight_sum = np.zeros(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
        for name, weight in {resource.name: resource.weight for resource in self.args.resources}.items():
            used, room = _used_and_room(name, state, nodes)
            free = floor_divide((room - used) * 100, np.maximum(room, 1))
            scores = self._shape[np.where(_fits(used, room), 100 - free, 100)]
            total += weight * scores
            weight_sum += weight * (scores > 0)
        return round_half_away(total / np.maximum(weight_sum, 1))

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return state.pod.requests


def _weighted_mean(
    resources: Iterable[ResourceSpec],
    state: CycleState,
    nodes: Nodes,
    part: Callable[[IntVector, IntVector], IntVector],
) -> IntVector:
    """(nodes,) the mean percentage of a part of each resource's room; 0 for a resource that would be exceeded."""
    total = np.zeros(len(nodes), dtype=np.int64)
    weights = {resource.name: resource.weight for resource in resources}
    for name, weight in weights.items():
        used, room = _used_and_room(name, state, nodes)
        percent = floor_divide(part(used, room) * 100, np.maximum(room, 1))
        total += weight * np.where(_fits(used, room), percent, 0)
    return total // sum(weights.values())


def _used_and_room(name: str, state: CycleState, nodes: Nodes) -> tuple[IntVector, IntVector]:
    """(nodes,) what is used of a resource with the pod, and what the node offers; cpu and memory with the defaults."""
    row = nodes.columns.resources.find(name)
    if row is None:
        return np.zeros(len(nodes), dtype=np.int64), np.zeros(len(nodes), dtype=np.int64)
    held = nodes.non_zero_requested[row] if row in (CPU, MEMORY) else nodes.requested[row]
    return held + state.pod.requests.value.scored.get(name, 0), nodes.allocatable[row]


def _fits(used: IntVector, room: IntVector) -> BoolVector:
    """(nodes,) bool: the node has the resource, and enough of it."""
    fits: BoolVector = (room > 0) & (used <= room)
    return fits
