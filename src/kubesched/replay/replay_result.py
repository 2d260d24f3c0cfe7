"""What became of a trace: figures, series over time, and each pod."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kubesched.release import DEFAULT_VERSION, DecidingVersion
from kubesched.replay.pod_runs import PodRun, WaitingTimes
from kubesched.session import Placement
from kubesched.shown import Shown, data_frame

if TYPE_CHECKING:
    import pandas as pd

Series = Mapping[str, Sequence[float | None]]
"""Name -> a value for each sample; None where there is nothing to measure."""


class OverTime(msgspec.Struct, frozen=True, rename="camel"):
    """A figure over time.

    Attributes:
        mean: over the whole time.
        p95: of the samples.
        end: of the last sample.
    """

    mean: float | None
    p95: float | None
    end: float | None


class Replay(Shown, msgspec.Struct, frozen=True, eq=False):
    """The result of a replay. Times are in seconds of the trace.

    Attributes:
        begin, end: when the first and the last thing happened.
        series: `time`, and for each sample how many `nodes` there are, and `nodes_in_use`, which have more than pods
            that belong to their node; how many pods are `running` and `pending`; what happened since the sample before:
            pods that `arrived`, were `bound`, `ended` and were `evicted`, and `wait_mean`, `wait_p50` and `wait_p95` of
            those that were bound; and for each resource, such as `cpu`: `cpu_allocatable`, `cpu_requested`,
            `cpu_utilization`, which is the share that pods request of the nodes in use, and `cpu_stranded`, the share
            of what is free that popular pods cannot use.
        resources: what has such series; `stranded` of all but memory.
        waits: how long pods waited: all, and then those of each priority.
        pods: every pod, in the order in which they left; those that have not left come last.
        left: the pods that are pending at the end, with the reasons.
        n_lost: how many pods were evicted and did not come again.
        n_shapes, covered: how many shapes of pods count as popular, and the share of the pods that have one of them.
        notes: what was left out of the trace, one sentence each.
        name: what was replayed.
        version: the version of Kubernetes whose rules decided.

    Example:
        answer = replay(read_trace("pods.csv", "nodes.csv"))
        print(answer.over_time("cpu_utilization").mean, answer.waits[0].p95)
    """

    begin: float
    end: float
    series: Series
    resources: tuple[str, ...]
    waits: tuple[WaitingTimes, ...]
    pods: tuple[PodRun, ...]
    left: tuple[Placement, ...] = ()
    n_lost: int = 0
    n_shapes: int = 0
    covered: float = 0.0
    notes: tuple[str, ...] = ()
    name: str = ""
    version: DecidingVersion = DEFAULT_VERSION

    @property
    def n_evicted(self) -> int:
        """How many times a pod had to leave before its time."""
        return sum(one.is_evicted for one in self.pods)

    @property
    def faults(self) -> tuple[str, ...]:
        """What plugins failed with, each text once, of the pods that are left pending."""
        return tuple(dict.fromkeys(one.diagnosis or one.message for one in self.left if one.reason == "SchedulerError"))

    def allocation(self, resource: str) -> list[float | None]:
        """For each sample, the share of a resource of all nodes that pods request."""
        pairs = zip(self.series[f"{resource}_requested"], self.series[f"{resource}_allocatable"], strict=True)
        return [asked / offered if asked is not None and offered else None for asked, offered in pairs]

    def over_time(self, name: str) -> OverTime:
        """A series, or `RESOURCE_allocation`, in three figures."""
        resource, _, what = name.rpartition("_")
        return summary(self.series["time"], self.allocation(resource) if what == "allocation" else self.series[name])

    def to_frame(self) -> "pd.DataFrame":
        """The series as a DataFrame, a row for each sample.

        Raises:
            InputError: pandas is not installed.
        """
        return data_frame(self.series)

    def pods_frame(self) -> "pd.DataFrame":
        """The pods as a DataFrame, with the fields of a PodRun and `waited`.

        Raises:
            InputError: pandas is not installed.
        """
        fields = (*PodRun.__struct_fields__, "waited")
        columns: dict[str, list[Any]] = {name: [getattr(one, name) for one in self.pods] for name in fields}
        return data_frame(columns)


def summary(times: Sequence[float | None], values: Sequence[float | None]) -> OverTime:
    """A series in three figures; a sample is taken to hold since the one before it."""
    known = [(time, value) for time, value in zip(times, values, strict=True) if value is not None and time is not None]
    if not known:
        return OverTime(None, None, None)
    at = np.array([time for time, _ in known])
    of = np.array([value for _, value in known], dtype=np.float64)
    lasted = np.diff(at, prepend=at[0])
    mean = float(np.average(of, weights=lasted)) if lasted.sum() > 0 else float(of.mean())
    return OverTime(mean, float(np.percentile(of, 95)), None if values[-1] is None else float(of[-1]))
