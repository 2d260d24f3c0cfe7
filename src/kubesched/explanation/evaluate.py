"""Runs the whole profile and every single Filter plugin for one pod, over all nodes, and asks the extenders."""

from collections.abc import Mapping

import numpy as np

from kubesched.errors import ExtenderError
from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.framework import (
    CycleState,
    FilterResult,
    Framework,
    NodeSearch,
    PluginFault,
    Rejections,
    Status,
    Verdicts,
    find_feasible,
)
from kubesched.scheduler import EXTENDER, ExtenderAnswer, Extenders, PodExtenders
from kubesched.state import Nodes, PodInfo, Snapshot


async def evaluate(
    framework: Framework, info: PodInfo, *, preempt: bool = False, extenders: Extenders | None = None
) -> Explanation:
    """Explain one pod that is on no node.

    Args:
        framework: of the pod's profile, over the state to hold it against.
        preempt: whether to ask PostFilter plugins when no node fits.
        extenders: whom to ask about the nodes that fit; it waits for their answers.
    """
    snapshot = framework.handle.snapshot()
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, snapshot.nodes)
    if diagnosis.result is not None:
        diagnosis.result = _own(diagnosis.result)
    explanation = Explanation(info, framework.profile.scheduler_name, snapshot, diagnosis)
    explanation.held_back = _held_back(framework, info)
    nominated = _nominated(framework, info, snapshot.nodes)
    for plugin in framework.profile.points["filter"]:
        explanation.by_plugin[plugin.name] = _ask_by_itself(framework.only(plugin.name), info, snapshot, nominated)
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
    elif preempt and explanation.failure is None:
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


def _held_back(framework: Framework, info: PodInfo) -> str:
    """What keeps a pod out of the queue: it is on its way out, or a PreEnqueue plugin holds it."""
    if info.pod.is_terminating:
        return "the pod is being deleted"
    return framework.run_pre_enqueue(info.pod).located


def _nominated(framework: Framework, info: PodInfo, nodes: Nodes) -> dict[int, list[PodInfo]]:
    """The nominated pods that count for a pod, by the position of their nodes."""
    by_position: dict[int, list[PodInfo]] = {}
    if known := framework.handle.nominated:
        positions, pods = known.on(nodes, info)
        for position, one in zip(positions.tolist(), pods.infos, strict=True):
            by_position.setdefault(position, []).append(one)
    return by_position


def _ask_by_itself(
    framework: Framework, info: PodInfo, snapshot: Snapshot, nominated: Mapping[int, list[PodInfo]]
) -> PluginVerdicts:
    (plugin,) = framework.profile.points["filter"]
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


async def _post_filter(framework: Framework, state: CycleState, explanation: Explanation) -> Preemption | None:
    if not framework.profile.points["postFilter"]:
        return None
    answer, status = await framework.run_post_filter(state, explanation.pod, explanation.diagnosis)
    if answer is None:
        return Preemption("", (), 0, status.message)
    broken = framework.handle.cluster_state.disruption_budgets.broken_by(answer.victims)
    return Preemption(answer.nominated_node_name or "", answer.victims, answer.n_pdb_violations, status.message, broken)
