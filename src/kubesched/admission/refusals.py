"""Decides which new pods an API server refuses to create, although their manifests are valid.

Rule: kube-apiserver v1.36: the admission plugins LimitRanger, RuntimeClass and ResourceQuota, in this order.
"""

from collections.abc import Iterable

from kubesched.admission.generated_names import is_copy
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.quotas import Quotas
from kubesched.admission.runtime_classes import RuntimeClasses
from kubesched.api import KubeObject, Pod

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
        fault = "" if is_copy(pod) else self._limit_ranges.refusal(pod) or self._runtime_classes.refusal(pod)
        return fault or self._quotas.admit(pod)
