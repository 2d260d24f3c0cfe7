"""What the page of `kubesched fit` says about gangs: a row for each, and which of them would not run."""

from typing import Any

from kubesched.documents import listed
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table, fields
from kubesched.planning import Fit, GangFit


def gangs_table(answer: Fit) -> Table:
    """A row for each gang: all or none."""
    columns = (
        Column("gang"),
        Column("kind"),
        Column("needs", "NEEDS AT ONCE", Align.NUMBER),
        Column("pods", align=Align.NUMBER),
        Column("fit", "WOULD FIT", Align.NUMBER),
        Column("outcome"),
    )
    rows: list[Row] = [
        [one.gang, _kind(one), one.needs, one.n_pods, one.n_placed, Cell(one.outcome, level=_level(one))]
        for one in answer.gangs
    ]
    is_shared = any(not one.is_job and not one.runs and one.n_placed for one in answer.gangs)
    notes = ("kube-scheduler alone starts the pods that fit; a gang scheduler starts none of such a gang.",)
    return Table("gangs", "Gangs: all or none", columns, rows, notes=notes if is_shared else ())


def lost_gangs(answer: Fit) -> str:
    """Which gangs would not run, for the first line; empty for none. A Job may do with fewer pods."""
    lost = [one for one in answer.gangs if not one.is_job and not one.runs]
    if len(lost) == 1:
        return f"; none of gang {lost[0].gang} would run, which needs {lost[0].needs:,}"
    return f"; none of {len(lost):,} gangs would run ({listed(one.gang for one in lost)})" if lost else ""


def gang_document(one: GangFit) -> dict[str, Any]:
    """What JSON has of a gang."""
    return {**fields(one, "gang", "needs", "n_pods", "runs", "outcome"), "kind": _kind(one), "fit": one.n_placed}


def _kind(one: GangFit) -> str:
    return "Job" if one.is_job else "group"


def _level(one: GangFit) -> Level:
    return Level.GOOD if one.runs else Level.WARNING if one.is_job else Level.BAD
