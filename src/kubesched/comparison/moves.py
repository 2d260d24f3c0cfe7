"""Finds the plugin behind each pod that the second configuration places elsewhere.

A run of each configuration is watched: when it decides on a pod, the node that the other configuration chooses is
looked up among the verdicts and the scores.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import msgspec

from kubesched.api import Pod
from kubesched.framework import (
    ColumnCache,
    CycleState,
    FilterResult,
    Framework,
    MovedPods,
    PreFiltered,
    Profile,
    Scores,
    Services,
)
from kubesched.session import Placement, Report
from kubesched.state import ClusterState, Nodes


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


class NodeWatch:
    """Watches runs of a session; its `framework` is an argument of it.

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

    def framework(
        self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services
    ) -> Framework:
        """Make the framework of a profile, as the class Framework does."""
        self.filters.update(plugin.name for plugin in profile.points["filter"])
        return _WatchedFramework(profile, cache, cluster_state, services, self)

    def on_pre_filter(self, pod: Pod, result: PreFiltered) -> None:
        """Note whether PreFilter leaves out the node."""
        node = self._nodes.get(pod.key)
        if node is not None:
            self.rejected.pop(pod.key, None)
            if result.node_names is not None and node not in result.node_names:
                self.rejected[pod.key] = result.narrowed_by[-1]

    def on_filter(self, pod: Pod, result: FilterResult) -> None:
        """Note whether the filters reject the node. A table that does not have the node changes nothing."""
        node = self._nodes.get(pod.key)
        position = None if node is None else result.nodes.position_of(node)
        if position is not None:
            self.rejected.pop(pod.key, None)
            if not result.fits[position]:
                self.rejected[pod.key] = result.statuses()[position].plugin

    def on_score(self, pod: Pod, scores: Scores) -> None:
        """Note the points of the node, if it is feasible."""
        node = self._nodes.get(pod.key)
        position = None if node is None else scores.nodes.position_of(node)
        if position is not None:
            self.scores[pod.key] = scores.at(position)


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
    move = partial(PodMove, b.pod, a.node, b.node)
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


class _WatchedFramework(Framework):
    """Reports filter results and scores to a NodeWatch."""

    def __init__(
        self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services, watch: NodeWatch
    ) -> None:
        self._watch = watch
        super().__init__(profile, cache, cluster_state, services)

    def run_pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> PreFiltered:
        """As Framework, and watched."""
        result = super().run_pre_filter(state, pod, nodes)
        self._watch.on_pre_filter(pod, result)
        return result

    def run_filter_with_nominated(
        self, state: CycleState, pod: Pod, nodes: Nodes, *, is_whole: bool = False
    ) -> FilterResult:
        """As Framework, and watched."""
        result = super().run_filter_with_nominated(state, pod, nodes, is_whole=is_whole)
        self._watch.on_filter(pod, result)
        return result

    def run_score(self, state: CycleState, pod: Pod, result: FilterResult, *, is_whole: bool) -> Scores:
        """As Framework, and watched."""
        scores = super().run_score(state, pod, result, is_whole=is_whole)
        self._watch.on_score(pod, scores)
        return scores

    def what_if(self, state: CycleState, pod: Pod, nodes: Nodes) -> MovedPods:
        """As Framework, and not watched: what-if questions are about a changed cluster."""
        return MovedPods(super().run_filter_with_nominated, self._pods_moved, state, pod, nodes)
