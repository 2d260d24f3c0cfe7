"""Runs the whole profile and every single Filter plugin for one pod, over all nodes, and asks the extenders."""

import logging
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from kubesched.api import Pod
from kubesched.errors import ExtenderError
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.explanation.hooks import PRE_ENQUEUE, HookAnswer, take
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
    Verdicts,
    data_notes,
    find_feasible,
)
from kubesched.scheduler import EXTENDER, ExtenderAnswer, Extenders, PodExtenders
from kubesched.state import Nodes, PodInfo, Snapshot

_PREEMPTING: Final = ("DefaultPreemption", "DynamicResources")
"""The bundled PostFilter plugins, whose words are those of preemption."""
_LOG: Final = logging.getLogger("kubesched.plugin")


async def evaluate(
    framework: Framework,
    info: PodInfo,
    *,
    preempt: bool = False,
    take_node: bool = False,
    extenders: Extenders | None = None,
) -> Explanation:
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
    snapshot = framework.handle.snapshot()
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, snapshot.nodes)
    if diagnosis.result is not None:
        diagnosis.result = _own(diagnosis.result)
    explanation = Explanation(info, framework.profile.scheduler_name, snapshot, diagnosis)
    _ask_pre_enqueue(framework, explanation)
    nominated = _nominated(framework, info, snapshot.nodes)
    points = framework.profile.points
    for plugin in (*(one for one in points["preFilter"] if one not in points["filter"]), *points["filter"]):
        said = _ask_by_itself(framework.only(plugin.name), plugin, info, snapshot, nominated)
        if plugin in points["filter"] or said.rejected.any():
            explanation.by_plugin[plugin.name] = said
    explanation.notes = dict(_notes(framework, state, info.pod))
    if not snapshot.n_nodes:
        return explanation
    explanation.failure = diagnosis.failure
    asked = None if extenders is None else extenders.of(info)
    passed = None
    if asked and explanation.fits and explanation.failure is None:
        passed = await _ask_extenders(asked, explanation)
        explanation.extenders = asked.answers
    if explanation.fits:
        if passed is not None or not asked:
            await _score(framework, state, explanation, asked, passed)
        if take_node and explanation.scores is not None:
            _take(framework, state, explanation)
    elif preempt and explanation.failure is None and not explanation.undecided:
        explanation.preemption = await _post_filter(framework, state, explanation)
    return explanation


async def _ask_extenders(asked: PodExtenders, explanation: Explanation) -> Nodes | None:
    """Add the extenders' rejections to those of the filters. Returns: the nodes that are left; None after a failure."""
    result = explanation.result
    assert result is not None
    try:
        passed: Nodes | None = await asked.filter(result.feasible, {})
    except ExtenderError as error:
        explanation.failure = Status.error(str(error)).by(EXTENDER)
        passed = None
    rejections = list(result.rejections)
    for answer in asked.answers:
        name, number = f"extender {answer.extender}", 2
        while name in explanation.by_plugin:  # several entries of a configuration may have one address
            name, number = f"extender {answer.extender} ({number})", number + 1
        said = PluginVerdicts(None, CycleState(explanation.info), explanation.nodes, name)
        said.result = FilterResult(explanation.nodes, _rejections(name, explanation.nodes, answer))
        explanation.by_plugin[name] = said
        rejections += _rejections(EXTENDER, result.nodes, answer)
    explanation.diagnosis.take_in(FilterResult(result.nodes, rejections))
    return passed


def _rejections(name: str, nodes: Nodes, answer: ExtenderAnswer) -> list[Rejections]:
    """What an extender rejects of a table."""
    numbers: dict[Status, int] = {}
    values = np.zeros(len(nodes), dtype=np.intp)
    for node, status in answer.rejected.items():
        position = nodes.position_of(node)
        if position is not None:
            values[position] = numbers.setdefault(status, len(numbers) + 1)
    return [Rejections(name, Verdicts(values, list(numbers)))] if values.any() else []


def _ask_pre_enqueue(framework: Framework, explanation: Explanation) -> None:
    """Note what keeps a pod out of the queue: it is on its way out, or a PreEnqueue plugin holds it."""
    if explanation.pod.is_terminating:
        explanation.held_back = "the pod is being deleted"
        return
    status = framework.run_pre_enqueue(explanation.pod)
    if not status.is_success:
        answer = HookAnswer(status.plugin, PRE_ENQUEUE, status)
        explanation.hooks.append(answer)
        explanation.held_back = answer.text


def _notes(framework: Framework, state: CycleState, pod: Pod) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What each plugin says about its data; a fault is logged, because the decision does not depend on it."""
    for plugin in framework.profile.plugins:
        try:
            if texts := data_notes(plugin, state, pod):
                yield plugin.name, texts
        except PluginFault as fault:
            _LOG.warning("%s", fault.status.located)


def _take(framework: Framework, state: CycleState, explanation: Explanation) -> None:
    """Note what Reserve and Permit plugins say about the best node; a fault ends the attempt."""
    answers = take(framework, state, explanation.best[0])
    explanation.hooks += answers
    failed = (answer.status for answer in answers if answer.status.code is Code.ERROR)
    explanation.failure = explanation.failure or next(failed, None)


def _nominated(framework: Framework, info: PodInfo, nodes: Nodes) -> dict[int, list[PodInfo]]:
    """The nominated pods that count for a pod, by the position of their nodes."""
    by_position: dict[int, list[PodInfo]] = {}
    if known := framework.handle.nominated:
        positions, pods = known.on(nodes, info)
        for position, one in zip(positions.tolist(), pods.infos, strict=True):
            by_position.setdefault(position, []).append(one)
    return by_position


def _ask_by_itself(
    framework: Framework, plugin: Plugin, info: PodInfo, snapshot: Snapshot, nominated: Mapping[int, list[PodInfo]]
) -> PluginVerdicts:
    state = CycleState(info)
    said = PluginVerdicts(plugin, state, snapshot.nodes, nominated=nominated)
    search = NodeSearch(framework, state, snapshot.nodes)
    said.skipped = plugin.name in state.skip_filter
    if not search.status.is_success:
        said.pre_filter = search.status
    elif not said.skipped:
        said.node_names = search.node_names
        said.result = _own(search.filter(snapshot.nodes, is_whole=True))
    return said


def _own(result: FilterResult) -> FilterResult:
    """The same verdicts as copies: those of kept columns change with the cluster, also when a fix is tried."""
    kept = [Rejections(one.plugin, one.verdicts.of(one.verdicts.values.copy())) for one in result.rejections]
    return FilterResult(result.nodes, kept)


async def _score(
    framework: Framework, state: CycleState, explanation: Explanation, asked: PodExtenders | None, passed: Nodes | None
) -> None:
    result = explanation.result
    assert result is not None
    is_whole = result.nodes is explanation.nodes and (passed is None or passed.is_known)
    scored = result if passed is None else FilterResult(passed, [])
    try:
        scores = framework.run_score(state, explanation.pod, scored, is_whole=is_whole)
    except PluginFault as fault:
        explanation.failure = explanation.failure or fault.status
        return
    if asked and len(scores.nodes) > 1:
        for one in await asked.prioritize(scores.nodes):
            scores.add(one.name, one.scores)
    explanation.scores = scores
    extender_scores = asked is not None and any(one.verb == "prioritize" for one in asked.answers)
    explanation.compares = framework.has_scores or extender_scores


async def _post_filter(framework: Framework, state: CycleState, explanation: Explanation) -> Preemption | None:
    if not framework.profile.points["postFilter"]:
        return None
    answers: list[Status] = []
    answer, status = await framework.run_post_filter(state, explanation.pod, explanation.diagnosis, answers)
    others = [one for one in answers if one.plugin not in _PREEMPTING]
    explanation.hooks += [HookAnswer(one.plugin, "postFilter", one) for one in others if one.message]
    said = ", ".join(one.message for one in answers if one.plugin in _PREEMPTING and one.message)
    if answer is None:
        return Preemption("", (), 0, status.message, said=said)
    broken = framework.handle.cluster_state.disruption_budgets.broken_by(answer.victims)
    node, n_violations = answer.nominated_node_name or "", answer.n_pdb_violations
    return Preemption(node, answer.victims, n_violations, status.message, broken, said)
