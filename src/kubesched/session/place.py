"""Places the pending pods one after another, each in one attempt, without any other effect.

This is what recorded cases of the real plugins hold: no queue, every pod by priority and then in the order of the file;
claims of devices are reserved and written, and nothing else; victims of preemption are named and stay, nominations are
forgotten. Claims that PostFilter gives back are named and stay allocated.
"""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, Final

import msgspec

from kubesched.api import Pod
from kubesched.framework import Framework, Status, WriteObject, pods_to_evict
from kubesched.scheduler import TieBreak, no_profile, select_best
from kubesched.session.attempt import Attempt, Preempt
from kubesched.session.pending_diagnosis import diagnosis_of
from kubesched.session.placements import not_created
from kubesched.session.queue_run import Progress
from kubesched.session.report import Placement, PodState, Report, Victim
from kubesched.session.session import Session
from kubesched.session.written_claims import WrittenClaim, write_claims

_BESIDE_GATES: Final = "DynamicResources"
_GATES: Final = "SchedulingGates"


class PreemptionOutcome(msgspec.Struct, frozen=True, rename="camel"):
    """The node that preemption would choose, with the pods that it would delete, sorted."""

    node: str
    victims: tuple[str, ...]


class Placed(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One pod.

    Attributes:
        node: where it goes; empty for nowhere.
        message: the FitError text, without what PostFilter says.
        error: the fault of a plugin; kube-scheduler ends such an attempt as SchedulerError.
        preemption: the one outcome that was chosen, if any.
        post_filter_message: what PostFilter says.
        deallocated: the claims of devices that PostFilter would give back.
        pre_enqueue: what keeps the pod out of the queue; nothing else is then known. Scheduling gates are ignored.
        claims: the claims of devices as they were written.
        extended_resource_claim_status: of the pod, as it was written.
        reserve, pre_bind: what failed on the chosen node; then the pod is not placed.
        diagnosis: the nearest obstacle in one line.
        is_undecided: whether kubesched cannot decide about the pod, while kube-scheduler can.
        plugin: the plugin that rejects the pod in PreFilter; empty where filters do, or where it is not one alone.
    """

    pod: str
    profile: str
    node: str = ""
    message: str = ""
    error: str = ""
    preemption: tuple[PreemptionOutcome, ...] = ()
    post_filter_message: str = ""
    deallocated: tuple[str, ...] = ()
    pre_enqueue: Status | None = None
    claims: tuple[WrittenClaim, ...] = ()
    extended_resource_claim_status: dict[str, Any] = {}
    reserve: Status | None = None
    pre_bind: Status | None = None
    diagnosis: str = ""
    is_undecided: bool = False
    plugin: str = ""


def pending_in_order(pods: Iterable[Pod]) -> list[Pod]:
    """Pods without a node by priority, the highest first, and in the given order among equals."""
    return sorted(pods, key=lambda pod: -pod.priority)


def place(session: Session, tie_break: TieBreak) -> Iterator[Placed]:
    """Try every pending pod once; each placement is seen by the next."""
    try:
        todo = [(-pod.priority, i, pod) for i, pod in enumerate(session.begin())]
        n_arrived = count(len(session.pending))
        heapify(todo)
        while todo:
            _, _, pod = heappop(todo)
            framework = session.frameworks.get(pod.scheduler_name)
            if framework is None:
                continue
            placed = _place(session, framework, pod, tie_break)
            yield placed
            created = session.creation.placed(pod) if placed.node else None
            if created is not None:
                heappush(todo, (-created.priority, next(n_arrived), created))
    finally:
        session.rest()


def not_seen(session: Session) -> Iterator[Placed]:
    """After `place`: the pods that no scheduler sees, because they are not created or name their node."""
    for one in session.kubelets.placements.values():
        yield Placed(one.pod, "", one.node, one.message)
    for pod in pending_in_order(session.pending):
        if why := session.creation.why_not(pod):
            yield Placed(pod.key, pod.scheduler_name, message=why)


def place_all(session: Session, tie_break: TieBreak, progress: Progress | None = None) -> Report:
    """Try every pending pod once, and report as a simulation does; victims are named although they stay."""
    before = session.fill()
    placed = {}
    for one in place(session, tie_break):
        placed[one.pod] = one
        if progress is not None:
            progress(len(placed), len(session.pending))
    placements = (
        *session.kubelets.placements.values(),
        *(
            _not_created(pod, session) or _placement(pod, placed.get(pod.key), session)
            for pod in pending_in_order(session.pending)
        ),
    )
    victims = tuple(_victims(session, placed.values()))
    after, groups = session.fill(), session.node_groups()
    return Report(
        placements, victims, before, after, 0.0, groups, evicted=False, stuck=session.stuck(), version=session.version
    )


def _not_created(pod: Pod, session: Session) -> Placement | None:
    placement = not_created(pod, session.creation)
    return msgspec.structs.replace(placement, owner=session.owner_of(pod)) if placement.is_not_created else None


def _placement(pod: Pod, placed: Placed | None, session: Session) -> Placement:
    owner = session.owner_of(pod)
    if placed is None:
        message = no_profile(pod.scheduler_name, session.frameworks)
        return Placement(pod.key, "", PodState.NOT_TRIED, message=message, owner=owner)
    if placed.node:
        return Placement(pod.key, placed.profile, PodState.SCHEDULED, placed.node, 1, owner=owner)
    message = f"{placed.message} {placed.post_filter_message}".rstrip()
    if placed.error:
        why = placed.diagnosis if placed.diagnosis != placed.error else ""
        failed = pod.key, placed.profile, PodState.ERROR, "", 1, "SchedulerError", placed.error
        return Placement(*failed, owner=owner, diagnosis=why)
    if (gate := placed.pre_enqueue) is not None:
        why = diagnosis_of((), (), gate.message, gate.plugin)
        gated = pod.key, placed.profile, PodState.NOT_TRIED
        return Placement(*gated, message=gate.message, owner=owner, diagnosis=why, plugin=gate.plugin)
    if placed.is_undecided:
        why = placed.diagnosis
        return Placement(pod.key, placed.profile, PodState.NOT_DECIDED, "", 1, message=why, owner=owner, diagnosis=why)
    (room,) = placed.preemption or (PreemptionOutcome("", ()),)
    return Placement(
        pod.key,
        placed.profile,
        PodState.UNSCHEDULABLE,
        "",
        1,
        "Unschedulable",
        message,
        nominated_node=room.node,
        victims=room.victims,
        owner=owner,
        diagnosis=placed.diagnosis,
        plugin=placed.plugin,
    )


def _victims(session: Session, placed: Iterable[Placed]) -> Iterator[Victim]:
    for one in placed:
        for outcome in one.preemption:
            allowance = session.allowance()  # of the cluster as it is: no pod leaves
            for key in outcome.victims:
                victim = session.cluster_state.objects.get("Pod", key)
                if isinstance(victim, Pod):
                    yield Victim(key, session.owner_of(victim), outcome.node, one.pod, allowance.lose(victim))


def _place(session: Session, framework: Framework, pod: Pod, tie_break: TieBreak) -> Placed:
    name = framework.profile.scheduler_name
    gate = framework.run_pre_enqueue(pod, first=_BESIDE_GATES)
    if not gate.is_success and gate.plugin != _GATES:
        return Placed(pod.key, name, pre_enqueue=gate)
    tried = session.attempt(pod, Preempt.UNLESS_FAILED)
    failure = tried.failure or tried.score_failure
    if failure is not None:
        return Placed(pod.key, name, error=failure.message, diagnosis=failure.located)
    if tried.scores is None:
        return _not_placed(framework, pod, tried)
    best = select_best(tried.scores.total, tie_break, None, session.rng)
    node_name = tried.scores.nodes.name(best)
    assumed = session.cluster_state.assume(tried.info, node_name).pod
    written = write_claims(framework, session.cluster, tried, assumed, node_name)
    failure = written.reserve or written.pre_bind
    if failure is not None:
        session.cluster_state.forget(assumed)
        placed = Placed(pod.key, name, error=failure.message, diagnosis=failure.located)
        return msgspec.structs.replace(placed, reserve=written.reserve, pre_bind=written.pre_bind)
    claims, extended = written.claims, written.extended
    return Placed(pod.key, name, node_name, claims=claims, extended_resource_claim_status=extended)


def _not_placed(framework: Framework, pod: Pod, tried: Attempt) -> Placed:
    """Why a pod fits on no node, and what PostFilter plugins would do about that."""
    name, diagnosis = tried.profile, tried.diagnosis
    if not tried.snapshot.n_nodes:
        return Placed(pod.key, name, message=diagnosis.message, diagnosis=diagnosis.message)
    filters = [plugin.name for plugin in framework.profile.points["filter"]]
    counted = diagnosis.counts()
    plugin = "" if diagnosis.undecided or counted else diagnosis.absent.plugin
    nearest = diagnosis_of(counted, filters, diagnosis.message, plugin, diagnosis.left_out)
    placed = Placed(pod.key, name, "", diagnosis.message, diagnosis=nearest)
    outcome: tuple[PreemptionOutcome, ...] = ()
    if tried.room is not None and tried.room.nominated_node_name:
        leaving = sorted(pod.key for pod in pods_to_evict(tried.room.victims, framework.profile.release))
        outcome = (PreemptionOutcome(tried.room.nominated_node_name, tuple(leaving)),)
    writes = tried.room.writes if tried.room is not None else ()
    freed = {write.object.key: None for write in writes if isinstance(write, WriteObject)}
    return msgspec.structs.replace(
        placed,
        preemption=outcome,
        deallocated=tuple(freed),
        post_filter_message="" if tried.post_filter is None else tried.post_filter.message,
        plugin=plugin,
        is_undecided=diagnosis.undecided is not None,
    )
