"""The remedy of a pod that is moved to another node, so that there is room for the pending one."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

import numpy as np

from kubesched.api import Pod
from kubesched.controllers import CORDON, successor_of
from kubesched.engine import BoolVector
from kubesched.explanation.remedies.case import Case, Remedy, harm, off_node
from kubesched.plugins import untolerated_taints
from kubesched.state import PodInfo

_MAX_NODES: Final = 20
_MAX_PODS: Final = 20


def room(case: Case, where: BoolVector) -> Iterator[Remedy]:
    """Move a pod off one of the nearest nodes of `where`: the smallest of those that free enough and lose least.

    Pods of a higher priority come after all others.

    A pod may go if a controller creates it again elsewhere, and if no disruption budget prevents its eviction.
    """
    names, missing = case.missing
    positions = np.flatnonzero(where)
    nearest = positions[np.argsort(case.shortage[positions], kind="stable")][:_MAX_NODES]
    enough: list[tuple[float, PodInfo]] = []
    for position in nearest.tolist():
        short = {name: amount for name, amount in zip(names, missing[:, position].tolist(), strict=True) if amount}
        for info in case.nodes.pods(position):
            held = {**info.requests.value.held, "pods": 1}
            if short and all(held.get(name, 0) >= amount for name, amount in short.items()):
                enough.append((sum(held[name] / amount for name, amount in short.items()), info))
    enough.sort(key=lambda one: (bool(case.higher([one[1]])), harm(one[1].pod), one[0]))
    kept = (info for _, info in enough if comes_back(info.pod, case))
    moves = (off_node(case, info, "movePod", stays(info.pod), needs_places=True, ladder="room") for info in kept)
    yield from islice(chain.from_iterable(moves), _MAX_PODS)


def comes_back(pod: Pod, case: Case) -> bool:
    """Whether a controller creates a pod again that leaves its node."""
    return successor_of(pod, case.object_of).is_made is True


def stays(pod: Pod) -> str:
    """That the pod may come back to its node; empty where a cordon keeps it off."""
    if untolerated_taints([CORDON], pod.tolerations):
        return ""
    tolerated = "every taint" if any(not one.key for one in pod.tolerations) else "a cordon"
    return f" (it tolerates {tolerated}: first narrow its tolerations or set a node selector, or it may come back)"
