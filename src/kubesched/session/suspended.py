"""Binding cycles that wait, on the virtual clock: each continues once, with its answer, when it can."""

import heapq
from collections import deque
from typing import Any, Final

from kubesched.framework import HOOK_FAULTS, VirtualClock
from kubesched.scheduler import BindingCycle, Eviction, PermitRequest, Scheduler, WaitRequest

LATER: Final = object()
"""Stands for an answer that there is not yet."""

_SPARE: Final = 64  # void entries that the calendar may hold beyond its valid ones
_Ready = tuple[BindingCycle | Eviction, Any, BaseException | None]


class SuspendedCycles:
    """The binding cycles that wait for a condition or for Permit; while nothing happens, they cost nothing."""

    def __init__(self, scheduler: Scheduler, clock: VirtualClock) -> None:
        self._scheduler = scheduler
        self._clock = clock
        self._waiting: dict[PermitRequest | WaitRequest, BindingCycle | Eviction] = {}
        self._calendar: list[tuple[float, int, WaitRequest]] = []
        self._n_entries = 0
        self._ready: deque[_Ready] = deque()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._ready)

    def add(self, cycle: BindingCycle | Eviction, request: PermitRequest | WaitRequest) -> None:
        """Hold a cycle until its request has an answer."""
        self._waiting[request] = cycle
        if isinstance(request, PermitRequest):
            waiting = self._scheduler.waiting_pods[request.uid]
            waiting.on_decided(lambda status: self._wake(request, status, None))
        else:
            self._n_entries += 1
            if len(self._calendar) > 2 * len(self._waiting) + _SPARE:
                self._calendar = [entry for entry in self._calendar if entry[2] in self._waiting]
                heapq.heapify(self._calendar)
            heapq.heappush(self._calendar, (self._clock.seconds + request.seconds, self._n_entries, request))
            self._scheduler.waits.begin(request, lambda holds, error: self._wake(request, holds, error))

    def next_deadline(self) -> float | None:
        """When the time of the first condition is over; that of Permit is the Scheduler's."""
        while self._calendar and self._calendar[0][2] not in self._waiting:
            heapq.heappop(self._calendar)
        return self._calendar[0][0] if self._calendar else None

    def next_ready(self) -> _Ready | None:
        """The next cycle that can go on, with the answer or the error that it gets."""
        self._scheduler.waits.look()
        while (deadline := self.next_deadline()) is not None and deadline <= self._clock.seconds:
            self._time_is_over(self._calendar[0][2])
        return self._ready.popleft() if self._ready else None

    def close(self) -> None:
        """Break off what still waits; the pods are taken off their nodes."""
        for request, cycle in list(self._waiting.items()):
            if isinstance(request, WaitRequest):
                self._scheduler.waits.end(request)
            cycle.close()
        self._waiting.clear()

    def _time_is_over(self, request: WaitRequest) -> None:
        """A condition is looked at a last time."""
        self._scheduler.waits.end(request)
        try:
            self._wake(request, bool(request.condition()), None)
        except HOOK_FAULTS as error:
            self._wake(request, None, error)

    def _wake(self, request: PermitRequest | WaitRequest, answer: Any, error: BaseException | None) -> None:
        cycle = self._waiting.pop(request, None)
        if cycle is not None:
            self._ready.append((cycle, answer, error))
