"""Places the pending pods of a cluster, and what controllers create for the pods that preemption evicts for them."""

from collections.abc import Sequence
from typing import NamedTuple

from kubesched.api import Pod, kind_of
from kubesched.controllers import Controllers, LeavingPods, Successor
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
    leaving = LeavingPods(gone, session.get, known)
    successors.update((pod.key, leaving.successor(pod)) for pod in gone)
    replacements = [leaving.replacement(pod) for pod in gone]
    made = [new for created, _ in replacements for new in created]
    lost = [old for _, others in replacements for old in others if session.get(kind_of(old), old.key) is not None]
    jobs = list(leaving.jobs())
    session.change(made, lost)
    session.change(jobs)
    return bool(made)
