"""Finds the plugin behind each pod that the second configuration places elsewhere.

A run of each configuration is watched: when it decides on a pod, the node that the other configuration chooses is
looked up among the verdicts and the scores.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import msgspec

from kubesched.framework import FilterResult, FrameworkStep, PreFiltered, Probe, Profile, Scores
from kubesched.session import Placement, Report, workload_text


class MoveCause(enum.Enum):
    """Why a pod is not on the node that the first configuration chose."""

    SCORE = "score"
    """Both nodes fit with both configurations, and a plugin scores them differently."""
    FILTER = "filter"
    """With the second configuration that node does not fit at this time: often other pods are there now."""
    OPENED = "opened"
    """With the first configuration the new node does not fit; with the second one it does."""
    TIE = "tie"
    """Both nodes have the same points."""


class PodMove(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that is on another node. Replicas that swap their nodes, as in `number_replicas`, have not moved.

    Attributes:
        pod: `namespace/name`.
        workload: `Kind namespace/name`, or the pod itself.
        a: the node that the first configuration chooses for it, or for a replica that moved if it took the node of
            another one.
        b: the node that the second configuration chooses.
        cause: why the second configuration does not choose `a`.
        plugin: for SCORE the one whose scores change most in favour of `b`; for FILTER the one that rejects `a` with
            the second configuration, for OPENED the one that rejects `b` with the first one; for TIE empty, and for
            FILTER where the node was not looked at.
        points: for SCORE, by how many points more than with the first configuration this plugin prefers `b` to `a`.
    """

    pod: str
    a: str
    b: str
    cause: MoveCause
    plugin: str = ""
    points: int = 0
    workload: str = ""


class NodeWatch(Probe):
    """Looks up nodes in the runs of a session.

    Attributes:
        rejected: pod -> the plugin whose PreFilter leaves its node out, or whose filter rejects it.
        scores: pod -> the points of its node; without pods whose node was not scored.
        filters: the Filter plugins of all profiles.
    """

    def __init__(self) -> None:
        self._nodes: Mapping[str, str] = {}
        self.rejected: dict[str, str] = {}
        self.scores: dict[str, dict[str, int]] = {}
        self.filters: set[str] = set()

    def look_up(self, nodes: Mapping[str, str]) -> None:
        """Watch from now on.

        Args:
            nodes: pod, by `namespace/name` -> the node that is looked up when the run decides on it.
        """
        self._nodes = nodes

    def watch(self, profile: Profile) -> None:
        """Note its Filter plugins."""
        self.filters.update(plugin.name for plugin in profile.points["filter"])

    def ended(self, step: FrameworkStep) -> None:
        """Note what the step makes of the pod's node."""
        pod = step.pod.key
        node, answer = self._nodes.get(pod), step.answer
        if node is None:
            return
        if isinstance(answer, PreFiltered):
            self.rejected.pop(pod, None)
            if answer.node_names is not None and node not in answer.node_names:
                self.rejected[pod] = answer.narrowed_by[-1]
        elif isinstance(answer, FilterResult):
            self._note_verdict(pod, node, answer)
        elif isinstance(answer, Scores):
            position = answer.nodes.position_of(node)
            if position is not None:  # the node is feasible
                self.scores[pod] = answer.at(position)

    def _note_verdict(self, pod: str, node: str, result: FilterResult) -> None:
        """Note whether the filters reject the node. A table that does not have the node changes nothing."""
        position = result.nodes.position_of(node)
        if position is not None:
            self.rejected.pop(pod, None)
            if not result.fits[position]:
                self.rejected[pod] = result.statuses()[position].plugin


def find_moves(
    of_a: Report, of_b: Report, by_a: NodeWatch, by_b: NodeWatch, pairs: Iterable[tuple[str, str]]
) -> Iterator[PodMove]:
    """The pods that B places on another node than A, in the order of B's placements.

    Args:
        of_a, of_b: the runs that were watched.
        by_a: has looked up B's nodes in A's run.
        by_b: has looked up A's nodes in B's run.
        pairs: as from `find_moved`: a pod of A, and the pod of B that is elsewhere instead of it.
    """
    in_a = {one.pod: one for one in of_a.placements}
    a_of = {b: a for a, b in pairs}
    for placement in of_b.placements:
        if placement.pod in a_of:
            yield _move(in_a[a_of[placement.pod]], placement, by_a, by_b)


def _move(a: Placement, b: Placement, by_a: NodeWatch, by_b: NodeWatch) -> PodMove:
    move = partial(PodMove, b.pod, a.node, b.node, workload=workload_text(b.pod, b.owner))
    closed, opened = by_b.rejected.get(b.pod), by_a.rejected.get(a.pod)
    is_new = opened is not None and opened not in by_b.filters
    if closed is not None and not is_new:
        return move(MoveCause.FILTER, closed)
    if opened is not None:
        return move(MoveCause.OPENED, opened)
    b_by_a, a_by_b = by_a.scores.get(a.pod), by_b.scores.get(b.pod)
    if b_by_a is None or a_by_b is None or not a.scores or not b.scores:
        return move(MoveCause.FILTER)
    changes = {
        name: _difference(b.scores, a_by_b, name) - _difference(b_by_a, a.scores, name) for name in (*b.scores, *b_by_a)
    }
    plugin = max(changes, key=lambda name: changes[name])
    return move(MoveCause.SCORE, plugin, changes[plugin]) if changes[plugin] > 0 else move(MoveCause.TIE)


def _difference(scores: Mapping[str, int], others: Mapping[str, int], plugin: str) -> int:
    """By how many points a plugin prefers one node to another."""
    return scores.get(plugin, 0) - others.get(plugin, 0)
