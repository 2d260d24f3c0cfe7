"""StatefulSets that create their pods one after another: the podManagementPolicy OrderedReady, which is the default.

Rule: kube-controller-manager v1.36: a pod is created, or replaced, once the pods of all lower numbers are ready. Here a
pod counts as ready as soon as it has a node.
"""

from collections.abc import Callable, Iterable, Sequence, Set

import msgspec

from kubesched.admission import ordinal_of
from kubesched.api import KubeObject, Pod, StatefulSet, Workload, workloads
from kubesched.planning.runs import has_place
from kubesched.simulator import Placement, PodState, Report

__all__ = ["Simulate", "awaited", "simulated_in_order"]

Simulate = Callable[[Sequence[KubeObject]], Report]
"""Simulates a cluster."""


def awaited(pods: Iterable[Pod], runs: Callable[[Pod], bool]) -> Pod | None:
    """The pod of a StatefulSet that its controller waits for before it goes on: the first without a node."""
    return min((pod for pod in pods if not runs(pod)), key=ordinal_of, default=None)


def simulated_in_order(objects: Sequence[KubeObject], new: Set[str], simulate: Simulate) -> Report:
    """Simulate a cluster without the pods that their controllers do not create, which are reported as not tried.

    Args:
        new: `namespace/name` of the pending pods that do not exist yet.
    """
    waiting: dict[str, str] = {}  # the pods that are not created -> the pod that they wait for
    while True:
        created = [one for one in objects if not (isinstance(one, Pod) and one.key in waiting)]
        report = simulate(created)
        more = _not_created(created, new - waiting.keys(), report)
        if not more:
            break
        waiting |= more
    known = {one.pod: one for one in report.placements}
    left_out = tuple(_left_out(key, first, known.get(first)) for key, first in waiting.items())
    return msgspec.structs.replace(report, placements=report.placements + left_out)


def _not_created(objects: Sequence[KubeObject], new: Set[str], report: Report) -> dict[str, str]:
    """The new pods that their StatefulSets do not create, with the pod that each waits for."""
    parallel = {one.key for one in objects if isinstance(one, StatefulSet) and one.is_parallel}
    placed = {one.pod for one in report.placements if has_place(one)}
    found: dict[str, str] = {}
    for workload, pods in workloads(objects).items():
        if not _is_ordered(workload, parallel) or not any(pod.key in new for pod in pods):
            continue
        first = awaited(pods, lambda pod: bool(pod.node_name) or pod.key in placed)
        if first is not None:
            later = (pod for pod in pods if pod.key in new and ordinal_of(pod) > ordinal_of(first))
            found |= {pod.key: first.key for pod in later}
    return found


def _is_ordered(workload: Workload, parallel: Set[str]) -> bool:
    return workload.kind == "StatefulSet" and f"{workload.namespace}/{workload.name}" not in parallel


def _left_out(pod: str, first: str, like: Placement | None) -> Placement:
    """A pod that is not created.

    Args:
        first: the pod that it waits for.
        like: the placement of that one, which has the same profile and owner.
    """
    message = f"its StatefulSet would not create it before {first} is ready (podManagementPolicy OrderedReady)"
    profile, owner = (like.profile, like.owner) if like is not None else ("", "")
    return Placement(pod, profile, PodState.NOT_TRIED, message=message, owner=owner)
