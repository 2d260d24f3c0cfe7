"""One try of a pod that is on no node, over all nodes of a cluster, without any effect.

Unlike the scheduling cycle it looks at every node, also where the configuration asks for a part of them, and counts the
fault of a plugin as a rejection of the node where it happened.
"""

import enum

import msgspec
import numpy as np

from kubesched.errors import ExtenderError
from kubesched.framework import (
    CycleState,
    Diagnosis,
    FilterResult,
    Framework,
    PluginFault,
    PostFilterResult,
    Rejections,
    Scores,
    Status,
    Verdicts,
    find_feasible,
)
from kubesched.scheduler import EXTENDER, ExtenderAnswer, Extenders, PodExtenders
from kubesched.state import Nodes, PodInfo, Snapshot


class Preempt(enum.Enum):
    """When PostFilter plugins are asked about a pod that fits on no node."""

    NEVER = "never"
    UNLESS_FAILED = "unlessFailed"
    """As in kube-scheduler: not if a plugin failed; nor about a pod that kubesched cannot decide about."""


class Attempt(msgspec.Struct, eq=False):
    """What plugins and extenders say about a pod.

    Attributes:
        info: the pod with its parts.
        profile: the scheduler name that serves it.
        snapshot: the cluster without the pod.
        state: what plugins remember of the pod.
        diagnosis: the verdicts of the filters and of extenders, and why nodes do not fit.
        failure: the fault of a filter or an extender, which ends the attempt of kube-scheduler; None for none.
        score_failure: the fault of a plugin that scores; None for none.
        scores: of the nodes that fit; None where none fits, or nothing could be scored.
        compares: whether a plugin or an extender scores; without any, kube-scheduler takes the first node that fits.
        extenders: what the extenders said, in the order of the calls.
        room: what PostFilter plugins would do; None where they were not asked, or make no room.
        post_filter: their answer; None where they were not asked.
        post_filter_answers: the answer of each.
    """

    info: PodInfo
    profile: str
    snapshot: Snapshot
    state: CycleState
    diagnosis: Diagnosis
    failure: Status | None = None
    score_failure: Status | None = None
    scores: Scores | None = None
    compares: bool = True
    extenders: list[ExtenderAnswer] = []
    room: PostFilterResult | None = None
    post_filter: Status | None = None
    post_filter_answers: list[Status] = []

    @property
    def fits(self) -> bool:
        """Whether some node passes every filter, and every extender."""
        result = self.diagnosis.result
        return result is not None and bool(result.fits.any())


async def attempt(
    framework: Framework, info: PodInfo, extenders: Extenders | None = None, preempt: Preempt = Preempt.NEVER
) -> Attempt:
    """Try a pod.

    Args:
        framework: of the pod's profile, over the state to hold it against.
        extenders: whom to ask about the nodes that fit; it waits for their answers.
    """
    snapshot = framework.handle.snapshot()
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, snapshot.nodes)
    tried = Attempt(info, framework.profile.scheduler_name, snapshot, state, diagnosis)
    if not snapshot.n_nodes:
        return tried
    tried.failure = diagnosis.failure
    asked = None if extenders is None else extenders.of(info)
    passed = None
    if asked and tried.fits and tried.failure is None:
        passed = await _ask_extenders(asked, tried)
    if tried.fits:
        if passed is not None or not asked:
            await _score(framework, tried, asked, passed)
    elif _may_preempt(tried, preempt) and framework.profile.points["postFilter"]:
        tried.room, tried.post_filter = await framework.run_post_filter(
            state, info.pod, diagnosis, tried.post_filter_answers
        )
    return tried


def best_of(framework: Framework, state: CycleState, nodes: Nodes) -> str:
    """The node with the best score of some on which a pod fits; the first of them where a plugin fails."""
    try:
        scores = framework.run_score(state, state.pod.pod, nodes, is_whole=False)
    except PluginFault:
        return nodes.name(0)
    return scores.nodes.name(int(scores.total.argmax()))


def rejections_of(name: str, nodes: Nodes, answer: ExtenderAnswer) -> list[Rejections]:
    """What an extender rejects of a table, under a name."""
    numbers: dict[Status, int] = {}
    values = np.zeros(len(nodes), dtype=np.intp)
    for node, status in answer.rejected.items():
        position = nodes.position_of(node)
        if position is not None:
            values[position] = numbers.setdefault(status, len(numbers) + 1)
    return [Rejections(name, Verdicts(values, list(numbers)))] if values.any() else []


def _may_preempt(tried: Attempt, preempt: Preempt) -> bool:
    is_decided = tried.failure is None and tried.diagnosis.undecided is None
    return preempt is Preempt.UNLESS_FAILED and is_decided


async def _ask_extenders(asked: PodExtenders, tried: Attempt) -> Nodes | None:
    """Add the extenders' rejections to those of the filters. Returns: the nodes that are left; None after a failure."""
    result = tried.diagnosis.result
    assert result is not None
    tried.extenders = asked.answers
    try:
        passed: Nodes | None = await asked.filter(result.feasible, {})
    except ExtenderError as error:
        tried.failure = Status.error(str(error)).by(EXTENDER)
        passed = None
    further = [one for answer in asked.answers for one in rejections_of(EXTENDER, result.nodes, answer)]
    tried.diagnosis.take_in(FilterResult(result.nodes, [*result.rejections, *further]))
    return passed


async def _score(framework: Framework, tried: Attempt, asked: PodExtenders | None, passed: Nodes | None) -> None:
    result = tried.diagnosis.result
    assert result is not None
    is_whole = result.nodes is tried.snapshot.nodes and (passed is None or passed.is_known)
    scored = result.feasible if passed is None else passed
    try:
        scores = framework.run_score(tried.state, tried.info.pod, scored, is_whole=is_whole)
    except PluginFault as fault:
        tried.score_failure = fault.status
        return
    if asked and len(scores.nodes) > 1:
        for one in await asked.prioritize(scores.nodes):
            scores.add(one.name, one.scores)
    tried.scores = scores
    tried.compares = framework.has_scores or any(one.verb == "prioritize" for one in tried.extenders)
