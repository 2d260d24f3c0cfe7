"""Lists the obstacles on one node: which plugins reject it, and the cause behind each reason."""

from collections import Counter
from collections.abc import Collection
from typing import Final

import msgspec

from kubesched.explanation.explanation import Explanation
from kubesched.explanation.remedies import is_cordon_alone
from kubesched.framework import Status

NO_REASON: Final = "rejected without a reason"


class Obstacle(msgspec.Struct, frozen=True):
    """One plugin's objection to one node.

    Attributes:
        plugin: the plugin that rejects.
        status: its rejection.
        details: a phrase for each cause; empty where the reasons are complete.
        is_cordon: whether it is the taint of a cordon alone, which NodeUnschedulable reports too.
    """

    plugin: str
    status: Status
    details: tuple[str, ...] = ()
    is_cordon: bool = False

    @property
    def text(self) -> str:
        """The details, or the plugin's words where there are none; NO_REASON where it has no words either."""
        if self.status.place:
            return self.status.located
        return "; ".join(self.details or sorted(reasons_of(self.status)))


def reasons_of(status: Status) -> tuple[str, ...]:
    """The reasons of a rejection, empty ones left out; NO_REASON where there is none."""
    return tuple(reason for reason in status.reasons if reason.strip()) or (NO_REASON,)


def obstacles(explanation: Explanation, position: int, plugins: Collection[str] = ()) -> list[Obstacle]:
    """Everything that keeps the pod from a node, in the order in which filters run; empty for a node that fits.

    Args:
        plugins: those that are known to reject the node; without them, all are asked.

    Example:
        explanation = explain(load_snapshot("cluster.json"), make_pod("big", requests={"cpu": "64"}))
        assert [obstacle.plugin for obstacle in obstacles(explanation, 0)] == ["NodeResourcesFit"]
    """
    node, pod = explanation.nodes.node(position), explanation.pod
    return [
        Obstacle(name, status, said.details(position), name == "TaintToleration" and is_cordon_alone(node, pod))
        for name, said in ((name, explanation.by_plugin[name]) for name in plugins or explanation.by_plugin)
        if not (status := said.status_of(position)).is_success
    ]


def reason_counts(explanation: Explanation) -> list[tuple[str, int]]:
    """Each reason of the whole profile with its number of nodes, most nodes first; a node without a reason counts."""
    diagnosis = explanation.diagnosis
    counted = diagnosis.counts()
    n_left_out = diagnosis.n_all_nodes - sum(n for _, n in counted) - len(explanation.feasible)
    counts: Counter[str] = Counter()
    for status, n in (*counted, (diagnosis.absent, n_left_out)):
        for reason in reasons_of(status) if n else ():
            counts[reason] += n
    return counts.most_common()
