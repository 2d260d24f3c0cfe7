"""Decides which new pods an API server refuses to create, although their manifests are valid.

Rule: kube-apiserver v1.36: the admission plugins NamespaceLifecycle, Priority, LimitRanger, RuntimeClass and
ResourceQuota, in this order, with their messages. A request above a limit that LimitRanger sets is not valid.
"""

from collections.abc import Iterable

from kubesched.admission.generated_names import is_copy
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.priorities import PriorityClasses
from kubesched.admission.quotas import Quotas
from kubesched.admission.runtime_classes import RuntimeClasses
from kubesched.api import KubeObject, Namespace, Pod

__all__ = ["Refusals"]


class Refusals:
    """What the API server of a cluster refuses.

    Args:
        objects: of the cluster, those of manifests among them.
        pods: those that exist.

    Example:
        refusals = Refusals(snapshot, snapshot.of(Pod))
        print(refusals.admit(pod) or "created")
    """

    def __init__(self, objects: Iterable[KubeObject], pods: Iterable[Pod]) -> None:
        known = list(objects)
        self._terminating = {one.name for one in known if isinstance(one, Namespace) and one.is_terminating}
        self._priorities = PriorityClasses(known)
        self._limit_ranges = LimitRanges(known)
        self._runtime_classes = RuntimeClasses(known)
        self._quotas = Quotas(known, pods)

    def count_again(self, pods: Iterable[Pod]) -> None:
        """Count what is used of quotas, with the pods that exist now."""
        if self._quotas:
            self._quotas.count_again(pods)

    def admit(self, pod: Pod) -> str:
        """Count a pod that is created now. A copy of a pod of the cluster is complete, and only quotas may refuse it.

        Returns: why the API server refuses it; empty if it does not.
        """
        return ("" if is_copy(pod) else self._of_new(pod)) or self._quotas.admit(pod)

    def _of_new(self, pod: Pod) -> str:
        if pod.namespace in self._terminating:
            return f"unable to create new content in namespace {pod.namespace} because it is being terminated"
        found = (of.refusal(pod) for of in (self._priorities, self._limit_ranges, self._runtime_classes))
        return next(filter(None, found), "")
