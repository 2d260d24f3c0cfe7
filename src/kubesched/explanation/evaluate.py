"""Runs the whole profile and every single Filter plugin for one pod, over all nodes."""

from kubesched.explanation.explanation import Explanation, PluginVerdicts, Preemption
from kubesched.framework import CycleState, Framework, NodeSearch, PluginFault, find_feasible
from kubesched.state import PodInfo, Snapshot


def evaluate(framework: Framework, info: PodInfo, *, preempt: bool = False) -> Explanation:
    """Explain one pod that is on no node.

    Args:
        framework: of the pod's profile, over the state to hold it against.
        preempt: whether to ask PostFilter plugins when no node fits.
    """
    snapshot = framework.handle.snapshot()
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, snapshot.nodes)
    explanation = Explanation(info, framework.profile.scheduler_name, snapshot, diagnosis)
    explanation.held_back = _held_back(framework, info)
    for plugin in framework.profile.points["filter"]:
        explanation.by_plugin[plugin.name] = _ask_by_itself(framework.only(plugin.name), info, snapshot)
    if not snapshot.n_nodes:
        return explanation
    explanation.failure = diagnosis.failure
    if explanation.fits:
        _score(framework, state, explanation)
    elif preempt and explanation.failure is None:
        explanation.preemption = _post_filter(framework, state, explanation)
    return explanation


def _held_back(framework: Framework, info: PodInfo) -> str:
    """What keeps a pod out of the queue: it is on its way out, or a PreEnqueue plugin holds it."""
    if info.pod.is_terminating:
        return "the pod is being deleted"
    return framework.run_pre_enqueue(info.pod).message


def _ask_by_itself(framework: Framework, info: PodInfo, snapshot: Snapshot) -> PluginVerdicts:
    (plugin,) = framework.profile.points["filter"]
    state = CycleState(info)
    said = PluginVerdicts(plugin, state, snapshot.nodes)
    search = NodeSearch(framework, state, snapshot.nodes)
    said.skipped = plugin.name in state.skip_filter
    if not search.status.is_success:
        said.pre_filter = search.status
    elif not said.skipped:
        said.node_names = search.node_names
        said.result = search.filter(snapshot.nodes, is_whole=True)
    return said


def _score(framework: Framework, state: CycleState, explanation: Explanation) -> None:
    assert explanation.result is not None
    try:
        explanation.scores = framework.run_score(
            state, explanation.pod, explanation.result, is_whole=explanation.result.nodes is explanation.nodes
        )
    except PluginFault as fault:
        explanation.failure = explanation.failure or fault.status


def _post_filter(framework: Framework, state: CycleState, explanation: Explanation) -> Preemption | None:
    if not framework.profile.points["postFilter"]:
        return None
    answer, status = framework.run_post_filter(state, explanation.pod, explanation.diagnosis)
    if answer is None:
        return Preemption("", (), 0, status.message)
    return Preemption(answer.nominated_node_name or "", answer.victims, answer.n_pdb_violations, status.message)
