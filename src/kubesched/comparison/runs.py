"""The runs of a comparison: every side over the same cluster. A run depends on its side and its seed alone."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import KubeObject
from kubesched.comparison.candidates import ReadCandidate
from kubesched.comparison.measure import Measured, Ruler
from kubesched.comparison.workers import run_all
from kubesched.framework import Framework
from kubesched.scheduler import MakeFramework, TieBreak
from kubesched.session import Progress, Report, Simulator
from kubesched.setup import PluginTimes, timed_plugins

_N_FIRST: Final = 4  # runs of `Runs.first`
_LOADED_PER_PLACEMENT: Final = 30  # objects that are loaded in the time in which a pod is placed


class Run(msgspec.Struct, frozen=True, eq=False):
    """What is kept of a run.

    Attributes:
        measured: its figures.
        where: (pods,) int32, the node of each pod to place.
        pending: the pods that are left.
        widest: the workload with the largest zone skew, empty for none.
        times: which plugins took its time.
    """

    measured: Measured
    where: npt.NDArray[np.int32]
    pending: list[str]
    widest: str
    times: PluginTimes


class Cluster:
    """What every run of a comparison has in common.

    Args:
        objects: the cluster; the pods to place have no node.
        sides: A and B.
        prices: as for Ruler.
    """

    def __init__(
        self, objects: Sequence[KubeObject], sides: Sequence[ReadCandidate], prices: Mapping[str, float] | None
    ) -> None:
        self.objects = objects
        self.sides = sides
        self.ruler = Ruler(objects, [name for side in sides for name in side.scheduler_names], prices)

    @property
    def n_placements(self) -> int:
        """What a run costs, in placements of pods; to load the objects costs something too."""
        return len(self.ruler.pods) + len(self.objects) // _LOADED_PER_PLACEMENT

    def run(self, side: int, seed: int) -> Run:
        """One run that breaks ties at random, measured."""
        setup, ruler = self.sides[side].set_up(), self.ruler
        with timed_plugins(setup) as times:
            simulator = Simulator(self.objects, setup, tie_break=TieBreak.RANDOM, seed=seed)
            report = simulator.run()
        measured = ruler.measure(simulator.cluster_state, report)
        return Run(measured, ruler.where(report), ruler.pending(report), ruler.widest(report), times)


class Runs:
    """Carries out the runs of a comparison.

    Args:
        n_seeds: how many random runs each side has.
        progress: called after each run.

    Attributes:
        times: which plugins took the time of the runs so far, of A and of B.
    """

    def __init__(self, cluster: Cluster, n_seeds: int, progress: Progress | None) -> None:
        self._cluster = cluster
        self._n_seeds = n_seeds
        self._progress = progress
        self._n_done = 0
        self.times = (PluginTimes(), PluginTimes())

    def first(self, side: int, make_framework: MakeFramework = Framework) -> Report:
        """One run that takes the first of equally good nodes."""
        cluster = self._cluster
        setup = cluster.sides[side].set_up()
        with timed_plugins(setup) as times:
            report = Simulator(cluster.objects, setup, make_framework=make_framework).run()
        self.times[side].add(times)
        self._note()
        return report

    def random(self) -> tuple[list[Run], list[Run]]:
        """The runs of A and of B with random ties, with the seeds from 1 on."""
        tasks = [(side, seed) for side in (0, 1) for seed in range(1, self._n_seeds + 1)]
        runs = run_all(self._cluster.run, tasks, self._cluster.n_placements, self._note)
        for (side, _), run in zip(tasks, runs, strict=True):
            self.times[side].add(run.times)
        return runs[: self._n_seeds], runs[self._n_seeds :]

    def _note(self) -> None:
        self._n_done += 1
        if self._progress is not None:
            self._progress(self._n_done, 2 * self._n_seeds + _N_FIRST)
