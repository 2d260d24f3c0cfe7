"""Decides which new pods an API server refuses to create, although their manifests are valid.

Rule: kube-apiserver v1.36: the admission plugins that complete a pod (NamespaceLifecycle, Priority, RuntimeClass), then
validation with the defaults of LimitRanges, then LimitRanger, RuntimeClass and ResourceQuota, with their messages.
"""

from collections.abc import Iterable
from typing import Final

from kubesched.admission.amounts import joined
from kubesched.admission.limit_ranges import LimitRanges
from kubesched.admission.pod_checks import pod_faults
from kubesched.admission.priorities import PriorityClasses
from kubesched.admission.quotas import Quotas
from kubesched.admission.runtime_classes import RuntimeClasses
from kubesched.api import KubeObject, Namespace, Pod, PodSpec
from kubesched.controllers import is_copy
from kubesched.documents import did_you_mean

_ALWAYS_THERE: Final = frozenset(("default", "kube-node-lease", "kube-public", "kube-system"))


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
        known, pods = list(objects), list(pods)
        there = {one.name for one in known if isinstance(one, Namespace)}
        self._namespaces = there if "default" in there or "kube-system" in there else set()  # else some are missing
        self._existing = {pod.namespace for pod in pods}
        self._terminating = {one.name for one in known if isinstance(one, Namespace) and one.is_terminating}
        self._priorities = PriorityClasses(known)
        self._limit_ranges = LimitRanges(known)
        self._runtime_classes = RuntimeClasses(known)
        self._quotas = Quotas(known, pods)
        self._valid_spec: PodSpec | None = None

    def count_again(self, pods: Iterable[Pod]) -> None:
        """Count what is used of quotas, with the pods that exist now."""
        if self._quotas:
            self._quotas.count_again(pods)

    def admit(self, pod: Pod) -> str:
        """Count a pod that is created now. A copy of a pod of the cluster is complete, and only quotas may refuse it.

        Returns: why the API server refuses it; empty if it does not.
        """
        return ("" if is_copy(pod) else self._of_new(pod)) or self._quotas.admit(pod)

    def help(self, pod: Pod, fault: str) -> str:
        """What to do about a refusal, before anything else is counted; empty where nothing is known."""
        if self._is_homeless(pod):
            near = did_you_mean(pod.namespace, sorted(self._namespaces))
            return f"{near} Else create Namespace {pod.namespace}" if near else f"create Namespace {pod.namespace}"
        if self._priorities.refusal(pod):
            return self._priorities.help(pod)
        return self._quotas.help(pod, fault) if "quota: " in fault else ""

    def _is_homeless(self, pod: Pod) -> bool:
        there = self._namespaces
        return bool(there) and pod.namespace not in there | _ALWAYS_THERE and pod.namespace not in self._existing

    def _of_new(self, pod: Pod) -> str:
        if pod.namespace in self._terminating:
            return f"unable to create new content in namespace {pod.namespace} because it is being terminated"
        if self._is_homeless(pod):
            return f'namespaces "{pod.namespace}" not found'
        return (
            self._priorities.refusal(pod)
            or self._runtime_classes.conflict(pod)
            or self._invalid(pod)
            or self._limit_ranges.refusal(pod)
            or self._runtime_classes.refusal(pod)
        )

    def _invalid(self, pod: Pod) -> str:
        """Why a pod is not valid whose manifest is, which only the defaults of LimitRanges can cause."""
        names = self._limit_ranges.adds_to(pod.namespace)
        if not names or pod.spec == self._valid_spec:  # pods of a workload are mostly alike
            return ""
        if faults := joined([str(fault) for fault in pod_faults(pod.spec)]):
            return f"{faults} (with the defaults of LimitRange {', '.join(names)})"
        self._valid_spec = pod.spec
        return ""


def refusal_message(pod: Pod, fault: str) -> str:
    """The whole message of an API server that refuses a pod."""
    if fault.startswith(("spec.", "[spec.")):  # only validation begins with a field
        return f'Pod "{pod.name}" is invalid: {fault}'
    return f'pods "{pod.name}" is forbidden: {fault}'
