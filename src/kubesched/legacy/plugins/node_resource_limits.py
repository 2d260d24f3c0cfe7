"""NodeResourceLimits: a node that has as much cpu or memory as the pod's limits allow scores 1, others 0.

Rule: kube-scheduler v1.20 NodeResourceLimits, the priority ResourceLimitsPriority behind an alpha gate: the larger of
the sum over containers and each init container; overhead does not count. What the pods on a node hold does not matter.
"""

from collections.abc import Hashable

import numpy as np

from kubesched.api import Container, Pod, parse_quantity, whole_units
from kubesched.engine import IntVector
from kubesched.framework import CycleState, DependsOn, Plugin
from kubesched.state import CPU, MEMORY, Nodes


class NodeResourceLimits(Plugin):
    """Prefer nodes on which the pod can use what its limits allow."""

    depends_on = DependsOn.NODE

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """1 where the cpu or the memory limit is set and within what the node offers."""
        satisfied = np.zeros(len(nodes), dtype=np.int64)
        for row, limit in zip((CPU, MEMORY), _limits(pod), strict=True):
            if limit:
                satisfied |= nodes.allocatable[row] >= limit
        return satisfied

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return _limits(pod)


class NodeResourcesLimits(NodeResourceLimits):
    """The same under a name that is sometimes written."""


def _limits(pod: Pod) -> tuple[int, int]:
    """The pod's limits of cpu in milli-CPU and memory in bytes; 0 without one."""
    cpu, memory = (
        max(sum(_limit(c, name) for c in pod.containers), *(_limit(c, name) for c in pod.init_containers), 0)
        for name in ("cpu", "memory")
    )
    return cpu, memory


def _limit(container: Container, name: str) -> int:
    limits = container.resources.limits if container.resources else None
    return whole_units(name, parse_quantity(limits[name])) if limits and name in limits else 0
