"""A cluster in memory with a scheduler for it, on a virtual clock: every offline question is asked of one.

The same Scheduler that serves a live cluster takes the pending pods off its queue; its actions are carried out in
memory and come back as events. Between two calls a session is at rest: placed pods are in the cluster state, pending
pods are not, and the queue is empty. So each `schedule` begins as that of a session which has just loaded `objects()`,
and gives the same placements.
"""

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from random import Random
from typing import Any, Self, TypeVar

import msgspec

from kubesched.api import (
    EventType,
    KubeObject,
    Pod,
    WatchEvent,
    completed,
    kind_of,
    objects_of,
)
from kubesched.controllers import has_not_started, is_new_and_bound, why_it_hangs
from kubesched.engine import paused_gc
from kubesched.framework import Action, Decision, Framework, PluginEvents, Services, VirtualClock
from kubesched.scheduler import (
    Extenders,
    MakeFramework,
    Request,
    Scheduler,
    TieBreak,
    drive,
    load_cluster,
    start_plugins,
    stop_plugins,
)
from kubesched.session.attempt import Attempt, Preempt, attempt
from kubesched.session.cluster import MemoryCluster
from kubesched.session.cluster_now import ClusterNow
from kubesched.session.creation import Creation
from kubesched.session.fork import SessionFork
from kubesched.session.inventory import Inventory
from kubesched.session.kubelets import Kubelets, not_running
from kubesched.session.placements import Placements
from kubesched.session.queue_run import Progress, QueueRun
from kubesched.session.report import Fill, Placement, Report
from kubesched.session.suspended import SuspendedCycles
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

T = TypeVar("T")
_NO_ARGS: Mapping[str, ArgsLike] = {}


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
        make_framework: makes the framework of a profile; for a caller that observes plugins.

    Raises:
        InputError: the configuration cannot be read or is not valid; the profiles run for another cluster; or the
            snapshot has something else than Kubernetes objects.
        PluginError: a plugin cannot be loaded or started.

    Attributes:
        cluster_state: the cluster; changes as pods are placed.
        clock: the virtual clock.
        loop: the event loop of the plugins.
        rng: random numbers.
        kubelets: start the new pods that name their nodes.
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
        make_framework: MakeFramework = Framework,
    ) -> None:
        setup = set_up(configuration, plugins, plugin_args)
        super().__init__(ClusterState())
        self.clock = VirtualClock()
        self.loop = EventLoop()
        self.decisions: Callable[[Decision], None] | None = None
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
            extenders=() if extender_calls is None else without_bind(setup.configuration.extenders),
            make_framework=make_framework,
        )
        self.frameworks: dict[str, Framework] = self.scheduler.frameworks
        self._tie_break = tie_break
        self._seed = seed
        self._calls = extender_calls
        self._suspended = SuspendedCycles(self.scheduler, self.clock)
        self._is_closed = False
        self._inventory: Inventory | None = None  # made when it is asked, from what was given and told
        self._told: list[WatchEvent] = []
        self._disturbed: set[str] = set()  # nodes that a pod has left: the order of the others is another one now
        with paused_gc(is_kept=True):
            self._given = [completed(one) for one in objects_of(snapshot)]
            bound = {id(one): one for one in self._given if starts_bound and is_new_and_bound(one)}
            there = [one for one in self._given if id(one) not in bound]
            self._bound = list(bound.values())
            self.pending = load_cluster(self.cluster_state, there)
        self._left = list(self.pending)
        self._not_started = [one for one in there if isinstance(one, Pod) and has_not_started(one)]
        self._hanging: list[tuple[Pod, str]] = []
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
        return self._held().of(kind)

    def get(self, kind: str, key: str) -> KubeObject | None:
        """An object as it is now; None where there is none."""
        return self._held().get((kind, key))

    def objects(self, at: Iterable[KubeObject] | None = None) -> list[KubeObject]:
        """The cluster as it is now, complete enough for `write_snapshot`.

        Args:
            at: what `objects_now` returned at the time that is meant; None for now.
        """
        return self._held().written(self.objects_now() if at is None else at)

    def objects_now(self) -> list[KubeObject]:
        """The objects as they are now; the JSON of pods that the session placed has no node."""
        return self._held().objects()

    def waiting(self) -> list[Pod]:
        """The pods that wait for a node, as they are now, in the order of `objects`."""
        return self._left if self._inventory is None else self._inventory.pending()

    def finished(self) -> list[Pod]:
        """The pods of the snapshot that have finished."""
        return [one for one in self._given if isinstance(one, Pod) and one.is_finished]

    def pods_on(self, node: str) -> list[Pod]:
        """The pods that hold something of a node, in the order of `objects`."""
        self._put_in_order()
        row = self.cluster_state.columns.row_of.get(node)
        return [] if row is None else [info.pod for info in self.cluster_state.columns.pods[row]]

    def stuck(self) -> tuple[Placement, ...]:
        """The pods of the snapshot that have a node and do not start there, as placements without a node."""
        return tuple(not_running(pod, fault, self.owner_of(pod)) for pod, fault in self._hanging)

    # --- changes ---

    def change(self, changed: Iterable[KubeObject] = (), gone: Iterable[KubeObject] = ()) -> None:
        """Remove some objects, then add others or put them in the place of older ones. Pods arrive at the next run."""
        held = self._held()
        for one in gone:
            self._tell(WatchEvent(EventType.DELETED, kind_of(one), one))
        for one in changed:
            if is_new_and_bound(one):  # a kubelet sees it at the next run
                self._bound.append(one)
            elif isinstance(one, Pod) and not one.node_name:
                held.put(one)
            else:
                self._tell(WatchEvent(EventType.MODIFIED, kind_of(one), one))

    def arrive(self, objects: Iterable[KubeObject]) -> None:
        """Have objects come in while a run goes on. A pod joins the queue, if the API server creates it."""
        for one in objects:
            if not isinstance(one, Pod) or one.node_name:
                self._tell(WatchEvent(EventType.MODIFIED, kind_of(one), one))
                continue
            self.pending.append(one)
            self._held().put(one)
            if self.creation.is_allowed(one):
                self._tell(WatchEvent(EventType.ADDED, "Pod", one))

    def bind(self, pod: Pod, node_name: str) -> None:
        """Have a pod on a node. What its controller creates then is left to the caller."""
        bound = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node_name))
        event = WatchEvent(EventType.MODIFIED, "Pod", bound)
        self._note(self._held(), event)
        self.scheduler.handle_event(event)

    @contextmanager
    def fork(self) -> Iterator[SessionFork]:
        """Take back at the end of the `with` what changes inside, unless it is committed. Forks can be nested."""
        held, of_state = self._held(), self.cluster_state.fork()
        mark, bound, seconds, disturbed = held.mark(), tuple(self._bound), self.clock.seconds, set(self._disturbed)

        def take_back() -> None:
            of_state.revert()
            held.go_back(mark)
            self._bound[:] = bound
            self.clock.seconds = seconds
            self._disturbed = disturbed

        def keep() -> None:
            of_state.commit()
            held.keep()

        fork = SessionFork(take_back, keep)
        try:
            yield fork
        finally:
            fork.revert()

    def _put_in_order(self) -> None:
        """Have the pods of disturbed nodes in the order in which a loaded snapshot has them; ties may depend on it."""
        held, columns = self._held(), self.cluster_state.columns
        for node in self._disturbed:
            row = columns.row_of.get(node)
            pods = [] if row is None else [info.pod for info in columns.pods[row]]
            pods.sort(key=lambda pod: held.position(("Pod", pod.key)))
            self.cluster_state.arrange(node, [pod.uid for pod in pods])
        self._disturbed.clear()

    def _held(self) -> Inventory:
        if self._inventory is None:
            self._inventory = Inventory(self._given)
            for event in self._told:
                self._note(self._inventory, event)
            self._told.clear()
        return self._inventory

    def _note(self, held: Inventory, event: WatchEvent) -> None:
        gone = held.note(event)
        if isinstance(gone, Pod):
            self._disturbed.add(gone.node_name)

    def _emit(self, action: Action) -> None:
        self.cluster.perform(action)

    def _tell(self, event: WatchEvent) -> None:
        """Note what an event changes, and pass it on."""
        if self._inventory is None:
            self._told.append(event)
        else:
            self._note(self._inventory, event)
        self.scheduler.handle_event(event)
        pod = event.object
        if isinstance(pod, Pod) and pod.node_name and event.type is not EventType.DELETED:
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
        return await drive(question, _refuse if self._calls is None else answering_calls(self._calls))

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
        if self._inventory is not None or self._told:
            self.pending = self._held().pending()
            self._put_in_order()
        self.kubelets.placements.clear()
        self.cluster.evicted.clear()
        self.cluster.events.clear()
        try:
            return self._schedule(progress, until)
        finally:
            self._rest()

    def _schedule(self, progress: Progress | None, until: Callable[[Decision], bool] | None) -> Report:
        before = self.fill()

        def decided(decision: Decision) -> bool:
            if self.decisions is not None:
                self.decisions(decision)
            return until is not None and until(decision)

        run = QueueRun(self.scheduler, self.cluster, self.clock, self.loop, self._suspended, self._calls, decided)

        async def go() -> Placements:
            for pod in self.begin():
                self._tell(WatchEvent(EventType.ADDED, "Pod", pod))
            await run.go(lambda: len(self.pending), progress)
            return Placements(self.scheduler, self.creation, run.outcomes)

        aside, self.scheduler.aside = self.scheduler.aside, None
        try:
            found = self.loop.run(go())
        finally:
            self.scheduler.aside = aside
        self._suspended.close()
        return self._report(before, found)

    def begin(self) -> list[Pod]:
        """Have kubelets start the new pods that name their nodes. Returns: the pending pods that exist."""
        known = self.cluster_state.objects
        there = (pod for pod in self._not_started if known.get("Pod", pod.key) is pod)
        hang = ((pod, why_it_hangs(pod, self.cluster_state)) for pod in there)
        self._hanging = [(pod, fault) for pod, fault in hang if fault]
        created = self.creation.begin(self.pending, self._bound)
        self.kubelets.start(self._bound, self.creation, self.owner_of)
        self._bound.clear()
        return created

    def _rest(self) -> None:
        """Take the pods that are left off the queue, and begin the next run as the first one."""
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
        evicted = {action.pod.uid: action.preemptor.key for action in self.cluster.evicted}
        victims: dict[str, list[str]] = {}
        for action in self.cluster.evicted:
            victims.setdefault(action.preemptor.uid, []).append(action.pod.key)
        gated = {one.key: one for one in self.scheduler.queue.pending().pods if one.gated_by}
        placements = list(self.kubelets.placements.values())
        for pod in sorted(self.pending, key=lambda pod: -pod.priority):
            placement = found.of(pod, gated)
            placement.owner = self.owner_of(pod)
            placement.victims = tuple(victims.get(pod.uid, ()))
            placement.evicted_by = evicted.get(pod.uid, "")
            placements.append(placement)
        return Report(
            tuple(placements),
            tuple(self.victims(self.cluster.evicted)),
            before,
            self.fill(),
            self.clock.seconds,
            self.node_groups(),
            stuck=self.stuck(),
            devices=self.devices(),
        )


def _refuse(request: Request) -> Awaitable[Any]:
    """Answer what a hook asks of a question that has no effect."""
    if isinstance(request, Action):
        raise RuntimeError(f"this run cannot perform actions: {request!r}")
    raise RuntimeError("this run cannot wait for conditions")
