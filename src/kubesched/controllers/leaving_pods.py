"""What controllers make of pods that leave their nodes together: new pods, Jobs with failures, Jobs that end."""

from collections.abc import Iterable, Iterator

from kubesched.api import Job, Pod
from kubesched.controllers.kept_replicas import Controllers, Find
from kubesched.controllers.replacements import Replacement, replacement_of
from kubesched.controllers.successors import Successor, job_of, successor_of, with_failures


class LeavingPods:
    """Pods that are evicted, deleted or preempted together.

    Args:
        pods: finished ones among them do not count as failures of their Jobs.
        find: an object of the cluster as it is before.
        controllers: of the cluster.
    """

    def __init__(self, pods: Iterable[Pod], find: Find, controllers: Controllers) -> None:
        self._find = find
        self._controllers = controllers
        self._of_job: dict[str, list[Pod]] = {}
        for pod in pods:
            if not pod.is_finished and (job := job_of(pod)):
                self._of_job.setdefault(job, []).append(pod)

    def successor(self, pod: Pod) -> Successor:
        """Whether a new pod comes in the place of one of the pods."""
        return successor_of(pod, self._find, len(self._of_job.get(job_of(pod), ())) or 1, self._controllers)

    def replacement(self, pod: Pod) -> Replacement:
        """What comes in the place of one of the pods, and what goes with it."""
        return replacement_of(pod, self._find, is_expected=self.successor(pod).is_made is not False)

    def jobs(self) -> Iterator[Job]:
        """Their Jobs with the failures that the pods are."""
        for key, pods in self._of_job.items():
            if isinstance(job := self._find("Job", key), Job):
                yield with_failures(job, pods[-1], len(pods))

    def ended_jobs(self) -> dict[str, Successor]:
        """The Jobs that fail because of the pods, by `namespace/name`, each with the reason."""
        of_job = ((job, self.successor(pod)) for job, pods in self._of_job.items() for pod in pods)
        return {job: end for job, end in of_job if end.ends_job}
