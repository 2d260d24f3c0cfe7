"""Finds the nodes that are nearest to fitting, and the missing resources of a node."""

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.engine import FloatVector
from kubesched.explanation.explanation import Explanation
from kubesched.state import Nodes, PodInfo

_FIT = "NodeResourcesFit"


class Shortage(msgspec.Struct, frozen=True):
    """One resource of which a node has too little left.

    Attributes:
        resource: its name; `pods` for the number of pods.
        wanted, free, allocatable: in canonical units.
    """

    resource: str
    wanted: int
    free: int
    allocatable: int

    @property
    def short(self) -> int:
        """How much is missing."""
        return self.wanted - self.free


def shortages(info: PodInfo, nodes: Nodes, position: int) -> list[Shortage]:
    """Every resource of which a node has less left than the pod asks for.

    Example:
        explanation = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "64"}))
        (shortage,) = shortages(explanation.info, explanation.nodes, 0)
        assert (shortage.resource, shortage.short) == ("cpu", 60_000)
    """
    node = nodes[position]
    offered, held = node.allocatable, node.requested
    held["pods"] = int(nodes.n_pods[position])
    wanted = {**info.requests.value.wanted, "pods": 1}
    return [
        Shortage(name, amount, offered.get(name, 0) - held.get(name, 0), offered.get(name, 0))
        for name, amount in wanted.items()
        if amount > 0 and amount > offered.get(name, 0) - held.get(name, 0)
    ]


def nearest(explanation: Explanation) -> npt.NDArray[np.intp]:
    """The positions of all nodes that do not fit, the nearest to fitting first.

    The fewer plugins reject a node, the nearer it is; then, the fewer reject it whatever pods leave; then, the less
    room is missing. Equally near nodes keep the snapshot's order.

    Example:
        explanation = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "64"}))
        assert nearest(explanation).tolist() == [0, 1]
    """
    nodes = explanation.nodes
    rejecting = np.zeros(len(nodes), dtype=np.int64)
    for_good = np.zeros(len(nodes), dtype=np.int64)
    for said in explanation.by_plugin.values():
        rejecting += said.rejected
        for_good += said.rejected_for_good
    missing = np.zeros(len(nodes))
    if _FIT in explanation.by_plugin:
        missing = np.where(explanation.by_plugin[_FIT].rejected, _missing(explanation.info, nodes), 0.0)
    order = np.lexsort((missing, for_good, rejecting))
    return order[rejecting[order] > 0]


def _missing(info: PodInfo, nodes: Nodes) -> FloatVector:
    """(nodes,) what is short, summed over resources, each as a share of what the pod asks for."""
    total: FloatVector = np.maximum(nodes.n_pods + 1 - nodes.allowed_pods, 0).astype(np.float64)
    find = nodes.columns.resources.find
    for name, amount in info.requests.value.wanted.items():
        row = find(name)
        if amount > 0:
            free = nodes.allocatable[row] - nodes.requested[row] if row is not None else np.zeros(len(nodes), np.int64)
            total += np.maximum(amount - free, 0) / amount
    return total
