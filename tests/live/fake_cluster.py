"""A live scheduler over a cluster in memory: what it writes comes back as an event, as from a watch."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from random import Random
from typing import Any

from msgspec.structs import replace

from kubesched.api import EventType, KubeObject, WatchEvent
from kubesched.framework import Action, ActionDone, Bind, DeletePod, PatchPodStatus, Plugin, Probe
from kubesched.live import LiveScheduler
from kubesched.metrics import Observer, SchedulerMetrics
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.setup import set_up
from kubesched.state import ClusterState
from tests.extender.virtual_time import LoopClock, run

Story = Callable[["FakeCluster"], Awaitable[None]]


class FakeCluster:
    """The writer of a live scheduler, and what happens in its cluster.

    Attributes:
        bind_seconds: how long a Binding takes.
        refusals: errors with which actions of a type fail.
    """

    def __init__(
        self,
        metrics: SchedulerMetrics,
        plugins: Iterable[type[Plugin]],
        observer: Observer | None = None,
        probes: Iterable[Probe] = (),
        release: Release = DEFAULT_RELEASE,
    ) -> None:
        self.bind_seconds = 0.0
        self.refusals: dict[type[Action], str] = {}
        self.live = LiveScheduler(
            set_up(None, tuple(plugins), release=release).watched_by(metrics.steps, *probes),
            self._write_to,
            clock=LoopClock(),
            rng=Random(0),
            observer=observer or metrics,
        )

    def _write_to(self, _cluster_state: ClusterState) -> "FakeCluster":
        return self

    async def finish(self) -> None:
        pass

    def may_write(self) -> bool:
        return True

    def emit(self, action: Action) -> None:
        if isinstance(action, PatchPodStatus) and action.nominated_node_name:
            status = replace(action.pod.status, nominated_node_name=action.nominated_node_name)
            self.tell(replace(action.pod, status=status))

    async def perform(self, action: Action) -> ActionDone:
        refusal = self.refusals.get(type(action), "")
        if isinstance(action, Bind):
            await asyncio.sleep(self.bind_seconds)
            if not refusal:
                self.tell(replace(action.pod, spec=replace(action.pod.spec, node_name=action.node_name)))
        elif isinstance(action, DeletePod):
            self.tell(action.pod, EventType.DELETED)
        return ActionDone(action, error=refusal)

    def tell(self, obj: KubeObject, type_: EventType = EventType.MODIFIED) -> None:
        self.live.feed([WatchEvent(type_, type(obj).__name__, obj)])

    def add(self, *objects: KubeObject) -> None:
        for obj in objects:
            self.tell(obj, EventType.ADDED)


def lived(
    story: Story,
    metrics: SchedulerMetrics,
    *plugins: type[Plugin],
    observer: Observer | None = None,
    probes: Iterable[Probe] = (),
    release: Release = DEFAULT_RELEASE,
) -> None:
    """Run a story beside a live scheduler, on a clock that moves only while everybody waits."""

    async def both() -> None:
        cluster = FakeCluster(metrics, plugins, observer, probes, release)
        cluster.live.feed.hand_over()
        cluster.live.feed.release()
        scheduling: asyncio.Task[Any] = asyncio.create_task(cluster.live.run())
        try:
            await story(cluster)
        finally:
            scheduling.cancel()
            with suppress(asyncio.CancelledError):
                await scheduling

    run(both())
