"""The runs of a comparison: every side over the same cluster, in this process or spread over several.

A run depends on its side and its seed alone, so it does not matter which process carries it out. A new process costs a
second; it is started only if the runs that are left take longer.
"""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from time import perf_counter
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from kubesched.api import KubeObject
from kubesched.comparison.candidates import Candidate, ReadCandidate
from kubesched.comparison.measure import Measured, Ruler
from kubesched.framework import Framework
from kubesched.scheduler import MakeFramework, TieBreak
from kubesched.simulator import Progress, Report, Simulator

__all__ = ["Run", "Runs"]

_WORTH_SECONDS: Final = 5.0

Packed = tuple[KubeObject, bytes | None]


class Run(msgspec.Struct, frozen=True, eq=False):
    """What is kept of a run.

    Attributes:
        measured: its figures.
        where: (pods,) int32, the node of each pod to place.
        pending: the pods that are left.
        widest: the workload with the largest zone skew, empty for none.
    """

    measured: Measured
    where: npt.NDArray[np.int32]
    pending: list[str]
    widest: str


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
        self.prices = prices
        self.ruler = Ruler(objects, [name for side in sides for name in side.scheduler_names], prices)

    def run(self, side: int, seed: int) -> Run:
        """One run that breaks ties at random, measured."""
        simulator = Simulator(self.objects, self.sides[side].set_up(), tie_break=TieBreak.RANDOM, seed=seed)
        report, ruler = simulator.run(), self.ruler
        measured = ruler.measure(simulator.cluster_state, report)
        return Run(measured, ruler.where(report), ruler.pending(report), ruler.widest(report))


class Runs:
    """Carries out the runs of a comparison.

    Args:
        n_seeds: how many random runs each side has.
        progress: called after each run.
        processes: how many processes may run at a time.
    """

    def __init__(self, cluster: Cluster, n_seeds: int, progress: Progress | None, processes: int) -> None:
        self._cluster = cluster
        self._n_seeds = n_seeds
        self._progress = progress
        self._processes = processes
        self._n_done = 0
        self._seconds = 0.0

    def first(self, side: int, make_framework: MakeFramework = Framework) -> Report:
        """One run that takes the first of equally good nodes."""
        began = perf_counter()
        cluster = self._cluster
        report = Simulator(cluster.objects, cluster.sides[side].set_up(), make_framework=make_framework).run()
        self._seconds = perf_counter() - began
        self._note()
        return report

    def random(self) -> tuple[list[Run], list[Run]]:
        """The runs of A and of B with random ties, with the seeds from 1 on."""
        tasks = [(side, seed) for side in (0, 1) for seed in range(1, self._n_seeds + 1)]
        is_long = self._seconds * len(tasks) > _WORTH_SECONDS
        done = dict(self._in_processes(tasks) if self._processes > 1 and is_long else self._here(tasks))
        runs = [done[task] for task in tasks]
        return runs[: self._n_seeds], runs[self._n_seeds :]

    def _here(self, tasks: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], Run]]:
        for task in tasks:
            yield task, self._cluster.run(*task)
            self._note()

    def _in_processes(self, tasks: Sequence[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], Run]]:
        cluster = self._cluster
        sides = [side.portable() for side in cluster.sides]
        executor = ProcessPoolExecutor(
            self._processes,
            mp_context=get_context("spawn"),  # a fork would copy the locks of threads, which plugins may have
            initializer=_begin,
            initargs=([_packed(one) for one in cluster.objects], sides, cluster.prices),
        )
        left = dict.fromkeys(tasks)
        try:
            futures = {executor.submit(_run, *task): task for task in tasks}
            for future in as_completed(futures):
                yield futures[future], future.result()
                del left[futures[future]]
                self._note()
        except BrokenProcessPool:  # a process was ended from outside, perhaps for its memory
            yield from self._here(list(left))
        finally:
            executor.shutdown(wait=True, cancel_futures=True)

    def _note(self) -> None:
        self._n_done += 1
        if self._progress is not None:
            self._progress(self._n_done, 2 * self._n_seeds + 2)


_clusters: list[Cluster] = []  # of a process that carries out runs for another one: its only cluster


def _begin(packed: Sequence[Packed], sides: Sequence[Candidate], prices: Mapping[str, float] | None) -> None:
    """Prepare such a process. Ctrl-C reaches all processes; the first one ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _clusters.append(Cluster([_unpacked(*one) for one in packed], [ReadCandidate(side) for side in sides], prices))


def _packed(obj: KubeObject) -> Packed:
    """An object for another process. Pickling a struct leaves out its JSON, which plugins may read."""
    source = obj.__dict__.get("raw_source")
    return obj, None if source is None else bytes(source)


def _unpacked(obj: KubeObject, source: bytes | None) -> KubeObject:
    if source is not None:
        obj.__dict__["raw_source"] = source
    return obj


def _run(side: int, seed: int) -> Run:
    return _clusters[0].run(side, seed)
