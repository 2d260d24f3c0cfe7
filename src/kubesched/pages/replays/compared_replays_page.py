"""The page of `kubesched compare` with a trace: the figures of both sides over time."""

from typing import Final

from kubesched.documents import count, listed
from kubesched.pages.formats import Align, Cell, Column, Level, Page, Paragraph, Row, Table, fields, page_of, time_words
from kubesched.replay import ReplayComparison, ReplayDifference

_TITLES: Final = {
    "pending": "pods pending",
    "running": "pods running",
    "nodes_in_use": "nodes in use",
    "wait": "wait for a node, of all pods",
    "evicted": "evictions between two samples",
    "allocation": "requested, of all nodes",
    "utilization": "requested, of the nodes in use",
    "stranded": "free and of no use to popular pods",
}
_MOMENTS: Final = ("mean", "p95", "end")


@page_of.register
def compared_replays_page(answer: ReplayComparison) -> Page:
    """The page."""
    columns = (
        Column("figure"),
        *(Column(f"{moment}{side}", f"{moment.upper()} {side}", Align.NUMBER) for moment in _MOMENTS for side in "AB"),
        Column("difference"),
    )
    rows = [_row(one) for one in answer.differences]
    faults = [
        f"with {side}, {fault}" for side, of in (("A", answer.of_a), ("B", answer.of_b)) for fault in of[0].faults
    ]
    sides = (
        f"A is {answer.a}, B is {answer.b}; {count(len(answer.of_a), 'run')} of each side, each with other random ties."
    )
    return Page(
        "compare-replays",
        _verdict(answer),
        (Paragraph(sides), Table("figures", "", columns, rows)),
        versions=tuple(dict.fromkeys((answer.of_a[0].version, answer.of_b[0].version))),
        document={
            "a": answer.a,
            "b": answer.b,
            "runs": len(answer.of_a),
            "figures": {one.name: fields(one, "a", "b", "is_finding") for one in answer.differences},
        },
        lines=[fields(one) for one in answer.differences],
        faults=faults,
        notes=answer.of_a[0].notes,
    )


def _verdict(answer: ReplayComparison) -> Paragraph:
    found = [one for one in answer.differences if one.is_finding]
    if not found:
        return Paragraph(f"{answer.b} instead of {answer.a}: no figure over time differs beyond chance.")
    said = [f"{_title(one)} {_text(one, one.a.mean)} -> {_text(one, one.b.mean)}" for one in found]
    return Paragraph(f"{answer.b} instead of {answer.a}, on average over time: {listed(said)}.")


def _title(one: ReplayDifference) -> str:
    if not one.is_share:
        return _TITLES[one.name]
    resource, _, what = one.name.rpartition("_")
    return f"{resource} {_TITLES[what]}"


def _row(one: ReplayDifference) -> Row:
    cells = [_cell(one, getattr(side, moment)) for moment in _MOMENTS for side in (one.a, one.b)]
    return [_title(one), *cells, Cell("real", level=Level.WARNING) if one.is_finding else "chance"]


def _cell(one: ReplayDifference, value: float | None) -> Cell:
    return Cell("-") if value is None else Cell(_text(one, value), round(value, 6))


def _text(one: ReplayDifference, value: float | None) -> str:
    if value is None:
        return "-"
    if one.name.startswith("wait"):
        return time_words(value)
    return f"{value:.1%}" if one.is_share else f"{value:,.1f}".removesuffix(".0")
