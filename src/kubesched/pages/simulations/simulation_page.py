"""The report of a simulation as a page: placed pods, pending pods with the obstacle of each, victims, fill of nodes."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final

from kubesched.documents import count, listed, plural
from kubesched.explanation import command_about
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Part,
    Row,
    Table,
    grouped,
    hand,
    limits,
    page_of,
    with_fix,
    workload_checks,
)
from kubesched.pages.simulations.device_table import device_table
from kubesched.pages.simulations.gang_parts import gang_checks, gang_sentences, gangs_table, partly_placed
from kubesched.pages.simulations.node_fill_tables import fill_table, fill_words, nodes_table
from kubesched.pages.simulations.placement_lines import placement_line, report_document
from kubesched.pages.simulations.refused_replicas_parts import (
    refused_checks,
    refused_hands,
    refused_table,
    refused_words,
)
from kubesched.session import (
    Placement,
    PodState,
    Report,
    Unserved,
    Victim,
    pending_counts,
    shown_owner,
    waiting_words,
    without_names,
    without_post_filter,
)

_GROUP: Final = (Column("pods", align=Align.NUMBER), Column("workload"))
_STAY_AWAY: Final = "Pods evicted by preemption do not come back: the simulation does not re-create them."
_STATES: Final = {
    PodState.SCHEDULED: "placed",
    PodState.UNSCHEDULABLE: "pending",
    PodState.ERROR: "failed",
    PodState.NOT_DECIDED: "not decided",
    PodState.NOT_TRIED: "not tried",
}


@page_of.register
def report_page(
    report: Report, explain: str = "", *, caveats: Sequence[str] = (), taken_at: datetime | None = None
) -> Page:
    """The page of `kubesched simulate`.

    Args:
        explain: the command that explains a pod of the same cluster, without the pod; empty for none.
        caveats: why some of the placed pods would not start, without the ends of sentences.
        taken_at: when the snapshot was taken; None where that is not known.
    """
    by_state: dict[PodState, list[Placement]] = {state: [] for state in PodState}
    for placement in report.placements:
        by_state[placement.state].append(placement)
    placed = by_state[PodState.SCHEDULED]
    pending = [one for one in by_state[PodState.UNSCHEDULABLE] if not one.names_node]
    stuck = [*(one for one in by_state[PodState.UNSCHEDULABLE] if one.names_node), *report.stuck]
    not_tried = [one for one in by_state[PodState.NOT_TRIED] if not one.is_foreign]
    foreign = [one for one in by_state[PodState.NOT_TRIED] if one.is_foreign]
    fills = report.nodes
    has_nodes = bool(fills)
    devices = device_table(report.devices, idle_claims=report.idle_claims)
    parts: list[Part] = [
        *([Paragraph(fill_words(fills), is_folded=True)] if has_nodes else []),
        *(Paragraph(f"{one[:1].upper()}{one[1:]}.", Level.WARNING) for one in caveats),
        *map(_unserved, report.unserved),
        _placed("placed", "Would be placed", [one for one in placed if not one.evicted_by]),
        _why("evictedAgain", "Would be placed, and evicted again", [one for one in placed if one.evicted_by]),
        _why("pending", "Would stay pending", pending, _notes_on(pending, report.victims)),
        _why("failed", "Would fail (SchedulerError)", by_state[PodState.ERROR]),
        _why("notDecided", "Cannot be decided", by_state[PodState.NOT_DECIDED]),
        _why("notTried", "Would not be tried", [one for one in not_tried if not one.is_not_created]),
        _why("otherSchedulers", "Of other schedulers", foreign),
        _why("stuck", "Have a node and do not run", stuck),
        _why("notCreated", "Would not be created", [one for one in not_tried if one.is_not_created]),
        refused_table(report.refused),
        gangs_table(partly_placed(report.gangs)),
        victims_table("victims", "Would be evicted to make room", report.removed),
        *([fill_table(fills, report.devices), devices] if has_nodes else []),
        _pods(report),
        *([nodes_table(fills)] if has_nodes else []),
    ]
    return Page(
        "simulate",
        Paragraph(_verdict(report), _level(report)),
        tuple(parts),
        versions=(report.version,),
        limits=limits(taken_at, own=(_STAY_AWAY,) if report.victims else ()),
        next_command=command_about(explain and f"{explain} --pod", pending[0].pod) if pending else "",
        document=report_document(report) | ({"caveats": list(caveats)} if caveats else {}),
        lines=[placement_line(placement) for placement in report.placements],
        main="pods",
        notes=tuple(caveats),
        checks=(*_checks(report), *caveat_checks(caveats)),
        appendix=(*hands_of(report.placements), *refused_hands(report.refused)),
    )


def hands_of(placements: Iterable[Placement]) -> Iterator[Paragraph]:
    """What applies the best fix of each group of equal pods; the same steps once."""
    having = [one for one in placements if one.patches]
    for alike in grouped(having, lambda one: tuple((step.text, step.commands) for step in one.patches)).values():
        first, workloads = alike[0], dict.fromkeys(one.workload for one in alike)
        yield from hand(f"{listed(workloads, first=4)}: {first.fix}", first.patches)


def summary_of(report: Report) -> str:
    """What became of the pods, and how full the cluster gets, in one line; then a line for each cause and its fix."""
    known = (one for one in report.placements if not one.is_foreign)
    left = [one for one in known if one.is_left_pending or one.state is PodState.NOT_TRIED]
    groups = ((len(group), group[0]) for group in _by_reason(left))
    causes = [f"{n} of {pod.workload}: {with_fix(_reason(pod), pod.fix, '; ')}" for n, pod in groups]
    causes += [f"{one.n_refused} of {one.workload}: {with_fix(one.text, one.fix, '; ')}" for one in report.refused]
    return "\n".join([f"{_verdict(report)} {fill_words(report.nodes)}".rstrip(), *causes])


def _verdict(report: Report) -> str:
    states = Counter(one.state for one in report.placements if not one.names_node and not one.is_foreign)
    n_absent = sum(one.is_not_created for one in report.placements if not one.names_node)
    n_left_again = sum(bool(one.evicted_by) for one in report.placements)
    counts = {
        "would be placed": states[PodState.SCHEDULED] - n_left_again,
        "would be placed and evicted again": n_left_again,
        "would stay pending": states[PodState.UNSCHEDULABLE],
        "would fail": states[PodState.ERROR],
        "cannot be decided": states[PodState.NOT_DECIDED],
        "would not be tried": states[PodState.NOT_TRIED] - n_absent,
        "would not be created": n_absent,
    }
    outcomes = ", ".join(f"{n} {words}" for words, n in counts.items() if n)
    n_victims = len(report.removed)
    evicted = f" {count(n_victims, 'pod')} would be evicted." if n_victims else ""
    kind = "" if n_absent else "pending "  # a pod that is not created is not pending
    return (
        pending_counts((*report.placements, *report.stuck)).sentences(outcomes, kind)
        + evicted
        + gang_sentences(report.gangs)
        + refused_words(report.refused)
    )


def _unserved(one: Unserved) -> Paragraph:
    who = f"{count(one.n_pods, 'running pod')} {plural(one.n_pods, 'is', 'are')} of another scheduler"
    return Paragraph(f"{who}: {one.why}{'' if one.why.endswith('?') else '.'}", Level.WARNING)


def _level(report: Report) -> Level:
    if report.count(PodState.ERROR):
        return Level.BAD
    is_left = any(one.is_left_pending for one in (*report.placements, *report.stuck))
    return Level.WARNING if is_left or report.refused else Level.GOOD


# --- pods by workload ---


def _placed(name: str, title: str, placements: Sequence[Placement]) -> Table:
    rows: list[Row] = []
    for of, group in grouped(placements, attrgetter("workload")).items():
        nodes = dict.fromkeys(placement.node for placement in group)
        rows.append([len(group), Cell(f"+ {of}", level=Level.GOOD), listed(nodes, first=4)])
    return Table(name, f"{title}: {len(placements)}", (*_GROUP, Column("nodes", align=Align.NODE)), rows)


def _why(name: str, title: str, placements: Sequence[Placement], notes: tuple[str, ...] = ()) -> Table:
    """One row for the pods of a workload that share a reason."""
    has_fixes = any(one.fix for one in placements)
    why = Column("why", "WHY, AND THE BEST FIX") if has_fixes else Column("why")
    columns = (*_GROUP, why, Column("message", is_wide=True))
    rows: list[Row] = []
    for group in _by_reason(placements):
        first = group[0]
        message = without_post_filter(first.message)
        of = Cell(first.workload, level=Level.BAD if first.state is PodState.ERROR else Level.WARNING)
        rows.append([len(group), of, with_fix(_reason(first), first.fix), Cell(message, level=Level.DETAIL)])
    return Table(name, f"{title}: {len(placements)}", columns, rows, notes=notes)


def _by_reason(placements: Iterable[Placement]) -> Iterable[list[Placement]]:
    """The pods of a workload that share a reason together."""
    return grouped(placements, lambda one: f"{one.workload} {_without_numbers(one)}").values()


def _notes_on(pending: Iterable[Placement], victims: Iterable[Victim]) -> tuple[str, ...]:
    """What preemption would do."""
    evicted: dict[tuple[str, str], list[str]] = {}  # for whom and on which node: the pod may be nominated elsewhere
    for victim in victims:
        evicted.setdefault((victim.preemptor, victim.node), []).append(victim.pod)
    left = {one.pod for one in pending}
    return tuple(
        f"Preemption would make room for {pod} on {node} by evicting {', '.join(of)}."
        for (pod, node), of in evicted.items()
        if pod in left
    )


def _reason(placement: Placement) -> str:
    if placement.evicted_by:
        return f"evicted for {placement.evicted_by}"
    return (
        placement.refused or waiting_words(placement) or placement.diagnosis or without_post_filter(placement.message)
    )


def _without_numbers(placement: Placement) -> str:
    """What pods of one row have in common, its numbers left out: kube-scheduler's words, or else the reason."""
    said = without_post_filter(placement.message)
    is_left = placement.state is PodState.UNSCHEDULABLE and not placement.leaving and said
    said = said if is_left else f"{_reason(placement)} {said}"
    return re.sub(r"\d+", "#", without_names(said, placement.pod))


# --- victims, and pod by pod ---


def victims_table(name: str, title: str, victims: Sequence[Victim]) -> Table:
    """The pods that would be evicted, with the disruption budgets that this would break."""
    breaks = any(victim.broken for victim in victims)
    columns = (
        Column("pod"),
        Column("owner"),
        Column("node", align=Align.NODE),
        Column("preemptor", "MAKES ROOM FOR"),
        *([Column("broken", "BREAKS BUDGET")] if breaks else []),
    )
    rows: list[Row] = []
    for one in victims:
        broken = Cell(", ".join(one.broken) or "-", level=Level.BAD if one.broken else Level.PLAIN)
        row: Row = [Cell(f"- {one.pod}", level=Level.BAD), shown_owner(one.pod, one.owner), one.node, one.preemptor]
        rows.append([*row, broken][: len(columns)])
    return Table(name, f"{title}: {len(rows):,}", columns, rows)


def _pods(report: Report) -> Table:
    """One row for each pending pod: what CSV has."""
    columns = (
        Column("pod"),
        Column("owner"),
        Column("state"),
        Column("node", align=Align.NODE),
        Column("why"),
        Column("fix"),
        Column("message"),
    )
    levels = {PodState.SCHEDULED: Level.GOOD, PodState.NOT_TRIED: Level.PLAIN, PodState.ERROR: Level.BAD}
    rows: list[Row] = []
    for one in report.placements:
        state = "evicted again" if one.evicted_by else "not created" if one.is_not_created else _STATES[one.state]
        level = Level.WARNING if one.evicted_by else levels.get(one.state, Level.WARNING)
        why = "" if one.state is PodState.SCHEDULED and not one.evicted_by else _reason(one)
        rows.append([one.pod, one.owner, Cell(state, level=level), one.node, why, one.fix, one.message])
    return Table("pods", "Every pod", columns, rows, is_wide=True)


def _checks(report: Report) -> Iterator[Check]:
    placed = {one.pod for one in report.placements if one.state is PodState.SCHEDULED and not one.evicted_by}
    yield from workload_checks(
        (one.workload, "" if one.pod in placed else "\n".join(filter(None, _words(one))), "")
        for one in report.placements
    )
    yield from gang_checks(report.gangs)
    yield from refused_checks(report.refused)


def caveat_checks(caveats: Iterable[str]) -> Iterator[Check]:
    """A check that fails for each reason why placed pods would not start."""
    return (Check("volumes", f"pods start: {text.partition(',')[0]}", text) for text in caveats)


def _words(placement: Placement) -> tuple[str, str, str]:
    """Why a pod has no node, what helps, and kube-scheduler's words."""
    return _reason(placement), f"fix: {placement.fix}" if placement.fix else "", placement.message
