"""The runs of a comparison: every side over the same cluster. A run depends on its side and its seed alone."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import KubeObject
from kubesched.comparison.candidates import ReadCandidate
from kubesched.comparison.measure import Measured, Ruler
from kubesched.comparison.moves import NodeWatch
from kubesched.comparison.pool_use import PoolUse
from kubesched.controllers import Prices
from kubesched.documents import count
from kubesched.engine import BoolVector
from kubesched.explanation import with_reasons
from kubesched.framework import Probe
from kubesched.parallel import Sent, results_of
from kubesched.scheduler import TieBreak
from kubesched.session import PodState, Progress, Report, Session
from kubesched.setup import PluginClock, PluginTimes
from kubesched.state import ClusterState

_N_FIRST: Final = 4  # runs that take the first of equally good nodes


class Run(msgspec.Struct, frozen=True, eq=False):
    """What is kept of a run.

    Attributes:
        measured: its figures.
        where: (pods,) int32, the node of each pod to place.
        pending: the pods that are left.
        widest: the workload with the largest zone skew, empty for none.
        pools: pool -> its nodes in use.
        times: which plugins took its time.
        fault: which pods end in an error, and the first error; empty for none.
    """

    measured: Measured
    where: npt.NDArray[np.int32]
    pending: list[str]
    widest: str
    pools: dict[str, PoolUse]
    times: PluginTimes
    fault: str = ""


class Side:
    """One side of a comparison: its cluster is loaded once, and each run is taken back.

    Args:
        objects: the cluster; the pods to place have no node.
        may_watch: whether runs can be watched, which makes each of them slower.
    """

    def __init__(self, objects: Sequence[KubeObject], candidate: ReadCandidate, *, may_watch: bool) -> None:
        setup = candidate.set_up()
        self._watch, self._clock = NodeWatch(), PluginClock(setup.profiles)
        probes: list[Probe] = [self._watch] if may_watch else []
        if self._clock.plugins:
            probes.append(self._clock)
        self._session = Session(objects, setup.watched_by(*probes) if probes else setup)

    @contextmanager
    def run(self, tie_break: TieBreak, seed: int = 0) -> Iterator[tuple[Report, ClusterState, PluginTimes]]:
        """One run, which is taken back at the end of the `with`: its report, and the cluster after it."""
        with self._session.fork():
            self._clock.take()
            report = self._session.schedule(ties=(tie_break, seed))
            yield report, self._session.cluster_state, self._clock.take()

    def explained(self, report: Report, pods: Collection[str]) -> Report:
        """The report of the run that is not taken back yet, with the causes and fixes of some pods."""
        return with_reasons(self._session, report, only=pods)

    @contextmanager
    def watched(self, nodes: Mapping[str, str]) -> Iterator[NodeWatch]:
        """Watch the runs within the `with`.

        Args:
            nodes: as for `NodeWatch.look_up`.
        """
        self._watch.look_up(nodes)
        try:
            yield self._watch
        finally:
            self._watch.look_up({})

    def close(self) -> None:
        """Stop the plugins."""
        self._session.close()


class SeededRuns:
    """Carries out runs with random ties: the tasks are (side, seed). It can be sent to other processes.

    Args:
        objects: the cluster; the pods to place have no node.
        candidates: the sides.
        ruler: measures the runs.
    """

    def __init__(self, objects: Sequence[KubeObject], candidates: Sequence[ReadCandidate], ruler: Ruler) -> None:
        raw_kinds = {kind for side in candidates if side.plugins for kind in side.set_up().raw_kinds}
        self._objects = Sent(objects, raw_kinds)
        self._candidates = candidates
        self._ruler = ruler
        self._sides: dict[int, Side] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_sides": {}}

    def __call__(self, task: tuple[int, int]) -> Run:
        """The run of a side with a seed."""
        (side, seed), ruler = task, self._ruler
        with self._side(side).run(TieBreak.RANDOM, seed) as (report, state, times):
            measured, pools = ruler.measure(state, report), ruler.use_of_pools(state)
        where, pending, widest = ruler.where(report), ruler.pending(report), ruler.widest(report)
        return Run(measured, where, pending, widest, pools, times, fault_of(report))

    def _side(self, side: int) -> Side:
        if side not in self._sides:
            self._sides[side] = Side(self._objects.objects, self._candidates[side], may_watch=False)
        return self._sides[side]

    def close(self) -> None:
        """Stop the plugins."""
        for side in self._sides.values():
            side.close()
        self._sides.clear()


class Runs:
    """Carries out the runs of a comparison. Close it at the end.

    Args:
        objects: the cluster; the pods to place have no node.
        candidates: A and B.
        prices: as for Ruler.
        n_seeds: how many random runs each side has.
        progress: called after each run.

    Attributes:
        ruler: measures them.
        times: which plugins took the time of the runs so far, of A and of B.
    """

    def __init__(
        self,
        objects: Sequence[KubeObject],
        candidates: Sequence[ReadCandidate],
        prices: Prices | None,
        n_seeds: int,
        progress: Progress | None,
    ) -> None:
        self.ruler = Ruler(objects, [name for side in candidates for name in side.scheduler_names], prices)
        self.times = [PluginTimes(), PluginTimes()]
        self._objects = objects
        self._candidates = candidates
        self._sides: dict[int, Side] = {}
        self._n_seeds = n_seeds
        self._progress = progress
        self._n_done = 0

    def close(self) -> None:
        """Stop the plugins of both sides."""
        for side in self._sides.values():
            side.close()
        self._sides.clear()

    def first(self, side: int, explained: Collection[str] = ()) -> tuple[Report, BoolVector]:
        """One run that takes the first of equally good nodes, and which nodes are in use then.

        Args:
            explained: `namespace/name` of pods whose cause and fix are wanted, if the run leaves them pending.
        """
        with self._side(side).run(TieBreak.FIRST) as (report, state, times):
            self.times[side] += times
            in_use = self.ruler.in_use(state)
            report = self._side(side).explained(report, explained)
        self._note()
        return report, in_use

    def again(self, side: int, seed: int, explained: Collection[str]) -> Report:
        """The run of a side with random ties and a seed, with the cause and fix of some pods that it leaves pending."""
        with self._side(side).run(TieBreak.RANDOM, seed) as (report, _, _):
            return self._side(side).explained(report, explained)

    def watched(self, side: int, nodes: Mapping[str, str]) -> tuple[Report, NodeWatch]:
        """The same, with what it says of some nodes.

        Args:
            nodes: as for `NodeWatch.look_up`.
        """
        with self._side(side).watched(nodes) as watch:
            return self.first(side)[0], watch

    def random(self, seeds: Sequence[int]) -> tuple[list[Run], list[Run]]:
        """The runs of A and of B with random ties and some seeds."""
        tasks = [(side, seed) for side in (0, 1) for seed in seeds]
        runs = results_of(SeededRuns(self._objects, self._candidates, self.ruler), tasks, self._note)
        for (side, _), run in zip(tasks, runs, strict=True):
            self.times[side] += run.times
        return runs[: len(seeds)], runs[len(seeds) :]

    def _side(self, side: int) -> Side:
        if side not in self._sides:
            self._sides[side] = Side(self._objects, self._candidates[side], may_watch=True)
        return self._sides[side]

    def _note(self) -> None:
        self._n_done += 1
        if self._progress is not None:
            self._progress(self._n_done, 2 * self._n_seeds + _N_FIRST)


def fault_of(report: Report) -> str:
    """Which pods of a run end in an error, and the first error; empty for none."""
    failed = [one for one in report.placements if one.state is PodState.ERROR]
    if not failed:
        return ""
    pods = count(len(failed), "pod ends", "pods end")
    return f"{pods} in SchedulerError; {failed[0].pod}: {failed[0].diagnosis or failed[0].message}"
