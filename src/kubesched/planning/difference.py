"""What a change to a cluster changes in its simulation: both are run, and the report begins with the difference."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import msgspec

from kubesched.admission import refused_replicas
from kubesched.api import KubeObject, Pod
from kubesched.controllers import is_from_manifest
from kubesched.documents import count, listed
from kubesched.explanation import with_reasons
from kubesched.planning.changed_cluster import Changed, premise
from kubesched.planning.gangs_that_fit import gangs_of_run
from kubesched.planning.placed import has_place
from kubesched.planning.settling import cluster_after_run
from kubesched.planning.storage_caveats import storage_caveats
from kubesched.session import Placement, PodState, Report, Session, unserved_pods, workload_text


class Difference(msgspec.Struct, frozen=True, rename="camel"):
    """A simulation of a changed cluster against that of the cluster as it is.

    Attributes:
        text: the assumption and the difference, in one sentence.
        assumed: the changes, such as `n1 were cordoned`.
        notes: what else the changes do, one sentence each.
        new: pods that are pending only because of the change: re-created or added ones.
        new_placed: how many of them would be placed.
        re_created: those of them that run on removed nodes.
        re_created_placed: how many of these would be placed.
        of_manifests: pods of manifests, which are pending with and without the change.
        of_manifests_placed: how many of these would be placed with the change.
        not_created: those of them that their StatefulSets would not create, because a pod before them has no node.
        pending, pending_before: pods that would stay pending, with and without the change. Those that kubesched cannot
            decide about, and those of other schedulers, are not among them, nor among `displaced` and `relieved`.
        failed, failed_before: pods whose attempt would end in an error, which are not among `pending`.
        undecided, undecided_before: pods that kubesched cannot decide about, with and without the change.
        foreign, foreign_before: pods of other schedulers, with and without the change.
        evicted, evicted_before: victims of preemption, with and without the change.
        displaced: pods that would be placed without the change, and would stay pending or fail with it.
        relieved: pods that would stay pending or fail without the change, and not with it.
        lost, may_be_lost: pods of removed nodes of which no new ones come, or perhaps none; the second are placed as if
            they were re-created.
    """

    text: str
    assumed: tuple[str, ...]
    notes: tuple[str, ...]
    new: tuple[str, ...]
    new_placed: int
    not_created: tuple[str, ...]
    pending: int
    pending_before: int
    failed: int
    failed_before: int
    undecided: int
    undecided_before: int
    foreign: int
    foreign_before: int
    evicted: int
    evicted_before: int
    displaced: tuple[str, ...]
    relieved: tuple[str, ...]
    lost: tuple[str, ...] = ()
    may_be_lost: tuple[str, ...] = ()
    re_created: tuple[str, ...] = ()
    re_created_placed: int = 0
    of_manifests: tuple[str, ...] = ()
    of_manifests_placed: int = 0


class Simulated(msgspec.Struct, frozen=True, eq=False):
    """What a simulation of a changed cluster gives; `objects` are those afterwards, if they were asked for.

    Attributes:
        caveats: why placed pods would not start: their volumes cannot be made or shared.
    """

    report: Report
    objects: tuple[KubeObject, ...] = ()
    caveats: tuple[str, ...] = ()
    difference: Difference | None = None


def simulated(
    session: Session,
    changed: Changed,
    run: Callable[[Session], Report] = Session.schedule,
    *,
    keeps_objects: bool = False,
) -> Simulated:
    """Simulate a changed cluster: find the cause and the best fix of each pod that stays pending.

    Args:
        session: of the changed cluster, in which the pods of `new_pods` do not exist yet. It is simulated.
        run: simulates the cluster of a session.
        keeps_objects: whether the answer has the cluster afterwards.
    """
    session.assumed = changed.nodes
    refused = refused_replicas(changed.objects)
    report = with_reasons(session, run(session))
    running = (one for one in changed.objects if isinstance(one, Pod) and one.node_name)
    unserved = unserved_pods(running, session.frameworks)
    gangs = gangs_of_run(changed.objects, report)
    report = msgspec.structs.replace(report, refused=refused, gangs=gangs, unserved=unserved)
    caveats = storage_caveats(session, report.placements, changed.objects)
    return Simulated(report, cluster_after_run(session, report, changed.cluster) if keeps_objects else (), caveats)


def compared(
    session: Session,
    changed: Changed,
    run: Callable[[Session], Report] = Session.schedule,
    *,
    keeps_objects: bool = False,
) -> Simulated:
    """Simulate a cluster with and without a change; arguments as for `simulated`.

    Args:
        session: of the cluster without the change, in which the pods of `new_pods` do not exist yet. It is afterwards
            as it was.
    """
    before = session.objects_now()
    with session.fork():
        session.become(changed.objects, new=new_pods(changed.objects, before))
        after = simulated(session, changed, run, keeps_objects=keeps_objects)
    with session.fork():
        difference = _difference(run(session), after.report, changed, before)
        return msgspec.structs.replace(after, difference=difference)


def new_pods(objects: Iterable[KubeObject], before: Iterable[KubeObject] | None = None) -> set[str]:
    """`namespace/name` of the pending pods that do not exist yet: those of manifests, and those of a change.

    Args:
        before: the cluster before a change; None for no change.
    """
    pending = _pending(objects)
    known = pending if before is None else _pending(before)
    return {key for key, pod in pending.items() if key not in known or is_from_manifest(pod)}


def _pending(objects: Iterable[KubeObject]) -> dict[str, Pod]:
    return {one.key: one for one in objects if isinstance(one, Pod) and not one.node_name}


def _difference(before: Report, after: Report, changed: Changed, objects: Iterable[KubeObject]) -> Difference:
    known = {one.pod for one in before.placements}
    new = [one for one in after.placements if one.pod not in known]
    pods = [one for one in objects if isinstance(one, Pod)]
    running = {pod.key for pod in pods if pod.node_name}
    manifests = {pod.key for pod in _pending(changed.objects).values() if is_from_manifest(pod)} & known
    again = [one for one in new if one.pod in running]
    written = [one for one in after.placements if one.pod in manifests]
    reports = (before, after)
    placed = [{one.pod for one in report.placements if has_place(one)} for report in reports]
    left = [[one.pod for one in report.placements if _stays_pending(one)] for report in reports]
    failed = [sum(one.state is PodState.ERROR for one in report.placements) for report in reports]
    unknown = [{one.pod for one in report.placements if one.is_undecided} for report in reports]
    foreign = [{one.pod for one in report.placements if _is_of_others(one)} for report in reports]
    still = {*left[1], *unknown[1]}
    counted = Difference(
        text="",
        assumed=changed.assumed,
        notes=(*changed.notes, *_without_place(again, has_manifests=bool(written))),
        new=tuple(one.pod for one in new),
        new_placed=sum(map(has_place, new)),
        not_created=tuple(one.pod for one in after.placements if one.is_not_created),
        pending=len(left[1]) - failed[1],
        pending_before=len(left[0]) - failed[0],
        failed=failed[1],
        failed_before=failed[0],
        undecided=len(unknown[1] - foreign[1]),
        undecided_before=len(unknown[0] - foreign[0]),
        foreign=len(foreign[1]),
        foreign_before=len(foreign[0]),
        evicted=len(after.removed),
        evicted_before=len(before.removed),
        displaced=tuple(pod for pod in left[1] if pod in placed[0]),
        relieved=tuple(pod for pod in left[0] if pod not in still),
        lost=changed.lost,
        may_be_lost=changed.may_be_lost,
        re_created=tuple(one.pod for one in again),
        re_created_placed=sum(map(has_place, again)),
        of_manifests=tuple(one.pod for one in written),
        of_manifests_placed=sum(map(has_place, written)),
    )
    return msgspec.structs.replace(counted, text=f"{premise(changed.assumed)}{'; '.join(_words(counted))}.")


def _is_of_others(placement: Placement) -> bool:
    return placement.is_undecided and placement.is_foreign


def _stays_pending(placement: Placement) -> bool:
    return placement.is_left_pending and not placement.is_undecided


def _words(found: Difference) -> Iterator[str]:
    if found.of_manifests:
        n = count(len(found.of_manifests), "pod of the manifests", "pods of the manifests")
        yield f"{found.of_manifests_placed:,} of {n} would be placed"
    again = {*found.re_created}
    absent = sum(pod in again for pod in found.not_created)
    if found.re_created:
        place = f"{found.re_created_placed:,} would find a place"
        yield f"of {count(len(again), 'pod')} on removed nodes, {place}{_not_created(absent)}"
    if n_added := len(found.new) - len(again):
        placed = found.new_placed - found.re_created_placed
        rest = _not_created(len(found.not_created) - absent)
        yield f"{placed:,} of {count(n_added, 'new pod')} would be placed{rest}"
    if found.lost:
        yield f"{_pods(len(found.lost))} would be lost"
    if found.may_be_lost:
        yield f"{_pods(len(found.may_be_lost))} may be lost"
    if found.pending or not found.not_created:
        yield f"{_pods(found.pending)} would stay pending{_compared(found.pending, found.pending_before)}"
    if found.failed or found.failed_before:
        yield f"{_pods(found.failed)} would fail{_compared(found.failed, found.failed_before)}"
    if found.undecided or found.undecided_before:
        yield f"{_pods(found.undecided)} cannot be decided{_compared(found.undecided, found.undecided_before)}"
    if found.foreign != found.foreign_before:
        yield f"{_pods(found.foreign)} of other schedulers{_compared(found.foreign, found.foreign_before)}"
    if found.evicted != found.evicted_before:
        yield f"{_pods(found.evicted)} would be evicted, {_more(found.evicted, found.evicted_before)}"


def _not_created(n: int) -> str:
    return f", {n:,} would not be created" if n else ""


def _without_place(again: Iterable[Placement], *, has_manifests: bool) -> Iterator[str]:
    """Which pods of removed nodes find no place, by workload."""
    left = [one for one in again if not has_place(one) and not one.is_undecided]
    if not left:
        return
    counts = Counter(workload_text(one.pod, one.owner) for one in left).items()
    whose = (f"{n:,} of {of}" if n > 1 else of for of, n in counts)
    yield f"without a place on the nodes that are left: {listed(whose, first=6)}"
    if has_manifests:
        yield "pods of the manifests are placed before those of the removed nodes that have the same priority"


def _compared(n: int, before: int) -> str:
    compared = f"{_more(n, before)} than" if n != before else "as many as"
    compared = compared if n else f"against {before:,}"
    return f", {compared} without this change" if n or before else ""


def _pods(n: int) -> str:
    return count(n, "pod") if n else "no pod"


def _more(n: int, before: int) -> str:
    return f"{abs(n - before):,} {'more' if n > before else 'fewer'}"
