"""Finds the plugin behind each pod that the second configuration places elsewhere.

A run of the second configuration is watched: when it decides on a pod, the node that the first configuration chose is
looked up among the verdicts and the scores.
"""

import enum
from collections.abc import Iterable, Mapping
from functools import partial

import msgspec

from kubesched.api import Pod
from kubesched.framework import ColumnCache, CycleState, FilterResult, Framework, Profile, Scores, Services, WhatIf
from kubesched.simulator import Placement
from kubesched.state import ClusterState, Nodes

__all__ = ["Cause", "Move", "MoveWatch"]


class Cause(enum.Enum):
    """Why a pod is not on the node that the first configuration chose."""

    SCORE = "score"
    """The new node has more points."""
    FILTER = "filter"
    """That node does not fit at this time: often other pods are there now."""
    TIE = "tie"
    """Both nodes have the same points."""


class Move(msgspec.Struct, frozen=True, rename="camel"):
    """A pod that is on another node.

    Attributes:
        pod: `namespace/name`.
        a, b: the nodes that the two configurations choose.
        cause: why the second configuration does not choose `a`.
        plugin: for SCORE the one with the largest difference in points between the two nodes, by the second
            configuration; for FILTER the one that rejects `a`, empty where PreFilter left it out; for TIE empty.
        points: for SCORE, by how many points this plugin prefers `b`.
    """

    pod: str
    a: str
    b: str
    cause: Cause
    plugin: str = ""
    points: int = 0


class MoveWatch:
    """Watches the run of the second configuration; its `framework` is an argument of Simulator.

    Args:
        nodes: pod, by `namespace/name` -> the node that the first configuration chose.
    """

    def __init__(self, nodes: Mapping[str, str]) -> None:
        self._nodes = nodes
        self._rejected: dict[str, str] = {}  # pod -> the plugin that rejects that node
        self._scores: dict[str, dict[str, int]] = {}  # pod -> the points of that node

    def framework(
        self, profile: Profile, cache: ColumnCache, cluster_state: ClusterState, services: Services
    ) -> Framework:
        """Make the framework of a profile, as the class Framework does."""
        return _WatchedFramework(profile, cache, cluster_state, services, self)

    def on_filter(self, pod: Pod, result: FilterResult) -> None:
        """Note whether the filters reject the node. A table that does not have the node changes nothing."""
        node = self._nodes.get(pod.key)
        position = None if node is None else result.nodes.position_of(node)
        if position is not None:
            self._rejected.pop(pod.key, None)
            if not result.fits[position]:
                self._rejected[pod.key] = result.statuses()[position].plugin

    def on_score(self, pod: Pod, scores: Scores) -> None:
        """Note the points of the node, if it is feasible."""
        node = self._nodes.get(pod.key)
        position = None if node is None else scores.nodes.position_of(node)
        if position is not None:
            self._scores[pod.key] = scores.at(position)

    def moves(self, placements: Iterable[Placement]) -> list[Move]:
        """The pods that are placed on another node, in the order of the placements.

        Args:
            placements: of the run that was watched.
        """
        return [
            self._move(one, self._nodes[one.pod])
            for one in placements
            if one.pod in self._nodes and one.node not in ("", self._nodes[one.pod]) and not one.evicted_by
        ]

    def _move(self, placement: Placement, node: str) -> Move:
        move = partial(Move, placement.pod, node, placement.node)
        scores = self._scores.get(placement.pod)
        if placement.pod in self._rejected or scores is None or not placement.scores:
            return move(Cause.FILTER, self._rejected.get(placement.pod, ""))
        leads = {name: points - scores.get(name, 0) for name, points in placement.scores.items()}
        if not sum(leads.values()):
            return move(Cause.TIE)
        plugin = max(leads, key=lambda name: leads[name])
        return move(Cause.SCORE, plugin, leads[plugin])


class _WatchedFramework(Framework):
    """Reports filter results and scores to a MoveWatch."""

    def __init__(
        self,
        profile: Profile,
        cache: ColumnCache,
        cluster_state: ClusterState,
        services: Services,
        watch: MoveWatch,
    ) -> None:
        self._watch = watch
        super().__init__(profile, cache, cluster_state, services)

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

    def what_if(self, state: CycleState, pod: Pod, nodes: Nodes) -> WhatIf:
        """As Framework, and not watched: what-if questions are about a changed cluster."""
        return WhatIf(super().run_filter_with_nominated, self._pods_moved, state, pod, nodes)
