"""Cordons a node and uncordons it.

Rule: `kubectl cordon` v1.36 sets spec.unschedulable, and kube-controller-manager v1.36 adds a taint; both go together.
"""

from typing import Final

import msgspec

from kubesched.api import Node, Taint, edited

CORDON: Final = Taint("node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint of a cordoned node."""


def is_cordoned(node: Node) -> bool:
    """Whether a node is cordoned, or has the taint of one that is."""
    return node.unschedulable or any(taint.key == CORDON.key for taint in node.taints)


def cordon(node: Node) -> Node:
    """The node, unschedulable and with the taint."""
    has_taint = any(taint.key == CORDON.key for taint in node.taints)
    taints = node.taints if has_taint else (*node.taints, CORDON)
    return edited(node, spec=msgspec.structs.replace(node.spec, unschedulable=True, taints=taints))


def uncordon(node: Node) -> Node:
    """The node, schedulable and without the taint."""
    kept = tuple(taint for taint in node.taints if taint.key != CORDON.key)
    return edited(node, spec=msgspec.structs.replace(node.spec, unschedulable=False, taints=kept or None))
