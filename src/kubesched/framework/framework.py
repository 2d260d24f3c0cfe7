"""Runs the plugins of one profile: which hook is called when, and what each answer causes.

The framework chooses the rows that a rule sees, keeps column answers in the ColumnCache, lifts rules written per node,
and turns what a plugin raises or returns into statuses. Rule: kube-scheduler v1.36 framework runtime; messages are its
words.
"""

from asyncio import CancelledError
from collections.abc import Sequence
from functools import cached_property, partial
from inspect import isawaitable
from typing import Any, Final

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.framework.actions import Action
from kubesched.framework.column_cache import ColumnCache, KeptColumn, PluginRule
from kubesched.framework.cycle_state import CycleState
from kubesched.framework.diagnosis import Diagnosis
from kubesched.framework.equal_pods import EqualPods
from kubesched.framework.fault_texts import fault_text
from kubesched.framework.hook_answers import (
    Hook,
    as_verdicts,
    checked,
    fault,
    is_post_filter_answer,
    nonsense,
)
from kubesched.framework.hooks import DependsOn
from kubesched.framework.kept_results import KeptResults
from kubesched.framework.lifting import lifted_filter
from kubesched.framework.moved_pods import MovedPods
from kubesched.framework.plugin import Handle, Plugin
from kubesched.framework.profile import Profile
from kubesched.framework.reads import readable
from kubesched.framework.scores import Scores, score_rule
from kubesched.framework.services import Services
from kubesched.framework.sharing import PreHook, Steps
from kubesched.framework.status import (
    HOOK_FAULTS,
    Code,
    PluginFault,
    PostFiltered,
    PostFilterResult,
    PreFilterResult,
    Status,
    Wait,
)
from kubesched.framework.verdicts import FilterResult, PodChanges, Rejections, Verdicts
from kubesched.state import ClusterState, Nodes, Rows, Snapshot

_SUCCESS: Final = Status.SUCCESS  # for each plugin and pod: half the time of an attribute of the class
_SKIP: Final = Status.SKIP
_PRE_FILTER: Final = "a Status, such as Status.SUCCESS, or a PreFilterResult of a frozenset of names"
_WAIT: Final = "a Status, such as Status.SUCCESS, or Wait(seconds) with a number that is not negative"
_POST_FILTER: Final = "(PostFilterResult or None, Status)"


class PreFiltered(msgspec.Struct):
    """What PreFilter left to do.

    Attributes:
        status: the rejection or fault that ended the cycle, else SUCCESS.
        node_names: the only nodes worth looking at; None for all.
        narrowed_by: plugins that narrowed the nodes.
    """

    status: Status = Status.SUCCESS
    node_names: frozenset[str] | None = None
    narrowed_by: list[str] = []


class Framework:
    """The plugins of one profile over one cluster state.

    Attributes:
        profile: which plugins run where.
        handle: what they may ask for.
        cache: where their columns are kept; shared by all profiles.
        pre_flights, pre_binds, binds: the hooks of the binding cycle.
    """

    def __init__(self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services) -> None:
        """Run a profile's plugins over a state, and make their handle.

        Args:
            services: what the driver offers; an other profile's handle will do.
        """
        self.profile = profile
        self.cache = cache
        self.handle = Handle(
            cluster_state,
            what_if=self.what_if,
            preempt_plugins=tuple(plugin for plugin in profile.plugins if plugin.defines("preempt")),
            reads={name: key for one in profile.plugins for name, key in readable(one.name, one.reads).items()},
            profile=profile.scheduler_name,
            **{name: getattr(services, name) for name in Services.__struct_fields__},
        )
        points = profile.points
        self._pre_filter = [(plugin.name, plugin.pre_filter) for plugin in points["preFilter"]]
        self._filters = [PluginRule(plugin, cache, "filter_nodes") for plugin in points["filter"]]
        self._pre_score = [(plugin.name, plugin.pre_score) for plugin in points["preScore"]]
        self._scores = [
            PluginRule(plugin, cache, "score_nodes", profile.weights[plugin.name]) for plugin in points["score"]
        ]
        self._pre_enqueue = hooks = self._hooks("preEnqueue", "pre_enqueue", "PreEnqueue plugin")
        self._pre_enqueue_from = {first.plugin: sorted(hooks, key=lambda hook: hook is not first) for first in hooks}
        self._reserve = self._hooks("reserve", "reserve", "Reserve plugin")
        self.pre_flights = self._hooks("preBind", "pre_bind_pre_flight", "PreBindPreFlight")
        self.pre_binds = self._hooks("preBind", "pre_bind", "PreBind plugin")
        self.binds = self._hooks("bind", "bind", "Bind plugin")
        self._what_if = [plugin for plugin in points["preFilter"] if plugin.defines("add_pods")]
        self._move_with_pods = frozenset(plugin.name for plugin in self._what_if)
        self._results = KeptResults([cache.log(one) for one in DependsOn if one.is_of_rows])
        self._alone: dict[str, Framework] = {}

    @cached_property
    def _equal_pods(self) -> EqualPods:
        """Made when it is first asked: a framework of one plugin, as for an explanation, never decides."""
        steps = Steps(self._pre_filter, self._filters, self._pre_score, self._scores)
        return EqualPods(self.handle.cluster_state, self.cache, self.profile, steps, self._rejected_with_nominated)

    def handle_of(self, plugin: Plugin) -> Handle:
        """The handle of one plugin, with its name and the kinds that it declares.

        Raises:
            PluginDefinitionError: `reads` is not valid.
        """
        return msgspec.structs.replace(self.handle, plugin=plugin.name, reads=readable(plugin.name, plugin.reads))

    def only(self, name: str) -> "Framework":
        """A framework of one of the plugins, over the same state and cache. The plugin keeps the handle that it has."""
        if name not in self._alone:
            self._alone[name] = self._of(self.profile.only(name))
        return self._alone[name]

    def _of(self, profile: Profile) -> "Framework":
        return Framework(profile, self.cache, self.handle.cluster_state, self.handle)

    def _hooks(self, point: str, method: str, what: str) -> list[Hook]:
        return [Hook(plugin, method, what) for plugin in self.profile.points[point] if plugin.defines(method)]

    @property
    def has_scores(self) -> bool:
        """Whether some plugin scores."""
        return bool(self._scores)

    # --- the queue ---

    def run_pre_enqueue(self, pod: Pod, first: str = "") -> Status:
        """Ask the PreEnqueue plugins; the one that gated the pod last time goes first."""
        for hook in self._pre_enqueue_from.get(first, self._pre_enqueue):
            status = hook.ask(pod)
            if status is not _SUCCESS and not status.is_success:
                return status.by(hook.plugin)
        return Status.SUCCESS

    # --- PreFilter and Filter ---

    def run_pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> PreFiltered:
        """Ask every PreFilter plugin once."""
        result = PreFiltered()
        rejected: Status | None = None
        checkpoint = state.checkpoint
        for name, hook in _unasked(self._pre_filter, state) if state._answers else self._pre_filter:
            if checkpoint is not None:
                checkpoint(name)
            try:
                answer: object = hook(state, pod, nodes)
            except HOOK_FAULTS as error:
                result.status = fault(f'running PreFilter plugin "{name}"', error).by(name)
                return result
            if answer is _SUCCESS:
                continue
            if answer is _SKIP:
                state.skip_filter.add(name)
                continue
            if isinstance(answer, PreFilterResult) and isinstance(answer.node_names, frozenset | set):
                if self._narrow(result, name, frozenset(answer.node_names)):
                    return result
            elif not isinstance(answer, Status):
                result.status = nonsense(f'running PreFilter plugin "{name}"', answer, _PRE_FILTER).by(name)
                return result
            elif answer.is_skip:
                state.skip_filter.add(name)
            elif answer.code is Code.UNSCHEDULABLE:
                rejected = answer.by(name)
            elif answer.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                result.status = answer.by(name)
                return result
            elif not answer.is_success:
                text = f'running PreFilter plugin "{name}": {answer.message}'
                result.status = Status(Code.ERROR, (text,), name)
                return result
        if rejected is not None:
            result.status = rejected
        return result

    @staticmethod
    def _narrow(result: PreFiltered, name: str, names: frozenset[str]) -> bool:
        """Intersect the nodes; true when none is left, which rejects the pod."""
        result.narrowed_by.append(name)
        result.node_names = names if result.node_names is None else result.node_names & names
        if result.node_names:
            return False
        reason = f"node(s) didn't satisfy plugin {name}"
        if len(result.narrowed_by) > 1:
            reason = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(result.narrowed_by))}] simultaneously"
        result.status = Status.unresolvable(reason)
        return True

    def run_filter(self, state: CycleState, pod: Pod, nodes: Nodes, *, is_whole: bool = False) -> FilterResult:
        """Ask every Filter plugin that did not skip about every row.

        Args:
            is_whole: whether the table is the whole snapshot, or much of it, so that kept columns serve.
        """
        rejections: list[Rejections] = []
        columns: list[KeptColumn] | None = [] if is_whole else None  # None where the result depends on anything else
        skip = state.skip_filter
        survivors: np.ndarray[Any, Any] | None = None  # rows that passed so far, found when a rule wants only those
        checkpoint = state.checkpoint
        for rule in self._filters:
            if rule.name in skip:
                continue
            if checkpoint is not None:
                checkpoint(rule.name)
            try:
                if is_whole and rule.is_kept:
                    column = self.cache.verdicts(rule, state, pod)
                    if columns is not None:
                        columns.append(column)
                    if column.n_rejected and column.status is not None:
                        kept = Verdicts(nodes.take(column.values), column.status)
                        kept.may_fail = column.may_fail
                        if nodes.rows is None or np.count_nonzero(kept.values):
                            rejections.append(Rejections(rule.name, kept))
                    continue
                columns = None
                if rule.depends_on is DependsOn.ANYTHING or rule.is_lifted:
                    survivors = _survivors(nodes, rejections)
                    verdicts = self._filter_some(rule, state, pod, nodes, survivors)
                else:
                    verdicts = as_verdicts(rule.plugin, rule.plugin.filter_nodes(state, pod, nodes), nodes.n)
            except HOOK_FAULTS as error:
                columns = None
                verdicts = _fails_everywhere(nodes, rule.name, error)
            if np.count_nonzero(verdicts.values):
                verdicts.check()
                rejections.append(Rejections(rule.name, verdicts))
        if not self._move_with_pods <= skip:
            columns = None
        known = self._results.find(columns, nodes) if columns is not None and rejections else None
        return FilterResult(nodes, rejections, columns) if known is None else known

    def keep(self, result: FilterResult) -> None:
        """Have equal pods share a result until a row changes; worth it for one that rejects every node."""
        self._results.keep(result)

    def _filter_some(
        self, rule: PluginRule, state: CycleState, pod: Pod, nodes: Nodes, survivors: Rows | None
    ) -> Verdicts:
        table = nodes if survivors is None else nodes.select(survivors)
        if rule.is_lifted:
            some = lifted_filter(rule.plugin, state, pod, table)
        else:
            some = as_verdicts(rule.plugin, rule.plugin.filter_nodes(state, pod, table), len(table))
        return some if survivors is None else some.spread(survivors, len(nodes))

    def run_filter_with_nominated(
        self, state: CycleState, pod: Pod, nodes: Nodes, *, is_whole: bool = False
    ) -> FilterResult:
        """As run_filter, and rows with nominated pods of equal or higher priority must fit with these there, too.

        Rule: kube-scheduler v1.36 RunFilterPluginsWithNominatedPods: first with them, then without; both must pass.
        """
        result = self.run_filter(state, pod, nodes, is_whole=is_whole)
        rejections = self._rejected_with_nominated(state, pod, nodes, is_whole=is_whole)
        if rejections is None:
            return result
        return FilterResult(nodes, [*rejections, *result.rejections])  # not the one that equal pods share

    def _rejected_with_nominated(
        self, state: CycleState, pod: Pod, nodes: Nodes, *, is_whole: bool
    ) -> list[Rejections] | None:
        """What rejects rows on which the pods are that are nominated there; None where no such pod counts."""
        nominated = self.handle.nominated
        if not nominated:
            return None
        positions, pods = nominated.on(nodes, state.pod)
        if not len(positions):
            return None
        rows, table = None, nodes
        if is_whole:  # a small table is asked about as it is: what-if rows do not depend on each other
            rows, positions = np.unique(positions, return_inverse=True)
            table = nodes.select(rows)
        what_if = MovedPods(self.run_filter, self._pods_moved, state, pod, table)
        try:
            what_if.add(positions, pods)
            rejections = what_if.filter().rejections
        except PluginFault as failed:
            rejections = [Rejections("", Verdicts(np.ones(len(table), dtype=np.int16), [failed.status]))]
        if rows is not None:
            rejections = [Rejections(one.plugin, one.verdicts.spread(rows, len(nodes))) for one in rejections]
        return rejections

    def what_if(self, state: CycleState, pod: Pod, nodes: Nodes) -> MovedPods:
        """A copy of some rows on which pods can be moved, with the filters to ask again."""
        return MovedPods(self.run_filter_with_nominated, self._pods_moved, state, pod, nodes)

    def _pods_moved(self, state: CycleState, pod: Pod, changes: PodChanges, added: bool) -> None:
        """Tell the plugins whose PreFilter looked at pods that a what-if table changed.

        Raises:
            PluginFault: a plugin failed; the table is of no more use.
        """
        for plugin in self._what_if:
            if plugin.name not in state.skip_filter:
                try:
                    (plugin.add_pods if added else plugin.remove_pods)(state, pod, changes)
                except HOOK_FAULTS as error:
                    what = f'running {"AddPod" if added else "RemovePod"} on PreFilter plugin "{plugin.name}"'
                    raise PluginFault(fault(what, error).by(plugin.name)) from error

    # --- PostFilter ---

    async def run_post_filter(
        self, state: CycleState, pod: Pod, diagnosis: Diagnosis, answers: list[Status] | None = None
    ) -> PostFiltered:
        """Ask PostFilter plugins until one succeeds, fails or knows that nothing helps.

        Args:
            answers: takes the answer of each plugin, under its name.
        """
        reasons: list[str] = []
        kept: PostFilterResult | None = None
        writes: tuple[Action, ...] = ()
        rejecting = ""
        for plugin in self.profile.points["postFilter"]:
            what = f'running PostFilter plugin "{plugin.name}"'
            if state.checkpoint is not None:
                state.checkpoint(plugin.name)
            answer: object = None
            try:
                answer = plugin.post_filter(state, pod, diagnosis)
                if isawaitable(answer):
                    answer = await answer
            except HOOK_FAULTS as error:
                if isawaitable(answer) and isinstance(error, CancelledError):
                    raise  # the driver ends the cycle
                return None, fault(what, error).by(plugin.name)
            if not is_post_filter_answer(answer):
                return None, nonsense(what, answer, _POST_FILTER).by(plugin.name)
            result, status = answer
            if answers is not None:
                answers.append(status.by(plugin.name))
            if writes or (result is not None and result.writes):
                writes = (*writes, *(result.writes if result is not None else ()))
                result = msgspec.structs.replace(result or PostFilterResult(), writes=writes)
            if status.is_success or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return result, status.by(plugin.name)
            if not status.is_rejected:
                return None, Status(Code.ERROR, status.reasons, plugin.name)
            if result is not None and (result.nominated_node_name is not None or writes):
                kept = result
            rejecting = rejecting or plugin.name
            reasons.extend(status.reasons)
        return kept, Status(Code.UNSCHEDULABLE, tuple(reasons), rejecting)

    # --- PreScore and Score ---

    def run_score(self, state: CycleState, pod: Pod, feasible: Nodes, *, is_whole: bool) -> Scores:
        """Score the nodes on which a pod fits.

        Args:
            is_whole: as for run_filter.
        Raises:
            PluginFault: a plugin failed; its status ends the cycle.
        """
        self._run_pre_score(state, pod, feasible)
        return self._run_score(state, pod, feasible, is_whole=is_whole)

    def scores_as_before(self, state: CycleState, snapshot: Snapshot) -> Scores | None:
        """The scores of the nodes that fit a pod, where they follow from those of an equal one that was decided before.

        Args:
            state: of the pod's cycle, in which no hook was asked yet.
        Returns: None where the plugins have to be asked.
        """
        equal = self._equal_pods
        return equal.scores(state, snapshot) if equal.is_possible else None

    def note_decided(self, state: CycleState, snapshot: Snapshot) -> None:
        """Note that a pod was decided without `scores_as_before`: the next one may be equal to it."""
        if self._equal_pods.is_possible:
            self._equal_pods.keep(state, snapshot)

    def _run_score(self, state: CycleState, pod: Pod, feasible: Nodes, *, is_whole: bool) -> Scores:
        by_plugin: dict[str, IntVector | int] = {}
        varying: IntVector | None = None
        shared = 0
        skip = state.skip_score
        checkpoint = state.checkpoint
        for rule in self._scores:
            if rule.name in skip:
                continue
            if checkpoint is not None:
                checkpoint(rule.name)
            one = score_rule(rule, self.cache, state, pod, feasible, is_whole=is_whole)
            if rule.weight != 1:
                one = one * rule.weight
            by_plugin[rule.name] = one
            if isinstance(one, int):
                shared += one
            else:
                varying = one if varying is None else varying + one
        if varying is None:
            varying = np.zeros(feasible.n, dtype=np.int64)
        return Scores(feasible, by_plugin, varying, shared)

    def _run_pre_score(self, state: CycleState, pod: Pod, feasible: Nodes) -> None:
        checkpoint = state.checkpoint
        for name, hook in _unasked(self._pre_score, state) if state._answers else self._pre_score:
            if checkpoint is not None:
                checkpoint(name)
            try:
                status = hook(state, pod, feasible)
            except HOOK_FAULTS as error:
                raise PluginFault(fault(f'running PreScore plugin "{name}"', error).by(name)) from error
            if status is _SUCCESS:
                continue
            if status is _SKIP:
                state.skip_score.add(name)
                continue
            if not isinstance(status, Status):
                raise PluginFault(nonsense(f'running PreScore plugin "{name}"', status).by(name))
            if status.is_skip:
                state.skip_score.add(name)
            elif not status.is_success:
                text = f'running PreScore plugin "{name}": {status.message}'
                raise PluginFault(Status(Code.ERROR, (text,), name))

    # --- Reserve and Permit ---

    def run_reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Ask every Reserve plugin in order; the first failure ends it. The caller unreserves."""
        for hook in self._reserve:
            status = hook.ask(state, pod, node_name)
            if status is not _SUCCESS and not status.is_success:
                return status.by(hook.plugin)
        return Status.SUCCESS

    def run_unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Undo Reserve, every plugin in reverse order."""
        for plugin in reversed(self.profile.points["reserve"]):
            if plugin.defines("unreserve"):
                try:
                    plugin.unreserve(state, pod, node_name)
                except HOOK_FAULTS as error:
                    self.handle.logger.warning("Unreserve plugin %s: %s", plugin.name, fault_text(error).located)

    def run_permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status, dict[str, float]]:
        """Ask every Permit plugin in order; the first rejection ends it.

        Returns: what came of it; and for how many seconds each plugin that asked to wait wants to be waited for.
        """
        waits: dict[str, float] = {}
        for plugin in self.profile.points["permit"]:
            what = f'running Permit plugin "{plugin.name}"'
            if state.checkpoint is not None:
                state.checkpoint(plugin.name)
            try:
                answer: object = plugin.permit(state, pod, node_name)
            except HOOK_FAULTS as error:
                return fault(what, error).by(plugin.name), waits
            if isinstance(answer, Wait) and _is_duration(answer.seconds):
                waits[plugin.name] = answer.seconds
                continue
            if not isinstance(answer, Status):
                return nonsense(what, answer, _WAIT).by(plugin.name), waits
            status = checked(what, answer)
            if not status.is_success:
                return status.by(plugin.name), waits
        return Status.SUCCESS, waits


def _unasked(hooks: Sequence[PreHook], state: CycleState) -> list[PreHook]:
    """The same hooks, where those that were asked about this pod already answer as they did."""
    return [(name, partial(_again, state._answers[hook]) if hook in state._answers else hook) for name, hook in hooks]


def _again(answer: object, *_: object) -> object:
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _is_duration(seconds: object) -> bool:
    return isinstance(seconds, int | float) and seconds >= 0


def _survivors(nodes: Nodes, rejections: list[Rejections]) -> Rows | None:
    """The positions that no plugin has rejected so far; None for all."""
    return np.flatnonzero(FilterResult(nodes, rejections).fits) if rejections else None


def _fails_everywhere(nodes: Nodes, plugin: str, error: BaseException) -> Verdicts:
    return Verdicts(np.ones(len(nodes), dtype=np.int16), [Status(Code.ERROR, (fault_text(error),), plugin)])
