"""Runs the whole profile and every single Filter plugin for one pod, over all nodes, and asks the extenders."""

import logging
from collections.abc import Iterable, Iterator
from typing import Final

from kubesched.api import PersistentVolumeClaim, Pod
from kubesched.explanation.answers_beside_filters import PRE_ENQUEUE, HookAnswer, never_written, take
from kubesched.explanation.claim_allocations import claim_allocations
from kubesched.explanation.claims_in_use import claims_in_use
from kubesched.explanation.device_claim_problems import device_claim_problems
from kubesched.explanation.evaluation import Evaluation, Preemption
from kubesched.explanation.plugin_verdicts import AskedPlugin, PluginVerdicts, verdicts_of
from kubesched.explanation.trial import fates
from kubesched.framework import (
    Code,
    CycleState,
    FilterResult,
    Framework,
    NodeSearch,
    Plugin,
    PluginFault,
    Rejections,
    Status,
    data_notes,
)
from kubesched.plugins import ClaimPlan, DynamicResources, RuleOfVersion, rules_of_versions
from kubesched.scheduler import ExtenderAnswer, Extenders
from kubesched.session import Attempt, Preempt, attempt, rejections_of
from kubesched.state import Nodes, PodInfo

_PREEMPTING: Final = ("DefaultPreemption", "DynamicResources")
"""The bundled PostFilter plugins, whose words are those of preemption."""
_FOR_ONE_POD: Final = "ReadWriteOncePod"
_LOG: Final = logging.getLogger("kubesched.plugin")


async def evaluate(
    framework: Framework,
    info: PodInfo,
    *,
    preempt: bool = False,
    take_node: bool = False,
    extenders: Extenders | None = None,
) -> Evaluation:
    """Explain one pod that is on no node.

    Args:
        framework: of the pod's profile, over the state to hold it against.
        preempt: whether to ask PostFilter plugins when no node fits.
        take_node: whether to ask Reserve and Permit plugins about the best node; what they take is given back.
        extenders: whom to ask about the nodes that fit; it waits for their answers.

    Example:
        from kubesched.scheduler import straight

        with FakeCluster(nodes=[make_node("n1")]) as cluster:
            info = cluster.cluster_state.pod_info(make_pod("web"))
            assert straight(evaluate(cluster.framework, info)).feasible == ["n1"]
    """
    tried = await attempt(framework, info, extenders, Preempt.UNLESS_FAILED if preempt else Preempt.NEVER)
    state, snapshot = tried.state, tried.snapshot
    if tried.diagnosis.result is not None:
        tried.diagnosis.result = _own(tried.diagnosis.result)
    evaluation = Evaluation(info=info, profile=tried.profile, snapshot=snapshot, diagnosis=tried.diagnosis)
    _ask_pre_enqueue(framework, evaluation)
    nominated = _nominated(framework, info, snapshot.nodes)
    points = framework.profile.points
    for plugin in (*(one for one in points["preFilter"] if one not in points["filter"]), *points["filter"]):
        said, state_of_plugin = _ask_by_itself(framework.only(plugin.name), plugin, evaluation)
        if isinstance(plugin, DynamicResources):
            if said.pre_filter is not None:
                problems = device_claim_problems(info.pod, snapshot.objects)
                evaluation.lacking_claims = tuple(dict.fromkeys(one.words for one in problems))
            evaluation.allocations = claim_allocations(plugin, state_of_plugin, said, snapshot.nodes)
        if plugin in points["filter"] or said.rejected.any():
            evaluation.by_plugin[plugin.name] = said
            if said.pre_filter is None:
                evaluation.asked[plugin.name] = AskedPlugin(plugin, state_of_plugin, snapshot.nodes, nominated)
    evaluation.notes = dict(_notes(framework, state, info.pod))
    evaluation.version_rules = tuple(_version_rules(framework, state, info.pod))
    evaluation.claims_in_use = claims_in_use(info, snapshot)
    _add_extenders(evaluation, tried.extenders)
    evaluation.failure = tried.failure or tried.score_failure
    evaluation.scores, evaluation.compares = tried.scores, tried.compares
    if take_node and evaluation.scores is not None:
        _take(framework, state, evaluation)
    elif tried.post_filter is not None:
        evaluation.preemption = _preemption(framework, evaluation, tried, tried.post_filter)
    return evaluation


def _add_extenders(evaluation: Evaluation, answers: list[ExtenderAnswer]) -> None:
    """Add what extenders reject to the verdicts of the plugins."""
    evaluation.extenders = answers
    for answer in answers:
        if answer.verb != "filter":
            continue
        name, number = f"extender {answer.extender}", 2
        while name in evaluation.by_plugin:  # several entries of a configuration may have one address
            name, number = f"extender {answer.extender} ({number})", number + 1
        result_of_extender = FilterResult(evaluation.nodes, rejections_of(name, evaluation.nodes, answer))
        evaluation.by_plugin[name] = verdicts_of(name, evaluation.names, result_of_extender)


def _ask_pre_enqueue(framework: Framework, evaluation: Evaluation) -> None:
    """Note what keeps a pod out of the queue: it is on its way out, or a PreEnqueue plugin holds it."""
    if evaluation.pod.is_terminating:
        evaluation.held_back = "the pod is being deleted"
        return
    status = framework.run_pre_enqueue(evaluation.pod)
    if not status.is_success:
        answer = HookAnswer(status.plugin, PRE_ENQUEUE, status)
        evaluation.hooks.append(answer)
        evaluation.held_back = answer.text


def _notes(framework: Framework, state: CycleState, pod: Pod) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What each plugin says about its data; a fault is logged, because the decision does not depend on it."""
    for plugin in framework.profile.plugins:
        try:
            if texts := data_notes(plugin, state, pod):
                yield plugin.name, texts
        except PluginFault as fault:
            _LOG.warning("%s", fault.status.located)


def _version_rules(framework: Framework, state: CycleState, pod: Pod) -> Iterator[RuleOfVersion]:
    """The rules of plugins that are others in other versions."""
    for plugin in framework.profile.plugins:
        for rule in rules_of_versions(plugin, state, pod):
            yield rule._replace(text=f"{plugin.name}: {rule.text}")


def _take(framework: Framework, state: CycleState, evaluation: Evaluation) -> None:
    """Note what Reserve and Permit plugins say about the best node; a fault ends the attempt."""
    answers = take(framework, state, evaluation.best[0])
    evaluation.hooks += answers
    plan = state.find(ClaimPlan)
    if plan is not None and not any(answer.is_rejection for answer in answers):
        evaluation.hooks += never_written(plan, evaluation.pod, evaluation.best[0])
    failed = (answer.status for answer in answers if answer.status.code is Code.ERROR)
    evaluation.failure = evaluation.failure or next(failed, None)


def _nominated(framework: Framework, info: PodInfo, nodes: Nodes) -> dict[int, list[PodInfo]]:
    """The nominated pods that count for a pod, by the position of their nodes."""
    by_position: dict[int, list[PodInfo]] = {}
    if known := framework.handle.nominated:
        positions, pods = known.on(nodes, info)
        for position, one in zip(positions.tolist(), pods.infos, strict=True):
            by_position.setdefault(position, []).append(one)
    return by_position


def _ask_by_itself(framework: Framework, plugin: Plugin, evaluation: Evaluation) -> tuple[PluginVerdicts, CycleState]:
    """Run one Filter plugin alone. Returns: its verdicts, and what its PreFilter left."""
    state, nodes = CycleState(evaluation.info), evaluation.nodes
    search = NodeSearch(framework, state, nodes)
    if not search.status.is_success:
        return verdicts_of(plugin.name, evaluation.names, pre_filter=search.status), state
    if plugin.name in state.skip_filter:
        return verdicts_of(plugin.name, evaluation.names, skipped=True), state
    result = _own(search.filter(nodes, is_whole=True))
    return verdicts_of(plugin.name, evaluation.names, result, node_names=search.node_names), state


def _own(result: FilterResult) -> FilterResult:
    """The same verdicts as copies: those of kept columns change with the cluster, also when a fix is tried."""
    kept = [Rejections(one.plugin, one.verdicts.of(one.verdicts.values.copy())) for one in result.rejections]
    return FilterResult(result.nodes, kept)


def _preemption(framework: Framework, evaluation: Evaluation, tried: Attempt, status: Status) -> Preemption:
    others = [one for one in tried.post_filter_answers if one.plugin not in _PREEMPTING]
    evaluation.hooks += [HookAnswer(one.plugin, "postFilter", one) for one in others if one.message]
    said = ", ".join(one.message for one in tried.post_filter_answers if one.plugin in _PREEMPTING and one.message)
    room = tried.room
    if room is None:
        return Preemption("", (), 0, status.message, said=said)
    broken = framework.handle.cluster_state.disruption_budgets.broken_by(room.victims)
    node = room.nominated_node_name or ""
    victims = tuple(info.pod for info in room.victims)
    then = fates(framework, evaluation.pod, node, victims) if node else {}
    claims = tuple(_claims_of(evaluation, victims))
    return Preemption(node, victims, room.n_pdb_violations, status.message, broken, said, then, claims)


def _claims_of(evaluation: Evaluation, victims: Iterable[Pod]) -> Iterator[str]:
    """The claims of the pod that only one pod may use, and that victims have."""
    namespace = evaluation.pod.namespace
    theirs = {name for pod in victims if pod.namespace == namespace for name in pod.claim_names}
    for name in evaluation.info.volumes.direct_claims:
        claim = evaluation.snapshot.objects.get("PersistentVolumeClaim", f"{namespace}/{name}")
        if (
            name in theirs
            and isinstance(claim, PersistentVolumeClaim)
            and _FOR_ONE_POD in (claim.spec.access_modes or ())
        ):
            yield name
