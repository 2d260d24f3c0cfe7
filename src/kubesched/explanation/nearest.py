"""Finds the nodes that are nearest to fitting, and the missing resources of a node."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from kubesched.api import HOSTNAME, ParsedNodeTerm, Requirement
from kubesched.engine import BoolVector
from kubesched.explanation.device_survey import device_nearness
from kubesched.explanation.evaluation import Evaluation
from kubesched.explanation.remedies import Case, tainted
from kubesched.plugins import required_node_affinity

_FIT: Final = "NodeResourcesFit"
_HOST: Final = (HOSTNAME, "metadata.name")


def shortages(case: Case, position: int) -> dict[str, int]:
    """Each resource that is short on a node as NodeResourcesFit says, with the missing amount in canonical units."""
    names, missing = case.missing
    return {name: amount for name, amount in zip(names, missing[:, position].tolist(), strict=True) if amount}


def nearest(evaluation: Evaluation) -> npt.NDArray[np.intp]:
    """The positions of all nodes that do not fit, the nearest to fitting first.

    The fewer plugins reject a node, the nearer it is; a cordon and the taint that it makes count once. Then, the fewer
    reject it whatever pods leave; then, the less has to change about its devices; then, the less room is missing.
    Equally near nodes keep the snapshot's order. Nodes that are too small even when they are empty come after them,
    then those that are not a host that the pod names.
    """
    nodes = evaluation.nodes
    rejecting = np.zeros(len(nodes), dtype=np.int64)
    for_good = np.zeros(len(nodes), dtype=np.int64)
    for said in evaluation.by_plugin.values():
        rejecting += said.rejected
        for_good += said.rejected_for_good
    case = Case(evaluation)
    twice = _cordoned_twice(case)
    rejecting -= twice
    for_good -= twice
    nearest_first = (case.shortage, device_nearness(evaluation), for_good, rejecting)
    keys = (*nearest_first, too_small(evaluation), not_named(evaluation))
    order = np.lexsort(keys)
    return order[rejecting[order] > 0]


def too_small(evaluation: Evaluation) -> BoolVector:
    """(nodes,) bool: nodes that are too small for the pod even when they are empty.

    Rule: kube-scheduler v1.36 NodeResourcesFit: a request above the allocatable of the whole node is
    UnschedulableAndUnresolvable.
    """
    fit = evaluation.by_plugin.get(_FIT)
    if fit is None or fit.pre_filter is not None:
        return np.zeros(len(evaluation.nodes), dtype=np.bool_)
    return fit.rejected_for_good


def not_named(evaluation: Evaluation) -> BoolVector:
    """(nodes,) bool: where the pod or a local volume names hosts, the nodes that are not one of them."""
    nodes = evaluation.nodes
    others = np.zeros(len(nodes), dtype=np.bool_)
    volumes = evaluation.by_plugin.get("VolumeBinding")
    if volumes is not None and volumes.node_names is not None:
        others |= np.array([name not in volumes.node_names for name in nodes.names], dtype=np.bool_)
    required = required_node_affinity(evaluation.info.node_choice)
    if required is None:
        return others
    for pair in _naming(required.pairs):
        others |= ~nodes.satisfying(pair)
    terms = () if required.terms is None else required.terms.terms
    naming = [ParsedNodeTerm(_naming(term.requirements), _naming(term.fields)) for term in terms]
    if naming and all(term.requirements or term.fields for term in naming):
        others |= np.array(
            [not any(term.matches(node.labels, node.name) for term in naming) for node in nodes], np.bool_
        )
    return others


def _naming(requirements: Iterable[Requirement]) -> tuple[Requirement, ...]:
    """Those that name hosts."""
    return tuple(one for one in requirements if one.key in _HOST and one.operator == "In")


def _cordoned_twice(case: Case) -> BoolVector:
    """(nodes,) bool: nodes that NodeUnschedulable rejects, and TaintToleration for the taint of the cordon alone."""
    return case.rejected("NodeUnschedulable") & case.rejected("TaintToleration") & ~tainted(case)
