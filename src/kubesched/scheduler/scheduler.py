"""The scheduler: events in, decisions and actions out. No I/O, no clock, no threads; a driver runs it.

Theory of operation. A driver feeds `handle_event` with what happens in the cluster, runs `attempt` while
`queue.can_pop`, and runs the binding cycles that come out of it (see `suspension`). A pod on its way: queue -> in
flight (scheduling cycle) -> assumed on a node, reserved -> binding cycle -> bound, when the API server confirms it by
an event. Whatever fails goes through `_failed`, which undoes what was done and hands the pod back to the queue. Rule:
kube-scheduler v1.36 ScheduleOne, bindingCycle, handleSchedulingFailure.
"""

import math
from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from kubesched.api import ActionType, ClusterEvent, EventResource, EventType, Pod, WatchEvent
from kubesched.config import ExtenderConfig
from kubesched.framework import (
    Action,
    Bind,
    CallExtender,
    CycleState,
    Decision,
    Framework,
    NominatedPods,
    Outcome,
    Probe,
    Profile,
    QueuedPodInfo,
    RecordEvent,
    Services,
    Status,
    WaitingPod,
)
from kubesched.queue import Nominator, Observer, SchedulingQueue
from kubesched.scheduler.aside import Aside
from kubesched.scheduler.assembly import build_frameworks
from kubesched.scheduler.binding_cycle import BindingCycle, run_binding_cycle
from kubesched.scheduler.evictions import Eviction, Evictions
from kubesched.scheduler.extenders import Extenders
from kubesched.scheduler.failures import MissingReasons, failure_actions, rejected_later, unwritten
from kubesched.scheduler.placed_pod import PlacedPod
from kubesched.scheduler.queue_order import QueueOrder
from kubesched.scheduler.registrations import registrations
from kubesched.scheduler.scheduling_cycle import SchedulingCycle
from kubesched.scheduler.selection import TieBreak
from kubesched.scheduler.suspension import begun, perform, suspend, wait
from kubesched.scheduler.unconfirmed import Unconfirmed
from kubesched.scheduler.waits import Waits
from kubesched.state import ClusterState, PodInfo

Attempt = tuple[Decision, BindingCycle | Eviction | None]
"""A decision, and what to run to its end or to close: a binding cycle for a chosen node, or the eviction of victims."""

_CATCHING_UP: Final = 0.002  # seconds of asking hints and moving pods between two attempts
_DELETED: Final = EventType.DELETED  # for each pod; in Python 3.11 ten times as quick as the member of its class
_ASSIGNED_POD: Final = EventResource.ASSIGNED_POD
_ASSIGNED_POD_DELETE = ClusterEvent(_ASSIGNED_POD, ActionType.DELETE)


class Scheduler:
    """Schedules the pods of some profiles over one cluster state.

    Args:
        profiles: what decides, one profile per scheduler name.
        services: the driver's clock, random numbers and logger; the rest is filled in here.
        emit: takes actions that no cycle waits for.
        tie_break: which of equally good nodes is taken.
        initial_backoff, max_backoff: seconds, as configured.
        max_in_unschedulable: seconds after which an unschedulable pod is tried without an event.
        observer: called for each pod that comes into a queue, for any reason; wakes a driver that sleeps.
        probe: watches the frameworks.
        extenders: of the configuration, to be called.
        at_once: how much of what events mean for waiting pods is done between two attempts, see SchedulingQueue.

    Attributes:
        cluster_state, queue, cycle: what is known, who waits, and what decides on one pod.
        frameworks: by scheduler name.
        waiting_pods: pods held back in Permit, by uid.
        extenders: the extenders that are called.
        waits: what binding cycles wait for; a driver enters their requests, and calls `look` after events.
        aside: takes the place of the queue while the driver asks about single pods; None while it schedules.
    """

    def __init__(
        self,
        profiles: Iterable[Profile],
        cluster_state: ClusterState,
        services: Services,
        *,
        emit: Callable[[Action], None],
        tie_break: TieBreak = TieBreak.UPSTREAM,
        initial_backoff: float = 1.0,
        max_backoff: float = 10.0,
        max_in_unschedulable: float = 300.0,
        observer: Observer | None = None,
        probe: Probe | None = None,
        extenders: Iterable[ExtenderConfig] = (),
        at_once: float = math.inf,
    ) -> None:
        self.cluster_state = cluster_state
        self.waiting_pods: dict[str, WaitingPod] = {}
        self.waits = Waits()
        self.aside: Aside | None = None
        self._on_their_way: dict[str, PlacedPod] = {}
        self._unconfirmed = Unconfirmed()
        self._now = services.clock.monotonic
        self._emit = emit
        self._missing_reasons = MissingReasons()
        self.extenders = Extenders(extenders, services.logger)
        self.cycle = SchedulingCycle(tie_break, services.rng, self.extenders or None)
        nominator = Nominator(self._find_pod)
        self._evictions = Evictions(
            cluster_state.objects,
            self._on_their_way,
            self.waiting_pods,
            self.waits,
            nominator,
            emit,
            self.activate,
            cluster_state.release,
        )
        self.frameworks = build_frameworks(profiles, cluster_state, self._offered(services), probe=probe)
        self._order = order = QueueOrder(next(iter(self.frameworks.values())))
        self.queue = SchedulingQueue(
            sort_key=order.sort_key if order.has_key else None,
            less=None if order.has_key else order.less,
            pre_enqueue=self._pre_enqueue,
            on_gate_fault=self._gate_fault,
            hints={name: registrations(one, self.extenders) for name, one in self.frameworks.items()},
            initial_backoff=initial_backoff,
            max_backoff=max_backoff,
            max_in_unschedulable=max_in_unschedulable,
            nominator=nominator,
            observer=observer,
            at_once=at_once,
        )

    def _offered(self, services: Services) -> Services:
        """What the driver offers, and what this Scheduler provides."""
        return msgspec.structs.replace(
            services,
            perform=perform,
            emit=self._emit,
            wait=wait,
            activate=self.activate,
            nominated=NominatedPods(self.cluster_state.columns, self._nominations, self._nominations_generation),
            waiting_pods=lambda: self.waiting_pods,
            preempting=self._evictions,
            extenders=self.extenders or None,
        )

    # --- events in ---

    def handle_event(self, event: WatchEvent) -> list[ClusterEvent]:
        """Take in what happened: the state changes, and waiting pods that it may help are moved.

        Returns: what changed, as cluster events.
        """
        self.waits.note(event)
        obj = event.object
        if isinstance(obj, Pod):
            return self._handle_pod(event, obj)
        changes = self.cluster_state.apply(event)
        for change in changes:
            self.queue.move_all_to_active_or_backoff_queue(change.event, change.old, change.new, self._now())
        return [change.event for change in changes]

    def _handle_pod(self, event: WatchEvent, pod: Pod) -> list[ClusterEvent]:
        uid, node_name = pod.metadata.uid, pod.spec.node_name
        old = self.cluster_state.objects.get("Pod", pod.key)
        before = old if isinstance(old, Pod) else None
        is_gone = event.type is _DELETED or pod.is_finished
        if before is not None and before.metadata.uid != uid:
            if event.type is _DELETED:
                return []  # late: another one has its name already
            self._handle_pod(WatchEvent(_DELETED, "Pod", before), before)  # its deletion was missed
            before = None
        if is_gone and self.cluster_state.is_assumed(pod):
            self._reject_waiting(uid)
        changes = self.cluster_state.apply(event)
        events = [change.event for change in changes]
        self._unconfirmed.settle(pod)
        waited = before is not None and not before.spec.node_name and self._is_mine(before)
        waits = not is_gone and not node_name and self._is_mine(pod)
        if waits and not self.cluster_state.is_assumed(pod) and uid not in self._on_their_way:
            if waited and before is not None:
                self.queue.update(before, pod, events, self._now())
            else:
                self.queue.add(pod, self._now())
        elif waited and before is not None:
            self.queue.delete(before)
        if waited and before is not None and not node_name:
            self._note_nomination(before, "" if is_gone else pod.status.nominated_node_name)
        for change in changes:
            if change.event.resource is _ASSIGNED_POD:
                self.queue.move_all_to_active_or_backoff_queue(change.event, change.old, change.new, self._now())
        return events

    def _note_nomination(self, before: Pod, name: str) -> None:
        """Pods that counted a nomination may fit when it ends; those of higher priority did not count it."""
        if before.status.nominated_node_name not in ("", name):
            self._room_again(before, lambda other: other.priority <= before.priority)

    def _is_mine(self, pod: Pod) -> bool:
        return pod.scheduler_name in self.frameworks

    def _nominations(self) -> list[tuple[str, PodInfo]]:
        if self.aside is not None:
            nominated = [pod for pod in self.aside.pods() if pod.status.nominated_node_name]
            return [(pod.status.nominated_node_name, self.cluster_state.pod_info(pod)) for pod in nominated]
        return [(name, self._pod_info(queued)) for name, queued in self.queue.nominator.pairs()]

    def _nominations_generation(self) -> int:
        """Another number after each change of `_nominations`; those of the queue are not negative."""
        if self.aside is not None:
            return -1 - self.cluster_state.objects.generation("Pod")
        return self.queue.nominator.generation

    def _find_pod(self, pod: Pod) -> Pod | None:
        current = self.cluster_state.objects.get("Pod", pod.key)
        return current if isinstance(current, Pod) and current.uid == pod.uid else None

    def _pre_enqueue(self, pod: Pod, first: str) -> Status:
        return self.frameworks[pod.scheduler_name].run_pre_enqueue(pod, first)

    def _gate_fault(self, pod: Pod, status: Status) -> None:
        """Log why the pod waits: nothing else says so."""
        logger = self.frameworks[pod.scheduler_name].handle.logger
        logger.warning("pod %s is not tried: %s", pod.key, status.located)

    # --- one pod ---

    async def attempt(self) -> Attempt | None:
        """Take the next pod and decide. Awaits extenders; until it ends the cluster state must not change.

        Returns: None when no pod is to be tried.
        """
        self._catch_up()
        queued = self.queue.pop()
        if queued is None:
            return None
        try:
            return await self._try(queued)
        except BaseException:  # Ctrl-C in a hook
            if self.queue.is_in_flight(queued.pod.uid) and self._still_waits(queued):
                self.queue.put_back(queued, self._now())
            raise

    def _catch_up(self) -> None:
        """Go on for a while with what events mean for pods that wait."""
        if self.queue.has_backlog:
            now = self._now
            end = now() + _CATCHING_UP
            self.queue.catch_up(now(), lambda: now() > end)

    async def _try(self, queued: QueuedPodInfo) -> Attempt:
        pod = queued.pod
        framework = self.frameworks[pod.scheduler_name]
        if pod.is_terminating:
            note = f"skip schedule deleting pod: {pod.key}"
            self._emit(RecordEvent("FailedScheduling", "Warning", "Scheduling", pod, note))
            self.queue.done(pod.uid)
            return Decision(pod, pod.scheduler_name, queued.attempts, 0, Outcome(Status.unschedulable(), note)), None
        misplaced = self._order.fault_of(queued)
        if misplaced is not None:
            n_nodes, outcome = self.cluster_state.columns.n_nodes, Outcome(misplaced, misplaced.message)
            failed = Decision(pod, pod.scheduler_name, queued.attempts, n_nodes, outcome)
            self._failed(queued, failed)
            return failed, None
        info = self._pod_info(queued)
        snapshot = self.cluster_state.snapshot()
        decided, state = await self.cycle.decide(framework, info, snapshot, queued)
        if not decided.outcome.status.is_success:
            eviction = self._evictions.begin(decided)
            if decided.writes and eviction is None:
                return decided, begun(self._make_room(queued, decided))
            self._failed(queued, decided)
            return decided, eviction
        return self._take(framework, queued, decided, state)

    def _pod_info(self, queued: QueuedPodInfo) -> PodInfo:
        info = queued.pod_info
        if not isinstance(info, PodInfo):
            info = queued.pod_info = self.cluster_state.pod_info(queued.pod)
        return info

    def _take(self, framework: Framework, queued: QueuedPodInfo, decision: Decision, state: CycleState) -> Attempt:
        """Assume the pod on its node, reserve, ask Permit."""
        self.queue.nominator.delete(queued.pod)
        placed = PlacedPod(framework, self.cluster_state, state, decision.node_name, self.waiting_pods)
        status = placed.take(self._now())
        if not status.is_success:
            decision = rejected_later(decision, status)
            self._failed(queued, decision)
            return decision, None
        self._on_their_way[placed.pod.uid] = placed
        cycle = begun(self._bind(framework, queued, placed, decision))
        try:
            if state.pods_to_activate:
                self._activate(state)
        except BaseException:  # Ctrl-C in a PreEnqueue hook
            cycle.close()
            raise
        return decision, cycle

    async def _bind(
        self, framework: Framework, queued: QueuedPodInfo, placed: PlacedPod, decision: Decision
    ) -> Decision:
        """The binding cycle, and what follows from its outcome."""
        uid = placed.pod.uid
        try:
            status = await run_binding_cycle(placed, self.queue.done)
        except BaseException:
            self._broken_off(placed, queued)
            raise
        finally:
            self._on_their_way.pop(uid, None)
        if status.is_success:
            self._bound(placed)
            return decision
        return self._not_bound(queued, placed, decision, status)

    def _bound(self, placed: PlacedPod) -> None:
        pod = placed.pod
        note = f"Successfully assigned {pod.key} to {placed.node_name}"
        self._emit(RecordEvent("Scheduled", "Normal", "Binding", pod, note))
        if placed.state.pods_to_activate:
            self._activate(placed.state)

    def _not_bound(self, queued: QueuedPodInfo, placed: PlacedPod, decision: Decision, status: Status) -> Decision:
        pod = placed.pod
        was_permitted = not self.queue.is_in_flight(pod.uid)
        decision = rejected_later(decision, status)
        if status.is_rejected and was_permitted:
            decision = replace(decision, unschedulable_plugins=frozenset())
        self._failed(queued, decision)
        self._room_again(pod, lambda other: other.uid != pod.uid or not status.is_rejected)
        return decision

    # --- when it is broken off ---

    def note_written(self, action: Bind | CallExtender) -> None:
        """Note that a Binding is about to be sent, to the API server or an extender: if its cycle is broken off from
        now on, the pod stays on its node until the watch shows what became of it. For drivers whose requests take time.
        A Binding that a plugin writes for a pod without such a cycle is ignored.
        """
        placed = self._on_their_way.get(action.pod.uid)
        if placed is not None:
            placed.is_written = True

    def _broken_off(self, placed: PlacedPod, queued: QueuedPodInfo) -> None:
        """A binding cycle was cancelled, closed or thrown out of: the pod waits in the queue again, as before."""
        pod = placed.pod
        if placed.is_held:  # a Binding was sent, so Permit has ended the attempt
            self._unconfirmed.add(placed, self._now())
            return
        if self._still_waits(queued):
            self.queue.put_back(queued, self._now())
            self.queue.nominator.add(queued)
        self._room_again(pod, lambda other: other.uid != pod.uid)

    def _give_up_waiting(self, placed: PlacedPod) -> None:
        """The watch has not shown the pod on its node: it is tried once more."""
        current = self._find_pod(placed.pod)
        if current is not None and not current.node_name:
            self.queue.add(current, self._now())
        self._room_again(placed.pod, lambda other: other.uid != placed.pod.uid)

    def _room_again(self, pod: Pod, may_help: Callable[[Pod], bool]) -> None:
        """Other pods may fit where a pod was assumed or nominated."""
        self.queue.move_all_to_active_or_backoff_queue(_ASSIGNED_POD_DELETE, pod, None, self._now(), may_help)

    def _still_waits(self, queued: QueuedPodInfo) -> bool:
        """Take the current version of a pod whose attempt ends; false, and the end, if it is gone or on a node."""
        current = self._find_pod(queued.pod)
        if current is None or current.node_name:
            self.queue.done(queued.pod.uid)
            return False
        if current is not queued.pod:
            queued.replace_pod(current)
        return True

    def activate(self, pods: Iterable[Pod]) -> None:
        """Try pods again now that are unschedulable or back off; the others are left alone.

        Raises:
            RuntimeError: a QueueSort hook calls this, while the queue is being sorted.
        """
        if self._order.is_asked:
            raise RuntimeError("activate cannot be called in QueueSort")
        if self.aside is not None:
            self.aside.activate(pods)
            return
        self.queue.activate(pods, self._now())

    def _activate(self, state: CycleState) -> None:
        pods: object = state.pods_to_activate
        state.pods_to_activate = {}
        if isinstance(pods, dict):
            self.activate([pod for pod in pods.values() if isinstance(pod, Pod)])

    # --- Permit ---

    def advance(self) -> None:
        """Do what time alone causes: backoffs end, Permit deadlines pass."""
        now = self._now()
        self.queue.advance(now)
        self._catch_up()
        for waiting in list(self.waiting_pods.values()):  # a callback may continue its cycle at once
            waiting.advance(now)
        for placed in self._unconfirmed.expire(now):
            self._give_up_waiting(placed)

    def next_deadline(self) -> float | None:
        """When `advance` has something to do next."""
        deadlines = [waiting.deadline for waiting in self.waiting_pods.values() if waiting.status is None]
        others = (self.queue.next_deadline(), self._unconfirmed.next_deadline())
        return min([*deadlines, *(deadline for deadline in others if deadline is not None)], default=None)

    def _reject_waiting(self, uid: str) -> None:
        waiting = self.waiting_pods.get(uid)
        if waiting is not None:
            waiting.reject("", "removed")

    # --- when it fails ---

    async def _make_room(self, queued: QueuedPodInfo, decision: Decision) -> None:
        """Write what PostFilter plugins give back, before the pod waits again and its status says so.

        What the write wakes up finds the pod in flight, so that it is tried after that.
        """
        try:
            await suspend(None)
            for action in decision.writes:
                if error := (await perform(action)).error:
                    decision = unwritten(decision, error)
                    break
        except BaseException:
            if self.queue.is_in_flight(queued.pod.uid) and self._still_waits(queued):
                self.queue.put_back(queued, self._now())
            raise
        self._failed(queued, replace(decision, writes=()))

    def _failed(self, queued: QueuedPodInfo, decision: Decision) -> None:
        """Return the pod to the queue, and report why it was not placed."""
        self._missing_reasons.look_at(decision, self.frameworks[decision.pod.scheduler_name].handle.logger)
        queued.unschedulable_plugins.update(decision.unschedulable_plugins)
        queued.pending_plugins.update(decision.pending_plugins)
        if self._still_waits(queued):
            self.queue.add_unschedulable_if_not_present(queued, self._now())
            self.queue.nominator.add(queued, decision.nominated_node_name)
        for action in (*decision.writes, *failure_actions(decision, self._find_pod(decision.pod) or decision.pod)):
            self._emit(action)
