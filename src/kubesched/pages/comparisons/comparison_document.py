"""A comparison as plain values for JSON and CSV. docs/reference/output.md describes every field."""

from collections.abc import Iterator
from typing import Any, Final

from kubesched.comparison import Comparison, FigureDifference, Unit, Upgrade
from kubesched.pages.formats import Cell, Column, Table, fields

_COLUMNS: Final = ("title", "unit", "a", "b", "change", "chance", "minA", "maxA", "minB", "maxB", "name")
_LINES: Final = {
    "figures": "figure",
    "pending": "pending",
    "moves": "move",
    "verdicts": "verdict",
    "messages": "message",
    "differences": "difference",
}
"""Field of the document -> type of a line for each of its entries."""
_DIGITS: Final = 12
"""Of a change: the difference of two rounded numbers is not rounded, as 0.75 - 0.756 shows."""


def as_document(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison."""
    both = fields(comparison, "faults", "widest", "undecided", "outvoted", "not_placed", "unserved")
    return {
        **fields(
            comparison, "a", "b", "pending", "moves", "spreads", "settings", "pools", "nodes", "drained", "emptied"
        ),
        **fields(comparison, "devices", "n_runs", "staying", "staying_with", "may_be_lost", "unpriced"),
        **{name: dict(zip("ab", sides, strict=True)) for name, sides in both.items()},
        "pods": {"mode": comparison.choice.mode, "selector": comparison.choice.selector, "count": comparison.n_pods},
        "figures": [_figure(one) for one in comparison.differences],
        "upgrade": None if comparison.upgrade is None else _upgrade(comparison.upgrade),
    }


def _upgrade(notice: Upgrade) -> dict[str, Any]:
    rejected = dict(zip("ab", notice.rejected, strict=True))
    return {"rejected": rejected, **fields(notice, "verdicts", "messages", "differences")}


def as_lines(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """A line for each version that does not start, and for each entry of the lists of the document."""
    document = as_document(comparison)
    notice = document["upgrade"] or {}
    for side, why in notice.get("rejected", {}).items():
        if why:
            yield {"type": "rejected", "side": side, "message": why}
    for name, kind in _LINES.items():
        yield from ({"type": kind, **entry} for entry in document.get(name, notice.get(name, ())))


def as_table(comparison: Comparison) -> Table:
    """A row for each figure, with the numbers of the document."""
    rows = [_row(one) for one in comparison.differences]
    return Table("figures", "", tuple(map(Column, _COLUMNS)), rows)


def _row(difference: FigureDifference) -> list[Cell | str]:
    one = _figure(difference)
    a, b = one["a"], one["b"]
    numbers = [Cell("", value) for value in (a, b, round(b - a, _DIGITS), *one["rangeA"], *one["rangeB"])]
    chance = "beyond" if difference.is_finding else "within" if a != b else ""
    return [difference.figure.title, one["unit"], *numbers[:3], chance, *numbers[3:], one["name"]]


def _figure(difference: FigureDifference) -> dict[str, Any]:
    whole = difference.figure.unit not in (Unit.SHARE, Unit.PRICE)
    number = round if whole else float
    return {
        "name": difference.figure.name,
        "unit": difference.figure.unit.value,
        "a": number(difference.a),
        "b": number(difference.b),
        "rangeA": [number(value) for value in difference.range_a],
        "rangeB": [number(value) for value in difference.range_b],
        "finding": difference.is_finding,
    }
