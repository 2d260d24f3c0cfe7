"""Tables of how full nodes are before and after a simulation: by node, pool or zone, and node by node."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from kubesched.api import is_extended_resource
from kubesched.documents import count, plural
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table, grouped
from kubesched.session import DeviceFill, NodeFill

_MAX_ROWS: Final = 12
_ALWAYS: Final = ("cpu", "memory")
_LAST: Final = ("ephemeral-storage", "pods")
_FEWEST: Final = 3
_NEARLY_FULL: Final = 0.9
_MOMENTS: Final = ("before", "after")


class _Sum:
    """What some nodes offer and hold together, by resource. What pods hold where none is offered does not count."""

    def __init__(self, fills: Iterable[NodeFill]) -> None:
        self.n_nodes = 0
        self.allocatable: Counter[str] = Counter()
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        for fill in fills:
            self.n_nodes += 1
            self.allocatable.update(fill.allocatable)
            self.before.update(_offered(fill, fill.before))
            self.after.update(_offered(fill, fill.after))

    def shares(self, resource: str) -> tuple[float, float] | None:
        """Held of allocatable before and after; None where nothing is offered."""
        offered = self.allocatable[resource]
        return (self.before[resource] / offered, self.after[resource] / offered) if offered > 0 else None


def fill_words(fills: Iterable[NodeFill]) -> str:
    """The fill of the whole cluster in words: `Requested: cpu 61% -> 64%, memory 55% -> 57%.`"""
    total = _Sum(fills)
    words = [f"{name} {_words(*shares)}" for name in _ALWAYS if (shares := total.shares(name)) is not None]
    return f"Requested: {', '.join(words)}." if words else ""


def fill_table(
    fills: tuple[NodeFill, ...], devices: Iterable[DeviceFill] = (), moments: tuple[str, str] = _MOMENTS
) -> Table:
    """One row for each group of nodes, and one for all.

    Args:
        devices: what the table of devices counts.
        moments: what `before` and `after` of the fills are called.
    """
    heading, groups = _groups(fills)
    total = _Sum(fills)
    resources = _resources(total)
    is_by_node = heading == "NODE"
    columns = [Column(heading.lower(), heading, Align.NODE if is_by_node else Align.TEXT)]
    if not is_by_node:
        columns.append(Column("nodes", align=Align.NUMBER))
    columns += _columns(resources)
    rows: list[Row] = []
    for name, summed in [(name, _Sum(members)) for name, members in groups.items()] + [("all", total)]:
        counted: list[Cell | str | int] = [] if is_by_node else [summed.n_nodes]
        rows.append([name, *counted, *(_cell(summed, resource) for resource in resources)])
    wide = [column.heading for column in columns if column.is_wide]
    notes = [f"-o wide also has the {plural(len(wide), 'column')} {', '.join(wide)}."] if wide else []
    return Table(
        "fill",
        f"Nodes: requested of allocatable, {moments[0]} and {moments[1]}",
        tuple(columns),
        rows[:1] if len(groups) == 1 else rows,
        n_totals=int(len(groups) > 1),
        notes=(*notes, *_not_counted(fills, devices)),
        is_folded=True,
    )


def nodes_table(fills: tuple[NodeFill, ...], moments: tuple[str, str] = _MOMENTS) -> Table:
    """One row for each node: pool, zone, and how full it is; a heat map in HTML.

    Args:
        moments: as for `fill_table`.
    """
    resources = _resources(_Sum(fills))
    columns = (Column("node", align=Align.NODE), Column("pool"), Column("zone"), *_columns(resources))
    rows: list[Row] = []
    for fill in fills:
        one = _Sum([fill])
        rows.append([fill.node, fill.pool, fill.zone, *(_cell(one, resource) for resource in resources)])
    group_by = tuple(key for key in ("zone", "pool") if any(getattr(fill, key) for fill in fills))
    group_by = group_by or ("zone",)
    return Table("nodes", "Every node", columns, rows, is_wide=True, group_by=group_by, moments=moments)


def _offered(fill: NodeFill, held: Mapping[str, int]) -> dict[str, int]:
    """What pods hold of the resources that a node offers."""
    return {name: amount for name, amount in held.items() if fill.allocatable.get(name, 0) > 0}


def _not_counted(fills: Iterable[NodeFill], devices: Iterable[DeviceFill]) -> Iterator[str]:
    """What pods hold on nodes that offer none, and what is not in ResourceSlices: their device plugin is gone."""
    counted = {resource for one in devices for resource in one.resources}
    held: Counter[str] = Counter()
    nodes: Counter[str] = Counter()
    for fill in fills:
        for name in filter(is_extended_resource, fill.after.keys() - fill.allocatable.keys() - counted):
            held[name] += fill.after[name]
            nodes[name] += 1
    for name, n in sorted(nodes.items()):
        on = count(n, "node that offers", "nodes that offer")
        why = "neither through a device plugin nor in ResourceSlices"
        yield f"Not counted: {held[name]:,} {name} of pods on {on} none, {why}."


def _columns(resources: list[str]) -> list[Column]:
    """What most people ask for, and the others for `-o wide`."""
    others = [name for name in resources if name not in _LAST]
    n_shown = max(_FEWEST, len(others))
    return [
        Column(name, name.upper() if name in _ALWAYS else name, is_wide=i >= n_shown)
        for i, name in enumerate(resources)
    ]


def _cell(summed: _Sum, resource: str) -> Cell:
    shares = summed.shares(resource)
    if shares is None:
        return Cell("-")
    return Cell(_words(*shares), round(shares[1], 4), fill_level(shares[1]), bar=shares)


def fill_level(share: float) -> Level:
    """What a share of allocatable means: with room, nearly full, or full."""
    if share >= 1:
        return Level.BAD
    return Level.WARNING if share >= _NEARLY_FULL else Level.GOOD


def _groups(fills: tuple[NodeFill, ...]) -> tuple[str, dict[str, list[NodeFill]]]:
    """A heading and the nodes of each row; no rows where neither pools nor zones divide many nodes."""
    if len(fills) <= _MAX_ROWS:
        return "NODE", {fill.node: [fill] for fill in fills}
    by: dict[str, Callable[[NodeFill], str]] = {
        "POOL": lambda fill: fill.pool or "-",
        "ZONE": lambda fill: fill.zone or "-",
    }
    for heading, group_of in by.items():
        groups = grouped(fills, group_of)
        if 2 * len(groups.get("-", ())) < len(fills) and 1 < len(groups) <= _MAX_ROWS:
            return heading, dict(sorted(groups.items()))
    return "CLUSTER", {}


def _resources(total: _Sum) -> list[str]:
    """Cpu and memory, then what else the nodes offer and pods hold; ordinary disk space and pods last."""
    others = [name for name in total.allocatable if total.after[name] and name not in (*_ALWAYS, *_LAST)]
    last = [name for name in _LAST if name == "pods" or (total.allocatable[name] and total.after[name])]
    return [*_ALWAYS, *sorted(others), *last]


def _words(before: float, after: float) -> str:
    first, then = f"{before:.0%}", f"{after:.0%}"
    return first if first == then else f"{first} -> {then}"
