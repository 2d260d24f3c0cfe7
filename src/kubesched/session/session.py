"""A cluster in memory with a scheduler for it, on a virtual clock: every offline question is asked of one.

The same Scheduler that serves a live cluster takes the pending pods off its queue; its actions are carried out in
memory and come back as events. Between two calls a session is at rest: placed pods are in the cluster state, pending
pods are not, and the queue is empty. So each `schedule` begins as that of a session which has just loaded `objects()`,
and gives the same placements.
"""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from random import Random
from typing import Any, Final, Self, TypeVar

import msgspec

from kubesched.api import EventType, KubeObject, Node, Pod, WatchEvent, completed, kind_of, objects_of
from kubesched.controllers import detached, has_not_started, is_new_and_bound, left_claims
from kubesched.engine import paused_gc
from kubesched.framework import Action, Decision, Framework, PluginEvents, Services, VirtualClock
from kubesched.release import Release
from kubesched.scheduler import Extenders, Scheduler, TieBreak, drive, load_cluster, start_plugins, stop_plugins
from kubesched.session.agenda import Agenda
from kubesched.session.attempt import Attempt, Preempt, attempt
from kubesched.session.cluster_now import ClusterNow
from kubesched.session.creation import Creation
from kubesched.session.fill import Fill
from kubesched.session.fork import SessionFork
from kubesched.session.idle_claims import idle_claims
from kubesched.session.inventory import Inventory, key_of
from kubesched.session.kubelets import Kubelets
from kubesched.session.memory_cluster import MemoryCluster
from kubesched.session.placements import Placements
from kubesched.session.queue_run import Progress, QueueRun
from kubesched.session.report import Placement, PodState, Report
from kubesched.session.suspended import SuspendedCycles
from kubesched.setup import (
    ArgsLike,
    ConfigurationLike,
    EventLoop,
    ExtenderCalls,
    PluginLike,
    Profiles,
    Setup,
    set_up,
    without_bind,
)
from kubesched.snapshot import ClusterObjects, version_of
from kubesched.state import ClusterState

T = TypeVar("T")
_NO_ARGS: Mapping[str, ArgsLike] = {}
_ADDED: Final = EventType.ADDED  # for each pod; in Python 3.11 ten times as quick as the member of its class
_DELETED: Final = EventType.DELETED


class Session(ClusterNow):
    """A cluster and a scheduler for it, for any number of changes and runs. Close it at the end.

    Plugins see changes, and what takes them back, as events. A plugin that counts pods by itself has to follow these
    events, since no hook reports what is taken back.

    Args:
        snapshot: the cluster, as load_snapshot gives it; pods without a node are pending.
        configuration: a configuration, a file with one, or None for kube-scheduler's defaults; or a Setup or profiles
            that were built from one. Pods of other schedulers are not placed.
        plugins, plugin_args: your plugins and their arguments, as for load_configuration.
        tie_break: which node is taken if several have the highest score.
        seed: the random seed, for random ties and for the node where preemption starts its search.
        extender_calls: calls the extenders of the configuration, and is closed with this; without it they are not
            asked. Their bind is not called: a pod is bound in memory.
        new: `namespace/name` of the pending pods that do not exist yet. A StatefulSet with the podManagementPolicy
            OrderedReady creates each of them once the pods of lower numbers have nodes.
        starts_bound: whether kubelets start the new pods that name their nodes at the first run; else they run.

    Raises:
        InputError: the configuration cannot be read or is not valid; the profiles run for another cluster; or the
            snapshot has something else than Kubernetes objects.
        PluginError: a plugin cannot be loaded or started.

    Attributes:
        cluster_state: the cluster; changes as pods are placed.
        version: the version of Kubernetes whose rules decide.
        clock: the virtual clock.
        loop: the event loop of the plugins.
        rng: random numbers.
        kubelets: start the new pods that name their nodes.
        assumed: kind and key of the objects whose state is part of the question: no fix changes them.
        pending: pods without a node, in the order of the objects, before the last run.
        creation: which of them are created.
        decisions: called with every decision, in order; may be None.
        plugin_events: the events that plugins recorded, each once.

    Example:
        session = Session(load_snapshot("cluster.json"))
        with session.fork():
            session.change([make_pod("new", requests={"cpu": "1"})])
            print(session.schedule().placements)
        session.close()
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
        starts_bound: bool = True,
    ) -> None:
        if not isinstance(snapshot, ClusterObjects):
            snapshot = [*objects_of(snapshot)]
        version = version_of(snapshot)
        setup = set_up(configuration, plugins, plugin_args, extender_calls=extender_calls, release=version.release)
        self.version = msgspec.structs.replace(version, release=setup.release)
        self._in_version = setup.in_version
        super().__init__(ClusterState(setup.release))
        self.clock = VirtualClock()
        self.loop = EventLoop()
        self.decisions: Callable[[Decision], None] | None = None
        self._agenda: Agenda | None = None
        self.assumed: Set[tuple[str, str]] = frozenset()
        self.rng = Random(seed)
        self.plugin_events = PluginEvents()
        self.cluster = MemoryCluster(self.cluster_state, self._tell)
        self.kubelets = Kubelets(self.cluster_state, self._tell)
        self.scheduler = Scheduler(
            setup.profiles,
            self.cluster_state,
            Services(clock=self.clock, rng=self.rng, record_event=self.plugin_events.record),
            emit=self._emit,
            tie_break=tie_break,
            initial_backoff=setup.configuration.pod_initial_backoff_seconds,
            max_backoff=setup.configuration.pod_max_backoff_seconds,
            extenders=without_bind(setup.extenders),
            probe=setup.probe,
        )
        self.frameworks: dict[str, Framework] = self.scheduler.frameworks
        self._tie_break = tie_break
        self._seed = seed
        self._calls = setup.extender_calls
        self._answer = setup.answer_cycle
        self._suspended = SuspendedCycles(self.scheduler, self.clock)
        self._is_closed = False
        with paused_gc(is_kept=True):
            self._given = [completed(one) for one in objects_of(snapshot)]
            bound = {id(one): one for one in self._given if starts_bound and is_new_and_bound(one)}
            there = [one for one in self._given if id(one) not in bound]
            self.kubelets.coming = list(bound.values())
            self.pending = load_cluster(self.cluster_state, there, are_completed=True)
        self._inventory = Inventory(self._given, setup.release)
        self._left = list(self.pending)
        self.kubelets.not_started = [one for one in there if isinstance(one, Pod) and has_not_started(one)]
        self.creation = Creation(self.pending, new, self.cluster_state.objects)
        self.loop.run(start_plugins(self.frameworks.values()))

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # --- what there is ---

    def of(self, kind: str) -> list[KubeObject]:
        """The objects of one kind as they are now."""
        return self._inventory.of(kind)

    def get(self, kind: str, key: str) -> KubeObject | None:
        """An object as it is now; None where there is none."""
        return self._inventory.get((kind, key))

    def objects(self) -> list[KubeObject]:
        """The cluster as it is now, complete enough for `write_snapshot`: the pods that have got a node run there."""
        return self._inventory.written(self.objects_now())

    def objects_now(self) -> list[KubeObject]:
        """The objects as they are now; the JSON of pods that the session placed has no node."""
        return self._inventory.objects()

    def waiting(self) -> list[Pod]:
        """The pods that wait for a node, as they are now, in the order of `objects`."""
        return self._inventory.pending() if self._inventory.is_found else self._left

    def finished(self) -> list[Pod]:
        """The pods of the snapshot that have finished."""
        return [one for one in self._given if isinstance(one, Pod) and one.is_finished]

    def pods_on(self, node: str) -> list[Pod]:
        """The pods that hold something of a node, in the order of `objects`."""
        self._inventory.put_in_order(self.cluster_state)
        row = self.cluster_state.columns.row_of.get(node)
        return [] if row is None else [info.pod for info in self.cluster_state.columns.pods[row]]

    def stuck(self) -> tuple[Placement, ...]:
        """The pods of the snapshot that have a node and do not start there, as placements without a node."""
        return self.kubelets.stuck(self.owner_of)

    def in_version(self, release: Release) -> "Session | None":
        """A session of the cluster as it is now, with the rules of another version; None for built profiles.

        Raises:
            ConfigError: the version rejects the configuration.
        """
        if self._in_version is None:
            return None
        return Session(self.objects_now(), self._in_version(release), seed=self._seed, starts_bound=False)

    # --- changes ---

    def change(
        self, changed: Iterable[KubeObject] = (), gone: Iterable[KubeObject] = (), *, new: Set[str] | None = None
    ) -> None:
        """Remove some objects, then add others or put them in the place of older ones. Pods arrive at the next run.

        The volumes of pods that leave their nodes are detached.

        Args:
            new: the pending pods that do not exist yet, as for the session, which creates pods as one that has just
                loaded this cluster; None for no other ones.
        """
        gone = [*gone]
        left = [one for one in gone if isinstance(one, Pod)]
        self._replace(changed, gone, new)
        for attachment in detached(left, self.cluster_state):
            self._tell(WatchEvent(EventType.DELETED, "VolumeAttachment", attachment))

    def _replace(self, changed: Iterable[KubeObject], gone: Iterable[KubeObject], new: Set[str] | None) -> None:
        for one in gone:
            if isinstance(one, Pod):
                self.kubelets.coming[:] = [pod for pod in self.kubelets.coming if pod.key != one.key]
            self._tell(WatchEvent(EventType.DELETED, kind_of(one), one))
        for one in changed:
            if is_new_and_bound(one):  # a kubelet sees it at the next run
                self.kubelets.coming.append(one)
            elif isinstance(one, Pod) and not one.node_name:
                self._leave_node(self._inventory.get(key_of(one)))
                self._inventory.put(one)
            else:
                self._tell(WatchEvent(EventType.MODIFIED, kind_of(one), one))
        if new is not None:
            self.creation = Creation(self._inventory.pending(), new, self.cluster_state.objects)

    def _leave_node(self, pod: KubeObject | None) -> None:
        """Take a pod off its node, if it has one, for a pod of this name that waits in its place."""
        if isinstance(pod, Pod) and pod.node_name:
            self._inventory.disturbed.add(pod.node_name)
            self.scheduler.handle_event(WatchEvent(EventType.DELETED, "Pod", pod))
            self._release_claims(pod)

    def become(self, objects: Iterable[KubeObject], *, new: Set[str]) -> None:
        """Change the cluster to another one: its objects in the same order, those that are new at the end.

        Args:
            new: as for the session.
        """
        known = self.objects_now()
        position = {key_of(one): place for place, one in enumerate(known)}
        gone, changed, last = dict(enumerate(known)), [], -1
        for one in map(completed, objects):
            place = position.get(key_of(one), -1)
            is_in_place = place > last  # else it goes, and comes again at the end
            if is_in_place:
                last = place
                del gone[place]
            if not is_in_place or (known[place] is not one and known[place] != one):
                changed.append(one)
        self._replace(changed, sorted(gone.values(), key=lambda one: isinstance(one, Node)), new)

    def start_bound(self) -> None:
        """Have the new pods that name their nodes run there, whether or not kubelets would start them."""
        coming, self.kubelets.coming = self.kubelets.coming, []
        for pod in coming:
            self._tell(WatchEvent(EventType.ADDED, "Pod", pod))
            self._inventory.disturbed.add(pod.node_name)
        if coming:
            self._inventory.put_in_order(self.cluster_state)

    def arrive(self, objects: Iterable[KubeObject]) -> None:
        """Have objects come in while a run goes on. A pod joins the queue, if the API server creates it."""
        for one in objects:
            if not isinstance(one, Pod) or one.node_name:
                self._tell(WatchEvent(EventType.MODIFIED, kind_of(one), one))
                continue
            if self._agenda is None:  # else `pending` is found at the end
                self.pending.append(one)
            self._inventory.put(one)
            if self.creation.is_allowed(one):
                self._tell(WatchEvent(EventType.ADDED, "Pod", one))

    def bind(self, pod: Pod, node_name: str) -> None:
        """Have a pod on a node. What its controller creates then is left to the caller."""
        bound = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node_name))
        event = WatchEvent(EventType.MODIFIED, "Pod", bound)
        self._inventory.note(event)
        self.scheduler.handle_event(event)

    @contextmanager
    def fork(self) -> Iterator[SessionFork]:
        """Take back at the end of the `with` what changes inside, unless it is committed. Forks can be nested."""
        mark, of_state = self._inventory.mark(), self.cluster_state.fork()
        coming, seconds, creation = tuple(self.kubelets.coming), self.clock.seconds, self.creation
        assumed = self.assumed

        def take_back() -> None:
            of_state.revert()
            self._inventory.go_back(mark)
            self.kubelets.coming[:] = coming
            self.clock.seconds = seconds
            self.creation = creation
            self.assumed = assumed

        def keep() -> None:
            of_state.commit()
            self._inventory.keep()

        fork = SessionFork(take_back, keep)
        try:
            yield fork
        finally:
            fork.revert()

    def _release_claims(self, pod: Pod) -> None:
        """Have controllers take back the devices of a pod that has gone."""
        for event in left_claims(pod, self.cluster_state.objects.get):
            self._tell(event)

    def _emit(self, action: Action) -> None:
        self.cluster.perform(action)

    def _tell(self, event: WatchEvent) -> None:
        """Note what an event changes, pass it on, and note what controllers do then."""
        self._inventory.note(event)
        self.scheduler.handle_event(event)
        pod = event.object
        if not isinstance(pod, Pod):
            return
        if event.type is _DELETED:
            self._release_claims(pod)
            if self._agenda is not None:
                self._agenda.left(pod)
        elif pod.node_name:
            if self._agenda is not None:
                self._agenda.bound(pod)
            created = self.creation.placed(pod)
            if created is not None:
                self._tell(WatchEvent(EventType.ADDED, "Pod", created))

    # --- single pods ---

    def attempt(self, pod: Pod, preempt: Preempt = Preempt.UNLESS_FAILED) -> Attempt:
        """Try a pod that is on no node, without any effect; the other pending pods take no room.

        Raises:
            KeyError: no profile serves the pod.
        """
        framework, info = self.frameworks[pod.scheduler_name], self.cluster_state.pod_info(pod)
        return self.ask(attempt(framework, info, self.extenders, preempt))

    @property
    def extenders(self) -> Extenders | None:
        """The extenders that are called; None for none."""
        return self.scheduler.extenders or None

    def ask(self, question: Coroutine[Any, Any, T]) -> T:
        """The answer of a coroutine that asks plugins, and waits for nothing but extenders."""
        return self.loop.run(self._answered(question))

    async def _answered(self, question: Coroutine[Any, Any, T]) -> T:
        await self.loop.breathe()
        return await drive(question, self._answer)

    # --- runs ---

    def schedule(
        self,
        progress: Progress | None = None,
        until: Callable[[Decision], bool] | None = None,
        *,
        ties: tuple[TieBreak, int] | None = None,
    ) -> Report:
        """Schedule every pending pod, as far as that is possible.

        Args:
            until: called with each decision; true ends the run, and the other pods are reported as not tried.
            ties: tie_break and seed of this run, instead of those of the session.
        """
        if ties is not None:
            self.scheduler.cycle.tie_break, seed = ties
            self.rng.seed(seed)
        with paused_gc(is_kept=True):  # the whole cluster would be scanned repeatedly
            try:
                return self._schedule(progress, until)
            finally:
                self.rest()

    def carry_out(self, agenda: Agenda, progress: Progress | None = None) -> tuple[Placement, ...]:
        """Have everything happen that an agenda has, each at its time, and schedule the pods in between.

        Args:
            progress: called with the counts of the agenda.
        Returns: the pods that are left pending.
        """
        with paused_gc(is_kept=True):
            self.pending = self._inventory.pending()
            self._agenda = agenda
            try:
                found = self._run(progress)
                self.pending = self._inventory.pending()
                in_order = sorted(self.pending, key=lambda pod: -pod.priority)
                return tuple(found.all(in_order, (), self.owner_of))
            finally:
                self._agenda = None
                self.rest()

    def _schedule(self, progress: Progress | None, until: Callable[[Decision], bool] | None) -> Report:
        before = self.fill()
        return self._report(before, self._run(progress, until))

    def _run(self, progress: Progress | None, until: Callable[[Decision], bool] | None = None) -> Placements:
        def decided(decision: Decision) -> bool:
            if self.decisions is not None:
                self.decisions(decision)
            return until is not None and until(decision)

        agenda = self._agenda
        run = QueueRun(
            self.scheduler, self.cluster, self.clock, self.loop, self._suspended, self._answer, decided, agenda
        )

        async def go() -> Placements:
            with paused_gc(is_kept=True):  # what the queue holds of each pod is not for the collections of the run
                for pod in self.begin():
                    self._tell(WatchEvent(_ADDED, "Pod", pod))
            await run.go(
                lambda: (len(run.outcomes), len(self.pending)) if agenda is None else agenda.counts(), progress
            )
            return Placements(self.scheduler, self.creation, run.outcomes)

        aside, self.scheduler.aside = self.scheduler.aside, None
        try:
            found = self.loop.run(go())
        finally:
            self.scheduler.aside = aside
        self._suspended.close()
        return found

    def begin(self) -> list[Pod]:
        """Begin a run: have kubelets start the new pods that name their nodes. Returns: the pending pods that exist."""
        if not self._inventory.is_as_given:
            self.pending = self._inventory.pending()
            self._inventory.put_in_order(self.cluster_state)
        self.kubelets.placements.clear()
        self.cluster.evicted.clear()
        self.cluster.events.clear()
        self.kubelets.look()
        created = self.creation.begin(self.pending, self.kubelets.coming)
        self.kubelets.start(self.creation, self.owner_of)
        return created

    def rest(self) -> None:
        """End a run: take the pods that are left off the queue, and begin the next run as the first one."""
        self._suspended.close()
        evicted = {action.pod.uid for action in self.cluster.evicted}
        self._left = []
        for pod in self.pending:
            current = self.cluster_state.objects.get("Pod", pod.key)
            if isinstance(current, Pod) and not current.node_name:
                self.scheduler.handle_event(WatchEvent(EventType.DELETED, "Pod", current))
                self._left.append(current)
            elif current is None and pod.uid not in evicted:
                self._left.append(pod)  # it has not been created
        self.rng.seed(self._seed)
        self.scheduler.cycle.next_start = 0
        self.scheduler.cycle.tie_break = self._tie_break

    def _report(self, before: Fill, found: Placements) -> Report:
        in_order = sorted(self.pending, key=lambda pod: -pod.priority)
        placements = (*self.kubelets.placements.values(), *found.all(in_order, self.cluster.evicted, self.owner_of))
        failed = {one.pod for one in placements if one.state is PodState.ERROR}
        return Report(
            placements,
            tuple(self.victims(self.cluster.evicted)),
            before,
            self.fill(),
            self.clock.seconds,
            self.node_groups(),
            stuck=self.stuck(),
            idle_claims=tuple(idle_claims(self.pending, failed, self.cluster_state.objects)),
            version=self.version,
        )
