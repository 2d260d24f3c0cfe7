"""The pending pods one after another, each tried once, without consequences beyond where they go.

This is what recorded cases of the real plugins hold: no queue, no Reserve, every pod by priority and then in the order of the file;
victims of preemption are named and stay, nominations are forgotten. A plugin that fails on a node rejects that node.
"""

from collections.abc import Iterable, Iterator

import msgspec

from kubesched.api import Pod
from kubesched.framework import CycleState, Framework, PluginFault
from kubesched.scheduler import TieBreak, find_feasible, select_best
from kubesched.simulator.simulator import Simulator

__all__ = ["Placed", "PreemptionOutcome", "pending_in_order", "place"]


class PreemptionOutcome(msgspec.Struct, frozen=True, rename="camel"):
    """The node that preemption would choose, with the pods that it would delete, sorted."""

    node: str
    victims: tuple[str, ...]


class Placed(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One pod.

    Attributes:
        node: where it goes; empty for nowhere.
        message: the FitError text, without what PostFilter says.
        preemption: the one outcome that was chosen, if any.
        post_filter_message: what PostFilter says.
    """

    pod: str
    profile: str
    node: str = ""
    message: str = ""
    preemption: tuple[PreemptionOutcome, ...] = ()
    post_filter_message: str = ""


def pending_in_order(pods: Iterable[Pod]) -> list[Pod]:
    """Pods without a node by priority, the highest first, and in the given order among equals."""
    return sorted(pods, key=lambda pod: -pod.priority)


def place(simulator: Simulator, tie_break: TieBreak) -> Iterator[Placed]:
    """Try every pending pod once; each placement is seen by the next."""
    for pod in pending_in_order(simulator.pending):
        framework = simulator.frameworks.get(pod.scheduler_name)
        if framework is not None:
            yield _place(simulator, framework, pod, tie_break)
    simulator.close()


def _place(simulator: Simulator, framework: Framework, pod: Pod, tie_break: TieBreak) -> Placed:
    state = simulator.state
    snapshot = state.snapshot()
    info = state.pod_info(pod)
    cycle = CycleState(info)
    result, diagnosis = find_feasible(framework, cycle, info, snapshot)
    name = framework.profile.scheduler_name
    if result is not None and result.fits.any():
        is_whole = result.nodes is snapshot.nodes
        try:
            scores = framework.run_score(cycle, pod, result, is_whole=is_whole)
        except PluginFault as fault:
            return Placed(pod.key, name, message=fault.status.message)
        best = select_best(scores.total, tie_break, None, simulator.rng)
        node_name = scores.nodes.name(best)
        state.assume(info, node_name)
        return Placed(pod.key, name, node_name)
    found, status = framework.run_post_filter(cycle, pod, diagnosis)
    outcome: tuple[PreemptionOutcome, ...] = ()
    if found is not None and found.nominated_node_name:
        leaving = sorted(victim.pod.key for victim in found.victims if not victim.pod.is_terminating)
        outcome = (PreemptionOutcome(found.nominated_node_name, tuple(leaving)),)
    return Placed(pod.key, name, "", diagnosis.message, outcome, status.message)
