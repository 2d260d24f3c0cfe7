"""A comparison as a page: what differs beyond chance, every figure, the pods that move, the settings to paste."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kubesched.comparison import (
    MANY_RUNS,
    Comparison,
    Figure,
    FigureDifference,
    MoveCause,
    PendingPod,
    Spread,
    WorkloadSpread,
)
from kubesched.documents import count, listed, plural
from kubesched.pages.comparisons.comparison_document import as_document, as_lines, as_table
from kubesched.pages.comparisons.money import bill, cost_words, notes_on_prices, percent, pools_table
from kubesched.pages.comparisons.upgrade_tables import flips, rejected_configuration, starts, upgrade_tables
from kubesched.pages.formats import (
    Align,
    Cell,
    Check,
    Column,
    Level,
    Page,
    Paragraph,
    Table,
    grouped,
    limits,
    page_of,
    with_fix,
)
from kubesched.pages.simulations import device_table, fill_table, nodes_table

_RE_CREATED: Final = {
    "all": "once every pod has been re-created",
    "rollout": "once the selected pods have been re-created",
}
_N_REASONS: Final = 2
_N_IN_VERDICT: Final = 3
_N_MOVES: Final = 10
_N_MOVERS: Final = 10
_N_SPREADS: Final = 10
_FIGURES: Final = (
    Column("title", "FIGURE"),
    Column("a", align=Align.NUMBER),
    Column("b", align=Align.NUMBER),
    Column("change", align=Align.NUMBER),
    Column("chance", "DIFFERENCE"),
    Column("rangeA", "RUNS OF A", Align.NUMBER),
    Column("rangeB", "RUNS OF B", Align.NUMBER),
    Column("name", is_wide=True),
)
_PENDING: Final = (
    Column("pods", align=Align.NUMBER),
    Column("workload", "OF"),
    Column("nA", "RUNS OF A", Align.NUMBER),
    Column("nB", "RUNS OF B", Align.NUMBER),
    Column("names"),
    Column("why", "WHY, AND THE BEST FIX"),
)
_CAUSES: Final = (Column("pods", align=Align.NUMBER), Column("why", "WHY THE POD MOVES"))
_MOVERS: Final = (
    Column("pods", align=Align.NUMBER),
    Column("workload", "OF"),
    Column("from", "FROM NODES", Align.NUMBER),
    Column("to", "TO NODES", Align.NUMBER),
)
_MOVES: Final = (Column("pod"), Column("a", align=Align.NODE), Column("b", align=Align.NODE), Column("why"))
_SPREADS: Final = (
    Column("workload", "OF"),
    Column("skewA", "SKEW OF A", Align.NUMBER),
    Column("skewB", "SKEW OF B", Align.NUMBER),
    Column("onOneNode", "ON ONE NODE"),
)
_SIDES: Final = ("A", "B")
_SIDES_ON_ONE_NODE: Final = {(False, False): "", (True, False): "A", (False, True): "B", (True, True): "A and B"}
_NO_CHECKS: Final[Mapping[str, str]] = {}


@page_of.register
def comparison_page(comparison: Comparison, checks: Mapping[str, str] = _NO_CHECKS, *, next_command: str = "") -> Page:
    """Describe a comparison.

    Args:
        checks: condition -> why it fails, empty where it does not.
        next_command: what a reader would run next.
    """
    verdict, level = _verdict(comparison)
    failed = [Paragraph(f"Failed: {condition}; {why}", Level.BAD) for condition, why in checks.items() if why]
    rejected = [] if comparison.upgrade is None else [*starts(comparison.upgrade)]
    document = {**as_document(comparison), "checks": [_check(*one) for one in checks.items()]}
    return Page(
        "compare",
        Paragraph(verdict, level),
        (
            *failed,
            *_on_one_side(comparison.undecided),
            *([Paragraph(_sides(comparison))] if comparison.n_runs else []),
            Table(
                "figures",
                "Figures",
                _FIGURES,
                [_row(one) for one in comparison.differences],
                notes=_notes(comparison),
                folded_rows=frozenset(i for i, one in enumerate(comparison.differences) if not one.is_finding),
            ),
            pools_table(comparison),
            *_pending(comparison),
            *(upgrade_tables(comparison.upgrade) if comparison.upgrade is not None else ()),
            *_moved(comparison),
            _spread_table(comparison.spreads),
            *_nodes(comparison),
            *(_settings(comparison) if comparison.upgrade is None else ()),
        ),
        versions=comparison.versions,
        limits=_limits(comparison),
        next_command=next_command,
        document=document,
        lines=list(as_lines(comparison)),
        data=as_table(comparison),
        checks=[*rejected, *(Check("compare", condition, why) for condition, why in checks.items())],
        faults=[f"with {side}, {fault}" for side, fault in zip("AB", comparison.faults, strict=True) if fault],
        notes=[" ".join(one.failure.split()) for one in rejected],
    )


def _check(condition: str, why: str) -> dict[str, object]:
    return {"condition": condition, "failed": bool(why), "message": why}


# --- the verdict ---


def _verdict(comparison: Comparison) -> tuple[str, Level]:
    findings, notice = comparison.findings, comparison.upgrade
    a, b = (comparison.a, comparison.b) if notice is None else (notice.a, notice.b)
    if notice is not None and any(notice.rejected):
        return rejected_configuration(notice), Level.BAD
    if any(comparison.faults):
        failed = [f"with {side}, {fault}" for side, fault in zip("AB", comparison.faults, strict=True) if fault]
        return f"A plugin fails, so the figures do not show what it does when it works: {'. '.join(failed)}", Level.BAD
    if not findings:
        unserved, flipped = _unserved(comparison), flips(comparison)
        same = f"{b} differs from {a} in no figure beyond chance."
        if flipped:
            same = f"{b} instead of {a}: {flipped}. No figure differs beyond chance."
        level = Level.BAD if unserved else Level.WARNING if flipped else Level.PLAIN
        return f"{unserved}{same}{_staying(comparison)}", level
    shown = ", ".join(map(_in_words, _by_weight(findings)[:_N_IN_VERDICT]))
    more = len(findings) - _N_IN_VERDICT
    rest = f", and {count(more, 'more figure')}" if more > 0 else ""
    when = "" if comparison.choice.mode == "pending" else f"{_RE_CREATED[comparison.choice.mode]}, "
    levels = {_level(one) for one in findings} - {Level.PLAIN}
    level = levels.pop() if len(levels) == 1 else Level.WARNING
    outcome = " ".join([f"{b} instead of {a}: {when}{shown}{rest}.", *bill(comparison)])
    flipped = f" {flips(comparison)}." if flips(comparison) else ""
    return f"{_unserved(comparison)}{outcome}{flipped}{_staying(comparison)}", level


def _by_weight(findings: Sequence[FigureDifference]) -> Sequence[FigureDifference]:
    """With prices: the money, the nodes that it is for, and what becomes worse, before the rest."""
    names = [one.figure.name for one in findings]
    if "pricePerHour" not in names:
        return findings
    rank = {"pricePerHour": 0, "nodesInUse": 1, "nodesFree": 4}
    return sorted(findings, key=lambda one: rank.get(one.figure.name, 2 if _level(one) is Level.BAD else 3))


def _unserved(comparison: Comparison) -> str:
    """The pods that only one side has a profile for, as sentences; empty for none."""
    names = (comparison.a, comparison.b)
    each = ((name, one) for name, some in zip(names, comparison.unserved, strict=True) for one in some)
    texts = (f"With {name}, {count(one.n_pods, 'pod has', 'pods have')} no profile: {one.why}" for name, one in each)
    return "".join(f"{text}{'' if text.endswith('?') else '.'} " for text in texts)


def _staying(comparison: Comparison) -> str:
    """The running pods that neither side places again, and why, as sentences; empty for none."""
    if not (staying := comparison.staying):
        return ""
    whose = grouped(staying, lambda pod: staying[pod].rstrip("."))
    shown = [f"{listed(pods, first=2)}: {why}" for why, pods in whose.items()]
    more = f"; and {count(len(shown) - _N_REASONS, 'more reason')}" if len(shown) > _N_REASONS else ""
    n = len(set(comparison.not_placed[0]).intersection(comparison.not_placed[1]))
    running = count(n, "pod that runs", "pods that run")
    stay = plural(n, "It stays where it is", "They stay where they are")
    if n > len(staying):
        stay = f"{count(len(staying), 'of them stays where it is', 'of them stay where they are')}"
    if others := len(comparison.staying_with):
        stay += f", with {count(others, 'other replica')} of the same workloads"
    return f" Neither side places {running} now again: {'; '.join(shown[:_N_REASONS])}{more}. {stay}."


def _in_words(difference: FigureDifference) -> str:
    one = difference.figure
    a, b = _value(one, difference.a), _value(one, difference.b)
    if one.name == "moved":
        return f"{b} {one.title} (chance alone: {a})"
    if one.name == "pricePerHour":
        return cost_words(difference)
    more = percent(difference.a, difference.b) if one.name == "nodesInUse" else ""
    return f"{one.title} {a} -> {b}{f' ({more})' if more else ''}"


def _level(difference: FigureDifference) -> Level:
    better = difference.figure.better
    if not difference.is_finding or not better or difference.a == difference.b:
        return Level.PLAIN
    return Level.GOOD if (difference.b - difference.a) * better > 0 else Level.BAD


def _sides(comparison: Comparison) -> str:
    pods, wait = count(comparison.n_pods, "pod"), f"that {plural(comparison.n_pods, 'waits', 'wait')}"
    selected = f"{wait} or {plural(comparison.n_pods, 'is', 'are')} selected by {comparison.choice.selector}"
    which = {"pending": wait, "all": f"{wait} or would be re-created"}.get(comparison.choice.mode, selected)
    return (
        f"A: {comparison.a}. B: {comparison.b}. Both place the {pods} {which}, {comparison.n_runs} times each; "
        "ties between nodes are broken at random."
    )


# --- the figures ---


def _row(difference: FigureDifference) -> list[Cell | str]:
    one = difference.figure
    change = difference.b - difference.a
    sign = "+" if change > 0 else "-" if change < 0 else ""
    level = _level(difference)
    return [
        one.title,
        Cell(_value(one, difference.a), difference.a),
        Cell(_value(one, difference.b), difference.b),
        Cell(f"{sign}{_value(one, abs(change))}" if change else "", change, level),
        _words(difference),
        _range(one, difference.range_a),
        _range(one, difference.range_b),
        one.name,
    ]


def _words(difference: FigureDifference) -> Cell:
    if difference.is_finding:
        return Cell("real", level=_level(difference))
    return Cell("could be chance" if difference.a != difference.b else "", level=Level.DETAIL)


def _value(figure: Figure, value: float) -> str:
    return figure.unit.in_words(value)


def _range(figure: Figure, limits: tuple[float, float]) -> str:
    low, high = (_value(figure, value) for value in limits)
    return low if low == high else f"{low} to {high}"


def _notes(comparison: Comparison) -> tuple[str, ...]:
    few = "the ranges of the runs do not overlap"
    beyond = few if comparison.n_runs < MANY_RUNS else "the median of one side is outside the runs of the other"
    notes = [
        f"A and B are medians. A difference is real if {beyond}.",
        "The figure of A for pods on another node is what chance alone moves.",
        "Replicas that swap their nodes are not on another node.",
    ]
    notes += [
        f"The largest skew of {side} is that of {workload}."
        for side, workload in zip("AB", comparison.widest, strict=True)
        if workload
    ]
    for side, own, other in (("A", *comparison.not_placed), ("B", *reversed(comparison.not_placed))):
        if only := set(own).difference(other):
            run = count(len(only), "pod that runs", "pods that run")
            notes.append(f"{side} does not place {run} now again, so its figures are about fewer pods.")
    if lost := comparison.may_be_lost:
        pods, why = count(len(lost), "pod that is", "pods that are"), "because nothing may create a new one"
        notes.append(f"{pods} placed again may be lost if evicted, {why}: {listed(lost)}.")
    notes += [f"{side}: {why}." for side, why in zip("AB", comparison.outvoted, strict=True) if why]
    return (*notes, *_notes_on_undecided(comparison.undecided), *notes_on_prices(comparison))


def _on_one_side(undecided: tuple[str, str]) -> Iterator[Paragraph]:
    """A warning where the sides differ in what kubesched can decide: that alone makes their figures differ."""
    if undecided[0] == undecided[1]:
        return
    sides = [side for side, why in zip("AB", undecided, strict=True) if why]
    which = (
        f"some pods count as pending with {sides[0]}" if len(sides) == 1 else "A and B count different pods as pending"
    )
    yield Paragraph(f"Part of the difference is not real: {which} only because kubesched cannot decide.", Level.WARNING)


def _notes_on_undecided(undecided: tuple[str, str]) -> Iterator[str]:
    if undecided[0] == undecided[1]:
        yield from (f"Counted as pending on both sides, {why}." for why in undecided[:1] if why)
        return
    yield from (f"Counted as pending with {side}, {why}." for side, why in zip("AB", undecided, strict=True) if why)


# --- the pods ---


def _pending(comparison: Comparison) -> list[Table]:
    half, notice = comparison.n_runs / 2, comparison.upgrade
    a, b = _SIDES if notice is None else (notice.a, notice.b)
    new = [one for one in comparison.pending if one.n_b > half]
    gone = [one for one in comparison.pending if one.n_b <= half]
    return [
        _pending_table("newPending", f"Pending with {b}, not with {a}", new, comparison.n_runs, Level.BAD),
        _pending_table("noLongerPending", f"Pending with {a}, not with {b}", gone, comparison.n_runs, Level.GOOD),
    ]


def _pending_table(name: str, title: str, pods: Sequence[PendingPod], n_runs: int, level: Level) -> Table:
    """A row for each workload."""
    rows: list[list[Cell | str | int]] = [
        [
            Cell(f"{len(group):,}", len(group), level),
            workload,
            _runs([one.n_a for one in group], n_runs),
            _runs([one.n_b for one in group], n_runs),
            listed((one.pod.rpartition("/")[2] for one in group), first=2),
            _cause(group),
        ]
        for workload, group in grouped(pods, lambda pod: pod.workload).items()
    ]
    return Table(name, title, _PENDING, rows)


def _cause(pods: Sequence[PendingPod]) -> str:
    """Why the first pod of some that has a reason is pending, and the best fix."""
    first = next((one for one in pods if one.cause), pods[0])
    return with_fix(first.cause, first.fix)


def _runs(counts: Sequence[int], n_runs: int) -> str:
    low, high = min(counts), max(counts)
    return f"{low} of {n_runs}" if low == high else f"{low} to {high} of {n_runs}"


def _movers(comparison: Comparison) -> Table:
    """Who has to move from A to B, and how many nodes are drained for it."""
    groups = sorted(grouped(comparison.moves, lambda move: move.workload).items(), key=lambda one: -len(one[1]))
    rows: list[list[Cell | str | int]] = [
        [len(moves), of, len({move.a for move in moves}), len({move.b for move in moves})] for of, moves in groups
    ]
    left, n = len(rows) - _N_MOVERS, len(comparison.drained)
    notes = [f"{left:,} more workloads: -o json has all moves."] if left > 0 else []
    if n:
        empty = len(set(comparison.drained) & set(comparison.emptied))
        drains = f"Running pods leave {count(n, 'node')}, so {count(n, 'drain takes', 'drains take')} the cluster"
        notes.append(f"{drains} from A to B; {empty:,} of these nodes are empty then.")
    return Table("movers", "Who is on another node", _MOVERS, rows[:_N_MOVERS], notes=tuple(notes), is_folded=True)


def _moved(comparison: Comparison) -> list[Table]:
    moves = comparison.moves
    counts = Counter((move.cause, move.plugin) for move in moves)
    causes: list[list[Cell | str | int]] = [[n, _why(*cause)] for cause, n in counts.most_common()]
    first: list[list[Cell | str | int]] = [
        [move.pod, move.a, move.b, _why(move.cause, move.plugin, move.points)] for move in moves[:_N_MOVES]
    ]
    left = len(moves) - len(first)
    title = f"{count(len(moves), 'pod is', 'pods are')} on another node if ties go to the first node"
    by_workload = [Table("causes", title, _CAUSES, causes), _movers(comparison)]
    if comparison.upgrade is not None:  # which node a pod gets depends on ties and on the pods before it
        return by_workload
    return [
        *by_workload,
        Table(
            "moves",
            "",
            _MOVES,
            first,
            notes=(f"{left:,} more: -o jsonl prints all.",) if left > 0 else (),
            is_folded=True,
        ),
    ]


def _spread_table(spreads: Sequence[WorkloadSpread]) -> Table:
    """The workloads that are spread in another way; the first of them in the terminal."""
    rows: list[list[Cell | str | int]] = [
        [one.workload, _skew(one.a), _skew(one.b), _SIDES_ON_ONE_NODE[one.a.is_on_one_node, one.b.is_on_one_node]]
        for one in spreads
    ]
    left = len(rows) - _N_SPREADS
    notes = (f"{left:,} more: -o json has all.",) if left > 0 else ()
    title = f"Workloads over zones and nodes: {count(len(rows), 'differs', 'differ')}"
    return Table("spreads", title, _SPREADS, rows[:_N_SPREADS], notes=notes, is_folded=True)


def _skew(spread: Spread) -> Cell | str:
    return "" if spread.skew is None else Cell(f"{spread.skew:,.0f}", spread.skew)


def _nodes(comparison: Comparison) -> list[Table]:
    """How full the nodes are with each side: by pool or zone, and in wide formats node by node."""
    if not comparison.fills:
        return []
    fills = comparison.fills
    return [
        fill_table(fills, comparison.devices, _SIDES),
        device_table(comparison.devices, _SIDES),
        nodes_table(fills, _SIDES),
    ]


def _why(cause: MoveCause, plugin: str, points: int = 0) -> str:
    match cause:
        case MoveCause.SCORE:
            n = count(points, "point") if points else "points"
            return f"{plugin} shifts {n} in favour of B's node"
        case MoveCause.FILTER:
            if plugin == "NodeResourcesFit":
                return "no room is left on A's node when B gets to it"
            return f"{plugin or 'PreFilter'} rejects A's node when B gets to it"
        case MoveCause.OPENED:
            return f"{plugin or 'PreFilter'} of A rejects B's node"
        case _:
            return "both nodes have the same points"


# --- the settings, and what is left out ---


def _settings(comparison: Comparison) -> list[Paragraph]:
    """What to configure for B; the forms of other providers than the cluster's are only in wide formats."""
    texts = comparison.settings
    parts = [
        Paragraph(f"Settings of B ({comparison.b})", Level.HEADING, is_folded=True),
        Paragraph(texts.configuration.rstrip(), is_code=True, is_folded=True),
    ]
    for name, title, text in (
        ("eks", "Amazon EKS: KubeSchedulerConfig of the cluster", texts.eks),
        ("aks", "Azure Kubernetes Service: scheduler profile (preview)", texts.aks),
    ):
        is_wide = name not in comparison.providers
        if text:
            parts.append(Paragraph(title, Level.HEADING, is_wide=is_wide, is_folded=True))
            parts.append(Paragraph(text.rstrip(), is_wide=is_wide, is_code=True, is_folded=True))
        elif not is_wide:
            where = title.partition(":")[0]
            parts.append(
                Paragraph(
                    f"{where}: no form of these settings is known that it accepts.", Level.WARNING, is_folded=True
                )
            )
    return parts


def _limits(comparison: Comparison) -> tuple[str, ...]:
    skipped = (f"Extenders are not called: {', '.join(comparison.extenders)}.",) if comparison.extenders else ()
    moved = () if comparison.choice.mode == "pending" else ("Pods that are placed again keep their volumes.",)
    order = "Evicted pods do not come back. Pods are placed in the order of the snapshot, the highest priority first."
    return limits(comparison.taken_at, own=(order, *moved, *skipped))
