"""The tables and sentences about one drain: what becomes of each pod, and how full the nodes are."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kubesched.api import is_extended_resource
from kubesched.documents import count, listed, plural
from kubesched.pages.formats import Align, Cell, Column, Level, Paragraph, Part, Row, Table, grouped, with_fix
from kubesched.pages.plans.fate_words import FATES
from kubesched.pages.simulations import device_table, fill_level, nodes_table, victims_table
from kubesched.planning import BudgetUse, Drain, DrainedPod, Fate
from kubesched.session import without_names, workload_text

NO_WAIT: Final = "--skip-wait-for-delete-timeout=60"
"""The flag of kubectl drain that does not wait for pods of unreachable nodes."""

_N_NAMED: Final = 4
_MAX_NODES: Final = 20
_HEADINGS: Final = {"cpu": "CPU", "memory": "MEMORY"}
_GROUP: Final = (Column("pods", align=Align.NUMBER), Column("workload", "OF"))
_BACK: Final = (Fate.MOVES, Fate.RETURNS, Fate.PENDING, Fate.NOT_KNOWN, Fate.FOREIGN)


def drain_parts(result: Drain) -> Iterator[Part]:
    """The tables and sentences about one drain."""
    yield victims_table("evictedBefore", "Would be evicted for pending pods before the drain", result.evicted_before)
    yield _moves(result.of(Fate.MOVES))
    yield _returns(result.of(Fate.RETURNS))
    yield _pending("pending", "Would stay pending", result.of(Fate.PENDING))
    yield _pending("notKnown", "Cannot be decided", result.of(Fate.NOT_KNOWN))
    yield _pending("otherSchedulers", "Of other schedulers", result.of(Fate.FOREIGN))
    yield _held_up(result.budgets)
    yield _interrupted(result)
    yield _hanging(result.of(Fate.HANGS))
    yield from _unreachable(result)
    yield _losses(result)
    yield _doubtful(result.of(Fate.MAY_BE_LOST))
    yield victims_table("pushedOut", "Would be evicted from other nodes to make room", result.pushed_out)
    yield _pending("stillPending", "Would stay pending, as before the drain", result.of(Fate.STILL_PENDING))
    yield victims_table("evictedAgain", "Would be placed before the drain, and evicted again", result.evicted_again)
    if left_out := _left_out(result):
        yield Paragraph(left_out)
    yield _changed(result)
    yield _pods(result)
    yield device_table(result.devices)
    yield nodes_table(result.fills)


def workload_of(pod: DrainedPod) -> str:
    """What pods are grouped by: their workload, or the pod itself."""
    return workload_text(pod.pod, pod.owner)


# --- pods ---


def _moves(pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("to", align=Align.NODE), Column("step"))
    rows: list[Row] = []
    for of, group in grouped(pods, workload_of).items():
        steps = sorted({pod.step for pod in group if pod.step})
        shown = " to ".join(dict.fromkeys(map(str, (*steps[:1], *steps[-1:])))) or "-"
        mark = Cell(f"+ {of}", level=Level.GOOD)
        rows.append([len(group), mark, listed(dict.fromkeys(pod.to for pod in group), _N_NAMED), shown])
    return Table("moves", f"Would run elsewhere: {len(pods):,}", columns, rows)


def _returns(pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("to", align=Align.NODE))
    rows: list[Row] = [
        [len(group), Cell(of, level=Level.WARNING), listed(dict.fromkeys(pod.to for pod in group), _N_NAMED)]
        for of, group in grouped(pods, workload_of).items()
    ]
    notes = ("Their new pods tolerate the cordon, so the scheduler may place them there again.",) if rows else ()
    return Table("returns", f"Would come back to a drained node: {len(pods):,}", columns, rows, notes=notes)


def _pending(name: str, title: str, pods: Sequence[DrainedPod]) -> Table:
    has_fixes = any(pod.fix for pod in pods)
    why = Column("why", "WHY, AND THE BEST FIX") if has_fixes else Column("why")
    columns = (*_GROUP, why, *([Column("message", is_wide=True)] if has_fixes else ()))
    rows: list[Row] = []
    for group in grouped(pods, _by_message).values():
        first = group[0]
        reason = with_fix(first.cause or first.message, first.fix)
        row: Row = [len(group), Cell(workload_of(first), level=Level.WARNING), reason, first.message]
        rows.append(row[: len(columns)])
    return Table(name, f"{title}: {len(pods):,}", columns, rows)


def _hanging(pods: Sequence[DrainedPod]) -> Table:
    table = _pending("hangs", "Would stay Terminating", pods)
    advice = "The taint has the cluster delete them; if the machine still runs, a second pod may write the same data."
    return msgspec.structs.replace(table, notes=(advice,) if pods else ())


def _unreachable(result: Drain) -> Iterator[Paragraph]:
    waits = result.never_ends_on
    empty = [node for node in result.unreachable if node not in waits]
    flag = NO_WAIT.partition("=")[0]
    for nodes, why in (
        (waits, f"no kubelet confirms deletions, so kubectl drain does not end without {flag}"),
        (empty, "kubectl drain waits for no pod there; repair it, or make sure that it is off before it is deleted"),
    ):
        if nodes:
            are = f"{listed(nodes, _N_NAMED)} {plural(len(nodes), 'is', 'are')} unreachable"
            yield Paragraph(f"{are}: {why}.", Level.WARNING)


def _held_up(budgets: Iterable[BudgetUse]) -> Table:
    columns = (
        Column("budget"),
        Column("pods", align=Align.NUMBER),
        Column("allowed", "ALLOWED NOW", Align.NUMBER),
        Column("outcome"),
    )
    rows: list[Row] = []
    for one in budgets:
        if one.n_blocked or one.steps > 1:
            level = Level.BAD if one.n_blocked else Level.WARNING
            outcome = Cell(_held(one), level=level)
            rows.append([one.budget, one.n_pods, one.allowed, outcome])
    notes = ("A step begins when the new pods of the step before it are ready.",) if rows else ()
    return Table("budgets", "Held up by disruption budgets", columns, rows, notes=notes)


def _held(budget: BudgetUse) -> str:
    if not budget.n_blocked:
        return f"allows the evictions in {budget.steps} steps"
    blocks = f"blocks {count(budget.n_blocked, 'pod')}"
    if budget.allowed > 0 and not budget.why:
        first = plural(budget.allowed, "the one evicted first finds", "those evicted first find")
        return f"{blocks}: {first} no node"
    return f"{blocks}: {budget.why}; {budget.fix}" if budget.why else f"{blocks}: it allows no eviction"


def by_interruption(result: Drain) -> dict[str, list[str]]:
    """What a drain does to workloads whose new pods find a place -> the workloads."""
    leaving = [pod for pod in result.pods if pod.step]
    jobs = dict.fromkeys(workload_of(pod) for pod in leaving if pod.owner.startswith("Job/") and pod.fate in _BACK)
    out = [of for of in result.out_meanwhile if of not in jobs]
    kept = grouped((pod for pod in leaving if pod.keeps_off), lambda pod: pod.keeps_off)
    said = {f"asks not to be evicted ({text})": [*dict.fromkeys(map(workload_of, of))] for text, of in kept.items()}
    every = {"is out until a new pod is ready": out, "starts over": [*jobs], **said}
    return {what: workloads for what, workloads in every.items() if workloads}


def _interrupted(result: Drain) -> Table:
    """The workloads that do not run for a while, such as single replicas, start over, or ask not to be evicted."""
    counts = Counter(map(workload_of, result.pods))
    what: dict[str, list[str]] = {}
    for words, workloads in by_interruption(result).items():
        for of in workloads:
            what.setdefault(of, []).append(words)
    rows: list[Row] = [[counts[of], Cell(of, level=Level.WARNING), "; ".join(words)] for of, words in what.items()]
    return Table("interrupted", "Would be interrupted", (*_GROUP, Column("what")), rows)


def _losses(result: Drain) -> Table:
    columns = (*_GROUP, Column("what"), Column("flag", "FLAG OF KUBECTL DRAIN"))
    rows: list[Row] = [
        [1, pod.pod, Cell(f"the pod: {pod.message}", level=Level.BAD), "" if pod.owner else "--force"]
        for pod in result.of(Fate.LOST)
    ]
    with_data = [pod for pod in result.pods if pod.has_local_data and pod.fate is not Fate.BLOCKED]
    if with_data:
        names = listed(dict.fromkeys(map(workload_of, with_data)), _N_NAMED)
        rows.append([len(with_data), names, "data in emptyDir volumes", "--delete-emptydir-data"])
    return Table("losses", "Would be lost, because nothing re-creates it", columns, rows)


def _doubtful(pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("why"), Column("to", "A NEW POD WOULD RUN ON", Align.NODE))
    rows: list[Row] = [
        [
            len(group),
            Cell(workload_of(group[0]), level=Level.BAD),
            group[0].message,
            listed(_new_nodes(group), _N_NAMED) or "-",
        ]
        for group in grouped(pods, _by_message).values()
    ]
    notes = ("If its controller creates no new pod, the pod is lost.",) if rows else ()
    return Table("mayBeLost", f"May be lost: {len(pods):,}", columns, rows, notes=notes)


def _by_message(pod: DrainedPod) -> str:
    return f"{workload_of(pod)} {without_names(pod.message, pod.pod)}"


def _new_nodes(pods: Iterable[DrainedPod]) -> Iterable[str]:
    return dict.fromkeys(pod.to for pod in pods if pod.to)


def _left_out(result: Drain) -> str:
    staying, gone = result.of(Fate.STAYS), result.of(Fate.GONE)
    daemons = sum(pod.message == "DaemonSet" for pod in staying)
    parts = [
        (daemons, "would stay, because a DaemonSet runs it there", "would stay, because DaemonSets run them there"),
        (len(staying) - daemons, "is static and would stay", "are static and would stay"),
        (sum(pod.message == "finished" for pod in gone), "has finished", "have finished"),
        (sum(pod.message != "finished" for pod in gone), "is being deleted already", "are being deleted already"),
    ]
    return " ".join(f"{count(n, 'pod')} {plural(n, one, many)}." for n, one, many in parts if n)


def _pods(result: Drain) -> Table:
    """One row for each pod: what CSV has."""
    columns = (
        Column("pod"),
        Column("owner", "OF"),
        Column("node", align=Align.NODE),
        Column("fate"),
        Column("to", align=Align.NODE),
        Column("step", align=Align.NUMBER),
        Column("why"),
        Column("fix"),
        Column("wasPending", "WAS PENDING"),
    )
    rows: list[Row] = []
    for pod in result.pods:
        fate = Cell(pod.fate.value, level=FATES[pod.fate].level if pod.fate in FATES else Level.PLAIN)
        why, was_pending = what_is_wrong(pod) or pod.cause or pod.message, "yes" if pod.was_pending else ""
        rows.append([pod.pod, pod.owner, pod.node, fate, pod.to, pod.step, why, pod.fix, was_pending])
    return Table("pods", "Every pod", columns, rows, is_wide=True)


def what_is_wrong(pod: DrainedPod) -> str:
    """What is wrong with the fate of a pod; empty where nothing is."""
    if pod.fate is Fate.BLOCKED:
        return f"disruption budget {', '.join(pod.budgets)}"
    if pod.fate in (Fate.HANGS, Fate.LOST, Fate.MAY_BE_LOST):
        return pod.message
    if pod.fate is Fate.RETURNS:
        return "its new pod tolerates the cordon, and comes back"
    if not pod.fate.is_known:
        return pod.message
    return (pod.cause or pod.message or "it would stay pending") if pod.fate is Fate.PENDING else ""


# --- nodes ---


def _changed(result: Drain) -> Table:
    """The drained nodes, and those that get most."""
    before, after = result.before, result.after
    others = [name for name in before.node_names if name not in result.nodes]
    gained = {name: after.held(name)["pods"] - before.held(name)["pods"] for name in others}
    changed = sorted((name for name in others if before.held(name) != after.held(name)), key=lambda name: -gained[name])
    names = [*result.nodes, *changed][:_MAX_NODES]
    shown = ["cpu", "memory", *_devices(result, names)]
    columns = (
        Column("node", align=Align.NODE),
        Column("pods"),
        *(Column(key, _HEADINGS.get(key, key)) for key in shown),
    )
    rows: list[Row] = []
    for name in names:
        offered, held, then = after.allocatable(name), before.held(name), after.held(name)
        n_before, n_after = held["pods"], then["pods"]
        pods = str(n_before) if n_before == n_after else f"{n_before} -> {n_after}"
        rows.append([name, pods, *(_share(offered.get(key, 0), held.get(key, 0), then.get(key, 0)) for key in shown)])
    n_hidden = len(result.nodes) + len(changed) - len(rows)
    notes = (f"{count(n_hidden, 'more node')} would change.",) if n_hidden else ()
    return Table("changed", "Nodes: requested of allocatable, before and after", columns, rows, notes=notes)


def _devices(result: Drain, nodes: Iterable[str]) -> list[str]:
    """The extended resources, such as GPUs, that pods hold on some nodes before or after."""
    fills = (fill.held(node) for node in nodes for fill in (result.before, result.after))
    return sorted({name for held in fills for name, n in held.items() if n and is_extended_resource(name)})


def _share(offered: int, before: int, after: int) -> Cell:
    if offered <= 0:
        return Cell("-")
    first, then = before / offered, after / offered
    text = f"{first:.0%}" if f"{first:.0%}" == f"{then:.0%}" else f"{first:.0%} -> {then:.0%}"
    return Cell(text, round(then, 4), fill_level(then), bar=(first, then))
