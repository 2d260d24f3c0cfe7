"""What a full simulation makes of one pod, when the other pending pods are tried before it."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from kubesched.explanation import Explanation
    from kubesched.session import GangFit, Placement, Session
    from kubesched.snapshot import ClusterObjects

_CHEAP: Final = 100_000  # pending pods x nodes: well below a second with kube-scheduler's plugins


class QueuePlace(NamedTuple):
    """The place of a pod in a simulation.

    Attributes:
        n_before: how many pods are tried before it.
        gang: the pods with which it is to run at once, and how many of them have a node in the end; None for none.
    """

    placement: "Placement"
    n_before: int
    gang: "GangFit | None" = None

    def sentence(self, explanation: "Explanation") -> str:
        """What the simulation adds to the answer for the pod alone; empty if that is nothing."""
        placement, chosen = self.placement, explanation.choice
        alone = chosen.best.node if chosen is not None and explanation.turned_down is None else ""
        if not self.n_before and placement.node == alone:
            return ""
        pods = {0: "no pod is", 1: "1 pod is"}.get(self.n_before, f"{self.n_before} pods are")
        return f"Taken alone. In a full simulation {pods} tried before it, and {self._outcome(alone)}."

    def document(self, explanation: "Explanation") -> dict[str, Any]:
        """The same in JSON."""
        placement = self.placement
        said = {
            "node": placement.node,
            "victims": list(placement.victims),
            "evictedBy": placement.evicted_by,
            "text": self.sentence(explanation),
        }
        return {"nBefore": self.n_before, **{name: value for name, value in said.items() if value}}

    def _outcome(self, alone: str) -> str:
        placement = self.placement
        after = f" after evicting {', '.join(placement.victims)}" if placement.victims else ""
        if placement.evicted_by:
            return f"it would go to {placement.node} and be evicted for {placement.evicted_by}"
        if not placement.node:
            why = placement.diagnosis or _first(placement.message)
            return f"it would fit nowhere: {why}" if alone else "it would also fit nowhere"
        same = "it would go to the same node" if placement.node == alone else f"it would go to {placement.node}"
        return same + after


def is_cheap(cluster: "ClusterObjects") -> bool:
    """Whether a simulation with kube-scheduler's plugins takes little time."""
    from kubesched.api import Node, Pod

    n_pending = sum(not pod.node_name and not pod.is_finished for pod in cluster.of(Pod))
    return n_pending * len(cluster.of(Node)) <= _CHEAP


def queue_place(session: "Session", pod: str) -> QueuePlace | None:
    """Simulate the queue and find a pod in it; None for one that is not tried. The session stays as it was.

    Args:
        pod: `namespace/name`.
    """
    from kubesched.explanation import with_reasons
    from kubesched.planning import gangs_of_run
    from kubesched.session import PodState

    n_before, objects = 0, list(session.objects_now())
    with session.fork():
        report = with_reasons(session, session.schedule(), only=[pod])
    for placement in report.placements:
        if placement.pod == pod:
            is_told = placement.state not in (PodState.NOT_TRIED, PodState.NOT_DECIDED)
            gang = next(iter(gangs_of_run(objects, report, [pod])), None)
            return QueuePlace(placement, n_before, gang) if is_told else None
        n_before += bool(placement.profile) and placement.state is not PodState.NOT_TRIED  # without: a kubelet's
    return None


def _first(message: str) -> str:
    """kube-scheduler's message without what PostFilter plugins add, and without its full stop."""
    return message.partition(". ")[0].rstrip(".")
