"""Gangs of new pods: those that are to run at once, all of them or none."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kubesched.api import KubeObject, Pod
from kubesched.documents import count
from kubesched.explanation import gangs_of
from kubesched.planning.placed import has_place
from kubesched.session import Report


class GangFit(msgspec.Struct, frozen=True):
    """What becomes of a gang.

    Attributes:
        gang: `namespace/name` of the group or of the Job.
        is_job: whether it is a Job with several pods at once, which kube-scheduler starts one by one.
        needs: how many pods it needs at once; of a Job, all of them.
        n_pods: how many it has, new and running ones.
        n_placed: how many of these have a node in the end.
    """

    gang: str
    is_job: bool
    needs: int
    n_pods: int
    n_placed: int

    @property
    def runs(self) -> bool:
        """Whether enough of its pods have a node."""
        return self.n_placed >= self.needs

    @property
    def outcome(self) -> str:
        """What becomes of it, in words."""
        if self.runs:
            return f"all {self.needs:,} fit" if self.n_placed == self.n_pods == self.needs else "enough fit"
        if self.is_job:
            return f"only {self.n_placed:,} of {self.needs:,} fit: they would wait if they need the others"
        if self.n_pods < self.needs:
            return f"it has only {count(self.n_pods, 'pod')}, and needs {self.needs:,}: none would run"
        only = "only " if self.n_placed else ""
        return f"{only}{self.n_placed:,} of the {self.needs:,} that it needs fit: none would run"


def gangs_that_fit(cluster: Iterable[KubeObject], new: Sequence[KubeObject], report: Report) -> tuple[GangFit, ...]:
    """What becomes of the gangs that have some of the new pods.

    Args:
        cluster: without the new objects, and without pods that they replace.
    """
    pods = [one for one in new if isinstance(one, Pod)]
    left = {one.pod for one in report.placements if not has_place(one)} | {one.pod for one in report.victims}
    groups = gangs_of([*cluster, *new], pods)
    placed = {one.pod for one in report.placements} | {
        pod.key for group in groups for pod in group.pods if pod.node_name
    }
    placed -= left
    in_groups = {pod.key for group in groups for pod in group.pods}
    found = [(f"{one.namespace}/{one.name}", False, one.minimum, one.pods) for one in groups]
    found += [(job, True, len(of), tuple(of)) for job, of in _jobs(pods) if not in_groups.intersection(map(_key, of))]
    return tuple(
        GangFit(name, is_job, needs, len(of), sum(pod.key in placed for pod in of)) for name, is_job, needs, of in found
    )


def _key(pod: Pod) -> str:
    return pod.key


def _jobs(pods: Iterable[Pod]) -> Iterator[tuple[str, list[Pod]]]:
    """The Jobs with several pods at once."""
    by_job: dict[str, list[Pod]] = {}
    for pod in pods:
        controller = pod.metadata.controller
        if controller is not None and controller.kind == "Job":
            by_job.setdefault(f"{pod.namespace}/{controller.name}", []).append(pod)
    return ((job, of) for job, of in by_job.items() if len(of) > 1)
