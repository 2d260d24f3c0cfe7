"""What becomes of each pod of a trace: when it came, was bound, and ended; a pod that comes again counts again."""

from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from kubesched.traces import Arrival

ALL: Final = None
"""The priority of the pods of every priority, in `WaitingTimes`."""


class PodRun(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A pod from its creation to its end.

    Attributes:
        pod: `namespace/name`; a pod that comes again has it a second time.
        priority: of the pod.
        arrived: when it came, in seconds of the trace.
        bound: when it got its node; None if it never did.
        node: its node; empty for none.
        ended: when it left; None if it had not when the replay ended.
        is_evicted: whether it left before its time: evicted by preemption, or because its node went.
    """

    pod: str
    priority: int
    arrived: float
    bound: float | None = None
    node: str = ""
    ended: float | None = None
    is_evicted: bool = False

    @property
    def waited(self) -> float | None:
        """How long it waited for its node; None if it never got one."""
        return None if self.bound is None else self.bound - self.arrived


class WaitingTimes(msgspec.Struct, frozen=True, rename="camel"):
    """How long pods waited for their nodes, in seconds.

    Attributes:
        priority: of the pods; None for all.
        n_pods: how many got a node.
        n_pending: how many have none at the end.
        mean, p50, p95, longest: of those that got a node; None without any.
    """

    priority: int | None
    n_pods: int
    n_pending: int
    mean: float | None
    p50: float | None
    p95: float | None
    longest: float | None


class Stay:
    """A pod that waits or runs.

    Attributes:
        number: distinct in a replay.
        arrival: what the trace has of it.
        arrived, bound, node: as of a PodRun.
    """

    __slots__ = ("arrival", "arrived", "bound", "node", "number")

    def __init__(self, number: int, arrival: Arrival, arrived: float) -> None:
        self.number = number
        self.arrival = arrival
        self.arrived = arrived
        self.bound: float | None = None
        self.node = ""

    def run(self, ended: float | None = None, *, is_evicted: bool = False) -> PodRun:
        """What became of the pod."""
        pod = self.arrival.pod
        return PodRun(pod.key, pod.priority, self.arrived, self.bound, self.node, ended, is_evicted)


def waits_of(runs: Iterable[PodRun]) -> tuple[WaitingTimes, ...]:
    """The waiting times of all pods, and then of each priority, the highest first, if there are several."""
    waited: dict[int, list[float]] = {}
    pending: dict[int, int] = {}
    for run in runs:
        times = waited.setdefault(run.priority, [])
        if run.waited is None:
            pending[run.priority] = pending.get(run.priority, 0) + 1
        else:
            times.append(run.waited)
    every = [time for times in waited.values() for time in times]
    whole = _waits(ALL, every, sum(pending.values()))
    if len(waited) < 2:
        return (whole,)
    by_priority = sorted(waited.items(), reverse=True)
    return (whole, *(_waits(priority, times, pending.get(priority, 0)) for priority, times in by_priority))


def _waits(priority: int | None, times: list[float], n_pending: int) -> WaitingTimes:
    return WaitingTimes(priority, len(times), n_pending, *wait_figures(times), max(times, default=None))


def wait_figures(times: list[float]) -> tuple[float | None, float | None, float | None]:
    """The mean, median and 95th percentile of some waiting times; None without any."""
    if not times:
        return None, None, None
    half, most = np.percentile(times, (50, 95)).tolist()
    return float(np.mean(times)), half, most
