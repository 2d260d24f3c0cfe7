"""Runs a scheduler over the pods in its queue, on a virtual clock, until nothing more can happen.

That is when the active and backoff queues are empty, so that only the flush of unschedulable pods is left, or when pods
that ended in an error would only be tried again in an unchanged cluster. A run with an agenda goes on until that is
empty, too.
"""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from kubesched.engine import collect_young
from kubesched.framework import HOOK_FAULTS, Action, Decision, VirtualClock, answer_text
from kubesched.scheduler import BindingCycle, Eviction, PermitRequest, Request, Scheduler, WaitRequest, drive
from kubesched.session.agenda import Agenda
from kubesched.session.memory_cluster import MemoryCluster
from kubesched.session.suspended import LATER, SuspendedCycles
from kubesched.setup import EventLoop

Progress = Callable[[int, int], None]
"""Called after each pod: how many have been decided, and how many there are."""

_COLLECT_EVERY = 1024
_MAX_ERRORS = 10


class QueueRun:
    """One run.

    Args:
        scheduler, cluster, clock, loop, suspended: of the session.
        answer: what `drive` asks for a scheduling cycle.
        decided: called with each decision; true ends the run.
        agenda: what happens during the run.

    Attributes:
        outcomes: the last decision on each pod, by uid; with an agenda, only on pods that are left pending.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        cluster: MemoryCluster,
        clock: VirtualClock,
        loop: EventLoop,
        suspended: SuspendedCycles,
        answer: Callable[[Request], Awaitable[Any]],
        decided: Callable[[Decision], bool],
        agenda: Agenda | None = None,
    ) -> None:
        self.outcomes: dict[str, Decision] = {}
        self._scheduler = scheduler
        self._cluster = cluster
        self._clock = clock
        self._loop = loop
        self._suspended = suspended
        self._answer_cycle = answer
        self._decided = decided
        self._agenda = agenda
        self._errors: dict[str, tuple[int, int]] = {}  # uid -> changes seen, errors so far
        self._is_over = False

    async def go(self, counts: Callable[[], tuple[int, int]], progress: Progress | None) -> None:
        """Try the pods.

        Args:
            counts: gives what `progress` is called with.
        """
        plugins = [plugin for framework in self._scheduler.frameworks.values() for plugin in framework.profile.plugins]
        may_have_tasks = any(plugin.defines("start") for plugin in plugins)
        for step in count(1):
            if may_have_tasks:
                await self._loop.breathe()
            if not await self._step() or self._is_over:
                break
            if step % _COLLECT_EVERY == 0:
                collect_young()  # the caller has paused the collector
            if progress is not None:  # for each pod: one may take a second
                progress(*counts())
        if progress is not None:
            progress(counts()[1], counts()[1])

    async def _step(self) -> bool:
        """Try one pod, or let time pass; false when nothing more can happen."""
        taken = await drive(self._scheduler.attempt(), self._answer_cycle)
        if taken is not None:
            decision, cycle = taken
            self._note(decision)
            if cycle is not None:
                self._drive(cycle, None)
            elif not decision.unschedulable_plugins and not decision.pending_plugins:
                self._give_up_if_hopeless(decision)
            self._resume()
            return True
        return self._pass_time()

    def _pass_time(self) -> bool:
        waiting = self._scheduler.queue.counts()
        due = None if self._agenda is None else self._agenda.next_time()
        if due is None and not waiting["backoff"] and not waiting["active"] and not self._suspended:
            return False
        deadlines = (due, self._suspended.next_deadline(), self._scheduler.next_deadline())
        times = [deadline for deadline in deadlines if deadline is not None]
        if not times:
            return False
        self._clock.advance_to(min(times))
        self._scheduler.advance()
        if due is not None and due <= self._clock.seconds:
            self._carry_out()
        self._resume()
        return True

    def _carry_out(self) -> None:
        """Have happen what is due; what was noted of earlier times is not kept."""
        assert self._agenda is not None
        self._agenda.carry_out(self._clock.seconds)
        self._cluster.n_changes += 1
        self._cluster.evicted.clear()
        self._cluster.events.clear()

    def _note(self, decision: Decision) -> None:
        uid = decision.pod.uid
        if self._agenda is None or not decision.node_name:
            self.outcomes[uid] = decision
        else:
            self.outcomes.pop(uid, None)
            self._errors.pop(uid, None)
        self._is_over |= self._decided(decision)

    def _give_up_if_hopeless(self, decision: Decision) -> None:
        """A pod that no plugin rejected is tried again without an event: but not after it failed twice in the same
        cluster, or too often in any. While an agenda changes the cluster, only faults count, and how many there are.
        """
        uid, n_changes = decision.pod.uid, self._cluster.n_changes
        last, n_errors = self._errors.get(uid, (-1, 0))
        if self._agenda is not None and self._agenda.next_time() is not None:
            if decision.reason != "SchedulerError":
                return
            last = -1
        if last == n_changes or n_errors >= _MAX_ERRORS:
            self._scheduler.queue.delete(decision.pod)
        self._errors[uid] = (n_changes, n_errors + 1)

    # --- binding cycles ---

    def _drive(self, cycle: BindingCycle | Eviction, answer: Any, error: BaseException | None = None) -> None:
        """Run a binding cycle, or an eviction, until it ends or has to wait.

        Args:
            answer: to the request that it waits for, unless that failed with `error`.
        """
        try:
            while True:
                request = cycle.send(answer) if error is None else cycle.throw(error)
                answer, error = self._answer(request)
                if answer is LATER:
                    self._suspended.add(cycle, request)
                    return
        except StopIteration as end:
            decision: Decision | None = end.value
            if decision is not None and not decision.outcome.status.is_success:
                self._note(decision)
                self._give_up_if_hopeless(decision)

    def _answer(self, request: object) -> tuple[Any, BaseException | None]:
        """The answer to a request of a binding cycle, LATER where there is none yet; or what is wrong with it."""
        try:
            if isinstance(request, Action):
                return self._cluster.perform(request), None
            if isinstance(request, WaitRequest):
                return (True if request.condition() else LATER), None
            if isinstance(request, PermitRequest):
                return LATER, None
        except HOOK_FAULTS as error:  # a plugin's condition or action may do anything
            return None, error
        return None, TypeError(f"a hook can await only what the handle offers; found {answer_text(request)}")

    def _resume(self) -> None:
        """Go on with binding cycles whose wait is over."""
        while self._suspended and (ready := self._suspended.next_ready()) is not None:
            self._drive(*ready)
