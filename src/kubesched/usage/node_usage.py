"""NodeUsage: the score of a node is the share of its scarcer resource, CPU or memory, that nothing uses.

The figures are those of metrics.k8s.io, which a metrics-server fills, of Prometheus, or of a file. A sample is some
seconds old. So pods that started since count by their requests, until a newer sample has them. What a node without a
recent sample gets is an argument.
"""

import asyncio
from collections.abc import Awaitable, Hashable, Iterable, Sequence
from enum import StrEnum
from itertools import count
from typing import Final

import numpy as np

from kubesched.api import (
    ActionType,
    ClusterEvent,
    EventResource,
    KubeObject,
    Pod,
    Unstructured,
    custom_resource,
    kind_named,
)
from kubesched.config import Duration, FieldError, PluginArgs, child
from kubesched.documents import listed
from kubesched.engine import IntVector
from kubesched.errors import InputError
from kubesched.framework import (
    CycleState,
    DependsOn,
    EventRegistration,
    Handle,
    Plugin,
    QueueingHint,
    Status,
    Verdicts,
    VirtualClock,
    located_line,
)
from kubesched.state import CPU, MEMORY, Nodes, PodInfo
from kubesched.usage.prometheus import PrometheusSource, query_usage
from kubesched.usage.samples import Sample, fresh_samples, read_usage_file, sample_of, time_of, time_text

_KIND: Final = "metrics.k8s.io/v1beta1/NodeMetrics"
_RESOURCES: Final = [CPU, MEMORY]
_LIMIT: Final = 2**62  # of what is used; pods may ask for more than int64 has
_NUMBERS: Final = count(1)  # of sets of fresh samples; equal plugins of several profiles share kept columns


class WhenStale(StrEnum):
    """What a node without a recent sample gets."""

    IGNORE = "ignore"
    """It is scored by the requests of its pods."""
    ZERO = "zero"
    """Its score is 0."""
    REJECT = "reject"
    """It is rejected."""


class NodeUsageArgs(PluginArgs):
    """Arguments of NodeUsage; the figures are those of metrics.k8s.io unless another source is given.

    Attributes:
        stale_after: the age from which a sample is stale.
        when_stale: what a node without a recent sample gets: its score by the requests of its pods (ignore), the score
            0 (zero), or a rejection (reject).
        prometheus: ask Prometheus instead.
        path: read a file with a NodeMetricsList instead.
        refresh_seconds: how often Prometheus is asked, or the file is read.
    """

    stale_after: Duration = Duration(120)
    when_stale: WhenStale = WhenStale.IGNORE
    prometheus: PrometheusSource | None = None
    path: str = ""
    refresh_seconds: float = 30.0

    def validate(self, path: str) -> list[FieldError]:
        """A second source, or a time that is not positive."""
        found = [
            FieldError.invalid(child(path, name), value, "must be positive")
            for name, value in (("staleAfter", self.stale_after), ("refreshSeconds", self.refresh_seconds))
            if value <= 0
        ]
        if self.prometheus is not None:
            found += self.prometheus.faults(child(path, "prometheus"))
            if self.path:
                found.append(FieldError.invalid(child(path, "path"), self.path, "prometheus is another source"))
        return found


class NodeUsage(Plugin):
    """Prefer nodes where CPU and memory are really free, by metrics.k8s.io or Prometheus."""

    Args = NodeUsageArgs
    args: NodeUsageArgs
    depends_on = DependsOn.ROW
    reasons = (Status.unschedulable("node(s) had no recent usage data"),)
    reads: tuple[str, ...] = (f"{_KIND}?",)

    def __init__(self, args: PluginArgs | None = None) -> None:
        super().__init__(args)
        self._has_other_source = self.args.prometheus is not None or bool(self.args.path)
        if self._has_other_source:
            self.reads = ()
        self._known: dict[str, tuple[KubeObject, Sample]] = {}  # of the API, by node
        self._samples: dict[str, Sample] = {}
        self._fresh: dict[str, Sample] = {}
        self._number = 0  # of the set of fresh samples, unique in the process
        self._seen = -1  # the generation of the objects that the samples are of
        self._taken_at = 0.0  # the time of the samples, or of the snapshot that they are in
        self._ahead: list[str] = []  # nodes whose samples are from the future
        self._expires = -1.0  # when the next sample becomes stale
        self._fault = ""
        self._refreshing: asyncio.Task[None] | None = None

    # --- where the figures come from ---

    def start(self, handle: Handle) -> Awaitable[None] | None:
        """Read the file or ask Prometheus once; where an event loop runs, a task does it again."""
        if self.args.prometheus is not None:
            return self._begin()
        if self.args.path:
            self._take(read_usage_file(self.args.path, handle.clock.now()))
            self._begin_task()
        return None

    def stop(self) -> None:
        """End the task."""
        if self._refreshing is not None:
            self._refreshing.cancel()

    async def _begin(self) -> None:
        await self.refresh()
        self._begin_task()

    def _begin_task(self) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._refreshing = loop.create_task(self._keep_fresh())

    async def _keep_fresh(self) -> None:
        while True:
            await asyncio.sleep(self.args.refresh_seconds)
            await self.refresh()

    async def refresh(self) -> None:
        """Ask the source again; if that fails, the last samples stay. A warning tells each change of the fault."""
        fault = ""
        try:
            await self._ask()
        except InputError as error:
            fault = str(error)
        except Exception as error:  # noqa: BLE001 - the next try may succeed; an exception would be the end of the tries
            fault = f"the usage was not read: {located_line(error)}"
        if fault and fault != self._fault:
            self.handle.logger.warning("%s: %s", self.name, fault)
        if self._fault and not fault:
            self.handle.logger.info("%s: usage is measured again", self.name)
        self._fault = fault

    async def _ask(self) -> None:
        if self.args.prometheus is not None:
            self._take(await query_usage(self.args.prometheus))
        else:
            self._take(await asyncio.to_thread(read_usage_file, self.args.path, self.handle.clock.now()))

    def _take(self, samples: dict[str, Sample]) -> None:
        self._samples = samples
        self._taken_at = time_of(samples.values(), self.args.stale_after)
        self._expires = -1.0

    # --- which figures count ---

    def _current(self) -> dict[str, Sample]:
        """The samples that are not stale."""
        if not self._has_other_source:
            self._read_objects()
        now = self._now()
        if now > self._expires:
            self._fresh = fresh_samples(self._samples, now, self.args.stale_after)
            self._number = next(_NUMBERS)
            self._tell_ahead(now)
            self._expires = min((one.time for one in self._fresh.values()), default=now) + self.args.stale_after
        return self._fresh

    def _now(self) -> float:
        """The time; offline, where the clock is virtual, that of the snapshot, or of its newest samples."""
        clock = self.handle.clock
        return max(clock.now(), self._taken_at) if isinstance(clock, VirtualClock) else clock.now()

    def _tell_ahead(self, now: float) -> None:
        """Warn of samples that are left out because they are from the future, once for each set of nodes."""
        ahead = self._are_ahead(self._samples, now)
        if ahead and ahead != self._ahead:
            names = listed(f"{name} ({time_text(self._samples[name].time)})" for name in ahead)
            words = "%s: samples from the future are left out; check the clocks of these nodes: %s"
            self.handle.logger.warning(words, self.name, names)
        self._ahead = ahead

    def _are_ahead(self, names: Iterable[str], now: float) -> list[str]:
        latest, known = now + self.args.stale_after, self._samples
        return sorted(name for name in names if name in known and known[name].time > latest)

    def _read_objects(self) -> None:
        """Read the objects that changed."""
        generation = self.handle.cluster_state.objects.generation(self.handle.reads[_KIND])
        if generation == self._seen:
            return
        self._seen = generation
        now = self.handle.clock.now()
        known: dict[str, tuple[KubeObject, Sample]] = {}
        for found in self.handle.list(_KIND):
            before = self._known.get(found.name)
            if before is not None and before[0] is found:
                known[found.name] = before
            elif (sample := self._sample(found, now)) is not None:
                known[found.name] = (found, sample)
        self._known = known
        self._take({name: sample for name, (_, sample) in known.items()})
        read_at = max((found.read_at for found, _ in known.values() if isinstance(found, Unstructured)), default=0.0)
        self._taken_at = read_at or self._taken_at

    def _sample(self, found: KubeObject, now: float) -> Sample | None:
        try:
            return sample_of(found, now)
        except (InputError, ValueError) as error:
            self.handle.logger.warning("%s: NodeMetrics %s is left out: %s", self.name, found.name, error)
            return None

    # --- filter, only where nodes without figures are rejected ---

    def events_to_register(self) -> list[EventRegistration]:
        """A new sample helps, if the node had none or a stale one; from another source than the API, any event."""
        if self._has_other_source:
            return [EventRegistration(ClusterEvent(EventResource.WILDCARD, ActionType.ALL))]
        action = ActionType.ADD | ActionType.UPDATE
        event = ClusterEvent(custom_resource(kind_named(_KIND).key), action)
        return [EventRegistration(event, self._helps)]

    def _helps(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        before, after = (self._sample(one, 0.0) if one is not None else None for one in (old, new))
        was_fresh = before is not None and after is not None and abs(after.time - before.time) <= self.args.stale_after
        return QueueingHint.SKIP if was_fresh else QueueingHint.QUEUE

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Whether there is anything to reject."""
        return Status.SUCCESS if self.args.when_stale is WhenStale.REJECT else Status.SKIP

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        """The samples that count."""
        self._current()
        return self._number

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts:
        """Reject nodes without a recent sample."""
        fresh = self._current()
        return Verdicts(np.array([name not in fresh for name in nodes.names], dtype=np.int16), self.reasons)

    # --- score ---

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """The samples that count; the score does not depend on the pod."""
        self._current()
        return self._number

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """The unused percentage of the scarcer resource."""
        fresh = self._current()
        room = nodes.allocatable[_RESOURCES]
        used = np.array(nodes.requested[_RESOURCES])
        without = np.zeros(len(nodes), dtype=bool)
        for position, name in enumerate(nodes.names):
            if (sample := fresh.get(name)) is None:
                without[position] = True
            else:
                used[:, position] = _used(sample, used[:, position], nodes.pods(position))
        free = np.maximum(room - used, 0) * 100 // np.maximum(room, 1)
        score: IntVector = free.min(axis=0)
        return score if self.args.when_stale is WhenStale.IGNORE else np.where(without, 0, score)

    # --- explain ---

    def explain_data(self, state: CycleState, pod: Pod) -> Iterable[str]:
        """Coverage and age of the samples."""
        fresh, names = self._current(), self.handle.snapshot().nodes.names
        without = [name for name in names if name not in fresh]
        n_fresh = len(names) - len(without)
        yield f"{n_fresh} of {len(names)} nodes have a recent sample from {self._source}{self._ages()}"
        if without:
            treated = {
                WhenStale.IGNORE: "are scored by the requests of their pods",
                WhenStale.ZERO: "get the score 0",
                WhenStale.REJECT: "are rejected",
            }[self.args.when_stale]
            ahead = len(self._are_ahead(without, self._now()))
            old = sum(name in self._samples for name in without) - ahead
            counts = f"{old} stale, {len(without) - old - ahead} missing" + (
                f", {ahead} from the future" if ahead else ""
            )
            yield f"nodes without one ({counts}) {treated}: {listed(without)}"

    @property
    def _source(self) -> str:
        if self.args.prometheus is not None:
            return self.args.prometheus.shown_url
        return self.args.path or "metrics.k8s.io"

    def _ages(self) -> str:
        """When the samples were taken, and how old they are, if the time is known."""
        if not self._fresh:
            return ""
        times = [sample.time for sample in self._fresh.values()]
        first, last = min(times), max(times)
        taken = f", taken at {time_text(last)}"
        taken += f" and up to {last - first:.0f} s earlier" if last - first >= 1 else ""
        age = self._now() - last
        return f"{taken}; the newest is {age:.0f} s old" if age >= 1 else taken


def _used(sample: Sample, requested: IntVector, pods: Sequence[PodInfo]) -> tuple[int, int]:
    """What a node uses: as measured, and what pods request that the sample does not have."""
    since = sample.since
    newer = [info.wanted for info in pods if info.start > since]
    cpu, memory = (int(held) for held in requested)
    if sample.cpu >= 0:
        cpu = sample.cpu + sum(wanted.get("cpu", 0) for wanted in newer)
    if sample.memory >= 0:
        memory = sample.memory + sum(wanted.get("memory", 0) for wanted in newer)
    return min(cpu, _LIMIT), min(memory, _LIMIT)
