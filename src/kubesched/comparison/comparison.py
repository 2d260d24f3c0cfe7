"""Compares two configurations on one cluster: the figures of both, how far chance moves them, and which pods move."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np

from kubesched.api import KubeObject, Pod, completed, objects_of
from kubesched.comparison.candidates import Candidate, ReadCandidate
from kubesched.comparison.figures import FIGURES, Figure
from kubesched.comparison.measure import Ruler, Spread
from kubesched.comparison.moves import PodMove, find_moves
from kubesched.comparison.placed_again import PodChoice, may_be_lost, parse_pod_choice, placed_again
from kubesched.comparison.pool_use import PoolChange, change_of_all, pool_changes
from kubesched.comparison.replicas import find_moved
from kubesched.comparison.runs import Run, Runs
from kubesched.comparison.settings import Settings, providers, settings
from kubesched.config import effective
from kubesched.controllers import Prices
from kubesched.documents import count
from kubesched.errors import InputError
from kubesched.review import review_of, scoring_advice
from kubesched.session import (
    DeviceFill,
    NodeFill,
    Placement,
    PodState,
    Progress,
    Report,
    device_fills,
    fills_frame,
    node_fills,
)
from kubesched.setup import ConfigurationLike, PluginTimes, find_plugins
from kubesched.shown import Shown, data_frame, frame_of_pods

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_RUNS: Final = 5
_MORE_PASSES: Final = 3  # a pod that stays can take the place of another replica, and a workload that of a third
_OF_POOLS: Final = ("nodesInUse", "pricePerHour")
MANY_RUNS: Final = 20

Range = tuple[float, float]


class FigureDifference(msgspec.Struct, frozen=True):
    """A figure of both sides.

    Attributes:
        figure: which one.
        a, b: its median over the runs, which one of the runs has.
        range_a, range_b: the least and the greatest value over the runs.
        is_finding: whether the difference is beyond chance, see `_is_beyond_chance`.
    """

    figure: Figure
    a: float
    b: float
    range_a: Range
    range_b: Range
    is_finding: bool


class PendingPod(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that is pending in most runs of one side only.

    Attributes:
        pod: `namespace/name`.
        workload: `Kind namespace/name`.
        n_a, n_b: in how many runs of each side it is pending.
        cause, fix: what keeps it from the nearest nodes, and the best change after which it fits, on the side where it
            is pending if ties go to the first node; empty if it has a node then.
    """

    pod: str
    workload: str
    n_a: int
    n_b: int
    cause: str = ""
    fix: str = ""


class WorkloadSpread(msgspec.Struct, frozen=True):
    """Where the pods of a workload are with each side."""

    workload: str
    a: Spread
    b: Spread


class Comparison(Shown, msgspec.Struct, frozen=True, eq=False):
    """Two configurations on one cluster.

    Attributes:
        a, b: what the sides are called.
        choice: which pods are placed.
        n_pods: how many these are.
        n_runs: runs of each side whose ties are broken at random, with the seeds from 1 on.
        differences: a figure each; figures that the cluster does not have are left out.
        pending: pods that are pending in most runs of one side only, in the order of the cluster.
        moves: pods that are on another node if both sides take the first of equally good nodes, as `simulate` does.
        fills: how full the nodes are if both sides take the first of equally good nodes: `before` with A, `after` with
            B.
        widest: for each side the workload with the largest zone skew, in a run with the median; empty for none.
        settings: what to configure for `b`.
        times: which plugins took the time of the runs, of each side.
        providers: `eks` or `aks` if nodes of the cluster have labels of these.
        unpriced: instance type -> how many nodes have no price; empty without prices.
        outvoted: of each side, why its strategy that packs does not; empty for others.
        undecided: of each side, how many pods kubesched cannot decide about, and why; they count as pending. Empty for
            none.
        misspelt: instance type of the prices that no node has -> the like type of nodes without a price.
        extenders: addresses of the extenders that the configurations have; they are not called.
        taken_at: when the snapshot was taken, in UTC; None where that is not known.
        faults: of each side, a pod whose attempt ended in SchedulerError and why, and how many pods these are; empty
            where no plugin failed.
        spreads: the workloads whose zone skew, or whose being on one node, is not the same on both sides if ties go to
            the first node; those whose skew grows most come first.
        devices: the same of the devices in ResourceSlices.
        pools: the nodes in use by pool; empty where the nodes have no pools.
        nodes: all pools together.
        drained: nodes that `moves` has running pods leave: so many drains take the cluster from A to B.
        emptied: nodes that are in use with A and not with B, if both take the first of equally good nodes.
        not_placed: of each side, `namespace/name` of the pods that run in the snapshot and are pending in most runs.
        staying: those of them that neither side places -> why not. They stay on their nodes, so that the figures of
            both sides are about the same pods.
        staying_with: `namespace/name` of the other running pods of their workloads, which stay with them.
        may_be_lost: `namespace/name` of running pods that are placed again, though perhaps nothing creates them again.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, packed(Candidate("MostAllocated")), seeds=5)
        for difference in comparison.findings:
            print(difference.figure.title, difference.a, difference.b)
    """

    a: str
    b: str
    choice: PodChoice
    n_pods: int
    n_runs: int
    differences: tuple[FigureDifference, ...]
    pending: tuple[PendingPod, ...]
    moves: tuple[PodMove, ...]
    fills: tuple[NodeFill, ...]
    widest: tuple[str, str]
    settings: Settings
    times: tuple[PluginTimes, PluginTimes]
    providers: tuple[str, ...] = ()
    unpriced: dict[str, int] = {}
    extenders: tuple[str, ...] = ()
    taken_at: datetime | None = None
    faults: tuple[str, str] = ("", "")
    spreads: tuple[WorkloadSpread, ...] = ()
    misspelt: dict[str, str] = {}
    undecided: tuple[str, str] = ("", "")
    outvoted: tuple[str, str] = ("", "")
    devices: tuple[DeviceFill, ...] = ()
    may_be_lost: tuple[str, ...] = ()
    pools: tuple[PoolChange, ...] = ()
    not_placed: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    staying: dict[str, str] = {}
    staying_with: tuple[str, ...] = ()
    nodes: PoolChange = PoolChange("", 0, 0, 0)
    drained: tuple[str, ...] = ()
    emptied: tuple[str, ...] = ()

    @property
    def findings(self) -> list[FigureDifference]:
        """The differences that are larger than chance."""
        return [difference for difference in self.differences if difference.is_finding]

    def figures_frame(self) -> "pd.DataFrame":
        """The figures as a DataFrame, a row for each; `figure`, its name, is the index.

        Columns: `title`, `unit`, `a` and `b`, the least and the greatest value of the runs of each side, `a_least`,
        `a_most`, `b_least`, `b_most`, and `is_finding`: whether the difference is larger than chance.

        Raises:
            InputError: pandas is not installed.
        """
        rows = self.differences
        columns: dict[str, list[Any]] = {
            "figure": [row.figure.name for row in rows],
            "title": [row.figure.title for row in rows],
            "unit": [row.figure.unit.value for row in rows],
            "a": [row.a for row in rows],
            "b": [row.b for row in rows],
            "a_least": [row.range_a[0] for row in rows],
            "a_most": [row.range_a[1] for row in rows],
            "b_least": [row.range_b[0] for row in rows],
            "b_most": [row.range_b[1] for row in rows],
            "is_finding": [row.is_finding for row in rows],
        }
        return data_frame(columns, "figure")

    def moves_frame(self) -> "pd.DataFrame":
        """The pods on another node as a DataFrame, a row for each.

        Columns: `namespace`, `name`, and the fields of a PodMove. `cause` is the text.

        Raises:
            InputError: pandas is not installed.
        """
        return frame_of_pods(self.moves, ("a", "b", "cause", "plugin", "points"))

    def nodes_frame(self) -> "pd.DataFrame":
        """How full the nodes are, with the columns of `Report.nodes_frame`: before is A, after is B.

        Raises:
            InputError: pandas is not installed.
        """
        return fills_frame(self.fills)


def compare(
    snapshot: Iterable[KubeObject],
    a: Candidate | ConfigurationLike = None,
    b: Candidate | ConfigurationLike = None,
    *,
    pods: str = "pending",
    seeds: int = 20,
    prices: Prices | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Place the same pods with two configurations, several times each, and compare what comes of it.

    Args:
        snapshot: the cluster, as load_snapshot gives it.
        a, b: the sides; a configuration, or a Candidate, which also has plugins and a name.
        pods: `pending`; `all`: also every running pod that a controller would re-create; or `rollout=SELECTOR`: also
            those of them that the selector selects.
        seeds: how many runs of each side there are, at least 5; every run breaks ties in another random way.
        prices: instance type -> price of a node for an hour, or of its capacity types `on-demand`, `spot`, `reserved`.
        progress: called after each run with the number of runs so far, and of all.
    Raises:
        InputError: an argument is not valid, or a configuration cannot be read.
        PluginError: a plugin cannot be loaded or started.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, "scheduler.yaml", seeds=5)
        print([difference.figure.name for difference in comparison.findings])
    """
    if seeds < _FEWEST_RUNS:
        raise InputError(
            f"seeds: found {seeds}; expected at least {_FEWEST_RUNS}, because fewer runs do not show what chance does"
        )
    choice = parse_pod_choice(pods)
    sides = [ReadCandidate(_candidate(side, name)) for side, name in ((a, "A"), (b, "B"))]
    names = [name for side in sides for name in side.scheduler_names]
    read = [completed(one) for one in objects_of(snapshot)]
    running = {one.key for one in read if isinstance(one, Pod) and one.node_name}

    def run(staying: Collection[str]) -> _Pass:
        objects = placed_again(read, choice, names, staying)
        runs = Runs(objects, sides, prices, seeds, progress)
        with closing(runs):
            of_a, of_b = runs.random()
            not_placed = _not_placed(of_a, running), _not_placed(of_b, running)
            neither = [key for key in not_placed[0] if key in not_placed[1]]
            first = _first_nodes(runs, tuple(_pending(runs.ruler, of_a, of_b)), neither)
            reasons = {**dict(_reasons_in(runs, of_a, set(neither) - first.reasons.keys())), **first.reasons}
        return _Pass(objects, runs, of_a, of_b, first, not_placed, {key: reasons.get(key, "") for key in neither})

    staying: dict[str, str] = {}
    replicas: tuple[str, ...] = ()
    last = run(staying)
    for n_before in range(_MORE_PASSES):
        if not last.neither:
            break
        staying |= last.neither
        replicas = tuple(_replicas_of(staying, read, running, last.runs.ruler)) if n_before else ()
        last = run({*staying, *replicas})
    objects, runs, of_a, of_b, first, not_placed, _ = last
    ruler, stay = runs.ruler, tuple(staying)
    uses = ruler.all_of_pools(), _typical(of_a).pools, _typical(of_b).pools
    return Comparison(
        a=sides[0].name,
        b=sides[1].name,
        choice=choice,
        n_pods=len(ruler.pods),
        n_runs=seeds,
        differences=tuple(_differences(ruler, of_a, of_b)),
        pending=first.pending,
        moves=first.moves,
        fills=first.fills,
        widest=(_widest(of_a), _widest(of_b)),
        settings=settings(sides[1]),
        times=(runs.times[0], runs.times[1]),
        providers=providers(objects),
        unpriced=ruler.unpriced,
        extenders=tuple(dict.fromkeys(one.url_prefix for side in sides for one in side.configuration.extenders)),
        taken_at=getattr(snapshot, "taken_at", None),
        faults=first.faults,
        spreads=first.spreads,
        misspelt=ruler.misspelt,
        undecided=first.undecided,
        outvoted=(_outvoted(sides[0]), _outvoted(sides[1])),
        devices=first.devices,
        may_be_lost=may_be_lost(read, objects),
        pools=tuple(pool_changes(*uses)),
        nodes=change_of_all(*uses),
        drained=tuple(dict.fromkeys(move.a for move in first.moves if move.pod in running)),
        emptied=first.emptied,
        not_placed=((*stay, *not_placed[0]), (*stay, *not_placed[1])),
        staying=staying,
        staying_with=replicas,
    )


def _replicas_of(
    staying: Collection[str], objects: Iterable[KubeObject], running: Set[str], ruler: Ruler
) -> Iterator[str]:
    """The other running pods of the workloads of some pods: one would take the place of another if it went alone."""
    pods = {one.key: ruler.workload(one) for one in objects if isinstance(one, Pod) and one.key in running}
    workloads = {pods[key] for key in staying}
    return (key for key, workload in pods.items() if workload in workloads and key not in staying)


def _not_placed(runs: Sequence[Run], running: Set[str]) -> tuple[str, ...]:
    """The pods that run in the snapshot and are pending in most runs."""
    counts = Counter(pod for run in runs for pod in run.pending if pod in running)
    return tuple(pod for pod, n in counts.items() if 2 * n > len(runs))


def _typical(runs: Sequence[Run]) -> Run:
    """A run with the median of nodes in use, and of these the one whose price is nearest the median."""
    median = {name: _median_and_range([run.measured[name] or 0.0 for run in runs])[0] for name in _OF_POOLS}
    return min(runs, key=lambda run: [abs((run.measured[name] or 0.0) - median[name]) for name in _OF_POOLS])


def _candidate(side: Candidate | ConfigurationLike, name: str) -> Candidate:
    return side if isinstance(side, Candidate) else Candidate(name, side)


class _First(msgspec.Struct, frozen=True):
    """What differs if both sides take the first of equally good nodes; the fields are those of Comparison."""

    pending: tuple[PendingPod, ...]
    moves: tuple[PodMove, ...]
    fills: tuple[NodeFill, ...]
    devices: tuple[DeviceFill, ...]
    faults: tuple[str, str]
    spreads: tuple[WorkloadSpread, ...]
    undecided: tuple[str, str]
    emptied: tuple[str, ...]
    reasons: dict[str, str]


class _Pass(NamedTuple):
    """The runs of both sides, with the pods that are pending in most runs of A and of B although they run now.

    Attributes:
        neither: those of both -> the cause.
    """

    objects: list[KubeObject]
    runs: Runs
    of_a: list[Run]
    of_b: list[Run]
    first: _First
    not_placed: tuple[tuple[str, ...], tuple[str, ...]]
    neither: dict[str, str]


def _reasons_in(runs: Runs, of_a: Sequence[Run], pods: Set[str]) -> Iterator[tuple[str, str]]:
    """The cause of each of some pods that A leaves pending, in the first of its runs with random ties that does."""
    for seed, run in enumerate(of_a, 1):
        if here := pods & set(run.pending):
            pods = pods - here
            yield from _causes(runs.again(0, seed, here), here)


def _causes(report: Report, pods: Collection[str]) -> Iterator[tuple[str, str]]:
    for one in report.placements:
        if one.pod in pods and _is_left(one):
            yield one.pod, one.diagnosis or one.message_with_plugin


def _first_nodes(runs: Runs, pending: Sequence[PendingPod], neither: Collection[str]) -> _First:
    left = [[one.pod for one in pending if (one.n_b > one.n_a) == is_b] for is_b in (False, True)]
    (of_a, used_a), (of_b, used_b) = (runs.first(side, [*left[side], *neither]) for side in (0, 1))
    ruler = runs.ruler
    reasons = {**dict(_causes(of_b, neither)), **dict(_causes(of_a, neither))}
    explained = tuple(_explained(pending, of_a, of_b))
    moved = find_moved(ruler.replicas, ruler.where(of_a), ruler.where(of_b))
    pairs = [(ruler.pods[row_a].key, ruler.pods[row_b].key) for row_a, row_b in zip(*moved, strict=True)]
    nodes_a, nodes_b = _nodes_of(of_a), _nodes_of(of_b)
    of_a, by_a = runs.watched(0, {a: nodes_b[b] for a, b in pairs})
    of_b, by_b = runs.watched(1, {b: nodes_a[a] for a, b in pairs})
    return _First(
        explained,
        tuple(find_moves(of_a, of_b, by_a, by_b, pairs)),
        node_fills(of_a.after, of_b.after, of_b.groups),
        device_fills(of_a.after.devices, of_b.after.devices),
        (_fault(of_a), _fault(of_b)),
        tuple(_spreads(ruler.spreads(of_a), ruler.spreads(of_b))),
        (_undecided(of_a), _undecided(of_b)),
        tuple(ruler.node_names[row] for row in np.flatnonzero(used_a & ~used_b).tolist()),
        reasons,
    )


def _explained(pending: Iterable[PendingPod], of_a: Report, of_b: Report) -> Iterator[PendingPod]:
    """The pods with the cause and the fix of the side where they are pending."""
    found = [{one.pod: one for one in report.placements if _is_left(one)} for report in (of_a, of_b)]
    for one in pending:
        left = found[one.n_b > one.n_a].get(one.pod)
        cause = "" if left is None else left.diagnosis or (left.message if left.is_foreign else "")
        yield one if left is None else msgspec.structs.replace(one, cause=cause, fix=left.fix)


def _is_left(placement: Placement) -> bool:
    """Whether a pod stays pending, also because only the other side has its scheduler name."""
    return placement.is_left_pending or placement.is_foreign


def _nodes_of(report: Report) -> dict[str, str]:
    """Pod, by `namespace/name` -> its node."""
    return {one.pod: one.node for one in report.placements}


def _fault(report: Report) -> str:
    failed = [one for one in report.placements if one.state is PodState.ERROR]
    if not failed:
        return ""
    pods = count(len(failed), "pod ends", "pods end")
    return f"{pods} in SchedulerError; {failed[0].pod}: {failed[0].diagnosis or failed[0].message}"


def _outvoted(side: ReadCandidate) -> str:
    document = effective(side.configuration)
    registry = find_plugins(side.plugins, legacy=True)
    findings = scoring_advice(review_of(side.configuration, document, registry))
    return next((f"{one.message}; {one.help}" for one in findings if one.rule == "packing-outvoted"), "")


def _undecided(report: Report) -> str:
    if not report.undecided:
        return ""
    n = report.count(PodState.NOT_DECIDED)
    return f"{count(n, 'pod')} cannot be decided: {report.undecided[0]}"


def _spreads(of_a: Mapping[str, Spread], of_b: Mapping[str, Spread]) -> Iterable[WorkloadSpread]:
    changed = [WorkloadSpread(name, a, of_b[name]) for name, a in of_a.items() if a != of_b[name]]
    return sorted(changed, key=lambda one: ((one.a.skew or 0) - (one.b.skew or 0), one.a.is_on_one_node))


def _differences(ruler: Ruler, of_a: Sequence[Run], of_b: Sequence[Run]) -> Iterable[FigureDifference]:
    for figure in FIGURES:
        if figure.name == "moved":
            values = _n_moved(ruler, of_a, of_a), _n_moved(ruler, of_a, of_b)
        else:
            values = _values(of_a, figure), _values(of_b, figure)
        if values[0] and values[1]:
            (a, range_a), (b, range_b) = map(_median_and_range, values)
            is_finding = _is_beyond_chance(a, b, range_a, range_b, len(of_a))
            yield FigureDifference(figure, a, b, range_a, range_b, is_finding)


def _is_beyond_chance(a: float, b: float, range_a: Range, range_b: Range, n_runs: int) -> bool:
    """Whether chance alone hardly makes two sides differ like this.

    The ranges must not overlap. With many runs the ranges are wide, and it is enough that the median of one side is
    outside the range of the other. If both sides had the same distribution, this would be so for 1 of 126 figures with
    5 runs, 1 of 462 with 6, and fewer than 1 of 1,000 with more.
    """
    if n_runs < MANY_RUNS:
        return range_a[1] < range_b[0] or range_b[1] < range_a[0]
    return not (range_a[0] <= b <= range_a[1] and range_b[0] <= a <= range_b[1])


def _values(runs: Sequence[Run], figure: Figure) -> list[float]:
    return [value for run in runs if (value := run.measured[figure.name]) is not None]


def _widest(runs: Sequence[Run]) -> str:
    """The workload with the largest zone skew in the first run that has the median."""
    skews = [run.measured["skew"] or 0.0 for run in runs]
    return runs[skews.index(_median_and_range(skews)[0])].widest


def _n_moved(ruler: Ruler, of_a: Sequence[Run], of_b: Sequence[Run]) -> list[float]:
    """How many pods are on another node than in the run of A with the next seed.

    With A on both sides this is what chance alone moves.
    """
    moved = []
    for i, run in enumerate(of_b):
        rows, _ = find_moved(ruler.replicas, of_a[(i + 1) % len(of_a)].where, run.where)
        moved.append(float(len(rows)))
    return moved


def _median_and_range(values: Sequence[float]) -> tuple[float, Range]:
    """The median (the lower one of two), the least and the greatest value."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], (ordered[0], ordered[-1])


def _pending(ruler: Ruler, of_a: Sequence[Run], of_b: Sequence[Run]) -> Iterable[PendingPod]:
    n_a, n_b = (Counter(pod for run in runs for pod in run.pending) for runs in (of_a, of_b))
    half = len(of_a) / 2
    for pod in ruler.pods:
        if (n_a[pod.key] > half) != (n_b[pod.key] > half):
            yield PendingPod(pod.key, ruler.workload(pod), n_a[pod.key], n_b[pod.key])
