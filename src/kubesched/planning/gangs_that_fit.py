"""Gangs of new pods: those that are to run at once, all of them or none."""

from collections.abc import Collection, Iterable, Sequence

from kubesched.api import KubeObject, Pod
from kubesched.explanation import gang_fits
from kubesched.planning.placed import has_place
from kubesched.session import GangFit, Report


def gangs_that_fit(cluster: Iterable[KubeObject], new: Sequence[KubeObject], report: Report) -> tuple[GangFit, ...]:
    """What becomes of the gangs that have some of the new pods.

    Args:
        cluster: without the new objects, and without pods that they replace.
    """
    pods = [one for one in new if isinstance(one, Pod)]
    return gang_fits([*cluster, *new], pods, _placed(report), _left(report), jobs_among=pods)


def gangs_of_run(
    objects: Iterable[KubeObject], report: Report, keys: Collection[str] | None = None
) -> tuple[GangFit, ...]:
    """What becomes of the gangs that have pending pods, which a run has tried; not of those of other schedulers.

    Args:
        objects: of the cluster before the run.
        keys: `namespace/name` of the pods that are meant; None for all.
    """
    every, own = list(objects), (one.pod for one in report.placements if not one.is_foreign)
    tried = {pod for pod in own if keys is None or pod in keys}
    pending = [one for one in every if isinstance(one, Pod) and one.key in tried]
    return gang_fits(every, pending, _placed(report), _left(report))


def _placed(report: Report) -> set[str]:
    return {one.pod for one in report.placements if has_place(one)}


def _left(report: Report) -> set[str]:
    """The pods that have no node in the end."""
    return {one.pod for one in report.placements if not has_place(one)} | {one.pod for one in report.victims}
