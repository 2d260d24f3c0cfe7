"""Answers filter, prioritize and preempt: from the request's body to the answer's body, without waiting.

Calls are independent: filter runs PreFilter and Filter, prioritize runs PreFilter, PreScore, Score and
NormalizeScore, preempt asks the plugins that may strike nodes. What a plugin gets wrong becomes an answer that
kube-scheduler shows to the pod's owner; no call raises.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from kubesched.api import Pod
from kubesched.engine import IntVector
from kubesched.errors import DeadlineExceeded, ExtenderError
from kubesched.extender.answer import Answer
from kubesched.extender.merged_scores import extender_scores, extender_weight
from kubesched.extender.node_verdicts import RequestVerdicts, judge
from kubesched.extender.requested_nodes import NodeSource, RequestedNodes
from kubesched.extender.requested_pods import RequestedPods
from kubesched.framework import (
    CycleState,
    Framework,
    NodeSearch,
    PluginFault,
    strike_nodes,
)
from kubesched.state import PodInfo
from kubesched.wire import (
    Body,
    MetaPod,
    MetaVictims,
    PreemptionArgs,
    filter_answer_error,
    filter_answer_names,
    filter_answer_nodes,
    host_priority,
    parse_extender_args,
    parse_preemption_args,
    preemption_answer,
    prioritize_answer,
    utf8_text,
)

Checkpoint = Callable[[str], None]
"""Raises DeadlineExceeded when the time of a call is over."""

_FAILED: Final = 500


class Verbs:
    """The plugins of all profiles, behind the calls of a kube-scheduler.

    Attributes:
        weight: of the extender in kube-scheduler's configuration.
    """

    def __init__(
        self,
        frameworks: Mapping[str, Framework],
        nodes: NodeSource,
        pods: RequestedPods,
        *,
        preemption_helps: bool = False,
        allow_on_timeout: bool = False,
    ) -> None:
        """Serve profiles.

        Args:
            frameworks: by scheduler name; the first one also serves pods of other names.
            preemption_helps: whether a plugin's UNSCHEDULABLE is passed on as such although the plugin has no say in
                preemption.
            allow_on_timeout: let all nodes pass when the time is over, instead of failing the attempt.
        """
        self._frameworks = frameworks
        self._default = next(iter(frameworks.values()))
        self._nodes = nodes
        self._pods = pods
        self._preemption_helps = preemption_helps
        self._allow_on_timeout = allow_on_timeout
        self.weight = extender_weight(framework.profile for framework in frameworks.values())

    def framework_of(self, scheduler_name: str) -> Framework:
        """The profile that serves pods of a scheduler name: its own, else the only or first one."""
        return self._frameworks.get(scheduler_name, self._default)

    def pod_of(self, body: Body) -> Pod | None:
        """The pod that a filter or prioritize request is about; None for a request that cannot be read."""
        try:
            return self._pods.info(parse_extender_args(body).pod).pod
        except ExtenderError:
            return None

    def filter(self, body: Body, checkpoint: Checkpoint) -> Answer:
        """Answer a filter request; a failure is an answer with an Error."""
        answer = Answer()
        nodes: RequestedNodes | None = None
        try:
            framework, state, nodes = self._call(body, answer, checkpoint)
            _fill_in(answer, nodes, judge(framework, state, nodes, self._helped(framework)))
            checkpoint("")
        except (DeadlineExceeded, ExtenderError, PluginFault) as error:
            _note(answer, error)
            if answer.is_late and nodes is not None and self._allow_on_timeout:
                _fill_in(answer, nodes, RequestVerdicts.all_pass(nodes))
            else:
                answer.n_kept = 0
                answer.pieces = [filter_answer_error(answer.error)]
        return answer

    def _helped(self, framework: Framework) -> frozenset[str]:
        """The plugins whose rejections preemption may help with."""
        plugins = framework.profile.plugins if self._preemption_helps else framework.handle.preempt_plugins
        return frozenset(plugin.name for plugin in plugins)

    def prioritize(self, body: Body, checkpoint: Checkpoint) -> Answer:
        """Answer a prioritize request. kube-scheduler drops the scores of a call that fails, in silence."""
        answer = Answer()
        try:
            framework, state, nodes = self._call(body, answer, checkpoint)
            scores = self._scores(framework, state, nodes)
            entries = self._nodes.texts.entries(nodes.table.all_rows, scores, self._nodes.epoch)
            entries += [host_priority(name, 0) for name in nodes.unknown]
            answer.pieces = [prioritize_answer(entries)]
            answer.n_kept = answer.n_offered
            checkpoint("")
        except (DeadlineExceeded, ExtenderError, PluginFault) as error:
            _fail(answer, error)
        return answer

    def _scores(self, framework: Framework, state: CycleState, nodes: RequestedNodes) -> IntVector:
        search = NodeSearch(framework, state, nodes.table)
        if search.status.is_rejected or not framework.has_scores or not nodes.names:
            return np.zeros(len(nodes.names), dtype=np.int64)
        if search.failure is not None:
            raise PluginFault(search.failure)
        scores = framework.run_score(state, state.pod.pod, nodes.table, is_whole=nodes.are_many)
        return extender_scores(scores.total, self.weight)

    def preempt(self, body: Body, checkpoint: Checkpoint) -> Answer:
        """Answer a preempt request: the nodes that stay candidates, with their victims by uid in either mode."""
        answer = Answer()
        try:
            args = parse_preemption_args(body)
            state = self._cycle_state(args.pod, answer, checkpoint)
            plan, meta = self._plan(args)
            answer.n_offered = len(plan)
            framework = self.framework_of(state.pod.pod.scheduler_name)
            kept = strike_nodes(framework.handle.preempt_plugins, state, state.pod.pod, plan)
            answer.n_kept = len(kept)
            answer.pieces = [preemption_answer({name: meta[name] for name in kept})]
            checkpoint("")
        except (DeadlineExceeded, ExtenderError, PluginFault) as error:
            _fail(answer, error)
        return answer

    def _plan(self, args: PreemptionArgs) -> tuple[dict[str, tuple[PodInfo, ...]], dict[str, MetaVictims]]:
        """The victims of every node that has some: as pods for the plugins, by uid for the answer.

        Raises:
            ExtenderError: the request has no victims, or victims that are not known.
        """
        if args.meta_victims is not None:
            known = {name: self._pods.placed(victims.pods) for name, victims in args.meta_victims.items()}
            return {name: infos for name, infos in known.items() if infos}, args.meta_victims
        if args.victims is None:
            raise ExtenderError(
                "the request has neither NodeNameToVictims nor NodeNameToMetaVictims; expected one of them"
            )
        plan, meta = {}, {}
        for name, victims in args.victims.items():
            if victims.pods:
                plan[name] = tuple(self._pods.info(raw, keep=False) for raw in victims.pods)
                uids = tuple(MetaPod(info.pod.uid) for info in plan[name])
                meta[name] = MetaVictims(uids, victims.n_pdb_violations)
        return plan, meta

    def _call(self, body: Body, answer: Answer, checkpoint: Checkpoint) -> tuple[Framework, CycleState, RequestedNodes]:
        """Find profile, pod and nodes of a filter or prioritize request.

        Raises:
            DeadlineExceeded: the request has waited too long.
            ExtenderError: the body, its pod or its nodes are not valid.
        """
        if not self._allow_on_timeout:  # there, the nodes have to be known even when it is too late
            checkpoint("")
        args = parse_extender_args(body)
        state = self._cycle_state(args.pod, answer, checkpoint)
        nodes = self._nodes.of(args)
        answer.n_offered = nodes.n
        return self.framework_of(state.pod.pod.scheduler_name), state, nodes

    def _cycle_state(self, raw: msgspec.Raw, answer: Answer, checkpoint: Checkpoint) -> CycleState:
        info = self._pods.info(raw)
        answer.pod = info.pod.key
        state = CycleState(info)
        state.checkpoint = checkpoint
        return state


def _fill_in(answer: Answer, nodes: RequestedNodes, verdicts: RequestVerdicts) -> None:
    """The filter answer in the form of the request."""
    kept, failed, unresolvable = verdicts.kept, verdicts.failed, verdicts.unresolvable
    answer.n_kept = len(nodes.names) if kept is None else len(kept)
    if nodes.raws is not None:
        # As copied bytes: slices would keep the request's whole body until the answer is taken.
        raws = [bytes(nodes.raws[i]) for i in (range(len(nodes.raws)) if kept is None else kept)]
        answer.pieces = filter_answer_nodes(raws, failed, unresolvable)
    else:
        names: Sequence[str] | msgspec.Raw = nodes.names if kept is None else [nodes.names[i] for i in kept]
        if kept is None and nodes.whole_list is not None:
            names = msgspec.Raw(nodes.whole_list)
        answer.pieces = [filter_answer_names(names, failed, unresolvable)]


def _fail(answer: Answer, error: DeadlineExceeded | ExtenderError | PluginFault) -> None:
    """A failed call where the protocol has no field for an error."""
    _note(answer, error)
    answer.n_kept = 0
    answer.status = _FAILED
    answer.pieces = [f"{answer.error}\n".encode()]


def _note(answer: Answer, error: DeadlineExceeded | ExtenderError | PluginFault) -> None:
    answer.error = utf8_text(error.status.located if isinstance(error, PluginFault) else str(error))
    answer.is_late = isinstance(error, DeadlineExceeded)
    if isinstance(error, PluginFault):
        answer.plugin = error.status.plugin
