"""The pods that wait for a node, and when each is tried next. It has no clock: calls that need the time are given it.

Theory of operation. A pod that waits is in exactly one place:

    active          ready to be tried, in the order of the queue sort plugin
    backoff         tried without success and worth another try, but not before its backoff is over
    unschedulable   nothing suggests that another try would end differently: rejected pods that wait for a cluster
                    event, and gated ones, which a PreEnqueue plugin does not let become active

and a pod that was popped is in flight, standing nowhere, until `done`. Every move, with its label in metrics:

    from                    by                                  to                             label
    -                       add                                 active                         UnschedulablePodAdd
    active                  pop                                 in flight
    backoff                 pop, when active is empty           in flight                      PopFromBackoffQ
    backoff                 advance, when backoff is over       active                         BackoffComplete
    in flight               done                                -
    in flight               add_unschedulable_if_not_present    active|backoff|unschedulable   ScheduleAttemptFailure
    in flight               put_back                            active                         ScheduleAttemptBrokenOff
    unschedulable           event, update of the pod            active|backoff                 the event's: NodeAdd
    unschedulable           advance, after five minutes         active|backoff                 UnschedulableTimeout
    unschedulable|backoff   activate                            active                         ForceActivate
    any                     delete                              -

* **PreEnqueue** runs before a pod enters active or backoff, but not again from backoff to active. A pod that does not
  pass becomes, or stays, unschedulable and is called gated. The plugin that gated it last is asked first, and only
  events which that plugin registered, wildcard events, updates of the pod and `activate` lead to asking.
* **An attempt that failed** is judged by what happened in the meantime. If plugins rejected the pod, the events since
  it was popped are replayed through the queueing hints of those plugins: none helps, and it becomes unschedulable; one
  helps, and it goes on as if the event came now. If no plugin rejected it (an error), it is tried again after its
  backoff in any case.
* **An event** (`move_all_to_active_or_backoff_queue`) is put to the hints of the plugins that rejected or gate a pod.
  Pods are filed by what these hints read of them, so that a hint is asked once for equal pods, and by the objects that
  alone can help them. `Queue` sends the pods to backoff, or to active if their backoff is over; `Queue` from a plugin
  that a pod is pending on sends it to active at once. An event that no plugin registered for costs a dictionary lookup.
* **A live scheduler** does the work of events in steps: `at_once` questions and moves in each `catch_up`, which goes on
  with a backlog. And it does not let a pod that just came wait for thousands that are tried again: see ActiveQueue.
* **Backoff** is 1, 2, 4, 8, 10, 10... seconds with the defaults, counted from the end of the attempt and rounded down
  to whole seconds. When nothing is active the head of backoff is popped early: an idle scheduler does not wait. Pods
  that failed with an error are excepted; the API server may need the pause.
* **Timers.** `next_deadline` is when `advance` has something to do: pods whose backoff is over become active at
  whole seconds; at multiples of 30 seconds pods that have been unschedulable longer than five minutes are tried
  anyway (`UnschedulableTimeout`), for a hint may have been wrong.

Rule: kube-scheduler v1.36 PriorityQueue with SchedulerQueueingHints and SchedulerPopFromBackoffQ, their defaults.
Where upstream's order is that of a map or of equal keys in a heap, ours is the order of arrival. A gated pod that was
flushed waits another five minutes for the next flush.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from kubesched.api import ActionType, ClusterEvent, EventResource, KubeObject, Pod
from kubesched.errors import StateError
from kubesched.framework import PodQueue, QueuedPodInfo, Status
from kubesched.queue.backlog import Backlog, PendingEvent
from kubesched.queue.gate import Gate, PreEnqueue
from kubesched.queue.heap import Less, chosen_sort_key
from kubesched.queue.in_flight import InFlight
from kubesched.queue.nominator import Nominator
from kubesched.queue.pod_places import PLACE_NAMES, Observer, Pending, PodPlaces
from kubesched.queue.requeueing import (
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    QueueingStrategy,
    Registration,
    RequeueingTable,
)

_POD_ADD = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.ADD).label
_POD_UPDATE = ClusterEvent(EventResource.UNSCHEDULABLE_POD, ActionType.UPDATE).label

_FLUSH_INTERVAL = 30.0


class SchedulingQueue:
    """Pods without a node, and when each is tried next. The module's docstring describes how it works.

    Args:
        sort_key: makes the key by which active pods are sorted, smallest first; it may depend on its argument only.
        less: the same as a comparison, for plugins that have no key; slower. Exactly one of the two is given.
        pre_enqueue: runs the PreEnqueue plugins of the pod's profile; None when no profile has any.
        on_gate_fault: called with a pod and the status of the plugin that raised instead of an answer, where this
            fault of the pod is not the last one.
        hints: scheduler name -> all that the profile's plugins registered.
        initial_backoff: seconds of backoff after the first failed attempt; doubled with each further one.
        max_backoff: seconds that no backoff exceeds; 0 switches backoff off.
        max_in_unschedulable: seconds after which an unschedulable pod is tried without an event.
        nominator: pods promised a node; a plain one when absent.
        observer: called for each pod that comes into a queue.
        at_once: how many hints `catch_up` asks, and how many pods it moves; and how many pods that are tried again may
            go before one that was never tried. Infinite: all is done before the call that brings an event returns, and
            the queue sort plugin alone says who is next.

    Attributes:
        nominator: kept in step with pods that are added, updated and deleted here.
    """

    def __init__(
        self,
        *,
        sort_key: Callable[[QueuedPodInfo], tuple[object, ...]] | None = None,
        less: Less | None = None,
        pre_enqueue: PreEnqueue | None = None,
        on_gate_fault: Callable[[Pod, Status], None] | None = None,
        hints: Mapping[str, Iterable[Registration]],
        initial_backoff: float = 1.0,
        max_backoff: float = 10.0,
        max_in_unschedulable: float = 300.0,
        nominator: Nominator | None = None,
        observer: Observer | None = None,
        at_once: float = math.inf,
    ) -> None:
        self._table = table = RequeueingTable(hints)
        key = chosen_sort_key(sort_key, less)
        self._places = PodPlaces(key, initial_backoff, max_backoff, observer, table.rules_of, at_once)
        self._in_flight = InFlight()
        self._backlog = Backlog(self._places.unschedulable, table, key, self._move)
        self._at_once = at_once
        self._gate = Gate(self._places, pre_enqueue, on_gate_fault)
        self._max_in_unschedulable = max_in_unschedulable
        self._next_flush = -math.inf
        self.nominator = Nominator() if nominator is None else nominator

    # Pods as the cluster shows them.

    def add(self, pod: Pod, now: float) -> None:
        """Queue a pod that has no node; one of the same name that waits already is replaced.

        Raises:
            StateError: the pod has no uid, without which its attempts cannot be identified.
        """
        self._add(pod, _POD_ADD, now)

    def update(self, old: Pod, new: Pod, events: Sequence[ClusterEvent], now: float) -> None:
        """Take a newer version of a pod that has no node.

        A waiting pod takes it in place; if it is unschedulable, each event is put to its hints until one lets it go.
        For a pod in flight the events are recorded. A pod that is neither is queued like a new one. Versions with the
        same resourceVersion are the same; another uid means that the deletion of the old pod was missed.

        Args:
            events: what changed, one event per property, as derived from the two versions.
        """
        version = new.metadata.resource_version
        if version and version == old.metadata.resource_version:
            return
        if old.uid != new.uid:
            self.delete(old)
            self._add(new, _POD_ADD, now)
        elif new.uid in self._in_flight:
            for event in events:
                self._in_flight.record(event, old, new)
        elif (info := self._places.find(new.key)) is not None:
            self._update_in_place(info, old, new, events, now)
        else:
            self._add(new, _POD_UPDATE, now)

    def delete(self, pod: Pod) -> None:
        """Forget a pod that was deleted or got a node. An attempt in flight goes on; `done` reports its end."""
        self.nominator.delete(pod)
        self._places.remove(pod.key)

    # One attempt: popped, then done or handed back.

    @property
    def can_pop(self) -> bool:
        """Whether a pod is to be tried now, unless all that wait are duplicates of pods in flight."""
        return len(self._places.active) > 0 or self._places.backoff.can_pop

    def pop(self) -> QueuedPodInfo | None:
        """Take the pod to try next; None when there is none.

        That is the head of active, or when active is empty the head of podBackoffQ, whether or not its backoff is
        over. A duplicate of a pod in flight is dropped. The caller owes a `done` or an
        `add_unschedulable_if_not_present` for what it got.
        """
        while (info := self._places.pop()) is not None:
            info.attempts += 1
            if not self._in_flight.begin(info.pod.metadata.uid):
                continue
            info.unschedulable_plugins.clear()
            info.pending_plugins.clear()
            info.gating_plugin = info.gating_message = ""
            return info
        return None

    def done(self, uid: str) -> None:
        """End the attempt of a popped pod: it is being bound, or not to be tried again. Repeating it does no harm."""
        self._in_flight.done(uid)

    def is_in_flight(self, uid: str) -> bool:
        """Whether a popped pod's attempt has not ended."""
        return uid in self._in_flight

    def put_back(self, info: QueuedPodInfo, now: float) -> None:
        """Take back a pod whose attempt was broken off: it becomes active again, and the attempt does not count."""
        if self._places.find(info.key) is None:
            info.attempts -= 1
            self._requeue(info, QueueingStrategy.IMMEDIATELY, "ScheduleAttemptBrokenOff", now)
        self._in_flight.done(info.pod.uid)

    def add_unschedulable_if_not_present(self, info: QueuedPodInfo, now: float) -> None:
        """Hand back a pod whose attempt failed; this ends the attempt.

        `info.unschedulable_plugins` and `info.pending_plugins` name the plugins that rejected it, both empty after an
        error; `info.pod` is the version to try next, of the uid that was popped.

        Raises:
            StateError: a pod of that name waits already.
        """
        try:
            present = self._places.find(info.key)
            if present is not None and present.place is not None:
                raise StateError(f"Pod {info.key} is already present in {PLACE_NAMES[present.place]}")
            info.note_failure(now)
            strategy = QueueingStrategy.AFTER_BACKOFF  # a pod that is not in flight has no record to replay
            if info.pod.uid in self._in_flight:
                strategy = self._table.replay(info, self._in_flight.events_since(info.pod.uid))
            self._requeue(info, strategy, "ScheduleAttemptFailure", now)
        finally:
            self._in_flight.done(info.pod.uid)

    # What may end the waiting.

    def move_all_to_active_or_backoff_queue(
        self,
        event: ClusterEvent,
        old: KubeObject | None,
        new: KubeObject | None,
        now: float,
        pre_check: Callable[[Pod], bool] | None = None,
    ) -> None:
        """Move the unschedulable pods that an event may have made schedulable, and record it for those in flight.

        Args:
            old: the object before, None for an Add.
            new: the object after, None for a Delete.
            pre_check: selects the waiting pods that the event may concern. Upstream does not ask it when the event
                is replayed.
        """
        unschedulable = self._places.unschedulable
        if not unschedulable and not self._in_flight:
            return
        if self._table.interest(event).plugins or event.is_wildcard:
            self._in_flight.record(event, old, new)
            if unschedulable:  # an event concerns the pods that wait when it comes
                self._put(PendingEvent(event, old, new, unschedulable.last_entry, pre_check), now)

    @property
    def has_backlog(self) -> bool:
        """Whether `catch_up` has something to do."""
        return bool(self._backlog)

    def catch_up(self, now: float, is_late: Callable[[], bool] = lambda: False) -> None:
        """Go on with what events have begun.

        Args:
            is_late: ends it before its steps are over; asked after each.
        """
        self._backlog.work(now, self._at_once, is_late)

    def activate(self, pods: Iterable[Pod], now: float) -> None:
        """Make pods active that are unschedulable or back off; for those in flight a wildcard event is recorded.

        Active and unknown pods do not move; a gated pod has to pass PreEnqueue first.
        """
        for pod in pods:
            if not self._activate(pod, now) and pod.uid in self._in_flight:
                self._in_flight.record(FORCE_ACTIVATE, None, pod)

    def next_deadline(self) -> float | None:
        """When `advance` has to be called next, None for not before something else happens.

        May be early, never late; `advance` then does nothing. While there is a backlog it is -inf.
        """
        if self._backlog:
            return -math.inf
        flush = math.inf
        if self._places.unschedulable:
            overdue = self._places.unschedulable.waiting_since + self._max_in_unschedulable
            flush = max((math.floor(overdue / _FLUSH_INTERVAL) + 1) * _FLUSH_INTERVAL, self._next_flush)
        completion = self._places.backoff.next_completion()
        deadline = flush if completion is None else min(flush, completion)
        return None if deadline == math.inf else deadline

    def advance(self, now: float) -> None:
        """Do what time alone causes: end backoffs, and every 30 seconds flush pods that waited too long."""
        for info in self._places.backoff.pop_completed(now):
            self._places.to_active(info, "BackoffComplete", now)
        boundary = math.floor(now / _FLUSH_INTERVAL) * _FLUSH_INTERVAL
        if boundary >= self._next_flush:
            self._next_flush = boundary + _FLUSH_INTERVAL
            overdue = self._places.unschedulable.mark_overdue(self._max_in_unschedulable, boundary)
            if overdue:
                last_entry = self._places.unschedulable.last_entry
                self._put(PendingEvent(UNSCHEDULABLE_TIMEOUT, None, None, last_entry, pods=overdue), now)
                self._in_flight.record(UNSCHEDULABLE_TIMEOUT, None, None)

    # What there is to see.

    def __len__(self) -> int:
        """How many pods wait; those in flight do not count."""
        return len(self._places)

    def __contains__(self, pod: Pod) -> bool:
        """Whether a pod of that name waits."""
        return self._places.find(pod.key) is not None

    def keys(self) -> list[str]:
        """The names of all waiting pods, `namespace/name`."""
        return self._places.keys()

    def counts(self) -> dict[str, int]:
        """Pods in each queue, as the metric pending_pods names them: active, backoff, unschedulable, gated."""
        return self._places.counts()

    def pending(self) -> Pending:
        """All waiting pods with the reasons why they wait, in an order that depends on what happened alone."""
        return self._places.pending()

    def rejections(self) -> dict[tuple[str, str], int]:
        """How many waiting pods each (plugin, scheduler name) rejected or gates: the metric unschedulable_pods."""
        return self._places.rejections()

    def in_flight_events(self) -> dict[str, int]:
        """Events kept for pods in flight, by label, and under `PodPopped` those pods: the metric inflight_events."""
        return self._in_flight.count_events()

    def check_invariants(self) -> None:
        """Assert that every pod is in exactly one place, and that each part holds together."""
        self._places.check_invariants()
        self._backlog.check_invariants()
        self._in_flight.check_invariants()
        self.nominator.check_invariants()

    # Moves between places.

    def _add(self, pod: Pod, label: str, now: float) -> None:
        key = pod.key
        if not pod.metadata.uid:
            raise StateError(f'pod "{key}" has no metadata.uid; the queue distinguishes pods by it, so set one')
        self._places.remove(key)
        info = QueuedPodInfo(pod=pod, key=key, timestamp=now)
        if self._gate.lets_in(info, label):
            self._places.to_active(info, label, now)
            self.nominator.add(info)

    def _update_in_place(
        self, info: QueuedPodInfo, old: Pod, new: Pod, events: Sequence[ClusterEvent], now: float
    ) -> None:
        info.replace_pod(new)
        self.nominator.update(old, info)
        if info.place is PodQueue.ACTIVE:
            self._places.active.refresh(info)
        elif info.place is not PodQueue.UNSCHEDULABLE:
            self._places.backoff.refresh(info)
        for event in events:
            if info.place is not PodQueue.UNSCHEDULABLE:
                break
            strategy = self._table.strategy(info, event, old, new)
            if strategy is not QueueingStrategy.SKIP:
                self._requeue(info, strategy, event.label, now)
        if info.place is PodQueue.UNSCHEDULABLE:
            self._places.unschedulable.add(info)

    def _put(self, pending: PendingEvent, now: float) -> None:
        self._backlog.add(pending)
        if self._at_once == math.inf:
            self._backlog.work(now)

    def _move(self, info: QueuedPodInfo, strategy: QueueingStrategy, label: str, now: float) -> None:
        """Let a pod go that an event may help; a gate may hold it back."""
        self._requeue(info, strategy, label, now)
        if info.place is PodQueue.UNSCHEDULABLE:
            self._places.gated_again(info, label)

    def _activate(self, pod: Pod, now: float) -> bool:
        info = self._places.find(pod.key)
        if info is None or info.place is PodQueue.ACTIVE:
            return False
        if info.place is PodQueue.UNSCHEDULABLE and not self._gate.lets_in(info, FORCE_ACTIVATE.label):
            return False
        self._places.to_active(info, FORCE_ACTIVATE.label, now)
        return True

    def _requeue(self, info: QueuedPodInfo, strategy: QueueingStrategy, label: str, now: float) -> None:
        """Put a pod that is in no queue or unschedulable where the strategy says, if PreEnqueue lets it."""
        if strategy is QueueingStrategy.SKIP:
            self._places.to_unschedulable(info, label)
        elif self._gate.lets_in(info, label):
            if strategy is QueueingStrategy.AFTER_BACKOFF and self._places.backoff.is_backing_off(info, now):
                self._places.to_backoff(info, label)
            else:
                self._places.to_active(info, label, now)
