"""Gives new pods what their RuntimeClass has: overhead, node selector, tolerations.

Rule: kube-apiserver v1.36 admission plugin RuntimeClass, with its messages.
"""

from collections.abc import Iterable
from typing import Any

from kubesched.admission.amounts import amounts_of
from kubesched.admission.merged_tolerations import merged
from kubesched.api import KubeObject, Pod, RuntimeClass


class RuntimeClasses:
    """The runtime classes of a cluster by name.

    Args:
        objects: of the cluster. Without any RuntimeClass among them, it is not known which ones there are.
    """

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        self._classes = {one.name: one for one in objects if isinstance(one, RuntimeClass)}

    def is_unknown(self, name: str) -> bool:
        """Whether nothing is known of a class: the cluster has none at all, usually because they were not listed."""
        return bool(name) and not self._classes

    def complete(self, spec: dict[str, Any]) -> None:
        """Give the spec of a new pod what its class adds, in place; what contradicts the pod is left out."""
        found = self._classes.get(spec.get("runtimeClassName") or "")
        if found is None:
            return
        if found.overhead is not None and not spec.get("overhead"):
            spec["overhead"] = dict(found.overhead.pod_fixed or {})
        if found.scheduling is None:
            return
        written: dict[str, Any] = found.document.get("scheduling") or {}
        if found.scheduling.node_selector:
            spec["nodeSelector"] = {**found.scheduling.node_selector, **(spec.get("nodeSelector") or {})}
        if added := written.get("tolerations"):
            spec["tolerations"] = merged(spec.get("tolerations") or [], added)

    def conflict(self, pod: Pod) -> str:
        """Why an API server does not complete a pod that has been completed here; empty if it does."""
        name = pod.spec.runtime_class_name
        if not name or self.is_unknown(name):
            return ""
        found = self._classes.get(name)
        if found is None:
            return f'pod rejected: RuntimeClass "{name}" not found'
        if found.overhead is not None and amounts_of(found.overhead.pod_fixed) != amounts_of(pod.spec.overhead):
            return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        wanted = (found.scheduling.node_selector if found.scheduling else None) or {}
        for key, value in wanted.items():
            own = pod.node_selector.get(key)
            if own != value:
                return (
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {own}"
                )
        return ""

    def refusal(self, pod: Pod) -> str:
        """Why an API server refuses a pod without a conflict; empty if it does not."""
        name = pod.spec.runtime_class_name
        found = self._classes.get(name)
        if pod.spec.overhead is None or self.is_unknown(name) or (found is not None and found.overhead is not None):
            return ""
        return "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
