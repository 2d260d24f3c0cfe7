"""Gives new pods what their RuntimeClass has: overhead, node selector, tolerations.

Rule: kube-apiserver v1.36 admission plugin RuntimeClass, with its messages. A toleration is left out if another one, of
the pod or of the class, tolerates all that it tolerates; of two equal ones the first stays.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from kubesched.admission.amounts import amounts_of
from kubesched.api import KubeObject, Pod, RuntimeClass

Toleration = dict[str, Any]


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


def merged(own: Sequence[Toleration], added: Sequence[Toleration]) -> list[Toleration]:
    """The tolerations of a pod that gets further ones."""
    kept: list[Toleration] = []
    tolerations = [*own, *added]
    for i, one in enumerate(tolerations):
        later = (other for other in tolerations[i + 1 :] if other != one)
        if not any(_includes(other, one) for other in (*kept, *later)):
            kept.append(one)
    return kept


def _includes(wide: Toleration, narrow: Toleration) -> bool:
    """Whether one toleration tolerates all that another one does, as far as the API server looks."""
    if wide == narrow:
        return True
    is_any = not wide.get("key") and wide.get("operator") == "Exists"
    if not is_any and (wide.get("key") or "") != (narrow.get("key") or ""):
        return False
    if wide.get("effect") and wide["effect"] != narrow.get("effect"):
        return False
    if wide.get("effect") == "NoExecute" and not _lasts_as_long(wide, narrow):
        return False
    if wide.get("operator") == "Exists":
        return True
    return narrow.get("operator") == "Equal" and (wide.get("value") or "") == (narrow.get("value") or "")


def _lasts_as_long(wide: Toleration, narrow: Toleration) -> bool:
    wide_seconds, seconds = wide.get("tolerationSeconds"), narrow.get("tolerationSeconds")
    return wide_seconds is None or (seconds is not None and seconds <= wide_seconds)
