"""Taints that were left behind: part of a pool has them, by a script that did not end, or they are of a scale-down."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kubesched.api import Node, Taint
from kubesched.controllers import is_bound_to_node
from kubesched.documents import count, joined, plural
from kubesched.explanation.remedies.case import Case
from kubesched.explanation.snapshot_time import age_words

_OF_SCALE_DOWN: Final = ("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
_FAILED_AFTER: Final = 3600  # seconds


def left_behind(case: Case, taints: Sequence[Taint], names: Sequence[str]) -> str:
    """Which part of their pools some nodes are, if no other node there keeps pods away; else empty.

    A taint that a pod on some node names among its tolerations is there on purpose.
    """
    pools = case.pools
    if not all(pools[name] for name in names) or _are_tolerated(case, taints):
        return ""
    every, having = Counter(pools.values()), Counter(pools[name] for name in names)
    others = [node.node for node in case.nodes if having[pools[node.name]] and node.name not in set(names)]
    if any(every[pool] == n for pool, n in having.items()) or any(map(_keeps_away, others)):
        return ""
    parts = [f"{n} of {count(every[pool], 'node')} of {pool}" for pool, n in having.items()]
    return f"{joined(parts)} {plural(having.total(), 'has', 'have')} it, the others have no taint"


def _keeps_away(node: Node) -> bool:
    return any(taint.effect in ("NoSchedule", "NoExecute") for taint in node.taints)


def stale_for(case: Case, taints: Sequence[Taint], names: Sequence[str]) -> str:
    """How old the newest of some taints of a scale-down is, on nodes that are ready; empty where it may still go on.

    Rule: cluster-autoscaler 1.3x: the value is the time in seconds since 1970, and a node is deleted within minutes.
    """
    if not all(taint.key in _OF_SCALE_DOWN and (taint.value or "").isdecimal() for taint in taints):
        return ""
    nodes = [case.nodes[position].node for name in names if (position := case.nodes.position_of(name)) is not None]
    age = case.now - max(int(taint.value or 0) for taint in taints)
    return age_words(age) if age > _FAILED_AFTER and all(map(_is_ready, nodes)) else ""


def _is_ready(node: Node) -> bool:
    return all(one.status == "True" for one in node.status.conditions or () if one.type == "Ready")


def _are_tolerated(case: Case, taints: Sequence[Taint]) -> bool:
    keys = {taint.key for taint in taints}
    placed = (info.pod for info in case.placed.pods)
    return any(one.key in keys for pod in placed if not is_bound_to_node(pod) for one in pod.tolerations)
