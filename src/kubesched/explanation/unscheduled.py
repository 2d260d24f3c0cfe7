"""Pods that kube-scheduler does not schedule: they have ended, or they hang on the node that they name themselves."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from kubesched.admission import awaited_claims, node_refusal
from kubesched.api import KubeObject, Pod, kind_of

__all__ = ["Ended", "ended_of", "hanging_pods", "why_it_hangs"]

Find = Callable[[str, str], KubeObject | None]
"""Finds an object by its kind and its `namespace/name`, or its name alone."""


class Ended(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How a pod has ended, and who replaces it.

    Attributes:
        phase: `Succeeded` or `Failed`.
        reason: why, such as `Evicted`; empty where the status does not say it.
        controller: `Kind name` of its controller; empty for none.
        others: `namespace/name` of the pods of this controller that have not ended.
    """

    phase: str
    reason: str = ""
    controller: str = ""
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The phase and the reason: `phase Failed, reason Evicted`."""
        return f"phase {self.phase}, reason {self.reason}" if self.reason else f"phase {self.phase}"

    @property
    def successor(self) -> str:
        """Whether its controller has other pods, in one sentence."""
        if not self.controller:
            return "It has no controller that would create another pod for it."
        if not self.others:
            return f"{self.controller}, its controller, has no other pod here that has not ended."
        n = len(self.others)
        named = self.others[0] if n == 1 else f"{n} others, such as {self.others[0]}"
        return f"{self.controller}, its controller, has {'another pod, ' if n == 1 else ''}{named}."


def ended_of(pod: Pod, pods: Iterable[Pod]) -> Ended | None:
    """How a pod has ended; None where it has not.

    Args:
        pods: all pods, in which the others of its controller are looked for.
    """
    if not pod.is_finished:
        return None
    controller = pod.metadata.controller
    if controller is None:
        return Ended(pod.status.phase, pod.status.reason)
    others = sorted(
        other.key
        for other in pods
        if other.key != pod.key
        and other.namespace == pod.namespace
        and not other.is_finished
        and (above := other.metadata.controller) is not None
        and (above.kind, above.name) == (controller.kind, controller.name)
    )
    return Ended(pod.status.phase, pod.status.reason, f"{controller.kind} {controller.name}", tuple(others))


def hanging_pods(objects: Iterable[KubeObject]) -> list[Pod]:
    """The pods that hang on the node that they name, because of a claim, the node or its kubelet.

    Example:
        assert hanging_pods(load_snapshot("cluster.json")) == []
    """
    known = list(objects)
    waiting = [one for one in known if isinstance(one, Pod) and _has_not_started(one)]
    if not waiting:
        return []
    kinds = ("Node", "PersistentVolumeClaim", "StorageClass")
    by_key: Mapping[tuple[str, str], KubeObject] = {
        (kind, one.key): one for one in known if (kind := kind_of(one)) in kinds
    }
    return [pod for pod in waiting if why_it_hangs(pod, lambda kind, key: by_key.get((kind, key)))]


def why_it_hangs(pod: Pod, find: Find) -> str:
    """Why a pod that has a node and has not started cannot start, as far as a scheduler would have prevented it.

    Returns: a phrase; empty where nothing is known to keep the pod from starting.
    """
    if not _has_not_started(pod):
        return ""
    is_admitted = _has_a_kubelet(pod) and find("Node", pod.node_name) is not None
    return ("" if is_admitted else node_refusal(pod, find)) or awaited_claims(pod, find)


def _has_not_started(pod: Pod) -> bool:
    return bool(pod.node_name) and pod.status.phase == "Pending" and not pod.is_terminating


def _has_a_kubelet(pod: Pod) -> bool:
    """Whether a kubelet has admitted the pod: it sets all conditions but the scheduler's."""
    return any(one.type != "PodScheduled" for one in pod.status.conditions or ())
