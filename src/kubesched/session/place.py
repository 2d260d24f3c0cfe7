"""Places the pending pods one after another, each in one attempt, without any other effect.

This is what recorded cases of the real plugins hold: no queue, no Reserve, every pod by priority and then in the order
of the file; victims of preemption are named and stay, nominations are forgotten. A plugin that fails on a node rejects
that node.
"""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count

import msgspec

from kubesched.api import Pod
from kubesched.framework import NO_NODES, CycleState, Framework, PluginFault, find_feasible
from kubesched.scheduler import TieBreak, no_profile, select_best
from kubesched.session.diagnosis import diagnosis_of
from kubesched.session.queue_run import Progress
from kubesched.session.report import Fill, Placement, PodState, Report, Victim
from kubesched.session.session import Simulator


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
        diagnosis: the nearest obstacle in one line.
        is_failed: whether a plugin failed; kube-scheduler ends such an attempt as SchedulerError.
        is_undecided: whether kubesched cannot decide about the pod, while kube-scheduler can.
        plugin: the plugin that rejects the pod in PreFilter; empty where filters do, or where it is not one alone.
    """

    pod: str
    profile: str
    node: str = ""
    message: str = ""
    preemption: tuple[PreemptionOutcome, ...] = ()
    post_filter_message: str = ""
    diagnosis: str = ""
    is_failed: bool = False
    is_undecided: bool = False
    plugin: str = ""


def pending_in_order(pods: Iterable[Pod]) -> list[Pod]:
    """Pods without a node by priority, the highest first, and in the given order among equals."""
    return sorted(pods, key=lambda pod: -pod.priority)


def place(simulator: Simulator, tie_break: TieBreak) -> Iterator[Placed]:
    """Try every pending pod once; each placement is seen by the next."""
    n_arrived = count(len(simulator.pending))
    try:
        todo = [(-pod.priority, i, pod) for i, pod in enumerate(simulator.begin())]
        heapify(todo)
        while todo:
            _, _, pod = heappop(todo)
            framework = simulator.frameworks.get(pod.scheduler_name)
            if framework is None:
                continue
            placed = simulator.loop.run(_place(simulator, framework, pod, tie_break))
            yield placed
            created = simulator.creation.placed(pod) if placed.node else None
            if created is not None:
                heappush(todo, (-created.priority, next(n_arrived), created))
    finally:
        simulator.close()


def not_seen(simulator: Simulator) -> Iterator[Placed]:
    """After `place`: the pods that no scheduler sees, because they are not created or name their node."""
    for one in simulator.kubelets.placements.values():
        yield Placed(one.pod, "", one.node, one.message)
    for pod in pending_in_order(simulator.pending):
        if why := simulator.creation.why_not(pod):
            yield Placed(pod.key, pod.scheduler_name, message=why)


def place_all(simulator: Simulator, tie_break: TieBreak, progress: Progress | None = None) -> Report:
    """Try every pending pod once, and report as a simulation does; victims are named although they stay."""
    before = Fill(simulator.cluster_state.columns)
    total = len(simulator.pending)
    placed = {}
    for one in place(simulator, tie_break):
        placed[one.pod] = one
        if progress is not None:
            progress(len(placed), total)
    placements = (
        *simulator.kubelets.placements.values(),
        *(
            _not_created(pod, simulator) or _placement(pod, placed.get(pod.key), simulator)
            for pod in pending_in_order(simulator.pending)
        ),
    )
    victims = tuple(_victims(simulator, placed.values()))
    after, groups = Fill(simulator.cluster_state.columns), simulator.node_groups()
    return Report(
        placements,
        victims,
        before,
        after,
        0.0,
        groups,
        evicted=False,
        stuck=simulator.stuck(),
        devices=simulator.devices(),
    )


def _not_created(pod: Pod, simulator: Simulator) -> Placement | None:
    first, refused = simulator.creation.awaits(pod), simulator.creation.refusal(pod)
    if not first and not refused:
        return None
    placement = Placement(pod.key, pod.scheduler_name, PodState.NOT_TRIED, message=simulator.creation.why_not(pod))
    placement.owner, placement.awaits, placement.refused = simulator.owner_of(pod), first, refused
    return placement


def _placement(pod: Pod, placed: Placed | None, simulator: Simulator) -> Placement:
    owner = simulator.owner_of(pod)
    if placed is None:
        message = no_profile(pod.scheduler_name, simulator.frameworks)
        return Placement(pod.key, "", PodState.NOT_TRIED, message=message, owner=owner)
    if placed.node:
        return Placement(pod.key, placed.profile, PodState.SCHEDULED, placed.node, 1, owner=owner)
    message = f"{placed.message} {placed.post_filter_message}".rstrip()
    if not message.startswith(("0/", NO_NODES)):  # no FitError: a plugin failed
        failed = Placement(pod.key, placed.profile, PodState.ERROR, "", 1, "SchedulerError", message, owner=owner)
        failed.diagnosis = placed.diagnosis if placed.diagnosis != message else ""
        return failed
    if placed.is_undecided:
        why = placed.diagnosis
        return Placement(pod.key, placed.profile, PodState.NOT_DECIDED, "", 1, message=why, owner=owner, diagnosis=why)
    waiting = Placement(pod.key, placed.profile, PodState.UNSCHEDULABLE, "", 1, "Unschedulable", message)
    waiting.owner, waiting.diagnosis, waiting.plugin = owner, placed.diagnosis, placed.plugin
    for outcome in placed.preemption:
        waiting.nominated_node, waiting.victims = outcome.node, outcome.victims
    return waiting


def _victims(simulator: Simulator, placed: Iterable[Placed]) -> Iterator[Victim]:
    for one in placed:
        for outcome in one.preemption:
            allowance = simulator.allowance()  # of the cluster as it is: no pod leaves
            for key in outcome.victims:
                victim = simulator.cluster_state.objects.get("Pod", key)
                if isinstance(victim, Pod):
                    yield Victim(key, simulator.owner_of(victim), outcome.node, one.pod, allowance.lose(victim))


async def _place(simulator: Simulator, framework: Framework, pod: Pod, tie_break: TieBreak) -> Placed:
    await simulator.loop.breathe()
    cluster_state = simulator.cluster_state
    snapshot = cluster_state.snapshot()
    info = cluster_state.pod_info(pod)
    state = CycleState(info)
    diagnosis = find_feasible(framework, state, snapshot.nodes)
    result, name = diagnosis.result, framework.profile.scheduler_name
    if result is not None and result.fits.any():
        try:
            scores = framework.run_score(state, pod, result, is_whole=result.nodes is snapshot.nodes)
        except PluginFault as fault:
            status = fault.status
            return Placed(pod.key, name, message=status.message, diagnosis=status.located, is_failed=True)
        best = select_best(scores.total, tie_break, None, simulator.rng)
        node_name = scores.nodes.name(best)
        cluster_state.assume(info, node_name)
        return Placed(pod.key, name, node_name)
    if not snapshot.n_nodes:
        return Placed(pod.key, name, message=diagnosis.message, diagnosis=diagnosis.message)
    filters = [plugin.name for plugin in framework.profile.points["filter"]]
    failure = diagnosis.failure
    counted, left_out = diagnosis.counts(), diagnosis.left_out
    plugin = "" if failure or diagnosis.undecided or counted else diagnosis.absent.plugin
    nearest = failure.located if failure else diagnosis_of(counted, filters, diagnosis.message, plugin, left_out)
    freed, status = await framework.run_post_filter(state, pod, diagnosis)
    outcome: tuple[PreemptionOutcome, ...] = ()
    if freed is not None and freed.nominated_node_name:
        leaving = sorted(victim.pod.key for victim in freed.victims if not victim.pod.is_terminating)
        outcome = (PreemptionOutcome(freed.nominated_node_name, tuple(leaving)),)
    placed = Placed(pod.key, name, "", diagnosis.message, outcome, status.message, nearest, failure is not None)
    return msgspec.structs.replace(placed, plugin=plugin, is_undecided=diagnosis.undecided is not None)
