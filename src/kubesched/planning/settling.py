"""Places the pending pods of a cluster, and what controllers create for the pods that preemption evicts for them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kubesched.api import KubeObject, Pod, PodDisruptionBudget, kind_of, rewritten
from kubesched.controllers import Controllers, LeavingPods, Successor, controllers_of, stable_uid
from kubesched.planning.blocking_budgets import with_status
from kubesched.session import Placement, Progress, Report, Session, Victim
from kubesched.snapshot import ClusterObjects


class Settled(NamedTuple):
    """What happened until no pod was evicted any more.

    Attributes:
        placements: the last outcome of each pod, by `namespace/name`: of pending pods, and of new ones for victims.
        evicted: the victims, as they were, in order.
        victims: the same, for reports.
        successors: of each victim: whether a new pod was created.
        faults: exceptions in plugins, each text once.
    """

    placements: dict[str, Placement]
    evicted: list[Pod]
    victims: list[Victim]
    successors: dict[str, Successor]
    faults: dict[str, None]


def settle(
    session: Session, known: Controllers, progress: Progress | None = None, *, evicted: Sequence[Pod] | None = None
) -> Settled:
    """Schedule until no pod is evicted; a victim has a lower priority than its preemptor, so that comes to an end.

    Args:
        known: the controllers of the cluster.
        evicted: the pods that the last run has evicted, as they were, where it was not this one that ran.
    """
    settled = Settled({}, [], [], {}, {})
    gone = evicted
    while gone is None or _replaced(session, known, gone, settled.successors):
        report = session.schedule(progress)
        settled.placements.update((one.pod, one) for one in report.placements)
        settled.faults.update(dict.fromkeys(report.faults_of(())))
        settled.victims.extend(report.victims)
        gone = [action.pod for action in session.cluster.evicted]
        settled.evicted.extend(gone)
    return settled


def cluster_after_run(session: Session, report: Report, before: ClusterObjects) -> tuple[KubeObject, ...]:
    """The cluster after the run of a report, as from `cluster_after`.

    Args:
        before: the cluster before the run.
    """
    controllers = controllers_of(before, before.taken_at, before.listed_kinds)
    pods = {pod.key: pod for pod in before.of(Pod)}
    evicted = [pods[victim.pod] for victim in report.victims if victim.pod in pods]
    return cluster_after(session, controllers, before, evicted)


def cluster_after(
    session: Session, known: Controllers, before: Iterable[KubeObject], evicted: Sequence[Pod]
) -> tuple[KubeObject, ...]:
    """The cluster after a run, for the next question or for `write_snapshot`.

    Pods with a place run there. The new pods of the evicted ones are placed or pending. Disruption budgets count all of
    them; those of manifests get their status. A pod that is not created is as one of a
    manifest. Scheduling it again places no pod and evicts none.

    Args:
        known: the controllers of the cluster.
        before: its objects when the budgets were counted last.
        evicted: the pods that preemption has evicted in the run, as they were.
    """
    were = list(before)
    settle(session, known, evicted=evicted)
    budgets = [one for one in session.of("PodDisruptionBudget") if isinstance(one, PodDisruptionBudget)]
    uncounted = [one for one in budgets if not one.document.get("status")]
    are = session.objects_now()
    run, ran = _running(are, were), _running(were, are)
    count_in_budgets(session, [run[key] for key in run if key not in ran], [ran[key] for key in ran if key not in run])
    if uncounted:
        pods = [one for one in session.of("Pod") if isinstance(one, Pod) and not one.is_finished]
        session.change(with_status(budget, pods) for budget in uncounted)
    objects = session.objects()
    if absent := {pod.key for pod in session.waiting() if session.creation.why_not(pod)}:
        objects = [_as_new(one) if isinstance(one, Pod) and one.key in absent else one for one in objects]
    return tuple(objects)


def _as_new(pod: Pod) -> Pod:
    """A pod that is not created, as one of a manifest: the next run does not take it for one that exists."""
    uid = stable_uid("Pod", pod.namespace, pod.name)
    return rewritten(pod, lambda document: document["metadata"].update(uid=uid))


def count_in_budgets(session: Session, placed: Iterable[Pod], gone: Iterable[Pod]) -> None:
    """Enter into the disruption budgets that the placed pods are ready, and that others have left."""
    allowance = session.allowance()
    for pod in gone:
        allowance.lose(pod)
    for pod in placed:
        allowance.give_back(pod)
    session.change(allowance.changed())


def _running(objects: Iterable[KubeObject], others: Iterable[KubeObject]) -> dict[str, Pod]:
    """The pods that run of the objects that are not among others."""
    known = set(map(id, others))
    changed = (one for one in objects if id(one) not in known)
    return {one.key: one for one in changed if isinstance(one, Pod) and one.node_name and not one.is_finished}


def _replaced(session: Session, known: Controllers, gone: Sequence[Pod], successors: dict[str, Successor]) -> bool:
    """Have controllers create new pods for victims. Returns: whether they create one."""
    leaving = LeavingPods(gone, session.get, known)
    successors.update((pod.key, leaving.successor(pod)) for pod in gone)
    replacements = [leaving.replacement(pod) for pod in gone]
    made = [new for created, _ in replacements for new in created]
    lost = [old for _, others in replacements for old in others if session.get(kind_of(old), old.key) is not None]
    jobs = list(leaving.jobs())
    session.change(made, lost)
    session.change(jobs)
    return bool(made)
