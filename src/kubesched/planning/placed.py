"""Which pods have a node at the end of a run."""

from collections.abc import Iterable

from kubesched.api import KubeObject, Pod, is_extended_resource
from kubesched.session import Placement, PodState, Report
from kubesched.state import PodRequests


def has_place(placement: Placement) -> bool:
    """Whether a pod has a node at the end of a run."""
    return placement.state is PodState.SCHEDULED and not placement.evicted_by


def placements_of(new: Iterable[KubeObject], report: Report) -> tuple[Placement, ...]:
    """The placements of the pods among new objects, in their order."""
    by_pod = {placement.pod: placement for placement in report.placements}
    return tuple(by_pod[one.key] for one in new if isinstance(one, Pod) and one.key in by_pod)


def rivals(waiting: Iterable[Pod], new: Iterable[KubeObject]) -> list[str]:
    """`namespace/name` of the pods that wait already for devices which new pods request, too: one fix may help either.

    Args:
        waiting: all pods without a node.
    """
    pods = [one for one in new if isinstance(one, Pod)]
    own, wanted = {pod.key for pod in pods}, {name for pod in pods for name in _devices(pod)}
    return [pod.key for pod in waiting if wanted and pod.key not in own and wanted.intersection(_devices(pod))]


def has_devices(pod: Pod) -> bool:
    """Whether a pod asks for extended resources."""
    return bool(_devices(pod))


def _devices(pod: Pod) -> list[str]:
    return [name for name, n in PodRequests(pod).wanted.items() if n and is_extended_resource(name)]
