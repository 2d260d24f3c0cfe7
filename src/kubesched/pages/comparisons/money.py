"""What nodes cost with each side of a comparison: by pool, in a month and in per cent, and what is not known."""

from collections.abc import Iterator
from typing import Final

from kubesched.comparison import Comparison, FigureDifference, PoolChange
from kubesched.config import quoted
from kubesched.controllers import HOURS_A_MONTH
from kubesched.documents import count, plural
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table

_LEAST_SHARE: Final = 0.005
_COUNTS: Final = {"nodes": "NODES", "a": "A", "b": "B", "change": "CHANGE"}
_MONEY: Final = {
    "month": "COST A MONTH",
    "monthA": "IN USE, A",
    "monthB": "IN USE, B",
    "percent": "PER CENT",
    "difference": "DIFFERENCE",
}


def cost_words(price: FigureDifference) -> str:
    """The figure pricePerHour as what is paid in a month."""
    a, b = price.a * HOURS_A_MONTH, price.b * HOURS_A_MONTH
    more = ", ".join(filter(None, (percent(a, b), f"{b - a:+,.0f}" if a != b else "")))
    return f"cost a month {a:,.0f} -> {b:,.0f}{f' ({more})' if more else ''}"


def bill(comparison: Comparison) -> Iterator[str]:
    """Sentences about cost: what all nodes cost, what can go, what it takes, and what is in no sum.

    Nothing without prices.
    """
    nodes = comparison.nodes
    if nodes.price is None:
        return
    n_priced, n_used = nodes.n_nodes - nodes.unpriced, nodes.b - nodes.unpriced_b
    who = f"The {count(n_priced, 'node')} with a price" if nodes.unpriced else f"All {count(n_priced, 'node')}"
    today = f"{who} {plural(n_priced, 'costs', 'cost')} {_month(nodes.price)} a month"
    if nodes.price_b is not None and n_used < n_priced:
        less = percent(nodes.price, nodes.price_b)
        today += f"; without the {n_priced - n_used:,} that B leaves empty, {_month(nodes.price_b)}"
        today += f" ({less})" if less else ""
    yield f"{today}."
    if nodes.unpriced:
        are = f"{count(nodes.unpriced, 'node')} without a price {plural(nodes.unpriced, 'is', 'are')} in no sum"
        yield f"{are}: {nodes.unpriced_a:,} in use with A, {nodes.unpriced_b:,} with B."
    if comparison.drained:
        n_pods = count(len(comparison.moves), "pod moves", "pods move")
        n, empty = len(comparison.drained), len(set(comparison.drained) & set(comparison.emptied))
        of_them = f", {empty:,} of them of nodes that B leaves empty" if empty else ""
        yield f"From A to B, {n_pods} in {count(n, 'drain')}{of_them}."


def pools_table(comparison: Comparison) -> Table:
    """The nodes in use by pool, and what they cost."""
    pools = comparison.pools
    has_prices = comparison.nodes.price is not None
    columns = (
        Column("pool"),
        *(Column(key, heading, Align.NUMBER) for key, heading in _COUNTS.items()),
        *(Column(key, heading, Align.NUMBER) for key, heading in (_MONEY.items() if has_prices else ())),
    )
    rows: list[Row] = [_row(one.pool or "-", one, has_prices=has_prices) for one in pools]
    rows += [_row("all", comparison.nodes, has_prices=has_prices)] if len(pools) > 1 else []
    notes = (f"A month has {HOURS_A_MONTH} hours. COST A MONTH is of all nodes, in use or not.",) if has_prices else ()
    return Table(
        "pools",
        "Nodes in use by pool",
        columns,
        rows,
        n_totals=int(len(pools) > 1),
        notes=notes,
        is_folded=not has_prices,
    )


def _row(name: str, one: PoolChange, *, has_prices: bool) -> Row:
    row: list[Cell | str | int] = [name, one.n_nodes, one.a, one.b, percent(one.a, one.b)]
    if has_prices:
        a, b = one.price_a, one.price_b
        row += [_cost(one.price, one.unpriced), _cost(a, one.unpriced_a), _cost(b, one.unpriced_b)]
        change = None if a is None or b is None else round((b - a) * HOURS_A_MONTH, 2)
        level = Level.GOOD if change is not None and change < 0 else Level.PLAIN
        row += [percent(a or 0, b or 0) if change else "", Cell(f"{change:+,.0f}" if change else "", change, level)]
    return row


def _cost(price: float | None, n_unpriced: int) -> Cell:
    """The cost of a month, and of how many nodes it is not known."""
    if price is None:
        return Cell("not known")
    more = f" + {count(n_unpriced, 'node')}" if n_unpriced else ""
    return Cell(f"{_month(price)}{more}", round(price * HOURS_A_MONTH, 2))


def notes_on_prices(comparison: Comparison) -> Iterator[str]:
    """The instance types without a price."""
    if not comparison.unpriced:
        return
    counted = ", ".join(f"{name or 'no instance type'} ({n})" for name, n in comparison.unpriced.items())
    yield f"{'Without a price' if comparison.nodes.price is not None else 'No node has a price'}: {counted}."
    for name, near in comparison.misspelt.items():
        yield f"Prices: no node has the type {name}; did you mean {quoted(near)}?"


def percent(a: float, b: float) -> str:
    """The change in per cent; empty for less than half of one."""
    return f"{(b - a) / a:+.0%}" if a and abs(b - a) / a >= _LEAST_SHARE else ""


def _month(per_hour: float) -> str:
    return f"{per_hour * HOURS_A_MONTH:,.0f}"
