"""What reports say about gangs: a row for each, and which of them lack pods with a node."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from kubesched.documents import count, listed
from kubesched.pages.formats import Align, Cell, Check, Column, Level, Row, Table
from kubesched.session import GangFit

_MAX_SENTENCES: Final = 2


def gangs_table(gangs: Sequence[GangFit]) -> Table:
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
        for one in gangs
    ]
    is_shared = any(one.n_placed for one in lost_gangs(gangs))
    notes = ("kube-scheduler alone starts the pods that fit; a gang scheduler starts none of such a gang.",)
    return Table("gangs", "Gangs: all or none", columns, rows, notes=notes if is_shared else ())


def lost_gangs(gangs: Iterable[GangFit]) -> list[GangFit]:
    """Those that lack pods with a node. A Job may do with fewer pods."""
    return [one for one in gangs if not one.is_job and not one.runs]


def partly_placed(gangs: Iterable[GangFit]) -> list[GangFit]:
    """Those that lack pods with a node, and Jobs of which a part has one."""
    return [one for one in gangs if not one.runs and (one.n_placed or not one.is_job)]


def gang_sentences(gangs: Iterable[GangFit]) -> str:
    """Which gangs lack pods with a node, for a first line, with a blank before it; empty for none."""
    lost = lost_gangs(gangs)
    if len(lost) > _MAX_SENTENCES:
        return f" {len(lost):,} gangs lack pods with a node ({listed(one.gang for one in lost)})."
    return "".join(f" {gang_words(one)}." for one in lost)


def gang_words(one: GangFit) -> str:
    """How many pods of a gang have a node, and how many it needs."""
    have = "have" if one.n_placed == one.n_running else "would have"
    needs = "they wait if they need the others" if one.is_job else f"the gang needs {one.needs:,} at once"
    return f"{one.n_placed:,} of {count(one.n_pods, 'pod')} of {one.whole} {have} a node; {needs}"


def gang_checks(gangs: Iterable[GangFit]) -> Iterator[Check]:
    """A check for each group, which fails for one that would not run."""
    for one in gangs:
        if not one.is_job:
            namespace, name = one.gang.split("/")
            yield Check(namespace, f"gang {name}", "" if one.runs else one.outcome)


def gang_document(one: GangFit) -> dict[str, Any]:
    """What JSON has of a gang."""
    counts = {"needs": one.needs, "pods": one.n_pods, "fit": one.n_placed}
    return {"gang": one.gang, "kind": _kind(one), **counts, "runs": one.runs, "outcome": one.outcome}


def _kind(one: GangFit) -> str:
    return "Job" if one.is_job else "group"


def _level(one: GangFit) -> Level:
    return Level.GOOD if one.runs else Level.WARNING if one.is_job else Level.BAD
