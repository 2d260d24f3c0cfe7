"""Compares two configurations on one cluster: the figures of both, how far chance moves them, and which pods move."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import KubeObject, completed
from kubesched.comparison.candidates import Candidate, ReadCandidate
from kubesched.comparison.figures import FIGURES, Figure
from kubesched.comparison.measure import NOWHERE, Measured, Ruler
from kubesched.comparison.moves import Move, MoveWatch
from kubesched.comparison.placed_again import PodChoice, parse_pod_choice, placed_again
from kubesched.comparison.settings import Settings, providers, settings
from kubesched.comparison.workloads import Workloads
from kubesched.errors import InputError
from kubesched.framework import Framework
from kubesched.scheduler import MakeFramework, TieBreak
from kubesched.setup import ConfigurationLike
from kubesched.simulator import Progress, Report, Simulator

__all__ = ["Comparison", "Difference", "PendingPod", "compare"]

_FEWEST_RUNS: Final = 2


class Difference(msgspec.Struct, frozen=True):
    """A figure of both sides.

    Attributes:
        figure: which one.
        a, b: its median over the runs, which one of the runs has.
        range_a, range_b: the least and the greatest value over the runs.
    """

    figure: Figure
    a: float
    b: float
    range_a: tuple[float, float]
    range_b: tuple[float, float]

    @property
    def is_finding(self) -> bool:
        """Whether the median of one side is outside the range of the other.

        With 20 runs, chance alone does this for fewer than 1 of 1,000 figures.
        """
        return not (self.range_a[0] <= self.b <= self.range_a[1] and self.range_b[0] <= self.a <= self.range_b[1])


class PendingPod(msgspec.Struct, frozen=True):
    """A pod that is pending in most runs of one side only.

    Attributes:
        pod: `namespace/name`.
        workload: `Kind namespace/name`.
        n_a, n_b: in how many runs of each side it is pending.
    """

    pod: str
    workload: str
    n_a: int
    n_b: int


class Comparison(msgspec.Struct, frozen=True, eq=False):
    """Two configurations on one cluster.

    Attributes:
        a, b: what the sides are called.
        choice: which pods are placed.
        n_pods: how many these are.
        n_runs: runs of each side whose ties are broken at random, with the seeds from 1 on.
        differences: a figure each; figures that the cluster does not have are left out.
        pending: pods that are pending in most runs of one side only, in the order of the cluster.
        moves: pods that are on another node if both sides take the first of equally good nodes, as `simulate` does.
        settings: what to configure for `b`.
        providers: `eks` or `aks` if nodes of the cluster have labels of these.
        unpriced: instance type -> how many nodes have no price; empty without prices.
        extenders: addresses of the extenders that the configurations have; they are not called.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, packed(Candidate("MostAllocated")), seeds=2)
        for difference in comparison.findings:
            print(difference.figure.title, difference.a, difference.b)
    """

    a: str
    b: str
    choice: PodChoice
    n_pods: int
    n_runs: int
    differences: tuple[Difference, ...]
    pending: tuple[PendingPod, ...]
    moves: tuple[Move, ...]
    settings: Settings
    providers: tuple[str, ...] = ()
    unpriced: dict[str, int] = {}
    extenders: tuple[str, ...] = ()

    @property
    def findings(self) -> list[Difference]:
        """The differences that are larger than chance."""
        return [difference for difference in self.differences if difference.is_finding]


def compare(
    snapshot: Iterable[KubeObject],
    a: Candidate | ConfigurationLike = None,
    b: Candidate | ConfigurationLike = None,
    *,
    pods: str = "pending",
    seeds: int = 20,
    prices: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Place the same pods with two configurations, several times each, and compare what comes of it.

    Args:
        snapshot: the cluster, as load_snapshot gives it.
        a, b: the sides; a configuration, or a Candidate, which also has plugins and a name.
        pods: `pending`; `all`: also every running pod that a controller would re-create; or `rollout=SELECTOR`: also
            those of them that the selector selects.
        seeds: how many runs of each side there are, at least 2; every run breaks ties in another random way.
        prices: instance type -> price of a node for an hour.
        progress: called after each run with the number of runs so far, and of all.
    Raises:
        InputError: an argument is not valid, or a configuration cannot be read.
        PluginError: a plugin cannot be loaded or started.

    Example:
        comparison = compare(load_snapshot("cluster.json"), None, "scheduler.yaml", seeds=3)
        print([difference.figure.name for difference in comparison.findings])
    """
    if seeds < _FEWEST_RUNS:
        raise InputError(f"seeds: found {seeds}; expected at least {_FEWEST_RUNS}, because one run has no range")
    choice = parse_pod_choice(pods)
    sides = [ReadCandidate(_candidate(side, name)) for side, name in ((a, "A"), (b, "B"))]
    names = [name for side in sides for name in side.scheduler_names]
    objects = placed_again([completed(one) for one in snapshot], choice, names)
    ruler = Ruler(objects, names, prices)
    runs = _Runs(objects, ruler, 2 * seeds + 2, progress)
    moves = _moves(runs, *sides)
    of_a, of_b = ([runs.one(side, seed) for seed in range(1, seeds + 1)] for side in sides)
    return Comparison(
        a=sides[0].name,
        b=sides[1].name,
        choice=choice,
        n_pods=len(ruler.pods),
        n_runs=seeds,
        differences=tuple(_differences(of_a, of_b)),
        pending=tuple(_pending(ruler, Workloads(objects), of_a, of_b)),
        moves=tuple(moves),
        settings=settings(sides[1]),
        providers=providers(objects),
        unpriced=ruler.unpriced,
        extenders=tuple(dict.fromkeys(one.url_prefix for side in sides for one in side.configuration.extenders)),
    )


def _candidate(side: Candidate | ConfigurationLike, name: str) -> Candidate:
    return side if isinstance(side, Candidate) else Candidate(name, side)


class _Run(msgspec.Struct, frozen=True, eq=False):
    """What is kept of a run.

    Attributes:
        measured: its figures.
        where: (pods,) int32, the node of each pod to place.
        pending: the pods that are left.
    """

    measured: Measured
    where: npt.NDArray[np.int32]
    pending: list[str]


class _Runs:
    """Runs one side after another over the same cluster."""

    def __init__(self, objects: Sequence[KubeObject], ruler: Ruler, n_runs: int, progress: Progress | None) -> None:
        self._objects = objects
        self._ruler = ruler
        self._n_runs = n_runs
        self._n_done = 0
        self._progress = progress

    def one(self, side: ReadCandidate, seed: int) -> _Run:
        """One run that breaks ties at random, measured."""
        simulator = Simulator(self._objects, side.set_up(), tie_break=TieBreak.RANDOM, seed=seed)
        report = self._run(simulator)
        ruler = self._ruler
        return _Run(ruler.measure(simulator.cluster_state, report), ruler.where(report), ruler.pending(report))

    def first(self, side: ReadCandidate, make_framework: MakeFramework = Framework) -> Report:
        """One run that takes the first of equally good nodes."""
        return self._run(Simulator(self._objects, side.set_up(), make_framework=make_framework))

    def _run(self, simulator: Simulator) -> Report:
        report = simulator.run()
        self._n_done += 1
        if self._progress is not None:
            self._progress(self._n_done, self._n_runs)
        return report


def _moves(runs: _Runs, a: ReadCandidate, b: ReadCandidate) -> list[Move]:
    placed = [one for one in runs.first(a).placements if one.node and not one.evicted_by]
    watch = MoveWatch({one.pod: one.node for one in placed})
    return watch.moves(runs.first(b, watch.framework).placements)


def _differences(of_a: Sequence[_Run], of_b: Sequence[_Run]) -> Iterable[Difference]:
    for figure in FIGURES:
        if figure.name == "moved":
            values = _n_moved(of_a, of_a), _n_moved(of_a, of_b)
        else:
            values = _values(of_a, figure), _values(of_b, figure)
        if values[0] and values[1]:
            (a, range_a), (b, range_b) = map(_median_and_range, values)
            yield Difference(figure, a, b, range_a, range_b)


def _values(runs: Sequence[_Run], figure: Figure) -> list[float]:
    return [value for run in runs if (value := run.measured[figure.name]) is not None]


def _n_moved(of_a: Sequence[_Run], of_b: Sequence[_Run]) -> list[float]:
    """How many pods are on another node than in the run of A with the next seed.

    With A on both sides this is what chance alone moves.
    """
    moved = []
    for i, run in enumerate(of_b):
        here, there = run.where, of_a[(i + 1) % len(of_a)].where
        moved.append(float(np.count_nonzero((here != there) & (here != NOWHERE) & (there != NOWHERE))))
    return moved


def _median_and_range(values: Sequence[float]) -> tuple[float, tuple[float, float]]:
    """The median (the lower one of two), the least and the greatest value."""
    ordered = sorted(values)
    return ordered[(len(ordered) - 1) // 2], (ordered[0], ordered[-1])


def _pending(ruler: Ruler, workloads: Workloads, of_a: Sequence[_Run], of_b: Sequence[_Run]) -> Iterable[PendingPod]:
    n_a, n_b = (Counter(pod for run in runs for pod in run.pending) for runs in (of_a, of_b))
    half = len(of_a) / 2
    for pod in ruler.pods:
        if (n_a[pod.key] > half) != (n_b[pod.key] > half):
            yield PendingPod(pod.key, workloads.of(pod), n_a[pod.key], n_b[pod.key])
