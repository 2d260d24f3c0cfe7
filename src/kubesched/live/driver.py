"""Drives the Scheduler over a live cluster: events in, one pod after another, binding cycles concurrently.

Theory of operation. Everything runs on one event loop, so that a scheduling cycle sees one state of the cluster. The
watch passes events to `feed` at any time. While the process leads, `run` takes pods out of the queue as long as there
are some, and lets other tasks run every few milliseconds; without pods it sleeps until a pod comes into the queue or
the Scheduler's next deadline. While extenders are asked about a pod, the state on which it is decided stays as it is:
events are kept until then, and binding cycles do not go on. What `attempt` returns runs as a separate task: bindings
do not hold up the next pod. Writes are the business of `Writer`.

A run that ends, because the process stops or lost its lease, cancels the tasks: a cancelled binding cycle gives
everything back. Bindings that were sent are awaited for a moment, so that their outcome is known; not after the lease
is lost, when the process has to end.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random
from typing import Any, Final, Protocol

from msgspec.structs import replace

from kubesched.api import Pod, WatchEvent
from kubesched.cluster import Feed
from kubesched.framework import (
    Action,
    ActionDone,
    Bind,
    CallExtender,
    Clock,
    Decision,
    Services,
    Status,
)
from kubesched.metrics import Observer
from kubesched.scheduler import (
    Attempt,
    BindingCycle,
    Eviction,
    PermitRequest,
    Request,
    Scheduler,
    TieBreak,
    drive,
    load_cluster,
)
from kubesched.setup import AwaitedRequests, Setup
from kubesched.state import ClusterState

_SLICE: Final = 0.005  # seconds of scheduling before other tasks get their turn
_AT_ONCE: Final = 50  # hints asked and pods moved between two attempts: one takes some 10 microseconds
_FINISH_SECONDS: Final = 5.0  # for bindings that are sent when a run ends
_LOG: Final = logging.getLogger("kubesched.scheduler")


class Writer(Protocol):
    """Carries out actions on the API server."""

    async def perform(self, action: Action) -> ActionDone:
        """Carry out an action; earlier ones on the same pod come first."""
        ...

    def emit(self, action: Action) -> None:
        """Carry out an action without waiting for its outcome, after earlier ones on the same pod."""
        ...

    async def finish(self) -> None:
        """Wait for the writes under way."""
        ...

    def may_write(self) -> bool:
        """Whether this process may write at this moment. If not, the outcome of its writes does not matter."""
        ...


class LiveScheduler:
    """The Scheduler of a live cluster.

    Args:
        setup: what decides.
        writer: what writes.
        clock, rng, tie_break, max_in_unschedulable: of the Scheduler.
        observer: called with what happens.
        services: what else plugins get than the clock, random numbers, and events, which the writer takes.

    Attributes:
        scheduler: the core.
        feed: the sink for the watch; `feed.hand_over()` when everything that exists has been shown, and
            `feed.release()` when the plugins have started.
    """

    def __init__(
        self,
        setup: Setup,
        writer: Callable[[ClusterState], Writer],
        *,
        clock: Clock,
        rng: Random,
        tie_break: TieBreak = TieBreak.UPSTREAM,
        max_in_unschedulable: float = 300.0,
        observer: Observer | None = None,
        services: Services | None = None,
    ) -> None:
        configuration = setup.configuration
        self.cluster_state = ClusterState(setup.release)
        self._writer = writer(self.cluster_state)
        self._clock = clock
        self._observer = observer or Observer()
        self._is_woken = asyncio.Event()
        self._tasks: dict[asyncio.Task[None], BindingCycle | Eviction] = {}
        self._n_written = 0  # Bindings that were sent and not answered
        self.scheduler = Scheduler(
            setup.profiles,
            self.cluster_state,
            replace(
                services or Services(), clock=clock, rng=rng, record_event=self._writer.emit, avoids_known_faults=True
            ),
            emit=self._writer.emit,
            tie_break=tie_break,
            initial_backoff=configuration.pod_initial_backoff_seconds,
            max_backoff=configuration.pod_max_backoff_seconds,
            max_in_unschedulable=max_in_unschedulable,
            observer=self._queued,
            probe=setup.probe,
            extenders=setup.extenders,
            at_once=_AT_ONCE,
        )
        self._answer_cycle = setup.answer_cycle
        self._is_steady = asyncio.Event()  # no attempt is under way
        self._is_steady.set()
        requests = AwaitedRequests(self.scheduler.waits, self.scheduler.waiting_pods, clock)
        self._answer_other = requests.answering(self._perform)
        self.feed = Feed(partial(load_cluster, self.cluster_state), self._apply)

    @property
    def n_binding(self) -> int:
        """How many binding cycles and evictions run."""
        return len(self._tasks)

    # --- events in ---

    def _apply(self, event: WatchEvent) -> None:
        before = self.cluster_state.objects.get(event.kind, event.object.key)
        began = self._clock.monotonic()
        changes = self.scheduler.handle_event(event)
        self.scheduler.waits.look()
        if self.scheduler.queue.has_backlog:
            self._is_woken.set()
        self._observer.handled(event, before, changes, self._clock.monotonic() - began)

    def _queued(self, place: str, event: str, pod: Pod) -> None:
        self._is_woken.set()
        self._observer.queued(place, event, pod)

    # --- the loop ---

    async def run(self) -> None:
        """Schedule until cancelled."""
        try:
            while True:
                self.scheduler.advance()
                if await self._schedule_for(_SLICE):
                    await asyncio.sleep(0)
                else:
                    await self._sleep()
        finally:
            await self._break_off()

    async def _schedule_for(self, seconds: float) -> bool:
        """Try pods for a while. Returns: whether there are more."""
        scheduler, clock = self.scheduler, self._clock
        end = clock.monotonic() + seconds
        while scheduler.queue.can_pop:
            began = clock.monotonic()
            if began >= end:
                return True
            taken = await self._attempt()
            if taken is None:
                break
            decision, cycle = taken
            self._observer.decided(decision, clock.monotonic() - began)
            if cycle is not None:
                self._begin(decision, cycle, began)
            if scheduler.extenders:
                await asyncio.sleep(0)  # binding cycles go on before the next state is held
        return False

    async def _attempt(self) -> Attempt | None:
        """Decide on the state as it is now, with the answers of extenders if there are some."""
        self._is_steady.clear()
        self.feed.hold()
        try:
            return await drive(self.scheduler.attempt(), self._answer_cycle)
        finally:
            self.feed.release()
            self._is_steady.set()

    async def _until_steady(self) -> None:
        while not self._is_steady.is_set():
            await self._is_steady.wait()

    async def _sleep(self) -> None:
        self._is_woken.clear()
        deadline = self.scheduler.next_deadline()
        seconds = None if deadline is None else max(deadline - self._clock.monotonic(), 0.0)
        try:
            async with asyncio.timeout(seconds):  # wait_for of Python 3.11 may swallow a cancellation
                await self._is_woken.wait()
        except TimeoutError:
            return

    # --- what a decision leads to ---

    def _begin(self, decision: Decision, cycle: BindingCycle | Eviction, began: float) -> None:
        task = asyncio.create_task(self._carry_out(decision, cycle, began), name=f"bind {decision.pod.key}")
        self._tasks[task] = cycle
        task.add_done_callback(self._ended)

    async def _carry_out(self, decision: Decision, cycle: BindingCycle | Eviction, began: float) -> None:
        outcome: Any = await drive(cycle, self._answer, self._until_steady)
        now = self._clock.monotonic()
        if not isinstance(outcome, Decision):
            if decision.victims:
                self._observer.evicted(now - began)
        elif outcome.outcome.status.is_success:
            first = outcome.initial_attempt_timestamp
            self._observer.bound(outcome, now - began, now - (began if first is None else first))
        else:
            self._observer.failed(outcome, now - began)

    def _answer(self, request: Request) -> Awaitable[Any]:
        return self._permitted(request) if isinstance(request, PermitRequest) else self._answer_other(request)

    async def _permitted(self, request: PermitRequest) -> Status:
        began = self._clock.monotonic()
        status: Status = await self._answer_other(request)
        self._observer.permitted(status, self._clock.monotonic() - began)
        return status

    async def _perform(self, action: Action) -> ActionDone:
        if not isinstance(action, Bind | CallExtender):
            return await self._writer.perform(action)
        self.scheduler.note_written(action)
        self._n_written += 1
        try:
            if isinstance(action, Bind):
                return await self._writer.perform(action)
            done: ActionDone = await self._answer_cycle(action)
            return done
        finally:
            self._n_written -= 1

    def _ended(self, task: asyncio.Task[None]) -> None:
        cycle = self._tasks.pop(task)
        cycle.close()  # for a task that was cancelled before its first step
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("%s: %s", task.get_name(), error, exc_info=error)

    async def _break_off(self) -> None:
        """Let Bindings that were sent be answered, then cancel what is left."""
        end = self._clock.monotonic() + _FINISH_SECONDS
        while self._n_written and self._writer.may_write() and self._clock.monotonic() < end:
            await asyncio.wait(self._tasks, timeout=0.05, return_when=asyncio.FIRST_COMPLETED)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks and (stuck := (await asyncio.wait(tasks, timeout=_FINISH_SECONDS))[1]):
            names = ", ".join(sorted(task.get_name() for task in stuck))
            _LOG.warning("cancelled, and still running after %g s: %s", _FINISH_SECONDS, names)
        try:
            async with asyncio.timeout(_FINISH_SECONDS):
                await self._writer.finish()
        except TimeoutError:
            _LOG.warning("some writes were not answered within %g s, and are broken off", _FINISH_SECONDS)
