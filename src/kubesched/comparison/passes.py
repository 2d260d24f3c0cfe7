"""Runs both sides of a comparison, repeatedly where pods that run now find no place on either side."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from functools import partial
from typing import Final

import msgspec
import numpy as np

from kubesched.api import KubeObject, Pod
from kubesched.comparison.candidates import ReadCandidate
from kubesched.comparison.comparison_result import PendingPod, WorkloadSpread
from kubesched.comparison.measure import Ruler, Spread
from kubesched.comparison.moves import PodMove, find_moves
from kubesched.comparison.placed_again import PodChoice, placed_again
from kubesched.comparison.replicas import NOWHERE, find_moved
from kubesched.comparison.runs import Run, Runs, fault_of
from kubesched.controllers import Prices
from kubesched.documents import count
from kubesched.session import DeviceFill, NodeFill, Placement, PodState, Progress, Report, device_fills, node_fills

_MORE_PASSES: Final = 3  # a pod that stays can take the place of another replica, and a workload that of a third
_FEW_SEEDS: Final = 5  # runs of each side that find which pods stay; only the last pass has all


class FirstNodes(msgspec.Struct, frozen=True):
    """What differs if both sides take the first of equally good nodes; the fields are those of Comparison."""

    pending: tuple[PendingPod, ...]
    moves: tuple[PodMove, ...]
    fills: tuple[NodeFill, ...]
    devices: tuple[DeviceFill, ...]
    faults: tuple[str, str]
    spreads: tuple[WorkloadSpread, ...]
    undecided: tuple[str, str]
    emptied: tuple[str, ...]


class Pass:
    """The runs of both sides with the seeds from 1 on, as many as were asked for.

    Args:
        running: `namespace/name` of the pods that run now.

    Attributes:
        of_sides: the runs so far, of A and of B.
    """

    def __init__(self, objects: list[KubeObject], runs: Runs, running: Set[str]) -> None:
        self.objects = objects
        self.runs = runs
        self.of_sides: tuple[list[Run], list[Run]] = ([], [])
        self._running = running

    def carry_out(self, n_seeds: int) -> None:
        """Have `n_seeds` runs of each side; those that are there are not repeated."""
        seeds = range(len(self.of_sides[0]) + 1, n_seeds + 1)
        if seeds:
            for runs, more in zip(self.of_sides, self.runs.random(seeds), strict=True):
                runs += more

    def neither(self, n_seeds: int) -> list[str]:
        """The pods that run now and that no side places in most of `n_seeds` runs.

        The last runs are carried out only where they can make a difference.
        """
        self.carry_out(n_seeds // 2 + 1)
        n_left = n_seeds - len(self.of_sides[0])
        if n_left > 0 and {*self._in_most(n_seeds)} != {*self._in_most(n_seeds, n_left)}:
            self.carry_out(n_seeds)
        return self._in_most(n_seeds)

    def _in_most(self, n_seeds: int, n_left: int = 0) -> list[str]:
        """The pods that are pending in most runs of both sides if they are also pending in the ones that are left."""
        of_a, of_b = (_not_placed(runs, self._running, n_seeds, n_left) for runs in self.of_sides)
        return [pod for pod in of_a if pod in of_b]

    def not_placed(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The pods that run now and are pending in most runs, of A and of B."""
        of_a, of_b = (_not_placed(runs, self._running, len(runs)) for runs in self.of_sides)
        return of_a, of_b

    def reasons(self, pods: Iterable[str]) -> dict[str, str]:
        """The cause of each of some pods that no side places: where ties go to the first node of A, then of B, then
        at random with A.
        """
        reasons = dict.fromkeys(pods, "")
        left = set(reasons)
        with closing(self.runs):
            for side in (0, 1):
                if left:
                    reasons |= dict(_causes(self.runs.first(side, left)[0], left))
                    left = {key for key in left if not reasons[key]}
            reasons |= dict(_reasons_in(self.runs, self.of_sides[0], left))
        return reasons

    def first(self) -> FirstNodes:
        """What differs if both sides take the first of equally good nodes."""
        with closing(self.runs):
            return _first_nodes(self.runs, tuple(_pending(self.runs.ruler, *self.of_sides)))


class Passes:
    """The runs of two sides on a cluster.

    Args:
        objects: of the cluster.
        seeds: how many runs of each side there are.

    Attributes:
        running: `namespace/name` of the pods that run in it.
    """

    def __init__(
        self,
        objects: Sequence[KubeObject],
        sides: Sequence[ReadCandidate],
        choice: PodChoice,
        prices: Prices | None,
        seeds: int,
        progress: Progress | None,
    ) -> None:
        self.running = {one.key for one in objects if isinstance(one, Pod) and one.node_name}
        self._objects = objects
        self._choice = choice
        self._names = [name for side in sides for name in side.scheduler_names]
        self._runs = partial(Runs, candidates=sides, prices=prices, n_seeds=seeds, progress=progress)
        self._seeds = seeds

    def last(self) -> tuple[Pass, dict[str, str], tuple[str, ...]]:
        """The pass in which the pods stay that neither side places; why, and the replicas that stay with them."""
        staying: dict[str, str] = {}
        replicas: tuple[str, ...] = ()
        n_seeds, n_more = min(self._seeds, _FEW_SEEDS), 0
        last = self._begun(staying)
        while True:
            neither = last.neither(n_seeds)
            if neither and n_more < _MORE_PASSES:
                staying |= last.reasons(neither)
                ruler = last.runs.ruler
                replicas = tuple(_replicas_of(staying, self._objects, self.running, ruler)) if n_more else ()
                n_more += 1
                last = self._begun({*staying, *replicas})
                continue
            last.carry_out(self._seeds)
            if n_seeds == self._seeds:
                return last, staying, replicas
            n_seeds = self._seeds

    def _begun(self, staying: Collection[str]) -> Pass:
        objects = placed_again(self._objects, self._choice, self._names, staying)
        return Pass(objects, self._runs(objects), self.running)


def _replicas_of(
    staying: Collection[str], objects: Iterable[KubeObject], running: Set[str], ruler: Ruler
) -> Iterator[str]:
    """The other running pods of the workloads of some pods: one would take the place of another if it went alone."""
    pods = {one.key: ruler.workload(one) for one in objects if isinstance(one, Pod) and one.key in running}
    workloads = {pods[key] for key in staying}
    return (key for key, workload in pods.items() if workload in workloads and key not in staying)


def _not_placed(runs: Sequence[Run], running: Set[str], n_seeds: int, n_left: int = 0) -> tuple[str, ...]:
    """The pods that run now and are pending in most of `n_seeds` runs, if they are in those that are left."""
    counts = Counter(pod for run in runs for pod in run.pending if pod in running)
    return tuple(pod for pod, n in counts.items() if 2 * (n + n_left) > n_seeds)


def _pending(ruler: Ruler, of_a: Sequence[Run], of_b: Sequence[Run]) -> Iterable[PendingPod]:
    """The pods without a node in most runs of one side only, also because a plugin of that side holds them back."""
    of_sides = [np.sum([run.where == NOWHERE for run in runs], axis=0).tolist() for runs in (of_a, of_b)]
    half = len(of_a) / 2
    for pod, n_a, n_b in zip(ruler.pods, *of_sides, strict=True):
        if (n_a > half) != (n_b > half):
            yield PendingPod(pod.key, ruler.workload(pod), n_a, n_b)


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


def _first_nodes(runs: Runs, pending: Sequence[PendingPod]) -> FirstNodes:
    left = [[one.pod for one in pending if (one.n_b > one.n_a) == is_b] for is_b in (False, True)]
    (of_a, used_a), (of_b, used_b) = (runs.first(side, left[side]) for side in (0, 1))
    ruler = runs.ruler
    explained = tuple(_explained(pending, of_a, of_b))
    moved = find_moved(ruler.replicas, ruler.where(of_a), ruler.where(of_b))
    pairs = [(ruler.pods[row_a].key, ruler.pods[row_b].key) for row_a, row_b in zip(*moved, strict=True)]
    nodes_a, nodes_b = _nodes_of(of_a), _nodes_of(of_b)
    of_a, by_a = runs.watched(0, {a: nodes_b[b] for a, b in pairs})
    of_b, by_b = runs.watched(1, {b: nodes_a[a] for a, b in pairs})
    return FirstNodes(
        explained,
        tuple(find_moves(of_a, of_b, by_a, by_b, pairs)),
        node_fills(of_a.after, of_b.after, of_b.groups),
        device_fills(of_a.after.devices, of_b.after.devices),
        (fault_of(of_a), fault_of(of_b)),
        tuple(_spreads(ruler.spreads(of_a), ruler.spreads(of_b))),
        (_undecided(of_a), _undecided(of_b)),
        tuple(ruler.node_names[row] for row in np.flatnonzero(used_a & ~used_b).tolist()),
    )


def _explained(pending: Iterable[PendingPod], of_a: Report, of_b: Report) -> Iterator[PendingPod]:
    """The pods with the cause and the fix of the side where they are pending."""
    found = [{one.pod: one for one in report.placements if _is_left(one)} for report in (of_a, of_b)]
    for one in pending:
        left = found[one.n_b > one.n_a].get(one.pod)
        yield one if left is None else msgspec.structs.replace(one, cause=left.diagnosis or left.message, fix=left.fix)


def _is_left(placement: Placement) -> bool:
    """Whether a pod stays pending, also because a plugin holds it back or no profile has its scheduler name."""
    return placement.is_left_pending or placement.state is PodState.NOT_TRIED


def _nodes_of(report: Report) -> dict[str, str]:
    """Pod, by `namespace/name` -> its node."""
    return {one.pod: one.node for one in report.placements}


def _undecided(report: Report) -> str:
    if not report.undecided:
        return ""
    n = report.count(PodState.NOT_DECIDED)
    return f"{count(n, 'pod')} cannot be decided: {report.undecided[0]}"


def _spreads(of_a: Mapping[str, Spread], of_b: Mapping[str, Spread]) -> Iterable[WorkloadSpread]:
    changed = [WorkloadSpread(name, a, of_b[name]) for name, a in of_a.items() if a != of_b[name]]
    return sorted(changed, key=lambda one: ((one.a.skew or 0) - (one.b.skew or 0), one.a.is_on_one_node))
