"""The remedy of one more node: a copy of one that the cluster has, or a larger one."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import KubeObject, Node, edited, kind_of
from kubesched.controllers import may_run_daemon, new_names, node_of, node_with, off_site, unpinned
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.change import Change, Edit
from kubesched.explanation.device_survey import demand_of, with_such_devices
from kubesched.explanation.effort import Effort
from kubesched.explanation.remedies.case import Case, Remedy, daemons, held_by_daemons
from kubesched.explanation.remedies.device_plugins import respelt_names
from kubesched.explanation.remedies.other_devices import is_device, not_offered, other_devices
from kubesched.explanation.remedies.short_amounts import at_least
from kubesched.state import NodeInfo

_NO_LABELS: Final[Mapping[str, str]] = {}
_MAX_TEMPLATES: Final = 3
_MAX_SIZES: Final = 50  # different nodes that are looked at


def more_nodes(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """A copy of a node of `where`, with what its DaemonSets run there; a larger one where no node is large enough.

    No device is bought that some node has and does not offer.
    """
    if not_offered(case):
        return
    wanted = {**case.info.requests.value.wanted, "pods": 1}
    nodes = case.nodes
    templates: dict[bytes, int] = {}  # by what the node offers: the nearest such node
    rows = np.ascontiguousarray(np.vstack((nodes.allowed_pods, nodes.allocatable)).T)
    usable = np.flatnonzero(with_such_devices(case.evaluation, where & ~nodes.unschedulable))
    for position in usable[np.argsort(case.shortage[usable], kind="stable")].tolist():
        templates.setdefault(rows[position].tobytes(), position)
    grown: list[tuple[float, NodeInfo, dict[str, str]]] = []
    demand = demand_of(case.evaluation)
    served = demand.served if demand is not None else {}
    for node in islice((nodes[position] for position in templates.values()), _MAX_SIZES):
        offered = node.allocatable
        held = held_by_daemons(node, wanted)
        counted = [name for name in wanted if name not in served or offered.get(name)]
        lacking = [name for name in counted if wanted[name] + held[name] > offered.get(name, 0)]
        if any(not offered.get(name) and case.largest(name) for name in lacking):
            continue  # other nodes are made for this
        growth = sum((wanted[name] + held[name]) / max(offered.get(name, 0), 1) for name in lacking)
        grown.append((growth, node, {name: at_least(name, wanted[name] + held[name])[0] for name in lacking}))
    wrong = respelt_names(case).keys() | other_devices(case).keys()
    for _, node, raised in sorted(grown, key=lambda one: one[0])[:_MAX_TEMPLATES]:
        larger = f" with at least {joined(f'{amount} {name}' for name, amount in raised.items())}" if raised else ""
        is_unknown = any(is_device(name) and not case.largest(name) for name in raised)
        which = f"{larger} (no node has such a device)" if is_unknown else f" like {node.name}{larger}"
        text, change = (f"add a node{which}{_exists(case, wanted) if raised else ''}", added_node(case, node, raised))
        is_waste = raised and (_exists(case, wanted) or not wrong.isdisjoint(raised))
        effort = Effort.LAST_RESORT if is_waste else None
        yield Remedy(text, "addNode", True, change, ladder="addNode", like=node.name, effort=effort)


def _exists(case: Case, wanted: Mapping[str, int]) -> str:
    """The node that is large enough, where the cluster has one; its pool is to be opened or enlarged."""
    large = np.ones(len(case.nodes), dtype=np.bool_)
    for name, amount in wanted.items():
        row = case.nodes.columns.resources.find(name)
        if name != "pods":
            large &= np.zeros_like(large) if row is None else case.nodes.allocatable[row] >= amount
    for node in islice(case.at(large), _MAX_SIZES):
        held = held_by_daemons(node, wanted)
        if all(amount + held[name] <= node.allocatable.get(name, 0) for name, amount in wanted.items()):
            return f" ({node.name} is large enough)"
    return ""


def added_node(
    case: Case, like: NodeInfo, raised: Mapping[str, str], labels: Mapping[str, str] = _NO_LABELS, name: str = ""
) -> Change:
    """The change that adds a node like another one.

    Args:
        raised: what it offers more of.
        labels: those that are not like the node's.
        name: of the node; empty for a new one.
    """
    status = msgspec.structs.replace(like.node.status, allocatable={**(like.node.status.allocatable or {}), **raised})
    return with_node(case, edited(like.node, status=status), labels, name)


def with_node(case: Case, model: Node, labels: Mapping[str, str] = _NO_LABELS, name: str = "") -> Change:
    """The change that adds a node, with what comes with it, as it is now.

    It has neither the name of a node that it is like, which drivers put into labels, nor is it at that
    node's sites, such as its rack or its NVLink domain.

    Args:
        model: its name is that of a node which new ones are like, or of no node of the cluster.
        labels: those that are not like the model's.
        name: of the new node; empty for one that no node has.
    """
    like = case.nodes.position_of(model.name)
    model = model if like is None else off_site(model)
    model = edited(model, metadata=msgspec.structs.replace(model.metadata, labels={**model.labels, **labels}))
    if like is None:
        pods = (info.pod for info in case.placed.daemon_sets.values())
        on_it: list[KubeObject] = [pod for pod in pods if may_run_daemon(unpinned(pod), model)]
    else:
        limits = case.object_of("CSINode", model.name)
        on_it = [*(info.pod for info in daemons(case.nodes[like])), *([limits] if limits is not None else [])]
        on_it += (known for known in case.objects("ResourceSlice") if node_of(known) == model.name)
    free = (new for new in new_names(model) if case.object_of("Node", new) is None)
    return Change(edits=tuple(map(added, node_with(model, name or next(free), on_it))))


def added(new: KubeObject) -> Edit:
    """The edit that adds an object."""
    return Edit(kind_of(new), new.key, lambda _: new)
