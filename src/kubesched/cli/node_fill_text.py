"""Prints how full nodes are before and after a simulation, as shares and bars: by node, pool or zone."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from kubesched.api import Node
from kubesched.cli.output import new_table
from kubesched.simulator import NodeFill, Report

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from kubesched.snapshot import ClusterObjects

_MAX_ROWS: Final = 12
_BAR: Final = 10
_CELL: Final = 26  # bar, shares and the gap to the next column
_LABEL: Final = 30
_ALWAYS: Final = ("cpu", "memory")
_POOLS: Final = (
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
_POOL_NAMES: Final = ("pool", "nodepool", "node-pool", "nodegroup", "node-group")
_NODE: Final = "NODE"
_ZONE: Final = "topology.kubernetes.io/zone"


class _Sum:
    """What some nodes offer and hold together, by resource."""

    def __init__(self, fills: Iterable[NodeFill]) -> None:
        self.n_nodes = 0
        self.allocatable: Counter[str] = Counter()
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        for fill in fills:
            self.n_nodes += 1
            self.allocatable.update(fill.allocatable)
            self.before.update(fill.before)
            self.after.update(fill.after)

    def shares(self, resource: str) -> tuple[float, float] | None:
        """Held of allocatable before and after; None where nothing is offered."""
        offered = self.allocatable[resource]
        return (self.before[resource] / offered, self.after[resource] / offered) if offered > 0 else None


def fill_words(report: Report) -> str:
    """The fill of the whole cluster in words: `cpu 61% -> 64%, memory 55% -> 57%`."""
    total = _Sum(report.nodes)
    words = [f"{name} {_words(*shares)}" for name in _ALWAYS if (shares := total.shares(name)) is not None]
    return f"Requested: {', '.join(words)}." if words else ""


def fill_table(report: Report, cluster: "ClusterObjects", console: "Console") -> "Table":
    """One row for each group of nodes, as many resources as the console has room for."""
    fills = report.nodes
    heading, groups = _groups(fills, {node.name: node for node in cluster.of(Node)})
    total = _Sum(fills)
    n_columns = max(2, (console.width - _LABEL) // _CELL)
    resources = _resources(total)[:n_columns]
    headings = [name.upper() if name in _ALWAYS else name for name in resources]
    counted = ["NODES"] if heading != _NODE else []
    table = new_table(heading, *counted, *headings, numbers=range(1, 1 + len(counted)))
    rows = [(name, _Sum(members)) for name, members in groups.items()]
    if len(rows) != 1:
        rows.append(("all", total))
    for i, (name, summed) in enumerate(rows, 1):
        table.add_row(name, *[str(summed.n_nodes)] * len(counted), *_cells(summed, resources, console))
        if i == len(rows) - 1:
            table.add_section()
    return table


def _cells(summed: _Sum, resources: list[str], console: "Console") -> Iterator[str]:
    for resource in resources:
        shares = summed.shares(resource)
        bar = "" if shares is None else _bar(*shares, ascii_only=console.options.ascii_only)
        yield "-" if shares is None else f"{bar} {_words(*shares)}"


def _groups(fills: tuple[NodeFill, ...], nodes: Mapping[str, Node]) -> tuple[str, dict[str, list[NodeFill]]]:
    """A heading and the nodes of each row; no rows where no label divides many nodes."""
    if len(fills) <= _MAX_ROWS:
        return _NODE, {fill.node: [fill] for fill in fills}
    key = _grouping_label(nodes.values())
    if key is None:
        return "CLUSTER", {}
    groups: dict[str, list[NodeFill]] = {}
    for fill in fills:
        groups.setdefault(nodes[fill.node].labels.get(key, "-"), []).append(fill)
    return key.rpartition("/")[2].upper(), dict(sorted(groups.items()))


def _grouping_label(nodes: Iterable[Node]) -> str | None:
    """The label that distinguishes pools, else zones: the first that most nodes have, with a handful of values."""
    known = list(nodes)
    keys = Counter(key for node in known for key in node.labels)
    named = [key for key in keys if key.rpartition("/")[2] in _POOL_NAMES]
    for key in (*_POOLS, *sorted(named), _ZONE):
        values = {node.labels.get(key) for node in known}
        if 2 * keys[key] > len(known) and 1 < len(values) <= _MAX_ROWS:
            return key
    return None


def _resources(total: _Sum) -> list[str]:
    """Cpu and memory, then what else the nodes offer and somebody holds; ordinary disk space and pods last."""
    others = [name for name in total.allocatable if total.after[name] and name not in (*_ALWAYS, "pods")]
    others.sort(key=lambda name: (name == "ephemeral-storage", name))
    return [*_ALWAYS, *others, "pods"]


def _bar(before: float, after: float, *, ascii_only: bool) -> str:
    """What both have in full blocks, the difference in grey ones."""
    full, new, rest = "#+." if ascii_only else "█▒·"
    low, high = sorted(min(_BAR, max(0, round(share * _BAR))) for share in (before, after))
    return full * low + new * (high - low) + rest * (_BAR - high)


def _words(before: float, after: float) -> str:
    first, then = f"{before:.0%}", f"{after:.0%}"
    return first if first == then else f"{first} -> {then}"
