"""The page of `kubesched drain`: the verdict, where pods would go, who would not, what would be deleted for good."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from kubesched.controllers import HOURS_A_MONTH
from kubesched.documents import count, listed, plural
from kubesched.explanation import command_about
from kubesched.pages.formats import Level, Page, Paragraph, fields, limits, page_of, plain, with_fix, workload_checks
from kubesched.pages.plans.drain_parts import drain_parts, what_is_wrong
from kubesched.pages.plans.fate_words import FATES
from kubesched.pages.plans.fault_parts import fault_parts
from kubesched.pages.plans.runbook import bare_pods, drain_command, runbook, save_commands
from kubesched.planning import Drain, Fate, NodesCost
from kubesched.session import workload_text

BEFORE: Final = (
    "n_placed_before",
    "n_pending_before",
    "n_failed_before",
    "n_undecided_before",
    "n_foreign_before",
    "unplaced_before",
)
"""Fields of a drain about the pods that are pending in the snapshot."""


@page_of.register
def drain_page(result: Drain, *, explain: str = "", cluster: str = "", taken_at: datetime | None = None) -> Page:
    """The page.

    Args:
        explain: the command that explains a pod of the cluster afterwards, without the pod; empty for none.
        cluster: where the nodes are, such as the name of a file; empty where that is not known.
        taken_at: when the snapshot was taken; None where that is not known.
    """
    pending = result.of(Fate.PENDING)
    following = kubectl_drain(result) if result.can_go else " && ".join(save_commands(bare_pods(result)).values())
    if result.faults:
        following = ""
    elif pending and explain:
        following = command_about(explain and f"{explain} --pod", pending[0].pod)
    elif budget := next((one.budget for one in result.budgets if one.n_blocked), ""):
        namespace, _, name = budget.partition("/")
        following = command_about("kubectl describe poddisruptionbudget -n", namespace, name)
    outcomes = [(pod.pod, pod.owner, with_fix(what_is_wrong(pod), pod.fix)) for pod in result.pods]
    outcomes += [
        (one.pod, one.owner, f"it would be evicted from {one.node} for {one.preemptor}") for one in result.pushed_out
    ]
    return Page(
        "drain",
        Paragraph(_verdict(result), Level.GOOD if result.could_go else Level.BAD),
        (*fault_parts(result.faults), *cost_of(result), *placed_first(result), *drain_parts(result)),
        appendix=() if result.faults else runbook(result, cluster),
        versions=(result.version,),
        limits=limits(taken_at),
        next_command=following,
        document=_document(result),
        lines=[plain(pod) for pod in result.pods],
        main="pods",
        checks=workload_checks((workload_text(pod, owner), why, "") for pod, owner, why in outcomes),
        faults=result.faults,
    )


def cost_of(result: Drain) -> Iterator[Paragraph]:
    """What is saved without the nodes; nothing where prices are not asked for, or no node is drained."""
    if result.cost is None or not result.nodes:
        return
    n_unpriced = sum(result.cost.unpriced.values())
    n = len(result.nodes) - n_unpriced
    if n:
        who = result.nodes[0] if len(result.nodes) == 1 else f"The {count(n, 'node')}"
        cost = f"{month_words(result.cost)} a month ({result.cost.per_hour:,.2f} an hour)"
        deleted = plural(n, "it is", "they are")
        yield Paragraph(f"{who} {plural(n, 'costs', 'cost')} {cost} until {deleted} deleted.")
    if n_unpriced:
        types = listed(f"{name or 'no instance type'} ({m})" for name, m in result.cost.unpriced.items())
        yield Paragraph(f"Without a price: {types}.", Level.WARNING)


def month_words(cost: NodesCost) -> str:
    """The cost of a month."""
    return f"{cost.per_hour * HOURS_A_MONTH:,.0f}"


def placed_first(result: Drain, *, is_alone: bool = True) -> Iterator[Paragraph]:
    """The sentence about the pods that are pending in the snapshot; none where there are none.

    Args:
        is_alone: whether it is about this drain, and not about many.
    """
    placed, pending, failed = result.n_placed_before, result.n_pending_before, result.n_failed_before
    undecided, foreign = result.n_undecided_before, result.n_foreign_before
    if not (placed or pending or failed or undecided or foreign):
        return
    n_here = sum(pod.was_pending for pod in result.pods) if is_alone else 0
    where = result.nodes[0] if len(result.nodes) == 1 else "these nodes"
    here = f", {n_here:,} of them on {where}" if n_here else ""
    counts = f"{placed:,} would get a node{here}, {pending:,} would stay pending"
    counts += f", {failed:,} would fail (SchedulerError)" if failed else ""
    counts += f", {undecided:,} cannot be decided" if undecided else ""
    counts += f", {foreign:,} {plural(foreign, 'is', 'are')} of other schedulers" if foreign else ""
    if result.evicted_before and not is_alone:
        counts += f", {count(len(result.evicted_before), 'other pod')} would be evicted for them"
    yield Paragraph(f"Pending pods are placed first: {counts}.", Level.DETAIL)
    shown = {pod.pod for pod in result.pods} if is_alone else set[str]()
    if lost := [pod for pod in result.unplaced_before if pod not in shown]:
        them = f"{count(len(lost), 'pod')} that {plural(len(lost), 'runs', 'run')} now"
        text = f"Whatever is drained, {them} would be evicted for pending pods, and not run again"
        yield Paragraph(f"{text}: {listed(lost, first=4)}.", Level.WARNING)


def kubectl_drain(result: Drain) -> str:
    """The command that drains the nodes, with the flags that their pods need; empty if a name is not valid."""
    return drain_command(result.nodes, result.pods, is_silent=bool(result.never_ends_on))


def _verdict(result: Drain) -> str:
    who = result.nodes[0] if len(result.nodes) == 1 else count(len(result.nodes), "node")
    if result.faults:
        return f"A plugin failed, so it is not known whether {who} could be drained."
    if result.could_go is None:
        return f"It is not known whether {who} could be drained: {_outcome_of(result)}.{_still_pending(result)}"
    if result.can_go:
        return f"{who} could be drained: {_outcome_of(result)}.{_lost_data(result)}{_still_pending(result)}"
    return f"Draining {who} {_harm_of(result)}.{_still_pending(result)}"


def _harm_of(result: Drain) -> str:
    """Which harm is done; where the other pods would run is in the tables."""
    n = result.n_evicted
    bad = {words.would: fate for fate, words in FATES.items() if words.short and fate.is_known}
    harm = {words: n_so for words, fate in bad.items() if (n_so := result.counts[fate])}
    more = [f"{n_so:,} {FATES[fate].would}" for fate in FATES if not fate.is_known and (n_so := result.counts[fate])]
    pushed = f"{count(len(result.pushed_out), 'pod')} of other nodes"
    if not harm:
        return "; ".join([f"evicts {pushed} to make room", *more])
    if [*harm.values()] == [n]:
        whose = plural(len(result.nodes), "its", "their")
        breaks = f"breaks {f'{whose} only pod' if n == 1 else f'all {n:,} pods'}, which {next(iter(harm))}"
    else:
        said = ", ".join(f"{n_so:,} {words}" for words, n_so in harm.items())
        breaks = f"breaks {sum(harm.values()):,} of {count(n, 'pod')}: {said}"
    more += [f"{pushed} would be evicted to make room"] if result.pushed_out else []
    return "; ".join([breaks, *more])


def _outcome_of(result: Drain) -> str:
    """What would become of the pods that have to leave, and of those that make room for them."""
    n, counts = result.n_evicted, result.counts
    said = {words.would: counts[fate] for fate, words in FATES.items() if counts[fate]}
    steps = f", in {result.steps} steps" if result.can_go and result.steps > 1 else ""
    if not n:
        leaving = "no pod would have to move"
    elif len(said) == 1:
        whose = plural(len(result.nodes), "its", "their")
        leaving = f"{f'{whose} only pod' if n == 1 else f'all {n:,} pods'} {next(iter(said))}{steps}"
    else:
        leaving = f"of {count(n, 'pod')}, {', '.join(f'{count:,} {words}' for words, count in said.items())}"
    pushed = f"{count(len(result.pushed_out), 'pod')} of other nodes would be evicted to make room"
    return f"{leaving}{', but' if len(said) == 1 else ';'} {pushed}" if result.pushed_out else leaving


def _lost_data(result: Drain) -> str:
    """Whose data goes with the pods, as a sentence; empty for none."""
    n = sum(pod.has_local_data for pod in result.pods)
    return f" What is in emptyDir volumes of {count(n, 'pod')} would be lost." if n else ""


def _still_pending(result: Drain) -> str:
    """How many pods are pending before and after, as a sentence; empty for none."""
    pods = {pod.pod for pod in result.of(Fate.STILL_PENDING)} | {one.pod for one in result.evicted_again}
    return f" {count(len(pods), 'pod')} would stay pending, as before the drain." if pods else ""


def _document(result: Drain) -> dict[str, Any]:
    return {
        **fields(
            result, "nodes", "steps", "pods", "pushed_out", "budgets", "evicted_before", "evicted_again", "faults"
        ),
        **fields(result, "unreachable", "cordoned_before", "out_meanwhile", "n_waiting", "devices"),
        "canGo": result.could_go,
        **({"cost": plain(result.cost)} if result.cost is not None else {}),
        **fields(result, *BEFORE),
        "summary": {fate.value: n for fate, n in result.counts.items()},
    }
