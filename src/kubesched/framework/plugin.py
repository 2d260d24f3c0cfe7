"""The interface for plugin authors: `Plugin`, whose methods are the extension points, and `Handle`.

Rule: the contracts are kube-scheduler v1.36's (framework interfaces).
"""

import inspect
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, Final, cast

import msgspec

from kubesched.api import KubeObject, Pod
from kubesched.config import PluginArgs
from kubesched.engine import IntVector
from kubesched.errors import PluginDefinitionError
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.definition_faults import are_faults_kept
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.events_to_register import EventRegistration
from kubesched.framework.hooks import FURTHER_HOOKS, HOOKS, MAY_AWAIT, ONE_FORM, DependsOn, in_place_of_go, meant_hook
from kubesched.framework.moved_pods import MovedPods
from kubesched.framework.plugin_events import plugin_event
from kubesched.framework.plugin_metrics import PluginMetrics
from kubesched.framework.plugin_names import ClassName, name_fault
from kubesched.framework.plugin_rights import rights_fault
from kubesched.framework.queued_pod import QueuedPodInfo
from kubesched.framework.reads import readable, undeclared
from kubesched.framework.services import Services
from kubesched.framework.status import PostFilterAnswer, PreFilterResult, Status, Wait
from kubesched.framework.verdicts import Codes, PodChanges, Verdicts
from kubesched.release import DEFAULT_RELEASE, Release
from kubesched.state import ClusterState, NodeInfo, Nodes, PodInfo, Snapshot

_PARTS: Final = (("filter_nodes", "filter_part"), ("score_nodes", "score_part"))


class Plugin:
    """Base of all scheduling plugins. Define the methods of the extension points that you need, and no others.

    The class name is the name in configuration files, unless the class sets `name`. Arguments are declared as a nested
    class `Args(PluginArgs)` and arrive, decoded and checked, as `self.args`. `__init__` stores arguments and no more;
    computing starts in a hook.
    `self.handle` is there from `start` on.

    A rule is written once, per node (`filter`, `score`) or over columns (`filter_nodes`, `score_nodes`); defining both
    forms of one rule is an error. A rejection is a returned Status; an exception is a fault and ends the pod's attempt
    as SchedulerError. Returning None is an error: a hook with no objection returns `Status.SUCCESS`. Hooks of the
    scheduling cycle (up to permit) are plain functions and do no I/O; `start`, `stop`, `pre_bind`, `bind` and
    `post_bind` may be coroutines.

    Attributes:
        args: the decoded arguments. A class that defines `Args` declares `args: Args`, if its types are checked.
        handle: the way to the rest of the scheduler.
        release: the version of Kubernetes whose rules decide; there from the end of `__init__` on.

    Raises:
        PluginDefinitionError: a subclass is not valid; raised where the class is defined.

    Example:
        class FewPods(Plugin):
            def filter(self, state, pod, node):
                return Status.SUCCESS if len(node.pods) < 10 else Status.unschedulable("node(s) had 10 pods")

            def score(self, state, pod, node):
                return 100 - 10 * len(node.pods)
    """

    name: ClassVar[str] = cast("str", ClassName())
    """The name in configuration files, reports and metrics. It is that of the class, unless the class or a base of it
    sets another: `name = "my-plugin"`. At most 63 letters, digits, `-`, `_` and `.`."""
    Args: ClassVar[type[PluginArgs]] = PluginArgs
    reasons: ClassVar[tuple[Status, ...]] = ()
    """What the verdicts of `filter_nodes` mean: verdict 1 is the first."""
    depends_on: ClassVar[DependsOn] = DependsOn.ANYTHING
    """What the column rules read. Change it only if that is exactly true: columns are kept accordingly."""
    equal_by: ClassVar[tuple[str, ...] | None] = None
    """What the hooks up to Score read of a pod, as attributes of PodInfo, such as `("requests", "pod.spec.node_name")`.
    They must read nothing else that changes: about pods that are equal in these, `pre_filter` and `pre_score` say the
    same whatever nodes there are, and the rules the same of the same node, so that they are asked about one of them.
    A figure that the plugin holds belongs into `filter_part` or `score_part`. Where the plugin has a hook after Score,
    such as `permit`, or depends on devices, that holds where it skips. Where it depends on relations or anything, it
    holds where it skips, and only until another object than a pod changes, or a pod with affinity terms comes or goes.
    None for a plugin that may read anything. What a base class says does not count where a subclass or a mixin has such
    a hook."""
    reads: tuple[str, ...] = ()
    """Kinds other than nodes and pods that the plugin gets from the handle, so that they are watched: `Service`, or
    `metrics.k8s.io/v1beta1/NodeMetrics` for a kind that kubesched does not know. With a `?` at the end, an API server
    may lack the kind. `__init__` may change what the class has."""
    rbac: ClassVar[Sequence[Mapping[str, Sequence[str]]]] = ()
    """Rules of an RBAC role that `handle.client` needs, as in a ClusterRole; manifests grant them."""
    wants_raw: ClassVar[bool] = False
    """Whether it reads `raw` or `document` of nodes or pods."""
    definition_fault: ClassVar[PluginDefinitionError | None] = None
    """Why the class cannot work, where that is raised when it is loaded. Do not set it."""

    args: PluginArgs
    handle: "Handle"
    release: Release = DEFAULT_RELEASE

    def __init__(self, args: PluginArgs | None = None) -> None:
        self.args = self.Args() if args is None else args

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.definition_fault = None
        try:
            _check_definition(cls)
        except PluginDefinitionError as error:
            if not are_faults_kept():
                raise
            cls.definition_fault = error

    @classmethod
    def extension_points(cls) -> frozenset[str]:
        """The extension points that the class takes part in, as configuration files spell them."""
        return frozenset(point for point, hooks in HOOKS.items() if any(map(cls.defines, hooks)))

    @classmethod
    def defines(cls, hook: str) -> bool:
        """Whether the class or a base of it other than Plugin defines a hook."""
        return getattr(cls, hook) is not getattr(Plugin, hook)

    # --- life ---

    def start(self, handle: "Handle") -> Awaitable[None] | None:
        """Called once, before any hook of a pod; may do I/O and be a coroutine. A task made here can refresh data.

        The handle has the cluster as it was when the plugins began to start, without the pods that wait for a node.
        Those, and all events, come when every plugin has started.
        """

    def stop(self) -> Awaitable[None] | None:
        """Called once after the last cycle; may be a coroutine."""

    def events_to_register(self) -> list[EventRegistration]:
        """The cluster events that make a pod that this plugin rejected worth another try, each with a hint or without.

        By default, every event triggers a retry. An empty list means that no event helps.
        """
        raise NotImplementedError

    # --- the queue ---

    def pre_enqueue(self, pod: Pod) -> Status:
        """Called before a pod enters the active queue; any rejection keeps it out without an event or a condition."""
        raise NotImplementedError

    def sort_key(self, queued: QueuedPodInfo) -> tuple[object, ...]:
        """The place of a queued pod: smaller keys first. Preferred to `less`, because a heap compares it fast."""
        raise NotImplementedError

    def less(self, a: QueuedPodInfo, b: QueuedPodInfo) -> bool:
        """Whether queued pod `a` is taken before `b`."""
        raise NotImplementedError

    # --- the scheduling cycle ---

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status | PreFilterResult:
        """Called once per pod, before any filter: check the pod, compute what filters share.

        UNSCHEDULABLE_AND_UNRESOLVABLE ends the cycle; SKIP switches this plugin's filter off for this pod; a
        PreFilterResult narrows the nodes.
        """
        raise NotImplementedError

    def add_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        """A what-if table gained pods: bring what pre_filter computed up to date by writing new data to `state`."""
        raise NotImplementedError

    def remove_pods(self, state: CycleState, pod: Pod, changes: PodChanges) -> None:
        """A what-if table lost pods: the reverse of add_pods."""
        raise NotImplementedError

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        """Whether the pod can run on one node."""
        raise NotImplementedError

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Verdicts | Codes:
        """Whether the pod can run on each node of a table: (nodes,) integers, 0 fits, else the place in `reasons`
        counted from 1.

        Pure, given state: the same row gets the same verdict whatever other rows the table has.
        """
        raise NotImplementedError

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        """Everything that filter_nodes reads of pod and state, hashable; asked when `depends_on` is NODE or ROW."""
        raise NotImplementedError

    def explain_rejection(self, state: CycleState, pod: Pod, node: NodeInfo, status: Status) -> Iterable[str]:
        """What keeps the pod from one node, a phrase for each cause: `taint gpu:NoSchedule is not tolerated`.

        Called on request (`kubesched explain`), and only for a node that this plugin's filter rejects; the
        phrases are shown instead of the reasons. Yield nothing to show the reasons.

        Args:
            state: with what this plugin's pre_filter wrote.
            status: the rejection.
        """
        raise NotImplementedError

    def explain_alike(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """(nodes,) int: nodes with the same number get the same phrases from explain_rejection for the same reasons.

        It saves calls of explain_rejection: one is enough for nodes that are alike. Without it, each node is explained
        by itself.
        """
        raise NotImplementedError

    def explain_data(self, state: CycleState, pod: Pod) -> Iterable[str]:
        """What the plugin's data are like, a phrase for each fact: `samples of 298 of 300 nodes, 20 s old`.

        Called on request (`kubesched explain`), once for each pod, after its filters.
        """
        raise NotImplementedError

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> PostFilterAnswer:
        """Called when no node fits; may make room (preemption). Success ends the run of PostFilter plugins."""
        raise NotImplementedError

    def pre_score(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Called once per pod with the feasible nodes, before any score. SKIP switches this plugin's score off."""
        raise NotImplementedError

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """How good one feasible node is; 0..100 after normalize_score, if the class defines it, else as returned."""
        raise NotImplementedError

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        """How good each node of a table is: (nodes,) int64. Pure, given state."""
        raise NotImplementedError

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """Everything that score_nodes reads of pod and state, hashable; asked when `depends_on` is NODE or ROW."""
        raise NotImplementedError

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        """Bring this plugin's scores of all feasible nodes into 0..100. Must not change the array that it is given."""
        raise NotImplementedError

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """A node was chosen: take what the pod needs there. On failure every plugin's unreserve is called."""
        raise NotImplementedError

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Undo reserve; also called where this plugin's reserve did not run. Must not fail."""
        raise NotImplementedError

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait:
        """The last word of the scheduling cycle: go on, reject, or wait."""
        raise NotImplementedError

    # --- the binding cycle ---

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Whether pre_bind has anything to do: SUCCESS for yes, SKIP for no. The default is yes."""
        raise NotImplementedError

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | Awaitable[Status]:
        """Before the pod is bound: write what must be there first. May be a coroutine; gives a Status."""
        raise NotImplementedError

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | Awaitable[Status]:
        """Bind the pod, or give Status.SKIP to leave it to the next plugin. May be a coroutine; gives a Status."""
        raise NotImplementedError

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> Awaitable[None] | None:
        """The pod is bound: tidy up. May be a coroutine."""
        raise NotImplementedError

    # --- behind a kube-scheduler ---

    def preempt(
        self, state: CycleState, pod: Pod, victims_by_node: Mapping[str, tuple[PodInfo, ...]]
    ) -> Mapping[str, tuple[PodInfo, ...]]:
        """Strike nodes from a preemption plan: give back the entries that may stay.

        Args:
            victims_by_node: the pods to evict, by node name.
        Asked by DefaultPreemption before it chooses, one plugin after another.
        """
        raise NotImplementedError


def _no_what_if(state: CycleState, pod: Pod, nodes: Nodes) -> MovedPods:
    raise RuntimeError("no framework runs this plugin")


class Handle(Services, frozen=True, eq=False):
    """What the scheduler offers to a plugin. One per plugin and profile, complete from the start.

    Attributes:
        plugin: the name of the plugin.
        profile: the scheduler name of the profile.
        cluster_state: the cluster state; plugins read it through snapshot(), get() and list().
        clock: time. A run replays from its events because only this is used; virtual in a simulation, at 0 in
            `explain`.
        rng: random numbers, seeded by the driver.
        logger: the place for messages: `logging`'s kubesched.plugin, shown on standard error from WARNING on.
        perform: awaited by binding-cycle hooks: carries out an action (a write to the API server) and gives its
            outcome. Behind a kube-scheduler, Bind alone is carried out.
        emit: has an action carried out without waiting for its outcome, from any hook; a run that writes nothing
            ignores it.
        wait: awaited by binding-cycle hooks: wait(condition, seconds) goes on when the condition holds or the time is
            over, and gives whether it holds; see WaitFor.
        activate: tries pods again now that are unschedulable or back off. Without a queue, behind a
            kube-scheduler and in `explain`, it warns once and does nothing.
        nominated: pods that were promised a node; none behind a kube-scheduler.
        waiting_pods: gives the pods held back in Permit, by uid.
        preempting: uids of pods whose victims are being evicted; none behind a kube-scheduler, which evicts itself.
        extenders: HTTP extenders to be asked by preemption and Bind; None in a run that calls none.
        what_if: a copy of some rows on which pods can be moved, with the filters to ask again.
        preempt_plugins: plugins that may strike nodes from a preemption plan.
        reads: the kinds that the plugin may ask for: each name for a kind, and what objects of it are stored under.
        client: the API server, for writes of the plugin; see PluginClient. False in a run without one.
        metrics_of: gives the metrics of a plugin by its name; a plugin uses `metrics`.
        record_event: takes an event; a plugin uses `event`.
        avoids_known_faults: whether pods start that a fault of kube-scheduler v1.36.3 leaves pending forever. A live
            scheduler starts them; other runs say what kube-scheduler does.

    Raises:
        RuntimeError: from clock, perform and wait in a run that does not have them.
        PluginError: from get and list of a kind that the plugin does not declare in `reads`.

    Example:
        async def pre_bind(self, state, pod, node_name):
            claim = self.handle.get("PersistentVolumeClaim", pod.namespace, "data")
            done = await self.handle.perform(WriteObject("PersistentVolumeClaim", claim))
            return Status.error(done.error) if done.error else Status.SUCCESS
    """

    cluster_state: ClusterState
    what_if: Callable[[CycleState, Pod, Nodes], MovedPods] = _no_what_if
    preempt_plugins: tuple[Plugin, ...] = ()
    plugin: str = ""
    reads: Mapping[str, str] = msgspec.field(default_factory=dict)
    profile: str = ""

    @property
    def metrics(self) -> PluginMetrics:
        """The plugin's metrics, which a live scheduler and an extender show at /metrics; see PluginMetrics."""
        return self.metrics_of(self.plugin)

    def event(self, regarding: KubeObject | NodeInfo | PodInfo, type: str, reason: str, note: str) -> None:
        """Record an event for users, from any hook; returns at once.

        A live scheduler writes it, and an extender with a cluster. Equal events become a series with a count, and too
        many at once are discarded. An extender without a cluster logs it once, and a few of them in a minute. A
        simulation collects it. Events are equal if they differ only in the note: the first note counts, so leave out
        what changes from node to node.

        Args:
            regarding: what it is about, usually the pod; a node, or any object of the cluster.
            type: `Normal` or `Warning`.
            reason: one word in CamelCase, such as `QuotaExceeded`.
            note: one sentence; of 1,024 bytes at most, the rest is cut.
        Raises:
            ValueError: an argument is not valid.

        Example:
            def filter(self, state, pod, node):
                self.handle.event(pod, "Warning", "NoLicense", "No license is left.")
                return Status.unschedulable("node(s) had no license")
        """
        self.record_event(plugin_event(self.plugin, self.profile, regarding, type, reason, note))

    def snapshot(self) -> Snapshot:
        """The cluster as this cycle sees it."""
        return self.cluster_state.snapshot()

    def get(self, kind: str, namespace: str, name: str) -> KubeObject | None:
        """An object by kind and name; None when there is none. The namespace is empty for kinds outside namespaces."""
        key = self.reads.get(kind) or undeclared(self.plugin, kind, "get")
        return self.cluster_state.objects.get(key, f"{namespace}/{name}" if namespace else name)

    def list(self, kind: str) -> Iterable[KubeObject]:
        """All objects of a kind, in order of appearance."""
        return self.cluster_state.objects.list(self.reads.get(kind) or undeclared(self.plugin, kind, "list"))


def _check_definition(cls: type[Plugin]) -> None:
    if fault := name_fault(cls):
        raise PluginDefinitionError(fault, plugin=cls.__name__)
    _check_declarations(cls)
    for forms in ONE_FORM:
        if all(map(cls.defines, forms)):
            raise PluginDefinitionError(
                f"{cls.__name__} defines both {forms[0]} and {forms[1]}; delete one of them",
                plugin=cls.name,
            )
    for hooks in (*HOOKS.values(), FURTHER_HOOKS):
        for hook in hooks:
            if cls.defines(hook):
                _check_signature(cls, hook)
                _check_is_plain(cls, hook)
    _check_names(cls)


def _check_names(cls: type[Plugin]) -> None:
    """A hook whose name is spelt wrong is never called; beside a valid hook nothing else would show it."""
    names = {name for base in cls.__mro__ if base not in Plugin.__mro__ for name in vars(base)}
    for name in sorted(names.difference(dir(Plugin))):
        if advice := in_place_of_go(name):
            raise PluginDefinitionError(
                f"{cls.__name__}.{name} is part of a plugin in Go, and kubesched does not use it; {advice}",
                plugin=cls.name,
            )
        hook, is_spelling = meant_hook(name)
        if not hook or any(cls.defines(form) for form in _forms_of(hook)):
            continue
        method: object = getattr(cls, name)
        if inspect.isroutine(method) and (is_spelling or _takes_arguments_of(method, hook)):
            raise PluginDefinitionError(
                f'{cls.__name__}.{name} is not a hook, so the scheduler never calls it; did you mean "{hook}"? '
                f"If it is a helper method, call it _{name}",
                plugin=cls.name,
            )


def _forms_of(hook: str) -> tuple[str, ...]:
    return next((forms for forms in ONE_FORM if hook in forms), (hook,))


def _takes_arguments_of(method: Callable[..., object], hook: str) -> bool:
    try:
        inspect.signature(method).bind(*inspect.signature(getattr(Plugin, hook)).parameters)
    except (TypeError, ValueError):
        return False
    return True


def _check_declarations(cls: type[Plugin]) -> None:
    """The declarations of the class have the types that the framework reads."""
    args: object = cls.Args
    depends_on: object = cls.depends_on
    if not (isinstance(args, type) and issubclass(args, PluginArgs)):
        raise PluginDefinitionError(
            f"{cls.__name__}.Args is {args!r:.80}; derive it from kubesched.PluginArgs", plugin=cls.name
        )
    if not isinstance(depends_on, DependsOn):
        allowed = ", ".join(str(member) for member in DependsOn)
        raise PluginDefinitionError(
            f"{cls.__name__}.depends_on is {depends_on!r:.80}; expected one of {allowed}", plugin=cls.name
        )
    if fault := _equal_by_fault(cls.equal_by):
        raise PluginDefinitionError(f"{cls.__name__}.equal_by is {cls.equal_by!r:.80}; {fault}", plugin=cls.name)
    reads: object = cls.reads
    if not isinstance(reads, property):
        readable(cls.__name__, reads)
    if fault := rights_fault(cls.__name__, cls.rbac):
        raise PluginDefinitionError(fault, plugin=cls.name)
    for hook, part in _PARTS:
        if depends_on.is_of_rows and cls.defines(hook) and not cls.defines(part):
            raise PluginDefinitionError(
                f"{cls.__name__}: columns of {hook} that depend on {depends_on} are kept, so it must define {part}",
                plugin=cls.name,
            )


def _equal_by_fault(equal_by: object) -> str:
    """What is not valid about a declaration; empty for nothing."""
    if equal_by is None:
        return ""
    if not isinstance(equal_by, tuple) or not all(isinstance(field, str) for field in equal_by):
        return 'expected None or a tuple of attributes of PodInfo, such as ("requests", "pod.spec.node_name")'
    for field in equal_by:
        attribute = field.partition(".")[0]
        if attribute.startswith("_") or not hasattr(PodInfo, attribute):
            known = ", ".join(name for name in dir(PodInfo) if not name.startswith("_"))
            return f"PodInfo has no attribute {attribute!r}; it has {known}"
    return ""


def _check_is_plain(cls: type[Plugin], hook: str) -> None:
    """A scheduling cycle awaits nothing: there, a coroutine would be an answer of the wrong type."""
    if inspect.iscoroutinefunction(getattr(cls, hook)) and hook not in MAY_AWAIT:
        raise PluginDefinitionError(
            f"{cls.__name__}.{hook} is a coroutine; only {', '.join(MAY_AWAIT)} may be; make it a plain function "
            "and read its data in start",
            plugin=cls.name,
        )


def _check_signature(cls: type[Plugin], hook: str) -> None:
    """A hook takes the arguments that Plugin gives it, by position."""
    wanted = list(inspect.signature(getattr(Plugin, hook)).parameters)[1:]
    if not callable(getattr(cls, hook)):
        raise PluginDefinitionError(
            f"{cls.__name__}.{hook} must be a method {hook}({', '.join(['self', *wanted])}); found "
            f"{type(getattr(cls, hook)).__name__}",
            plugin=cls.name,
        )
    try:
        inspect.signature(getattr(cls, hook)).bind(None, *wanted)
    except TypeError:
        listed, signature = ", ".join(["self", *wanted]), inspect.signature(getattr(cls, hook))
        raise PluginDefinitionError(
            f"{cls.__name__}.{hook} must be callable as {hook}({listed}); found {hook}{signature}",
            plugin=cls.name,
        ) from None
