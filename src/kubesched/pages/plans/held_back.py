"""Nodes that could not be drained, grouped by what holds them back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from kubesched.documents import listed
from kubesched.pages.formats import Align, Cell, Column, Level, Row, Table, grouped, with_fix
from kubesched.pages.plans.drain_parts import workload_of
from kubesched.pages.plans.fate_words import FATES
from kubesched.planning import Drain, DrainedPod, Fate
from kubesched.session import workload_text

_N_NAMED: Final = 3
_NONE: Mapping[tuple[str, str], DrainedPod] = {}
_LOST: Final = (Fate.LOST, Fate.MAY_BE_LOST)


class HeldBack(msgspec.Struct, frozen=True, rename="camel"):
    """What holds some nodes back.

    Attributes:
        why: what becomes of pods there, and why; of pods that stay pending, the cause on the first of the nodes.
        fix: what helps there; empty for nothing.
        workloads: of these pods, `Kind namespace/name`.
        nodes: which they are.
        alone: those of them that nothing else holds back.
    """

    why: str
    fix: str
    workloads: tuple[str, ...]
    nodes: tuple[str, ...]
    alone: tuple[str, ...]


class Reason(msgspec.Struct, frozen=True):
    """Why one pod holds nodes back, or a node itself; `node` is the first of the drain."""

    node: str
    workload: str
    why: str
    fix: str = ""


def held_back(results: Sequence[Drain]) -> list[HeldBack]:
    """What holds nodes back, most nodes first.

    Args:
        results: of nodes that were drained alone.
    """
    explained = {
        (workload_of(pod), pod.message): pod for one in results for pod in one.of(Fate.PENDING) if pod.cause or pod.fix
    }
    every = [reason for one in results for reason in reasons_of(one, explained)]
    n_reasons = {node: len({(one.why, one.fix) for one in of}) for node, of in grouped(every, _node).items()}
    groups = grouped(every, lambda one: (one.why, one.fix))
    found = [_held(why, fix, reasons, n_reasons) for (why, fix), reasons in groups.items()]
    return sorted(found, key=lambda one: (-len(one.nodes), -len(one.alone)))


def _node(reason: Reason) -> str:
    return reason.node


def _held(why: str, fix: str, reasons: Iterable[Reason], n_reasons: dict[str, int]) -> HeldBack:
    nodes = tuple(dict.fromkeys(one.node for one in reasons))
    workloads = tuple(dict.fromkeys(one.workload for one in reasons if one.workload))
    return HeldBack(why, fix, workloads, nodes, tuple(node for node in nodes if n_reasons[node] == 1))


def reasons_of(result: Drain, explained: Mapping[tuple[str, str], DrainedPod] = _NONE) -> Iterator[Reason]:
    """Why the nodes of a drain could not go, pod by pod.

    Args:
        explained: workload and message -> a pod that was explained in another drain.
    """
    node = result.nodes[0]
    if result.faults:
        yield Reason(node, "", "a plugin failed")
        return
    budgets = {one.budget: one for one in result.budgets}
    for pod in result.pods:
        words, of = FATES[pod.fate].are if pod.fate in FATES else "", workload_of(pod)
        if pod.fate is Fate.PENDING:
            told = explained.get((of, pod.message), pod)
            yield Reason(node, of, f"{words}: {told.cause or told.message}".rstrip(": "), told.fix)
        elif pod.fate is Fate.BLOCKED:
            why = [f"{key} ({budgets[key].why})" if budgets[key].why else key for key in pod.budgets]
            yield Reason(node, of, f"{words}: budget {', '.join(why)}", budgets[pod.budgets[0]].fix)
        elif words:
            is_job = pod.fate is Fate.LOST and pod.owner.startswith("Job/")
            why_lost = f"{words}: {pod.message}" if pod.fate in _LOST or not pod.fate.is_known else words
            yield Reason(node, of, why_lost, f"wait until {of} is done" if is_job else "")
    for victim in result.pushed_out:
        yield Reason(node, workload_text(victim.pod, victim.owner), "evicts pods of other nodes")
    if result.unreachable:
        yield Reason(node, "", "is unreachable", "repair the machine")


def held_back_table(causes: Sequence[HeldBack]) -> Table:
    """A row for each."""
    columns = (
        Column("nodes", align=Align.NUMBER),
        Column("alone", "BY THIS ALONE", Align.NUMBER),
        Column("why", "WHAT HOLDS THEM BACK"),
        Column("workloads", "PODS OF"),
        Column("names", "NODES", Align.NODE),
    )
    rows: list[Row] = [
        [
            len(one.nodes),
            len(one.alone),
            Cell(with_fix(one.why, one.fix), level=Level.WARNING),
            listed(one.workloads, first=_N_NAMED),
            listed(one.nodes, first=_N_NAMED),
        ]
        for one in causes
    ]
    is_example = any(one.why.startswith(FATES[Fate.PENDING].are) and len(one.nodes) > 1 for one in causes)
    notes = ("Of pods that stay pending, the cause and the fix are those of the first node.",) if is_example else ()
    return Table("causes", "What holds nodes back", columns, rows, notes=notes)
