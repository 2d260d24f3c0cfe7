"""The page of `kubesched drain --each-zone`: what becomes of the pods of each zone."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from kubesched.documents import count
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Row,
    Table,
    fields,
    grouped,
    limits,
    plain,
    with_fix,
)
from kubesched.pages.plans.drain_page import BEFORE, placed_first
from kubesched.pages.plans.drain_tables import cost_cell, cost_column, could_go, could_go_cell, why_not
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.pages.plans.held_back import reasons_of
from kubesched.planning import Drain

_MAX_ROWS: Final = 60
_PLANNED: Final = (
    "Each zone is drained as in planned work, in the steps that budgets allow. A zone that fails takes all of its pods "
    "at once, and no budget is asked. In both cases volumes of the zone stay there, and their pods wait."
)


def each_zone_page(results: Sequence[Drain], *, failure: str = "", taken_at: datetime | None = None) -> Page:
    """The page.

    Args:
        results: of at least one zone.
        failure: the command that simulates a failure, without the zone; empty for none.
        taken_at: when the snapshot was taken; None where that is not known.
    """
    worst = max(results, key=_n_harmed)
    columns = (
        Column("zone"),
        Column("nodes", align=Align.NUMBER),
        Column("canGo", "COULD GO"),
        Column("pods", align=Align.NUMBER),
        Column("nHarmed", "HARMED", Align.NUMBER),
        Column("steps", align=Align.NUMBER),
        *cost_column(results),
        Column("why", "WHY NOT"),
    )
    rows: list[Row] = [
        [
            zone_of(one),
            len(one.nodes),
            could_go_cell(one),
            one.n_evicted,
            _n_harmed(one),
            one.steps,
            *cost_cell(one),
            why_not(one),
        ]
        for one in results
    ]
    faults = list(dict.fromkeys(fault for one in results for fault in one.faults))
    harm = _harm(results)
    return Page(
        "drain-each-zone",
        _verdict(results, worst),
        (
            *fault_parts(faults),
            *_without_zone(results),
            *placed_first(results[0], is_alone=False),
            Table("zones", "", columns, rows),
            harm,
            *_hidden(harm),
            Paragraph(_PLANNED, Level.DETAIL),
        ),
        main="zones",
        versions=(results[0].version,),
        limits=limits(taken_at),
        next_command=f"{failure}{zone_of(worst)}" if failure else "",
        document={"zones": [_line(one) for one in results], **fields(results[0], *BEFORE), "faults": faults},
        lines=[_line(one) for one in results],
        checks=[Check("zones", zone_of(one), "" if could_go(one) else why_not(one)) for one in results],
        faults=faults,
    )


def zone_of(one: Drain) -> str:
    """The zone that a drain is of."""
    return one.groups[one.nodes[0]].zone


def _n_harmed(one: Drain) -> int:
    return sum(pod.fate.is_bad for pod in one.pods) + len(one.pushed_out)


def _verdict(results: Sequence[Drain], worst: Drain) -> Paragraph:
    n_go = sum(map(could_go, results))
    zones = count(len(results), "zone")
    if any(one.could_go is None for one in results):
        return Paragraph(f"{n_go:,} of {zones} could be drained, each alone. Of others it is not known.", Level.BAD)
    if n_go == len(results):
        return Paragraph(f"Each of {zones} could be drained alone." if n_go > 1 else "The only zone could be drained.")
    harmed = f"{_n_harmed(worst):,} of {count(worst.n_evicted, 'pod')}"
    most = f"most harm without {zone_of(worst)}, to {harmed}"
    return Paragraph(f"{n_go:,} of {zones} could be drained without harm, each alone; {most}.", Level.BAD)


def _without_zone(results: Sequence[Drain]) -> Iterator[Paragraph]:
    n = sum(not group.zone for group in results[0].groups.values())
    if n:
        yield Paragraph(f"{count(n, 'node has', 'nodes have')} no zone and would stay.", Level.WARNING)


def _harm(results: Sequence[Drain]) -> Table:
    """The pods that are harmed in each zone, by workload and cause."""
    columns = (
        Column("zone"),
        Column("pods", align=Align.NUMBER),
        Column("workload", "OF"),
        Column("why", "WHAT BECOMES OF THEM, AND THE BEST FIX"),
    )
    rows: list[Row] = []
    for one in results:
        harmed = (reason for reason in reasons_of(one) if reason.workload)
        for (of, why, fix), reasons in grouped(
            harmed, lambda reason: (reason.workload, reason.why, reason.fix)
        ).items():
            rows.append([zone_of(one), len(reasons), of, Cell(with_fix(why, fix), level=Level.WARNING)])
    return Table("harm", "What would be harmed", columns, rows, is_wide=len(rows) > _MAX_ROWS)


def _hidden(harm: Table) -> Iterator[Paragraph]:
    """Where to read of the harm that is too much for a terminal."""
    if harm.is_wide:
        yield Paragraph(f"What would be harmed has {count(len(harm.rows), 'row')}: -o wide shows all.")


def _line(one: Drain) -> dict[str, Any]:
    return {
        **fields(one, "nodes", "unreachable", "n_evicted", "steps", "pushed_out"),
        "zone": zone_of(one),
        "canGo": one.could_go,
        "nHarmed": _n_harmed(one),
        "harmed": [plain(pod) for pod in one.pods if pod.fate.is_bad],
    }
