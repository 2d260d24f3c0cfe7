"""Finds the nodes that are nearest to fitting, and the missing resources of a node."""

import numpy as np
import numpy.typing as npt

from kubesched.engine import FloatVector
from kubesched.explanation.explanation import BoolVector, Explanation
from kubesched.explanation.remedies import Case, tainted

_FIT = "NodeResourcesFit"
_PINNING = ("NodeAffinity", "VolumeBinding")  # they narrow the search to hosts that the pod or a local volume names


def shortages(explanation: Explanation, position: int) -> dict[str, int]:
    """Each resource that is short on a node as NodeResourcesFit says, with the missing amount in canonical units.

    Example:
        explanation = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "64"}))
        assert shortages(explanation, 0) == {"cpu": 60_000}
    """
    names, missing = Case(explanation).missing
    return {name: amount for name, amount in zip(names, missing[:, position].tolist(), strict=True) if amount}


def nearest(explanation: Explanation) -> npt.NDArray[np.intp]:
    """The positions of all nodes that do not fit, the nearest to fitting first.

    The fewer plugins reject a node, the nearer it is; a cordon and the taint that it makes count once. Then, the fewer
    reject it whatever pods leave; then, the less room is missing. Equally near nodes keep the snapshot's order. Nodes
    that can never take the pod come last: those that are too small even when they are empty, and those that are not the
    host to which the pod is pinned.

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
    case = Case(explanation)
    twice = _cordoned_twice(case)
    rejecting -= twice
    for_good -= twice
    hopeless = hopeless_nodes(explanation)
    order = np.lexsort((_missing(case), for_good, rejecting, hopeless))
    return order[rejecting[order] > 0]


def hopeless_nodes(explanation: Explanation) -> BoolVector:
    """(nodes,) bool: nodes that can never take the pod, whatever changes around it.

    Rule: kube-scheduler v1.36 NodeResourcesFit: a request above the allocatable of the whole node is
    UnschedulableAndUnresolvable.
    """
    hopeless = np.zeros(len(explanation.nodes), dtype=np.bool_)
    fit = explanation.by_plugin.get(_FIT)
    if fit is not None and fit.pre_filter is None:
        hopeless |= fit.rejected_for_good
    for name in _PINNING:
        said = explanation.by_plugin.get(name)
        if said is not None and said.node_names is not None:
            hopeless |= np.array([node not in said.node_names for node in explanation.nodes.names], dtype=np.bool_)
    return hopeless


def _cordoned_twice(case: Case) -> BoolVector:
    """(nodes,) bool: nodes that NodeUnschedulable rejects, and TaintToleration for the taint of the cordon alone."""
    return case.rejected("NodeUnschedulable") & case.rejected("TaintToleration") & ~tainted(case)


def _missing(case: Case) -> FloatVector:
    """(nodes,) what is short, summed over the resources, each as a share of what is asked for."""
    names, missing = case.missing
    wanted = {**case.info.requests.value.wanted, "pods": 1}
    share = missing / np.array([[wanted[name]] for name in names]).reshape(-1, 1)
    total: FloatVector = share.sum(axis=0)
    return total
