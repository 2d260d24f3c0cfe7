"""Taints that part of a pool has: a script that did not end left them behind."""

from collections import Counter
from collections.abc import Sequence

from kubesched.api import Taint
from kubesched.controllers import is_bound_to_node
from kubesched.documents import count, joined, plural
from kubesched.explanation.remedies.case import Case


def left_behind(case: Case, taints: Sequence[Taint], names: Sequence[str]) -> str:
    """Which part of their pools some nodes are, if the other nodes of each lack all of these taints; else empty.

    A taint that a pod on some node names among its tolerations is there on purpose.
    """
    pools = case.pools
    if not all(pools[name] for name in names) or _are_tolerated(case, taints):
        return ""
    every, having = Counter(pools.values()), Counter(pools[name] for name in names)
    concerned = [node.node for node in case.nodes if having[pools[node.name]]]
    for taint in taints:
        n_with = Counter(pools[node.name] for node in concerned if taint in node.taints)
        if any(n == every[pool] for pool, n in n_with.items()):
            return ""
    parts = [f"{n} of {count(every[pool], 'node')} of {pool}" for pool, n in having.items()]
    return f"{joined(parts)} {plural(having.total(), 'has', 'have')} it, the others do not"


def _are_tolerated(case: Case, taints: Sequence[Taint]) -> bool:
    keys = {taint.key for taint in taints}
    placed = (info.pod for info in case.placed.pods)
    return any(one.key in keys for pod in placed if not is_bound_to_node(pod) for one in pod.tolerations)
