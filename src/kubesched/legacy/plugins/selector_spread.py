"""SelectorSpread: spread the pods of a service or controller over nodes, and twice as much over zones.

Rule: kube-scheduler v1.20 SelectorSpread, the priority SelectorSpreadPriority. Pods that define topology spread
constraints are left to PodTopologySpread. The points are floats, cut to integers at the end, as upstream computes them.
"""

from typing import Final

import msgspec
import numpy as np

from kubesched.api import HOSTNAME, Pod, TopologySpreadConstraint
from kubesched.config import PluginArgs
from kubesched.engine import FloatVector, IntVector
from kubesched.errors import SelectorError
from kubesched.framework import CycleState, DependsOn, Plugin, Status
from kubesched.plugins import SCHEDULE_ANYWAY, DefaultConstraints, PodTopologySpreadArgs, constraints_of
from kubesched.state import ZONE_LABELS, CountedGroup, Nodes, zone_key

_ZONE_WEIGHT: Final = 2.0 / 3.0


class SelectorSpreadState(msgspec.Struct, eq=False):
    """What PreScore found.

    Attributes:
        group: the placed pods that count; None where nothing selects the pod.
        nodes: the feasible nodes.
    """

    group: CountedGroup | None
    nodes: Nodes


class SelectorSpread(Plugin):
    """Prefer nodes and zones with few pods of the same services and controller."""

    depends_on = DependsOn.CLUSTER
    reads = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")

    def __init__(self, args: PluginArgs | None = None) -> None:
        super().__init__(args)
        # The selector is deduced as for a default constraint of PodTopologySpread, and the pods counted once for both.
        every_node = TopologySpreadConstraint(1, HOSTNAME, SCHEDULE_ANYWAY)
        self._deduced = DefaultConstraints(
            PodTopologySpreadArgs(default_constraints=(every_node,), defaulting_type="List")
        )

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Find the pods to count; skips pods that define constraints."""
        if state.pod.spread.value:
            return Status.SKIP
        snapshot = self.handle.snapshot()
        try:
            constraints = constraints_of(state.pod, SCHEDULE_ANYWAY, self._deduced, snapshot)
        except SelectorError as error:
            return Status.error(str(error))
        state.write(SelectorSpreadState(constraints[0].group(snapshot) if constraints else None, nodes))
        return Status.SUCCESS

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The number of pods on each node that count, terminating ones left out."""
        group = _state(state).group
        if group is None:
            return np.zeros(len(nodes), dtype=np.int64)
        return nodes.take(group.counts).copy()

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """A third for few pods on the node, two thirds for few in its zone; the node alone where it has no zone."""
        points = _fewest_best(scores)
        zones, n_zones = _zones(_state(state).nodes)
        if n_zones:
            by_zone = np.bincount(zones, weights=scores, minlength=n_zones + 1)
            by_zone[0] = 0
            in_zone = _fewest_best(by_zone)[zones]
            points = np.where(zones > 0, points * (1.0 - _ZONE_WEIGHT) + _ZONE_WEIGHT * in_zone, points)
        return points.astype(np.int64)


def _state(state: CycleState) -> SelectorSpreadState:
    return state.read(SelectorSpreadState, 'error reading "PreScoreSelectorSpread" from cycleState: not found')


def _fewest_best(counts: IntVector | FloatVector) -> FloatVector:
    """0 for the highest count, 100 for none; 100 everywhere where there is none."""
    most = counts.max(initial=0)
    if not most:
        return np.full(len(counts), 100.0)
    points: FloatVector = 100.0 * ((most - counts) / most)
    return points


def _zones(nodes: Nodes) -> tuple[IntVector, int]:
    """(nodes,) the number of each node's zone, from 1; 0 for a node without. And how many zones there are."""
    mixed = np.zeros(len(nodes), dtype=np.int64)
    for key in ZONE_LABELS:
        mixed = mixed * len(nodes.label(key).values) + nodes.codes(key)
    _, first, which = np.unique(mixed, return_index=True, return_inverse=True)
    numbers = {"": 0}
    for position in first.tolist():
        numbers.setdefault(zone_key(nodes.node(position)), len(numbers))
    of_kind = np.array([numbers[zone_key(nodes.node(position))] for position in first.tolist()], dtype=np.int64)
    return of_kind[which], len(numbers) - 1
