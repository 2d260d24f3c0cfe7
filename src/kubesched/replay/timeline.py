"""Has the pods and nodes of a trace come and go in a session, and notes what becomes of them.

At one time pods end first; then nodes change, and pods come again; then new pods come. A sample shows the moment before
all of that. A pod that is evicted, or whose node goes, comes again at once if the trace says so, or else if its
controller creates a new one. It waits for its node then, and runs for its whole duration.
"""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Final, Generic, TypeVar

from kubesched.api import Pod
from kubesched.controllers import fresh_pod, successor_of
from kubesched.replay.cluster_samples import ClusterSamples, Interval
from kubesched.replay.pod_runs import PodRun, Stay
from kubesched.session import Session
from kubesched.traces import Arrival, NodeChange, Trace

Event = TypeVar("Event", Arrival, NodeChange)
_NO_END: Final = float("inf")


class Timeline:
    """The agenda of a replay.

    Args:
        trace: what happens.
        session: the cluster.
        samples: takes samples.
        every: how many seconds are between two samples; 0 for samples at the end alone.

    Attributes:
        runs: what became of the pods that have left.
        n_lost: pods that left before their time, and do not come again.
    """

    def __init__(self, trace: Trace, session: Session, samples: ClusterSamples, every: float) -> None:
        self.runs: list[PodRun] = []
        self.n_lost = 0
        self._session = session
        self._samples = samples
        self._arrivals = _Upcoming(trace.arrivals)
        self._changes = _Upcoming(trace.changes)
        self._again: deque[Arrival] = deque()
        self._ends: list[tuple[float, int, Stay]] = []
        self._waiting: dict[str, Stay] = {}
        self._running: dict[str, Stay] = {}
        self._since = Interval()
        self._every = every
        self._next_sample = trace.begin + every if every else _NO_END
        self._numbers = count()
        self._n_ended = 0
        self._n_pods = len(trace.arrivals)
        self._n_events = 2 * len(trace.arrivals) + len(trace.changes)

    def counts(self) -> tuple[int, int]:
        """How many pods came and ended and how many nodes changed, and how many there are in the trace."""
        return self._arrivals.n_past + self._changes.n_past + self._n_ended, self._n_events

    # --- what happens ---

    def next_time(self) -> float | None:
        """When something happens next; None if nothing does."""
        if self._again:
            return self._session.clock.seconds
        due = min(self._arrivals.next_time, self._changes.next_time, self._ends[0][0] if self._ends else _NO_END)
        return None if due == _NO_END else min(due, self._next_sample)

    def carry_out(self, now: float) -> None:
        """Have everything happen that is due."""
        while self._next_sample <= now:
            self.sample(self._next_sample)
            self._next_sample += self._every
        while self._ends and self._ends[0][0] <= now:
            self._end(heappop(self._ends)[2])
        for change in self._changes.until(now):
            self._change(change)
        while self._again:
            self._come(self._again.popleft(), now)
        for arrival in self._arrivals.until(now):
            self._come(arrival, arrival.at)

    def _come(self, arrival: Arrival, at: float) -> None:
        self._since.arrived += 1
        self._waiting[arrival.pod.key] = Stay(next(self._numbers), arrival, at)
        self._session.arrive((arrival.pod,))

    def _end(self, stay: Stay) -> None:
        """Have a pod end that still runs."""
        pod = stay.arrival.pod
        if self._running.get(pod.key) is stay:
            del self._running[pod.key]
            self._n_ended += 1
            self._since.ended += 1
            self.runs.append(stay.run(self._session.clock.seconds))
            self._session.change(gone=(self._session.get("Pod", pod.key) or pod,))

    def _change(self, change: NodeChange) -> None:
        if not change.is_gone:
            self._session.change((change.node,))
            return
        columns = self._session.cluster_state.columns
        row = columns.row_of.get(change.node.name)
        if row is not None:
            pods = [info.pod for info in columns.pods[row]]
            self._session.change(gone=(*pods, columns.nodes[row] or change.node))

    # --- what the session does ---

    def bound(self, pod: Pod) -> None:
        """Note that a pod has its node: its duration begins."""
        stay = self._waiting.pop(pod.key, None)
        if stay is None:
            return
        now = self._session.clock.seconds
        stay.bound, stay.node = now, pod.node_name
        self._since.waited.append(now - stay.arrived)
        self._running[pod.key] = stay
        if stay.arrival.duration is not None:
            heappush(self._ends, (now + stay.arrival.duration, stay.number, stay))

    def left(self, pod: Pod) -> None:
        """Note that a pod has gone; if that was before its time, it may come again."""
        stay = self._running.pop(pod.key, None)
        if stay is not None:
            self._leave(stay, stay.arrival.pod)

    def _leave(self, stay: Stay, pod: Pod) -> None:
        self._since.evicted += 1
        self.runs.append(stay.run(self._session.clock.seconds, is_evicted=True))
        arrival = stay.arrival
        comes = arrival.comes_again
        if comes is None:
            comes = successor_of(pod, self._session.cluster_state.objects.get).is_made is not False
        if not comes:
            self.n_lost += 1
        else:
            self._again.append(_pending(arrival))

    # --- what is known at the end ---

    def sample(self, time: float) -> None:
        """Take a sample."""
        self._samples.take(time, len(self._running), len(self._waiting), self._since)
        self._since = Interval()

    def left_over(self) -> Iterator[PodRun]:
        """The pods that run or wait now."""
        yield from (stay.run() for stay in (*self._running.values(), *self._waiting.values()))


class _Upcoming(Generic[Event]):
    """Events in the order of time.

    Attributes:
        n_past: how many have happened.
        next_time: that of the next one.
    """

    def __init__(self, events: tuple[Event, ...]) -> None:
        self._events: tuple[Event, ...] = events
        self.n_past = 0
        self.next_time = events[0].at if events else _NO_END

    def until(self, now: float) -> Iterator[Event]:
        """Those that are due."""
        while self.next_time <= now:
            event = self._events[self.n_past]
            self.n_past += 1
            self.next_time = self._events[self.n_past].at if self.n_past < len(self._events) else _NO_END
            yield event


def _pending(arrival: Arrival) -> Arrival:
    """The arrival of a pod that comes again; one that was on its node from the beginning waits then."""
    if not arrival.pod.node_name:
        return arrival
    return Arrival(arrival.at, fresh_pod(arrival.pod), arrival.duration, arrival.comes_again)
