"""The page of `kubesched fit`: the verdict, where the pods would go, whom they push out, and what is left over."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from kubesched.planning.fit import Fit
from kubesched.planning.limits import limits
from kubesched.planning.runs import has_place
from kubesched.reports import Align, Cell, Check, Column, Level, Page, Paragraph, Part, Row, Table, page_of
from kubesched.simulator import Placement, placement_line, report_document

__all__ = ["fit_page"]

_MAX_ROWS: Final = 20
_TEENS: Final = range(11, 14)
_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


@page_of.register
def fit_page(answer: Fit, *, now: datetime | None = None) -> Page:
    """The page.

    Args:
        now: the present, for the age of the snapshot.
    """
    left = [one for one in answer.placements if not has_place(one)]
    parts: list[Part] = [*_notes(answer), _where(answer), _left(left), _victims(answer)]
    return Page(
        "fit",
        Paragraph(_verdict(answer), Level.GOOD if answer.all_fit else Level.BAD),
        tuple(parts),
        limits=limits(answer.taken_at, now),
        document=_document(answer),
        lines=[placement_line(one) for one in answer.placements],
        main="where",
        checks=[Check(*_key(one), "" if has_place(one) else why(one)) for one in answer.placements],
    )


def _verdict(answer: Fit) -> str:
    first = answer.first_left
    if answer.is_maximum:
        total = f"{answer.n_fit:,} would fit"
        return f"{total}; the {ordinal(answer.n_fit + 1)}: {why(first)}" if first else f"At least {total}."
    counted = f"{answer.n_fit:,} of {answer.n_asked:,} would fit"
    if first is None:
        return f"{counted}."
    index = answer.placements.index(first) + 1
    return f"{counted}; the {ordinal(index)}: {why(first)}" if answer.n_asked > 1 else f"{counted}: {why(first)}"


def ordinal(n: int) -> str:
    """`1st`, `2nd`, `12th`."""
    return f"{n:,}{'th' if n % 100 in _TEENS else _ENDINGS.get(n % 10, 'th')}"


def why(placement: Placement) -> str:
    """Why a pod has no node, in one sentence."""
    if placement.evicted_by:
        return f"it would be evicted again for {placement.evicted_by}."
    text = placement.message.partition(". preemption:")[0].partition(". no new claims")[0] or "the pod was not tried"
    return text if text.endswith(".") else f"{text}."


def _notes(answer: Fit) -> Iterable[Paragraph]:
    yield from (Paragraph(note, Level.WARNING) for note in answer.notes)
    if answer.added_nodes:
        yield Paragraph(f"New nodes: {_listed(answer.added_nodes)}.")
    n = len(answer.report.placements) - answer.n_asked
    if n > 0:
        verb = "pod is pending already and is" if n == 1 else "pods are pending already and are"
        yield Paragraph(f"{n:,} other {verb} placed in the same run.", Level.DETAIL)


def _where(answer: Fit) -> Table:
    placed = [one for one in answer.placements if has_place(one)]
    counts = Counter(one.node for one in placed)
    columns = (Column("node", "NODE", Align.NODE), Column("pods", "PODS", Align.NUMBER))
    rows: list[Row] = [[node, n] for node, n in counts.items()]
    return Table("where", f"Where they would go: {len(counts):,} nodes", columns, rows)


def _left(left: Sequence[Placement]) -> Table:
    counts = Counter(why(one) for one in left)
    columns = (Column("pods", "PODS", Align.NUMBER), Column("why", "WHY"))
    rows: list[Row] = [[n, text] for text, n in counts.items()]
    return Table("left", f"Would stay pending: {len(left):,}", columns, rows)


def _victims(answer: Fit) -> Table:
    columns = (
        Column("pod", "POD"),
        Column("owner", "OF"),
        Column("node", "NODE", Align.NODE),
        Column("preemptor", "FOR"),
    )
    rows: list[Row] = [
        [Cell(f"- {one.pod}", level=Level.BAD), one.owner or "-", one.node, one.preemptor]
        for one in answer.report.victims
    ]
    return Table("victims", f"Would be evicted to make room: {len(rows):,}", columns, rows)


def _document(answer: Fit) -> dict[str, Any]:
    whole = report_document(answer.report)
    return {
        "asked": answer.n_asked,
        "fit": answer.n_fit,
        "isMaximum": answer.is_maximum,
        "workloads": list(answer.workloads),
        "pods": [placement_line(one) for one in answer.placements],
        "firstLeft": placement_line(answer.first_left) if answer.first_left is not None else None,
        "addedNodes": list(answer.added_nodes),
        "victims": whole["victims"],
        "nodes": whole["nodes"],
    }


def _key(placement: Placement) -> tuple[str, str]:
    namespace, _, name = placement.pod.partition("/")
    return namespace, name


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_ROWS])
    return shown if len(names) <= _MAX_ROWS else f"{shown} and {len(names) - _MAX_ROWS:,} more"
