"""The remedy of one more node: a copy of one that the cluster has, or a larger one."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Pod, edited
from kubesched.documents import joined
from kubesched.engine import BoolVector
from kubesched.explanation.fix import Change, Edit
from kubesched.explanation.remedies.case import Case, Remedy, daemon_set
from kubesched.explanation.remedies.requests import readable
from kubesched.state import NodeInfo, PodInfo

_HOSTNAME: Final = "kubernetes.io/hostname"
_NO_LABELS: Final[Mapping[str, str]] = {}
_MAX_TEMPLATES: Final = 3
_MAX_SIZES: Final = 50  # different nodes that are looked at


def more_nodes(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """A copy of a node of `where`, with what its DaemonSets run there; a larger one where no node is large enough."""
    wanted = {**case.info.requests.value.wanted, "pods": 1}
    nodes = case.nodes
    templates: dict[bytes, int] = {}  # by what the node offers: the nearest such node
    rows = np.ascontiguousarray(np.vstack((nodes.allowed_pods, nodes.allocatable)).T)
    usable = np.flatnonzero(where & ~nodes.unschedulable)
    for position in usable[np.argsort(case.shortage[usable], kind="stable")].tolist():
        templates.setdefault(rows[position].tobytes(), position)
    grown: list[tuple[float, NodeInfo, dict[str, str]]] = []
    for node in islice((nodes[position] for position in templates.values()), _MAX_SIZES):
        offered = node.allocatable
        held = _held_by_daemons(node, wanted)
        lacking = [name for name, amount in wanted.items() if amount + held[name] > offered.get(name, 0)]
        if any(not offered.get(name) and case.largest(name) for name in lacking):
            continue  # other nodes are made for this
        growth = sum((wanted[name] + held[name]) / max(offered.get(name, 0), 1) for name in lacking)
        grown.append((growth, node, {name: _enough(name, wanted[name] + held[name]) for name in lacking}))
    for _, node, raised in sorted(grown, key=lambda one: one[0])[:_MAX_TEMPLATES]:
        larger = f" but with {joined(f'{amount} {name}' for name, amount in raised.items())}" if raised else ""
        text, change = f"add a node like {node.name}{larger}", added_node(node, raised)
        yield Remedy(text, "addNode", True, change, ladder="addNode", like=node.name)


def _daemons(node: NodeInfo) -> list[PodInfo]:
    return [info for info in node.pods if daemon_set(info.pod)]


def _held_by_daemons(node: NodeInfo, names: Iterable[str]) -> dict[str, int]:
    held = [{**info.requests.value.held, "pods": 1} for info in _daemons(node)]
    return {name: sum(one.get(name, 0) for one in held) for name in names}


def _enough(name: str, amount: int) -> str:
    """What a larger node offers: a quantity that is at least the amount."""
    if name == "cpu":
        return str(-(-amount // 1000))
    return readable(name, amount)[0]


def added_node(
    like: NodeInfo, raised: dict[str, str], labels: Mapping[str, str] = _NO_LABELS, name: str = ""
) -> Change:
    """The change that adds the node, with its DaemonSets' pods; it is as they are now, whatever else is tried.

    Args:
        raised: what it offers more of.
        labels: those that are not like the node's.
        name: of the node; empty for one after the node's.
    """
    old, name = like.node, name or f"{like.name}-copy"
    labels = {**old.labels, **({_HOSTNAME: name} if _HOSTNAME in old.labels else {}), **labels}
    metadata = msgspec.structs.replace(old.metadata, name=name, uid=f"{old.uid}-copy", labels=labels)
    status = msgspec.structs.replace(old.status, allocatable={**(old.status.allocatable or {}), **raised})
    node = edited(old, metadata=metadata, status=status)
    edits = [Edit("Pod", f"{info.pod.key}-copy", partial(_daemon, info.pod, name)) for info in _daemons(like)]
    return Change(edits=(Edit("Node", name, lambda _: node), *edits))


def _daemon(like: Pod, node_name: str, _: Pod | None) -> Pod:
    metadata = msgspec.structs.replace(like.metadata, name=f"{like.name}-copy", uid=f"{like.uid}-copy")
    return edited(like, metadata=metadata, spec=msgspec.structs.replace(like.spec, node_name=node_name))
