"""Replays a trace with two configurations, several times each, and compares the figures over time."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from kubesched.api import KubeObject
from kubesched.replay.replay_result import OverTime, Replay
from kubesched.replay.replaying import replay
from kubesched.scheduler import TieBreak
from kubesched.session import Progress
from kubesched.setup import Setup
from kubesched.shown import Shown
from kubesched.traces import Trace

_SHARES: Final = ("allocation", "utilization", "stranded")
WAIT: Final = "wait"
"""The figure that is about pods, not about samples."""
_STEPS: Final = 1000
"""Of a run, for the progress of all of them."""


class ReplayDifference(msgspec.Struct, frozen=True, rename="camel"):
    """A figure of both sides.

    Attributes:
        name: such as `pending` or `cpu_utilization`.
        a, b: of the run whose mean is the median over the runs.
        is_finding: whether the means of all runs of one side are above those of the other, so that it is hardly chance.
    """

    name: str
    a: OverTime
    b: OverTime
    is_finding: bool

    @property
    def is_share(self) -> bool:
        """Whether the values are shares from 0 to 1."""
        return self.name.endswith(tuple(f"_{what}" for what in _SHARES))


class ReplayComparison(Shown, msgspec.Struct, frozen=True, eq=False):
    """A trace with two configurations.

    Attributes:
        a, b: what the sides are called.
        of_a, of_b: the runs, each with other random ties.
        differences: the figures.

    Example:
        trace = read_trace("pods.csv", "nodes.csv")
        compared = compare_replays(trace, a=set_up, b=set_up, seeds=2)
        assert not any(one.is_finding for one in compared.differences)
    """

    a: str
    b: str
    of_a: tuple[Replay, ...]
    of_b: tuple[Replay, ...]
    differences: tuple[ReplayDifference, ...]


def compare_replays(
    trace: Trace,
    nodes: Iterable[KubeObject] = (),
    *,
    a: Callable[[], Setup],
    b: Callable[[], Setup],
    names: tuple[str, str] = ("A", "B"),
    seeds: int = 5,
    every: float | None = None,
    progress: Progress | None = None,
) -> ReplayComparison:
    """Replay a trace with two configurations.

    Args:
        trace, nodes, every: as for `replay`.
        a, b: give the configuration and the plugins of each run.
        names: what the sides are called.
        seeds: how many runs of each side there are; every run breaks ties in another random way.
        progress: called with how much has happened, and how much there is.
    Raises:
        InputError, ConfigError, PluginError: as from `replay`.

    Example:
        compared = compare_replays(read_trace("pods.csv", "nodes.csv"), a=set_up, b=set_up, seeds=2)
        print([one.name for one in compared.differences if one.is_finding])
    """
    objects = list(nodes) if not isinstance(nodes, msgspec.Struct) else nodes
    runs: list[list[Replay]] = [[], []]
    for number, (side, seed) in enumerate((side, seed) for seed in range(1, seeds + 1) for side in (0, 1)):
        setup = (a, b)[side]()
        part = None if progress is None else _part_of(progress, number, 2 * seeds)
        ties = TieBreak.RANDOM
        runs[side].append(replay(trace, objects, setup, every=every, tie_break=ties, seed=seed, progress=part))
    of_a, of_b = map(tuple, runs)
    return ReplayComparison(*names, of_a, of_b, tuple(_differences(of_a, of_b)))


def _part_of(progress: Progress, number: int, n_runs: int) -> Progress:
    """The progress of one run as that of all of them."""

    def note(done: int, total: int) -> None:
        progress(number * _STEPS + _STEPS * done // max(total, 1), n_runs * _STEPS)

    return note


def figure_names(answer: Replay) -> list[str]:
    """The figures over time of a replay, in the order of reports."""
    held = [f"{name}_{what}" for name in answer.resources for what in _SHARES]
    known = (name for name in held if not name.endswith("_stranded") or name in answer.series)
    return ["pending", "running", "nodes_in_use", *known, WAIT, "evicted"]


def _differences(of_a: Sequence[Replay], of_b: Sequence[Replay]) -> Iterable[ReplayDifference]:
    for name in figure_names(of_a[0]):
        a, b = (sorted(_measured(runs, name), key=lambda one: one.mean or 0.0) for runs in (of_a, of_b))
        if a and b:
            means = [[one.mean or 0.0 for one in side] for side in (a, b)]
            is_finding = len(of_a) > 1 and (means[0][-1] < means[1][0] or means[1][-1] < means[0][0])
            yield ReplayDifference(name, a[(len(a) - 1) // 2], b[(len(b) - 1) // 2], is_finding)


def _measured(runs: Sequence[Replay], name: str) -> list[OverTime]:
    found = (_waits(run) if name == WAIT else run.over_time(name) for run in runs)
    return [one for one in found if one.mean is not None]


def _waits(run: Replay) -> OverTime:
    """How long pods waited, over all pods, as a replay reports it: between two samples there may be none, or one."""
    return OverTime(run.waits[0].mean, run.waits[0].p95, None)
