"""The pages of `kubesched drain --each` and `--most`: which nodes could go, alone or together."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from kubesched.controllers import HOURS_A_MONTH
from kubesched.documents import count, listed, plural
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
    limits,
    plain,
)
from kubesched.pages.plans.drain_page import BEFORE, cost_of, drain_page, kubectl_drain, month_words, placed_first
from kubesched.pages.plans.drain_parts import drain_parts, workload_of
from kubesched.pages.plans.fate_words import FATES
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.pages.plans.held_back import held_back, held_back_table
from kubesched.planning import Drain, Fate

_COULD_GO: Final = {
    True: Cell("yes", level=Level.GOOD),
    False: Cell("no", level=Level.BAD),
    None: Cell("not known", level=Level.BAD),
}


def each_page(results: Sequence[Drain], *, taken_at: datetime | None = None) -> Page:
    """The page of `--each`: the nodes that could go first, those with the fewest pods to move first.

    Args:
        results: of at least one node.
        taken_at: when the snapshot was taken; None where that is not known.
    """
    ordered = sorted(results, key=lambda one: (not could_go(one), not one.could_go, one.n_evicted))
    columns = (
        Column("node", align=Align.NODE),
        Column("canGo", "COULD GO"),
        Column("pods", align=Align.NUMBER),
        Column("steps", align=Align.NUMBER),
        *cost_column(results),
        Column("why", "WHY NOT"),
    )
    rows: list[Row] = [
        [one.nodes[0], could_go_cell(one), one.n_evicted, one.steps, *cost_cell(one), why_not(one)] for one in ordered
    ]
    lines = [_line(one) for one in results]
    faults = list(dict.fromkeys(fault for one in results for fault in one.faults))
    first = next((one for one in ordered if could_go(one)), None)
    causes = held_back(results)
    unexplained = _unexplained(results)
    return Page(
        "drain-each",
        _how_many(results),
        (
            *fault_parts(faults),
            *placed_first(results[0], is_alone=False),
            held_back_table(causes),
            *(Paragraph(f"{sentence}.", Level.WARNING) for sentence in unexplained),
            Table("nodes", "", columns, rows),
        ),
        main="nodes",
        versions=(results[0].version,),
        limits=limits(taken_at),
        next_command=kubectl_drain(first) if first is not None else "",
        document={
            "nodes": lines,
            "causes": [plain(one) for one in causes],
            "canGo": _n_go(results),
            **fields(results[0], *BEFORE),
            "unexplained": [drain.nodes[0] for drain in results if not drain.is_explained],
            "faults": faults,
        },
        lines=lines,
        checks=[_check(one) for one in results],
        faults=faults,
        notes=unexplained,
    )


def cost_column(results: Sequence[Drain]) -> list[Column]:
    """The column of what nodes cost; none without prices."""
    return [Column("month", "A MONTH", Align.NUMBER)] if results[0].cost is not None else []


def cost_cell(one: Drain) -> list[Cell]:
    """What the nodes of a drain cost in a month, in that column."""
    if one.cost is None:
        return []
    n_unpriced = sum(one.cost.unpriced.values())
    if n_unpriced == len(one.nodes):
        return [Cell("not known")]
    more = f" + {count(n_unpriced, 'node')}" if n_unpriced else ""
    return [Cell(f"{month_words(one.cost)}{more}", round(one.cost.per_hour * HOURS_A_MONTH, 2))]


def _unexplained(results: Sequence[Drain]) -> list[str]:
    """That of some drains no causes are known, in one sentence."""
    n = sum(not drain.is_explained and bool(drain.of(Fate.PENDING)) for drain in results)
    pods = f"pods of {count(n, 'node')} that stay pending"
    return [f"{pods} have kube-scheduler's message as the cause, and no fix was tried; drain a node alone"] if n else []


def could_go(one: Drain) -> bool:
    """Whether a node could be drained, and has anything to drain: one that is unreachable has to be repaired."""
    return one.could_go is True and not one.unreachable


def _check(one: Drain) -> Check:
    why = why_not(one)
    return Check("nodes", one.nodes[0], note=why) if one.could_go else Check("nodes", one.nodes[0], why)


def could_go_cell(one: Drain) -> Cell:
    """The answer for one drain."""
    return Cell("unreachable", level=Level.WARNING) if one.could_go and one.unreachable else _COULD_GO[one.could_go]


def _n_go(results: Sequence[Drain]) -> int:
    return sum(map(could_go, results))


def _how_many(results: Sequence[Drain]) -> Paragraph:
    n, n_go, n_unknown = len(results), _n_go(results), sum(one.could_go is None for one in results)
    has_failed = any(one.faults for one in results)
    if n_unknown == n > 0 and has_failed:
        return Paragraph(f"A plugin failed, so it is not known which of {n:,} nodes could be drained.", Level.BAD)
    because = "a plugin failed" if has_failed else f"some of their pods {_unknown_words(results)}"
    unknown = f" Of {n_unknown:,} it is not known, because {because}." if n_unknown else ""
    level = Level.BAD if n_unknown or not n_go else Level.GOOD
    silent = [one.nodes[0] for one in results if one.unreachable]
    what = f" {listed(silent, first=3)} {plural(len(silent), 'is', 'are')} unreachable." if silent else ""
    return Paragraph(f"{n_go:,} of {n:,} nodes could be drained, each alone.{what}{unknown}", level)


def _unknown_words(results: Sequence[Drain]) -> str:
    """Why it is not known where pods go."""
    fates = {pod.fate for one in results if one.could_go is None for pod in one.pods if not pod.fate.is_known}
    return " or ".join(words.are for fate, words in FATES.items() if fate in fates)


def most_page(result: Drain, n_candidates: int, *, cluster: str = "", taken_at: datetime | None = None) -> Page:
    """The page of `--most`.

    Args:
        n_candidates: how many nodes were tried.
        cluster: as for `drain_page`.
    """
    page = drain_page(result, cluster=cluster, taken_at=taken_at)
    n = len(result.nodes)
    rows: list[Row] = [] if result.faults else [[node] for node in result.nodes]
    n_unknown = len(result.undecided_nodes)
    verdict = _unknown_set(n_candidates) if result.faults else _found(n, n_candidates, n_unknown)
    title = f"The set: {count(n, 'node')}"
    found = Table("set", title, (Column("node", align=Align.NODE),), rows)
    nodes = count(n_unknown, "node is", "nodes are")
    left_out = f"{nodes} left out: it is not known where some of their pods would go."
    unknown = [Paragraph(left_out, Level.WARNING)] if n and n_unknown else []
    costs = cost_of(result)
    parts = (*fault_parts(result.faults), *costs, *unknown, *placed_first(result), found, *drain_parts(result))
    return Page(
        "drain-most",
        Paragraph(verdict, Level.GOOD if rows else Level.BAD),
        parts,
        appendix=page.appendix,
        versions=page.versions,
        limits=page.limits,
        next_command=kubectl_drain(result) if n and not result.faults else "",
        document={**page.document, "candidates": n_candidates, "undecidedNodes": list(result.undecided_nodes)},
        lines=page.lines,
        main="set",
        checks=[Check("drain", "a set of nodes could go", "" if rows else verdict), *page.checks],
        faults=result.faults,
    )


def _unknown_set(n_candidates: int) -> str:
    return f"A plugin failed, so it is not known which of {n_candidates:,} nodes could be drained together."


def _found(n: int, n_candidates: int, n_unknown: int) -> str:
    nodes = count(n_candidates, "node")
    if not n and n_unknown:
        on = f"of {n_unknown:,}" if n_unknown < n_candidates else "of all"
        return f"It is not known which of {nodes} could be drained, nor where some pods {on} would go."
    if not n:
        return f"None of {nodes} could be drained." if n_candidates > 1 else "The only node could not be drained."
    if n == n_candidates:
        return f"All {nodes} could be drained together." if n > 1 else "The only node could be drained."
    return f"Found {n:,} of {nodes} that could be drained{' together' if n > 1 else ''}. A larger set may exist."


def why_not(result: Drain) -> str:
    """Why a node could not go, in a few words; empty if it could."""
    if result.faults:
        return "a plugin failed"
    parts = []
    for fate, words in FATES.items():
        if words.short and (pods := result.of(fate)):
            workloads = dict.fromkeys(map(workload_of, pods))
            parts.append(f"{len(pods):,} {words.short}: {listed(workloads, first=2)}")
    if result.pushed_out:
        parts.append(f"evicts {count(len(result.pushed_out), 'pod')} of other nodes")
    if result.unreachable:
        parts.append("unreachable: repair the machine")
    return "; ".join(parts)


def _line(result: Drain) -> dict[str, Any]:
    shown = (*(fate for fate, words in FATES.items() if words.short), Fate.STILL_PENDING)
    return {
        **fields(result, "n_evicted", "steps"),
        **{fate.value: [pod.pod for pod in result.of(fate)] for fate in shown},
        "node": result.nodes[0],
        "canGo": result.could_go,
        "unreachable": bool(result.unreachable),
        **({"cost": plain(result.cost)} if result.cost is not None else {}),
        "pushedOut": [one.pod for one in result.pushed_out],
        "evictedAgain": [one.pod for one in result.evicted_again],
    }
