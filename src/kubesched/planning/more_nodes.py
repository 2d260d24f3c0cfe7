"""How many nodes of a shape are missing for pods to fit: the fewest that a search finds."""

from collections.abc import Sequence
from typing import NamedTuple

from kubesched.api import KubeObject, Node
from kubesched.planning.changes import with_nodes_like
from kubesched.planning.runs import Runs, has_place, placements_of
from kubesched.simulator import Placement, Progress, Report

__all__ = ["MoreNodes", "fewest_nodes"]


class MoreNodes(NamedTuple):
    """The fewest new nodes that a search found.

    Attributes:
        n: how many; with one less, some pod has no node. None if no number helps.
        cluster: the objects with the new nodes, and without the pods; with none where no number helps.
        report: of the simulation of that cluster with the pods.
        n_without: how many of the pods have a node without new nodes.
        next_left: the first pod without a node on as many new nodes as pods are left; None if they all have one.
    """

    n: int | None
    cluster: list[KubeObject]
    report: Report
    n_without: int
    next_left: Placement | None


def fewest_nodes(
    cluster: Sequence[KubeObject], new: Sequence[KubeObject], model: Node, runs: Runs, progress: Progress | None = None
) -> MoreNodes:
    """Search the fewest nodes that have to be added. As many nodes as pods are left are the upper limit.

    Args:
        new: the pods in question, and the objects that come with them.
        model: the shape of a new node.
    """

    def run(n: int) -> tuple[list[KubeObject], Report, tuple[Placement, ...]]:
        changed = with_nodes_like(cluster, model, n)
        report = runs.run([*changed, *new], progress).report
        return changed, report, tuple(one for one in placements_of(new, report) if not has_place(one))

    none_added, report, left = run(0)
    n_without = len(placements_of(new, report)) - len(left)
    if not left:
        return MoreNodes(0, none_added, report, n_without, None)
    too_few, enough = 0, len(left)
    changed, best, left_at_most = run(enough)
    if left_at_most:
        return MoreNodes(None, none_added, report, n_without, left_at_most[0])
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        tried, report, left = run(middle)
        if left:
            too_few = middle
        else:
            enough, changed, best = middle, tried, report
    return MoreNodes(enough, changed, best, n_without, None)
