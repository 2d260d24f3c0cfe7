"""Runs the scheduler over a snapshot, on a virtual clock and an in-memory cluster, until nothing more can happen.

The same Scheduler that serves a live cluster takes the pending pods off its queue; its actions are carried out in
memory and come back as events. A run ends when the active and backoff queues are empty, so that only the flush of
unschedulable pods is left, or when pods that ended in an error would only be tried again in an unchanged cluster.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import cached_property
from itertools import count
from random import Random
from typing import Any

from kubesched.admission import awaited_claims, has_not_started, is_new_and_bound, why_it_hangs
from kubesched.api import EventType, KubeObject, Node, Pod, ReplicaSet, WatchEvent, objects_of, owner_of
from kubesched.engine import paused_gc
from kubesched.errors import InputError
from kubesched.framework import (
    HOOK_FAULTS,
    Action,
    Decision,
    Framework,
    PluginEvents,
    Services,
    VirtualClock,
    answer_text,
)
from kubesched.queue import PendingPod
from kubesched.scheduler import (
    BindingCycle,
    Eviction,
    MakeFramework,
    PermitRequest,
    Scheduler,
    TieBreak,
    WaitRequest,
    drive,
    load_cluster,
    no_profile,
    start_plugins,
    stop_plugins,
)
from kubesched.session.cluster import MemoryCluster
from kubesched.session.creation import Creation
from kubesched.session.devices import listed_devices
from kubesched.session.diagnosis import diagnosis_of
from kubesched.session.evict_budgets import Allowance, Budgets
from kubesched.session.freed_room import leaving_for
from kubesched.session.kubelets import UNSEEN, kubelet_refusal, started
from kubesched.session.node_groups import NodeGroup, group_nodes
from kubesched.session.report import Fill, Placement, PodState, Report, Victim
from kubesched.session.suspended import LATER, SuspendedCycles
from kubesched.setup import (
    ArgsLike,
    ConfigurationLike,
    EventLoop,
    ExtenderCalls,
    PluginLike,
    Profiles,
    Setup,
    answering_calls,
    set_up,
    without_bind,
)
from kubesched.state import ClusterState

Progress = Callable[[int, int], None]
"""Told now and then: how many pods have been decided, and how many there are."""

_PROGRESS_EVERY = 64
_COLLECT_EVERY = 1024
_MAX_ERRORS = 10
_NO_ARGS: Mapping[str, ArgsLike] = {}


class Simulator:
    """A cluster in memory and a scheduler for it.

    Args:
        snapshot: the cluster, as load_snapshot gives it; pods without a node are pending.
        configuration: a configuration, a file with one, or None for kube-scheduler's defaults; or a Setup or profiles
            that were built from one. Pods of other schedulers are not placed.
        plugins, plugin_args: your plugins and their arguments, as for load_configuration.
        tie_break: which node is taken if several have the highest score.
        seed: the random seed, for random ties and for the node where preemption starts its search.
        extender_calls: calls the extenders of the configuration, and is closed after the run; without it they are not
            asked. Their bind is not called: a pod is bound in memory.
        new: `namespace/name` of the pending pods that do not exist yet. A StatefulSet with the podManagementPolicy
            OrderedReady creates each of them once the pods of lower numbers have nodes.
        make_framework: makes the framework of a profile; for a caller that observes plugins.

    Raises:
        InputError: the configuration cannot be read or is not valid; the profiles run for another cluster; or the
            snapshot has something else than Kubernetes objects.
        PluginError: a plugin cannot be loaded or started.

    Attributes:
        cluster_state: the cluster; changes as the simulation runs.
        clock: the virtual clock.
        loop: the event loop of the plugins.
        rng: random numbers.
        bound_placements: what became of the new pods that name their nodes in this run, by uid.
        pending: pods without a node, in file order.
        creation: which of them are created.
        decisions: called with every decision, in order; may be None.
        plugin_events: the events that plugins recorded, each once.

    Example:
        report = Simulator(load_snapshot("cluster.json")).run()
        assert [placement.node for placement in report.placements] == ["n1"]
    """

    def __init__(
        self,
        snapshot: Iterable[KubeObject],
        configuration: ConfigurationLike | Setup | Profiles = None,
        plugins: Iterable[PluginLike] = (),
        plugin_args: Mapping[str, ArgsLike] = _NO_ARGS,
        *,
        tie_break: TieBreak = TieBreak.FIRST,
        seed: int = 0,
        extender_calls: ExtenderCalls | None = None,
        new: Set[str] = frozenset(),
        make_framework: MakeFramework = Framework,
    ) -> None:
        setup = set_up(configuration, plugins, plugin_args)
        self.cluster_state = ClusterState()
        self.clock = VirtualClock()
        self.loop = EventLoop()
        self.decisions: Callable[[Decision], None] | None = None
        self.rng = Random(seed)
        self.plugin_events = PluginEvents()
        self.cluster = MemoryCluster(self.cluster_state, self._tell)
        self.scheduler = Scheduler(
            setup.profiles,
            self.cluster_state,
            Services(clock=self.clock, rng=self.rng, record_event=self.plugin_events.record),
            emit=self._emit,
            tie_break=tie_break,
            initial_backoff=setup.configuration.pod_initial_backoff_seconds,
            max_backoff=setup.configuration.pod_max_backoff_seconds,
            extenders=() if extender_calls is None else without_bind(setup.configuration.extenders),
            make_framework=make_framework,
        )
        self._calls = extender_calls
        self.frameworks: dict[str, Framework] = self.scheduler.frameworks
        self._suspended = SuspendedCycles(self.scheduler, self.clock)
        self._is_closed = False
        self._until: Callable[[Decision], bool] | None = None
        self._is_over = False
        self._outcomes: dict[str, Decision] = {}
        self._leaving: dict[str, tuple[str, ...]] = {}
        self._errors: dict[str, tuple[int, int]] = {}  # uid -> changes seen, errors so far
        self.bound_placements: dict[str, Placement] = {}
        with paused_gc(is_kept=True):
            known = objects_of(snapshot)
            not_started = [one for one in known if isinstance(one, Pod) and has_not_started(one)]
            self._bound = [one for one in known if isinstance(one, Pod) and is_new_and_bound(one)]
            self.pending = load_cluster(self.cluster_state, [one for one in known if not is_new_and_bound(one)])
        hang = ((pod, why_it_hangs(pod, self.cluster_state)) for pod in not_started if not is_new_and_bound(pod))
        self._hanging = [(pod, fault) for pod, fault in hang if fault]
        self.creation = Creation(self.pending, new, self.cluster_state.objects)
        self.loop.run(start_plugins(self.frameworks.values()))

    # --- running ---

    def run(self, progress: Progress | None = None, until: Callable[[Decision], bool] | None = None) -> Report:
        """Schedule every pending pod, as far as that is possible.

        Args:
            until: called with each decision; true ends the run, and the other pods are reported as not tried.
        Raises:
            InputError: the simulator has run already, or is closed.
        """
        if self._is_closed:
            raise InputError("this simulator has already run; create a new one")
        before = Fill(self.cluster_state.columns)
        self._until = until
        try:
            self.loop.run(self._place_all(progress))
        finally:
            self.close()
        return self._report(before)

    async def _place_all(self, progress: Progress | None) -> None:
        for pod in self.begin():
            self._tell(WatchEvent(EventType.ADDED, "Pod", pod))
        total = len(self.pending)
        plugins = [plugin for framework in self.frameworks.values() for plugin in framework.profile.plugins]
        may_have_tasks = any(plugin.defines("start") for plugin in plugins)
        with paused_gc(is_kept=True):  # the whole cluster would be scanned repeatedly
            for step in count(1):
                if may_have_tasks:
                    await self.loop.breathe()
                if not await self._step() or self._is_over:
                    break
                if step % _COLLECT_EVERY == 0:
                    gc.collect(0)
                if progress is not None and len(self._outcomes) % _PROGRESS_EVERY == 0:
                    progress(len(self._outcomes), total)
        self._leaving = dict(self._rooms_being_freed())
        if progress is not None:
            progress(total, total)

    def _rooms_being_freed(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The uid of each pod that waits on its nominated node for pods that are being deleted, and these."""
        for uid, decision in self._outcomes.items():
            pod = self.cluster_state.objects.get("Pod", decision.pod.key)
            if isinstance(pod, Pod) and pod.uid == uid and not pod.node_name and pod.status.nominated_node_name:
                yield uid, leaving_for(self.frameworks[decision.profile], pod)

    def close(self) -> None:
        """Break off what is under way and stop the plugins; nothing can be scheduled afterwards."""
        if self._is_closed:
            return
        self._is_closed = True
        self._suspended.close()
        self.loop.close(self._stop())

    async def _stop(self) -> None:
        await stop_plugins(self.frameworks.values())
        if self._calls is not None:
            await self._calls.close()

    def begin(self) -> list[Pod]:
        """Have kubelets start the new pods that name their nodes. Returns: the pending pods that exist."""
        created = self.creation.begin(self.pending, self._bound)
        self._start_bound()
        return created

    def _start_bound(self) -> None:
        for pod in self._bound:
            placement = Placement(pod.key, "", PodState.SCHEDULED, pod.node_name, message=UNSEEN, names_node=True)
            if not self.creation.is_allowed(pod):
                placement.state, placement.node = PodState.NOT_TRIED, ""
                placement.message, placement.refused = self.creation.why_not(pod), self.creation.refusal(pod)
            elif fault := kubelet_refusal(self.cluster_state, pod):
                placement = _not_running(pod, fault)
            elif fault := awaited_claims(pod, self.cluster_state.objects.get):
                placement = _not_running(pod, fault)
                self._tell(WatchEvent(EventType.ADDED, "Pod", pod))  # it has its room on the node
            else:
                self._tell(WatchEvent(EventType.ADDED, "Pod", started(pod)))
            self.bound_placements[pod.uid] = placement
            placement.owner = self.owner_of(pod)
        self._bound.clear()

    async def _step(self) -> bool:
        """Try one pod, or let time pass; false when nothing more can happen."""
        if self._calls is None:
            taken = self.scheduler.schedule_one()
        else:
            taken = await drive(self.scheduler.attempt(), answering_calls(self._calls))
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
        waiting = self.scheduler.queue.counts()
        if not waiting["backoff"] and not waiting["active"] and not self._suspended:
            return False
        deadlines = (self._suspended.next_deadline(), self.scheduler.next_deadline())
        times = [deadline for deadline in deadlines if deadline is not None]
        if not times:
            return False
        self.clock.advance_to(min(times))
        self.scheduler.advance()
        self._resume()
        return True

    def _give_up_if_hopeless(self, decision: Decision) -> None:
        """A pod that no plugin rejected is tried again without an event: but not after it failed twice in the same
        cluster, or too often in any.
        """
        uid, n_changes = decision.pod.uid, self.cluster.n_changes
        last, n_errors = self._errors.get(uid, (-1, 0))
        if last == n_changes or n_errors >= _MAX_ERRORS:
            self.scheduler.queue.delete(decision.pod)
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
                return self.cluster.perform(request), None
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

    # --- what happens ---

    def _tell(self, event: WatchEvent) -> None:
        self.scheduler.handle_event(event)
        pod = event.object
        if isinstance(pod, Pod) and pod.node_name and event.type is not EventType.DELETED:
            created = self.creation.placed(pod)
            if created is not None:
                self._tell(WatchEvent(EventType.ADDED, "Pod", created))

    def _emit(self, action: Action) -> None:
        self.cluster.perform(action)

    def _note(self, decision: Decision) -> None:
        self._outcomes[decision.pod.uid] = decision
        if self.decisions is not None:
            self.decisions(decision)
        if self._until is not None and self._until(decision):
            self._is_over = True

    # --- the report ---

    def _report(self, before: Fill) -> Report:
        evicted = {action.pod.uid: action.preemptor.key for action in self.cluster.evicted}
        victims: dict[str, list[str]] = {}
        for action in self.cluster.evicted:
            victims.setdefault(action.preemptor.uid, []).append(action.pod.key)
        gated = {waiting.key: waiting for waiting in self.scheduler.queue.pending().pods if waiting.gated_by}
        placements = list(self.bound_placements.values())
        for pod in sorted(self.pending, key=lambda pod: -pod.priority):
            placement = self._placement(pod, gated)
            placement.owner = self.owner_of(pod)
            placement.victims = tuple(victims.get(pod.uid, ()))
            placement.evicted_by = evicted.get(pod.uid, "")
            placements.append(placement)
        allowance = self.allowance()
        left = tuple(
            Victim(
                action.pod.key,
                self.owner_of(action.pod),
                action.node_name,
                action.preemptor.key,
                allowance.lose(action.pod),
            )
            for action in self.cluster.evicted
        )
        after = Fill(self.cluster_state.columns)
        groups = self.node_groups()
        return Report(
            tuple(placements),
            left,
            before,
            after,
            self.clock.seconds,
            groups,
            stuck=self.stuck(),
            devices=self.devices(),
        )

    def devices(self) -> dict[str, int]:
        """How many devices ResourceSlices list, by driver."""
        return listed_devices(self.cluster_state.objects.list("ResourceSlice"))

    def stuck(self) -> tuple[Placement, ...]:
        """The pods of the snapshot that have a node and do not start there, as placements without a node."""
        return tuple(_not_running(pod, fault, self.owner_of(pod)) for pod, fault in self._hanging)

    def allowance(self) -> Allowance:
        """What the disruption budgets of the cluster allow."""
        objects = self.cluster_state.objects
        return Allowance(
            Budgets(objects.list("PodDisruptionBudget")), lambda key: objects.get("PodDisruptionBudget", key)
        )

    def owner_of(self, pod: Pod) -> str:
        """`Kind/name` of the workload that a pod belongs to; empty for none."""
        return owner_of(pod, self._replica_sets)

    @cached_property
    def _replica_sets(self) -> dict[str, ReplicaSet]:
        sets = self.cluster_state.objects.list("ReplicaSet")
        return {one.key: one for one in sets if isinstance(one, ReplicaSet)}

    def node_groups(self) -> dict[str, NodeGroup]:
        """The pool and zone of each node of the cluster."""
        objects = self.cluster_state.objects
        nodes = (objects.get("Node", name) for name in self.cluster_state.columns.row_of)
        return group_nodes(node for node in nodes if isinstance(node, Node))

    def _placement(self, pod: Pod, gated: Mapping[str, PendingPod]) -> Placement:
        name = pod.scheduler_name
        if name not in self.frameworks:
            return Placement(pod.key, "", PodState.NOT_TRIED, message=no_profile(name, self.frameworks))
        if pod.is_terminating:
            return Placement(pod.key, name, PodState.NOT_TRIED, message="the pod is being deleted")
        decision = self._outcomes.get(pod.uid)
        if decision is None:
            placement = Placement(pod.key, name, PodState.NOT_TRIED, message=self.creation.why_not(pod))
            placement.awaits, placement.refused = self.creation.awaits(pod), self.creation.refusal(pod)
            gate = gated.get(pod.key)
            if gate is not None and not placement.is_not_created:
                placement.message, placement.plugin = gate.message, gate.gated_by
                placement.diagnosis = diagnosis_of((), (), gate.message, gate.gated_by)
            return placement
        placement = Placement(pod.key, name, PodState.SCHEDULED, attempts=decision.attempt)
        if decision.node_name and decision.chosen is not None:
            placement.node = decision.node_name
            placement.total = decision.chosen.total if decision.chosen.scores else None
            placement.scores = decision.chosen.scores
            placement.runners_up = decision.runners_up
        else:
            placement.state = _state_of(decision)
            placement.reason = decision.reason
            placement.message = decision.outcome.message
            if placement.state is not PodState.ERROR:
                filters = [plugin.name for plugin in self.frameworks[name].profile.points["filter"]]
                placement.plugin = decision.rejected_by
                said = decision.outcome.status.message or placement.message
                placement.diagnosis = diagnosis_of(
                    decision.rejections, filters, said, placement.plugin, decision.left_out
                )
            elif decision.outcome.status.place:
                placement.diagnosis = decision.outcome.status.located
            current = self.cluster_state.objects.get("Pod", pod.key)
            if isinstance(current, Pod):
                placement.nominated_node = current.status.nominated_node_name
            if placement.state is PodState.NOT_DECIDED:  # kube-scheduler's words would say that no node fits
                placement.reason, placement.message = "", placement.diagnosis
            if placement.state is PodState.UNSCHEDULABLE:
                placement.leaving = self._leaving.get(pod.uid, ())
        return placement


def _not_running(pod: Pod, fault: str, owner: str = "") -> Placement:
    """The outcome of a pod that names its node and does not start there."""
    message = f"{UNSEEN}; {fault}"
    return Placement(pod.key, "", PodState.UNSCHEDULABLE, message=message, owner=owner, names_node=True)


def _state_of(decision: Decision) -> PodState:
    """The state of a pod that got no node."""
    if decision.reason == "SchedulerError":
        return PodState.ERROR
    return PodState.NOT_DECIDED if decision.outcome.status.is_undecided else PodState.UNSCHEDULABLE
