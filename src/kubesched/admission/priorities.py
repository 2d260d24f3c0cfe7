"""Resolves the name of a PriorityClass to a priority, as the API server's admission does.

Rule: kube-apiserver v1.36 Priority admission: the class gives priority and preemptionPolicy; a pod without a class gets
the global default (the lowest one, should there be several), else priority 0. Two classes exist in every cluster.
"""

from collections.abc import Iterable
from typing import Any, Final

from kubesched.api import KubeObject, Pod, PriorityClass, rewritten
from kubesched.documents import did_you_mean, listed
from kubesched.errors import ObjectError

BUILT_IN_CLASSES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}

_PREEMPT: Final = "PreemptLowerPriority"


class PriorityClasses:
    """The priority classes of a cluster by name, the built-in ones among them."""

    def __init__(self, objects: Iterable[KubeObject]) -> None:
        classes = [known for known in objects if isinstance(known, PriorityClass)]
        self._values = BUILT_IN_CLASSES | {known.name: known.value for known in classes}
        self._policies = {known.name: known.preemption_policy for known in classes}
        defaults = sorted((known.value, known.name) for known in classes if known.global_default)
        self._default = defaults[0][1] if defaults else ""

    def resolve(self, pod: Pod) -> Pod:
        """Give a pod that an API server has seen the priority of its class where it has only the class's name."""
        name = pod.spec.priority_class_name
        if pod.spec.priority is not None or name not in self._values:
            return pod
        return rewritten(pod, lambda document: self._fill(document["spec"], name))

    def admit(self, spec: dict[str, Any]) -> None:
        """Fill in the spec of a new pod: class, priority and preemptionPolicy. A priority without a class is kept.

        A pod whose class is not there has the priority 0; an API server refuses it.

        Raises:
            ObjectError: there is no such class, and none at all that would show that they were listed; or the pod names
                another priority than its class. Upstream's messages.
        """
        name = spec.get("priorityClassName") or ""
        written = spec.get("priority")
        if not name and written is not None:
            return
        if not name and self._default:
            name = spec["priorityClassName"] = self._default
        is_there = not name or name in self._values
        if not is_there and not self._policies:
            raise ObjectError(f"spec.priorityClassName: {_not_found(name)}")
        if is_there and written is not None and written != self._values[name]:
            raise ObjectError(
                f"spec.priority: the integer value of priority ({written}) must not be provided in pod spec; priority "
                f"admission controller computed {self._values[name]} from the given PriorityClass name"
            )
        self._fill(spec, name)

    def refusal(self, pod: Pod) -> str:
        """Why an API server refuses a pod; empty if it does not."""
        name = pod.spec.priority_class_name
        is_known = not name or name in self._values or not self._policies
        return "" if is_known else _not_found(name)

    def help(self, pod: Pod) -> str:
        """What to do about a class that is not there."""
        name = pod.spec.priority_class_name
        near = did_you_mean(name, sorted(self._policies))
        own = [one for one in sorted(self._policies) if one not in BUILT_IN_CLASSES]
        others = f", or name one that is there ({listed(own, first=4)})" if own else ""
        return f"{near} Else create PriorityClass {name}" if near else f"create PriorityClass {name}{others}"

    def _fill(self, spec: dict[str, Any], name: str) -> None:
        spec["priority"] = self._values.get(name, 0)
        if spec.get("preemptionPolicy") is None:
            spec["preemptionPolicy"] = self._policies.get(name) or _PREEMPT


def _not_found(name: str) -> str:
    return f"no PriorityClass with name {name} was found"
