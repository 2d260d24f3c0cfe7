"""The tables of `kubesched fit`: where new pods would go, whom they push out, and why the others have no node."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kubesched.documents import count
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table, grouped
from kubesched.pages.plans.fit_verdict import has_several, why
from kubesched.pages.simulations import gangs_table, victims_table
from kubesched.planning import Fit, WorkloadFit, has_place
from kubesched.session import NodeGroup, Placement, PodState, without_names, without_post_filter

_MAX_ROWS: Final = 20
_NO_ANSWER: Final = (PodState.ERROR, PodState.NOT_DECIDED)


def fit_tables(answer: Fit) -> Iterator[Table]:
    """All of them, in reading order."""
    left = [one for one in answer.placements if not has_place(one)]
    yield _workloads(answer)
    yield gangs_table(answer.gangs)
    yield _pools(answer)
    yield _where(answer)
    yield _left(answer, "left", "Would stay pending", [one for one in left if not _is_apart(one)])
    yield _left(answer, "notCreated", "Would not be created", [one for one in left if one.is_not_created])
    yield _left(answer, "failed", "Would fail (SchedulerError)", [one for one in left if one.state is PodState.ERROR])
    unknown = [one for one in left if one.is_undecided]
    yield _left(answer, "notDecided", "Cannot be decided", [one for one in unknown if not one.is_foreign])
    yield _left(answer, "otherSchedulers", "Of other schedulers", [one for one in unknown if one.is_foreign])
    yield from _victims(answer)
    yield _each_pod(answer)


def _workloads(answer: Fit) -> Table:
    """How many pods of each workload would fit, where there are several."""
    columns = (
        Column("workload"),
        Column("asked", "PODS", Align.NUMBER),
        Column("fit", "WOULD FIT", Align.NUMBER),
        Column("why", "WHY NOT THE REST"),
    )
    rows: list[Row] = []
    for one in answer.by_workload:
        level = Level.GOOD if one.n_fit == one.n_asked else Level.WARNING
        rows.append([one.workload, one.n_asked, Cell(f"{one.n_fit:,}", one.n_fit, level), "\n".join(reasons_left(one))])
    return Table("workloads", "By workload", columns, rows if has_several(answer) else [])


def reasons_left(one: WorkloadFit) -> list[str]:
    """Why pods of a workload have no node: each reason once; if there are several, with the number of pods."""
    counts = Counter(why(pod) for pod in one.placements if not has_place(pod)).most_common()
    return [text if len(counts) == 1 else f"{count(n, 'pod')}: {text}" for text, n in counts]


def _pools(answer: Fit) -> Table:
    """How many pods go to each pool, where the nodes have pools; else to each zone."""
    groups = answer.report.groups
    placed = [groups[one.node] for one in answer.placements if has_place(one) and one.node in groups]
    has_pools = any(group.pool for group in groups.values())
    counts = Counter((group.pool if has_pools else group.zone) or "-" for group in placed)
    heading = "POOL" if has_pools else "ZONE"
    columns = (Column(heading.lower(), heading), Column("pods", align=Align.NUMBER))
    rows: list[Row] = [[name, n] for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return Table("pools", f"By {heading.lower()}", columns, [] if set(counts) == {"-"} else rows, is_folded=True)


def _where(answer: Fit) -> Table:
    counts = Counter(one.node for one in answer.placements if has_place(one))
    groups, new = answer.report.groups, set(answer.added_nodes)
    columns = (
        Column("node", align=Align.NODE),
        Column("pods", align=Align.NUMBER),
        Column("pool", is_wide=not any(group.pool for group in groups.values())),
        Column("zone", is_wide=not any(group.zone for group in groups.values())),
    )
    rows: list[Row] = []
    for node, n in counts.items():
        group = groups.get(node, NodeGroup())
        name = Cell(node, level=Level.GOOD if node in new else Level.PLAIN)
        rows.append([name, Cell(f"+{n:,}", n, Level.GOOD), group.pool, group.zone])
    title = f"Where they would go: {count(len(counts), 'node')}"
    return Table("where", title, columns, rows, is_wide=len(counts) > _MAX_ROWS, is_folded=True)


def _left(answer: Fit, name: str, title: str, left: Sequence[Placement]) -> Table:
    """Why pods have no node; with several workloads, their table says it."""
    columns = (Column("pods", align=Align.NUMBER), Column("why"), Column("message", is_wide=True))
    rows: list[Row] = []
    for group in grouped(left, lambda one: without_names(why(one), one.pod)).values():
        message = without_post_filter(group[0].message)
        rows.append([len(group), Cell(why(group[0]), level=Level.WARNING), Cell(message, level=Level.DETAIL)])
    return Table(name, f"{title}: {len(left):,}", columns, [] if has_several(answer) else rows)


def _is_apart(placement: Placement) -> bool:
    """Whether a pod without a node has failed, is not decided, or does not exist: it does not stay pending."""
    return placement.state is PodState.ERROR or placement.is_undecided or placement.is_not_created


def _each_pod(answer: Fit) -> Table:
    """One row for each new pod: what CSV has."""
    columns = (Column("pod"), Column("owner", "OF"), Column("node", align=Align.NODE), Column("why"))
    rows: list[Row] = [
        [one.pod, one.owner, *((one.node, "") if has_place(one) else ("", why(one)))] for one in answer.placements
    ]
    rows += [["", one.workload, "", f"no pod is added: it {one.why}"] for one in answer.without_pods]
    return Table("pods", "Every new pod", columns, rows, is_wide=True)


def _victims(answer: Fit) -> Iterator[Table]:
    """Who leaves for the pods in question, and who leaves for pods that are pending already."""
    asked = {one.pod for one in answer.placements}
    ours = [one for one in answer.report.victims if one.preemptor in asked]
    others = [one for one in answer.report.victims if one.preemptor not in asked]
    yield victims_table("victims", "Would be evicted to make room", ours)
    yield victims_table("victimsOfOthers", "Would be evicted for pods that are pending already", others)
