"""Plugins that read labels and allocatable amounts over columns, for tests that run them in two ways."""

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from kubesched import (
    CPU,
    MEMORY,
    CycleState,
    DependsOn,
    IntVector,
    Nodes,
    Plugin,
    Pod,
    Status,
    default_normalize,
)

RANK = "example.com/rank"
RICHNESS = "example.com/gib-per-core"


class RankedNodes(Plugin):
    """Nodes of the rank that a pod asks for, or a higher one, with enough memory for each core; better a close rank."""

    depends_on = DependsOn.NODE
    reasons = (
        Status.unresolvable("node(s) had no rank"),
        Status.unresolvable("node(s) had too low a rank"),
        Status.unresolvable("node(s) had too little memory for each core"),
    )

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> npt.NDArray[np.int8]:
        rank, richness = _wanted(pod)
        ranks = _ranks(nodes)
        poor = nodes.allocatable[MEMORY] * 1000 < nodes.allocatable[CPU] * (richness << 30)
        return np.select([ranks < 0, ranks < rank, poor], [1, 2, 3], 0).astype(np.int8)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        return _wanted(pod)

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        return 12 - (_ranks(nodes) - _wanted(pod)[0])

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return _wanted(pod)

    def normalize_score(self, state: CycleState, pod: Pod, scores: IntVector) -> IntVector:
        return default_normalize(scores)


class LargeNodes(Plugin):
    """The more cores a node has, the better."""

    depends_on = DependsOn.NODE

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        scores: IntVector = np.minimum(nodes.allocatable[CPU] // 331, 100)
        return scores

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        return None


def _wanted(pod: Pod) -> tuple[int, int]:
    return int(pod.labels.get(RANK, "0")), int(pod.labels.get(RICHNESS, "0"))


def _ranks(nodes: Nodes) -> IntVector:
    """(nodes,) int64: each node's rank; -1 where it has none."""
    values = nodes.label(RANK).values.values
    ranks: IntVector = np.array([-1 if value is None else int(value) for value in values], dtype=np.int64)
    return ranks[nodes.codes(RANK)]
