"""The page of `kubesched drain`: the verdict, where pods would go, who would not, what would be deleted for good."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from kubesched.planning.drain_result import BudgetUse, Drain, DrainedPod, Fate
from kubesched.planning.plugin_faults import fault_parts
from kubesched.reports import (
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
    command_about,
    limits,
    page_of,
)
from kubesched.simulator import Victim, fill_level, nodes_table, victims_table, workload_text

__all__ = ["drain_page", "drain_parts", "kubectl_drain", "placed_first", "workload_of"]

_NO_WAIT: Final = "--skip-wait-for-delete-timeout=60"
_MAX_LISTED: Final = 4
_MAX_NODES: Final = 20
_MAX_SAVED: Final = 10
_GROUP: Final = (Column("pods", "PODS", Align.NUMBER), Column("of", "OF"))
_OUTCOMES: Final = {
    Fate.MOVES: "would run elsewhere",
    Fate.RETURNS: "would come back",
    Fate.PENDING: "would stay pending",
    Fate.NOT_KNOWN: "cannot be decided",
    Fate.BLOCKED: "would never be evicted",
    Fate.HANGS: "would hang",
    Fate.LOST: "would be lost",
    Fate.MAY_BE_LOST: "may be lost",
}
_LEVELS: Final = {
    Fate.MOVES: Level.GOOD,
    Fate.RETURNS: Level.WARNING,
    Fate.PENDING: Level.WARNING,
    Fate.NOT_KNOWN: Level.WARNING,
    Fate.BLOCKED: Level.WARNING,
    Fate.HANGS: Level.BAD,
    Fate.LOST: Level.BAD,
    Fate.MAY_BE_LOST: Level.BAD,
}


@page_of.register
def drain_page(result: Drain, *, explain: str = "", taken_at: datetime | None = None) -> Page:
    """The page.

    Args:
        explain: the command that explains a pod of the cluster afterwards, without the pod; empty for none.
        taken_at: when the snapshot was taken; None where that is not known.
    """
    pending = result.of(Fate.PENDING)
    following = kubectl_drain(result) if result.can_go else _save_lost(result)
    if result.faults:
        following = ""
    elif pending and explain:
        following = command_about(explain, pending[0].pod, option="--pod")
    elif budget := next((one.budget for one in result.budgets if one.n_blocked), ""):
        namespace, _, name = budget.partition("/")
        following = command_about("kubectl describe poddisruptionbudget -n", namespace, name)
    return Page(
        "drain",
        Paragraph(_verdict(result), Level.GOOD if result.could_go else Level.BAD),
        (*fault_parts(result.faults), *placed_first(result), *drain_parts(result)),
        limits=limits(taken_at),
        next_command=following,
        document=_document(result),
        lines=[_plain(pod) for pod in result.pods],
        main="pods",
        checks=[*(Check(*_key(pod), _why(pod)) for pod in result.pods), *map(_check, result.pushed_out)],
        faults=result.faults,
    )


def _check(one: Victim) -> Check:
    return Check(*_key(one), f"it would be evicted from {one.node} for {one.preemptor}")


def placed_first(result: Drain, *, is_alone: bool = True) -> Iterator[Paragraph]:
    """The sentence about the pods that are pending in the snapshot; none where there are none.

    Args:
        is_alone: whether it is about this drain, and not about many.
    """
    placed, pending, failed = result.n_placed_before, result.n_pending_before, result.n_failed_before
    undecided = result.n_undecided_before
    if not placed and not pending and not failed and not undecided:
        return
    n_here = sum(pod.was_pending for pod in result.pods) if is_alone else 0
    where = result.nodes[0] if len(result.nodes) == 1 else "these nodes"
    here = f", {n_here:,} of them on {where}" if n_here else ""
    counts = f"{placed:,} would get a node{here}, {pending:,} would stay pending"
    counts += f", {failed:,} would fail (SchedulerError)" if failed else ""
    counts += f", {undecided:,} cannot be decided" if undecided else ""
    if result.evicted_before and not is_alone:
        counts += f", {_count(len(result.evicted_before), 'other pod')} would be evicted for them"
    yield Paragraph(f"Pending pods are placed first: {counts}.", Level.DETAIL)
    shown = {pod.pod for pod in result.pods} if is_alone else set[str]()
    if lost := [pod for pod in result.unplaced_before if pod not in shown]:
        them = f"{_count(len(lost), 'pod')} that {'runs' if len(lost) == 1 else 'run'} now"
        text = f"Whatever is drained, {them} would be evicted for pending pods, and not run again: {_listed(lost)}."
        yield Paragraph(text, Level.WARNING)


def drain_parts(result: Drain) -> Iterator[Part]:
    """The tables and sentences about one drain."""
    yield victims_table("evictedBefore", "Would be evicted for pending pods before the drain", result.evicted_before)
    yield _moves(result.of(Fate.MOVES))
    yield _returns(result.of(Fate.RETURNS))
    yield _pending("pending", "Would stay pending", result.of(Fate.PENDING))
    yield _pending("notKnown", "Cannot be decided", result.of(Fate.NOT_KNOWN))
    yield _held_up(result.budgets, result.of(Fate.BLOCKED))
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
    yield nodes_table(result.fills)


def kubectl_drain(result: Drain) -> str:
    """The command that drains the nodes, with the flags that their pods need; empty if a name is not valid."""
    pods = result.pods
    flags = {
        "--ignore-daemonsets": any(pod.message == "DaemonSet" for pod in pods),
        "--delete-emptydir-data": any(pod.has_local_data for pod in pods),
        _NO_WAIT: bool(result.unreachable),
    }
    command = command_about("kubectl drain", *result.nodes)
    return " ".join([command, *(flag for flag, is_needed in flags.items() if is_needed)]) if command else ""


def _save_lost(result: Drain) -> str:
    """The command that saves the pods that no controller would create again; empty where there are too many."""
    names: dict[str, list[str]] = {}
    lost = [pod for pod in result.of(Fate.LOST) if not pod.owner]
    for pod in lost:
        namespace, name = _key(pod)
        names.setdefault(namespace, []).append(name)
    if len(lost) > _MAX_SAVED:
        return ""
    commands = {space: command_about("kubectl get pod -n", space, *of) for space, of in names.items()}
    if not all(commands.values()):
        return ""
    return " && ".join(f"{command} -o yaml > lost-{space}.yaml" for space, command in commands.items())


def workload_of(pod: DrainedPod) -> str:
    """What pods are grouped by: their workload, or the pod itself."""
    return workload_text(pod.pod, pod.owner)


def _verdict(result: Drain) -> str:
    who = result.nodes[0] if len(result.nodes) == 1 else f"{len(result.nodes):,} nodes"
    if result.faults:
        return f"A plugin failed, so it is not known whether {who} could be drained."
    if result.could_go is None:
        return f"It is not known whether {who} could be drained: {_outcome_of(result)}.{_still_pending(result)}"
    could = f"{who} could be drained" if result.can_go else f"{who} could not be drained without harm"
    return f"{could}: {_outcome_of(result)}.{_still_pending(result)}"


def _outcome_of(result: Drain) -> str:
    """What would become of the pods that have to leave, and of those that make room for them."""
    n, counts = result.n_evicted, result.counts
    said = {words: counts[fate] for fate, words in _OUTCOMES.items() if counts[fate]}
    steps = f", in {result.steps} steps" if result.can_go and result.steps > 1 else ""
    if not n:
        leaving = "no pod would have to move"
    elif len(said) == 1:
        whose = "its" if len(result.nodes) == 1 else "their"
        leaving = f"{f'{whose} only pod' if n == 1 else f'all {n:,} pods'} {next(iter(said))}{steps}"
    else:
        leaving = f"of {_count(n, 'pod')}, {', '.join(f'{count:,} {words}' for words, count in said.items())}"
    pushed = f"{_count(len(result.pushed_out), 'pod')} of other nodes would be evicted to make room"
    return f"{leaving}{', but' if len(said) == 1 else ';'} {pushed}" if result.pushed_out else leaving


def _still_pending(result: Drain) -> str:
    """How many pods are pending before and after, as a sentence; empty for none."""
    pods = {pod.pod for pod in result.of(Fate.STILL_PENDING)} | {one.pod for one in result.evicted_again}
    return f" {_count(len(pods), 'pod')} would stay pending, as before the drain." if pods else ""


# --- pods ---


def _moves(pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("to", "TO", Align.NODE), Column("step", "STEP"))
    rows: list[Row] = []
    for of, group in _grouped(pods, workload_of).items():
        steps = sorted({pod.step for pod in group if pod.step})
        shown = " to ".join(dict.fromkeys(map(str, (*steps[:1], *steps[-1:])))) or "-"
        mark = Cell(f"+ {of}", level=Level.GOOD)
        rows.append([len(group), mark, _listed(dict.fromkeys(pod.to for pod in group)), shown])
    return Table("moves", f"Would run elsewhere: {len(pods):,}", columns, rows)


def _returns(pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("to", "TO", Align.NODE))
    rows: list[Row] = [
        [len(group), Cell(of, level=Level.WARNING), _listed(dict.fromkeys(pod.to for pod in group))]
        for of, group in _grouped(pods, workload_of).items()
    ]
    notes = ("Their new pods tolerate the cordon, so the scheduler may place them there again.",) if rows else ()
    return Table("returns", f"Would come back to a drained node: {len(pods):,}", columns, rows, notes=notes)


def _pending(name: str, title: str, pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("why", "WHY"))
    rows: list[Row] = [
        [len(group), Cell(workload_of(group[0]), level=Level.WARNING), group[0].message]
        for group in _grouped(pods, lambda pod: f"{workload_of(pod)} {pod.message}").values()
    ]
    return Table(name, f"{title}: {len(pods):,}", columns, rows)


def _hanging(pods: Sequence[DrainedPod]) -> Table:
    table = _pending("hangs", "Would stay Terminating", pods)
    advice = (
        "If the machine is off, the taint node.kubernetes.io/out-of-service=nodeshutdown:NoExecute has the cluster "
        "delete them; if it still runs, a second pod with the same data may start."
    )
    return msgspec.structs.replace(table, notes=(advice,) if pods else ())


def _unreachable(result: Drain) -> Iterator[Paragraph]:
    if nodes := result.unreachable:
        are = f"{_listed(nodes)} {'is' if len(nodes) == 1 else 'are'} unreachable"
        flag = _NO_WAIT.partition("=")[0]
        text = f"{are}: no kubelet confirms deletions, so kubectl drain does not end without {flag}."
        yield Paragraph(text, Level.WARNING)


def _held_up(budgets: Iterable[BudgetUse], blocked: Sequence[DrainedPod]) -> Table:
    columns = (
        Column("budget", "BUDGET"),
        Column("pods", "PODS", Align.NUMBER),
        Column("allowed", "ALLOWED NOW", Align.NUMBER),
        Column("outcome", "OUTCOME"),
    )
    several = {key for pod in blocked if len(pod.budgets) > 1 for key in pod.budgets}
    rows: list[Row] = []
    for one in budgets:
        if one.n_blocked or one.steps > 1:
            level = Level.BAD if one.n_blocked else Level.WARNING
            outcome = Cell(_held(one, is_shared=one.budget in several), level=level)
            rows.append([one.budget, one.n_pods, one.allowed, outcome])
    notes = ("A step begins when the new pods of the step before it are ready.",) if rows else ()
    return Table("budgets", "Held up by disruption budgets", columns, rows, notes=notes)


def _held(budget: BudgetUse, *, is_shared: bool) -> str:
    if not budget.n_blocked:
        return f"allows the evictions in {budget.steps} steps"
    blocks = f"blocks {_count(budget.n_blocked, 'pod')}"
    if is_shared:
        return f"{blocks}: kubectl cannot evict a pod that several budgets select"
    if budget.allowed > 0:
        return f"{blocks}: those evicted before do not become ready"
    return f"{blocks}: it allows no eviction"


def _losses(result: Drain) -> Table:
    columns = (*_GROUP, Column("what", "WHAT"), Column("flag", "FLAG OF KUBECTL DRAIN"))
    rows: list[Row] = [
        [1, pod.pod, Cell(f"the pod: {pod.message}", level=Level.BAD), "" if pod.owner else "--force"]
        for pod in result.of(Fate.LOST)
    ]
    with_data = [pod for pod in result.pods if pod.has_local_data and pod.fate is not Fate.BLOCKED]
    if with_data:
        names = _listed(dict.fromkeys(map(workload_of, with_data)))
        rows.append([len(with_data), names, "data in emptyDir volumes", "--delete-emptydir-data"])
    return Table("losses", "Would be deleted for good", columns, rows)


def _doubtful(pods: Sequence[DrainedPod]) -> Table:
    columns = (*_GROUP, Column("why", "WHY"), Column("to", "A NEW POD WOULD RUN ON", Align.NODE))
    rows: list[Row] = [
        [len(group), Cell(workload_of(group[0]), level=Level.BAD), group[0].message, _listed(_new_nodes(group)) or "-"]
        for group in _grouped(pods, lambda pod: f"{workload_of(pod)} {pod.message}").values()
    ]
    notes = ("If its controller creates no new pod, the pod is lost.",) if rows else ()
    return Table("mayBeLost", f"May be lost: {len(pods):,}", columns, rows, notes=notes)


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
    return " ".join(f"{_count(n, 'pod')} {one if n == 1 else many}." for n, one, many in parts if n)


def _pods(result: Drain) -> Table:
    """One row for each pod: what CSV has."""
    columns = (
        Column("pod", "POD"),
        Column("owner", "OF"),
        Column("node", "NODE", Align.NODE),
        Column("fate", "FATE"),
        Column("to", "TO", Align.NODE),
        Column("step", "STEP", Align.NUMBER),
        Column("why", "WHY"),
        Column("wasPending", "WAS PENDING"),
    )
    rows: list[Row] = []
    for pod in result.pods:
        fate = Cell(pod.fate.value, level=_LEVELS.get(pod.fate, Level.PLAIN))
        why, was_pending = _why(pod) or pod.message, "yes" if pod.was_pending else ""
        rows.append([pod.pod, pod.owner, pod.node, fate, pod.to, pod.step, why, was_pending])
    return Table("pods", "Every pod", columns, rows, is_wide=True)


def _why(pod: DrainedPod) -> str:
    """What is wrong with the fate of a pod; empty where nothing is."""
    if pod.fate is Fate.BLOCKED:
        return f"disruption budget {', '.join(pod.budgets)}"
    if pod.fate in (Fate.HANGS, Fate.LOST, Fate.MAY_BE_LOST):
        return pod.message
    if pod.fate is Fate.RETURNS:
        return "its new pod tolerates the cordon, and comes back"
    if pod.fate is Fate.NOT_KNOWN:
        return pod.message
    return (pod.message or "it would stay pending") if pod.fate is Fate.PENDING else ""


# --- nodes ---


def _changed(result: Drain) -> Table:
    """The drained nodes, and those that get most."""
    columns = (
        Column("node", "NODE", Align.NODE),
        Column("pods", "PODS"),
        Column("cpu", "CPU"),
        Column("memory", "MEMORY"),
    )
    before, after = result.before, result.after
    others = [name for name in before.node_names if name not in result.nodes]
    gained = {name: after.held(name)["pods"] - before.held(name)["pods"] for name in others}
    changed = sorted((name for name in others if before.held(name) != after.held(name)), key=lambda name: -gained[name])
    rows: list[Row] = []
    for name in [*result.nodes, *changed][:_MAX_NODES]:
        offered, held, then = after.allocatable(name), before.held(name), after.held(name)
        n_before, n_after = held["pods"], then["pods"]
        pods = str(n_before) if n_before == n_after else f"{n_before} -> {n_after}"
        shares = (_share(offered.get(key, 0), held.get(key, 0), then.get(key, 0)) for key in ("cpu", "memory"))
        rows.append([name, pods, *shares])
    n_hidden = len(result.nodes) + len(changed) - len(rows)
    notes = (f"{_count(n_hidden, 'more node')} would change.",) if n_hidden else ()
    return Table("changed", "Nodes: requested of allocatable, before and after", columns, rows, notes=notes)


def _share(offered: int, before: int, after: int) -> Cell:
    if offered <= 0:
        return Cell("-")
    first, then = before / offered, after / offered
    text = f"{first:.0%}" if f"{first:.0%}" == f"{then:.0%}" else f"{first:.0%} -> {then:.0%}"
    return Cell(text, round(then, 4), fill_level(then), bar=(first, then))


# --- words and documents ---


def _grouped(pods: Iterable[DrainedPod], key: Callable[[DrainedPod], str]) -> dict[str, list[DrainedPod]]:
    """By a key, in order of first appearance."""
    groups: dict[str, list[DrainedPod]] = {}
    for pod in pods:
        groups.setdefault(key(pod), []).append(pod)
    return groups


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    if len(known) <= _MAX_LISTED + 1:
        return ", ".join(known)
    return f"{', '.join(known[:_MAX_LISTED])} and {len(known) - _MAX_LISTED} more"


def _count(n: int, thing: str) -> str:
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def _key(pod: DrainedPod | Victim) -> tuple[str, str]:
    namespace, _, name = pod.pod.partition("/")
    return namespace, name


def _document(result: Drain) -> dict[str, Any]:
    return {
        "nodes": list(result.nodes),
        "canGo": result.could_go,
        "steps": result.steps,
        "pods": [_plain(pod) for pod in result.pods],
        "pushedOut": [_plain(one) for one in result.pushed_out],
        "budgets": [_plain(one) for one in result.budgets],
        "evictedBefore": [_plain(one) for one in result.evicted_before],
        "evictedAgain": [_plain(one) for one in result.evicted_again],
        "unreachable": list(result.unreachable),
        "unplacedBefore": list(result.unplaced_before),
        "placedBefore": result.n_placed_before,
        "pendingBefore": result.n_pending_before,
        "failedBefore": result.n_failed_before,
        "undecidedBefore": result.n_undecided_before,
        "faults": list(result.faults),
        "summary": {fate.value: n for fate, n in result.counts.items()},
    }


def _plain(value: object) -> Any:
    """Mappings, lists, texts and numbers."""
    return msgspec.json.decode(msgspec.json.encode(value))
