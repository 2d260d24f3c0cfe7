"""Which pods have a node at the end of a run."""

from collections.abc import Iterable

from kubesched.api import KubeObject, Pod
from kubesched.session import Placement, PodState, Report


def has_place(placement: Placement) -> bool:
    """Whether a pod has a node at the end of a run."""
    return placement.state is PodState.SCHEDULED and not placement.evicted_by


def placements_of(new: Iterable[KubeObject], report: Report) -> tuple[Placement, ...]:
    """The placements of the pods among new objects, in their order."""
    by_pod = {placement.pod: placement for placement in report.placements}
    return tuple(by_pod[one.key] for one in new if isinstance(one, Pod) and one.key in by_pod)
