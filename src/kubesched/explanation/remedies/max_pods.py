"""The remedy for nodes that take fewer pods than others of their type: a setting of their kubelets."""

from collections.abc import Iterator
from functools import partial

import msgspec

from kubesched.api import INSTANCE_TYPES, Node, edited
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, node_edit, node_words
from kubesched.state import NodeInfo


def max_pods(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """As many places for pods as other nodes of the same type have; a kubelet gets the number from its node group."""
    full = where & (case.nodes.n_pods >= case.nodes.allowed_pods)
    if not full.any():
        return
    most: dict[str, NodeInfo] = {}
    for node in case.nodes:
        machine = _machine(node)
        if machine and _places(node) > (_places(most[machine]) if machine in most else 0):
            most[machine] = node
    alike: dict[tuple[str, int], list[str]] = {}
    for node in case.at(full):
        model = most.get(_machine(node))
        if model is not None and _places(node) < _places(model):
            alike.setdefault((model.name, _places(node)), []).append(node.name)
    by_name = {node.name: node for node in most.values()}
    for (name, n), names in alike.items():
        n_places, machine = _places(by_name[name]), _machine(by_name[name])
        text = (
            f"raise max-pods of {node_words(names)} from {n} to {n_places}, which {name} of the same type {machine} has"
        )
        edits = tuple(node_edit(one, partial(_with_places, n=n_places)) for one in names)
        yield Remedy(text, "maxPods", True, Change(edits=edits), effort=Effort.ADAPT)


def _machine(node: NodeInfo) -> str:
    return next((node.labels[key] for key in INSTANCE_TYPES if key in node.labels), "")


def _places(node: NodeInfo) -> int:
    return node.allocatable.get("pods", 0)


def _with_places(node: Node, n: int) -> Node:
    allocatable = {**(node.status.allocatable or {}), "pods": str(n)}
    return edited(node, status=msgspec.structs.replace(node.status, allocatable=allocatable))
