"""Places the pending pods of a cluster, and what controllers create for the pods that preemption evicts for them."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kubesched.api import Job, KubeObject, Pod, kind_of
from kubesched.controllers import Controllers, Successor, job_of, replacement_of, successor_of, with_failures
from kubesched.session import Placement, Progress, Session, Victim


class Settled(NamedTuple):
    """What happened until no pod was evicted any more.

    Attributes:
        placements: the last outcome of each pod, by `namespace/name`: of pending pods, and of new ones for victims.
        evicted: the victims, as they were, in order.
        victims: the same, for reports.
        successors: of each victim: whether a new pod was created.
        faults: why pods ended in an error, each text once.
    """

    placements: dict[str, Placement]
    evicted: list[Pod]
    victims: list[Victim]
    successors: dict[str, Successor]
    faults: dict[str, None]


def settle(session: Session, known: Controllers, progress: Progress | None = None) -> Settled:
    """Schedule until no pod is evicted; a victim has a lower priority than its preemptor, so that comes to an end.

    Args:
        known: the controllers of the cluster.
    """
    settled = Settled({}, [], [], {}, {})
    while True:
        report = session.schedule(progress)
        settled.placements.update((one.pod, one) for one in report.placements)
        settled.faults.update(dict.fromkeys(report.faults))
        settled.victims.extend(report.victims)
        gone = [action.pod for action in session.cluster.evicted]
        settled.evicted.extend(gone)
        if not _replaced(session, known, gone, settled.successors):
            return settled


def _replaced(session: Session, known: Controllers, gone: Sequence[Pod], successors: dict[str, Successor]) -> bool:
    """Have controllers create new pods for victims. Returns: whether they create one."""
    n_of_job = Counter(filter(None, map(job_of, gone)))
    made: list[KubeObject] = []
    lost: list[KubeObject] = []
    for pod in gone:
        n = n_of_job[job_of(pod)] or 1
        successors[pod.key] = successor_of(pod, session.get, n, known)
        new, old = replacement_of(pod, session.get, n, known)
        made += new
        lost += (one for one in old if session.get(kind_of(one), one.key) is not None)
    like = {job_of(pod): pod for pod in gone}
    jobs = [(job, key) for key in n_of_job if isinstance(job := session.get("Job", key), Job)]
    session.change(made, lost)
    session.change(with_failures(job, like[key], n_of_job[key]) for job, key in jobs)
    return bool(made)
