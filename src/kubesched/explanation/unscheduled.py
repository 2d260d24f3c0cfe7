"""Pods that kube-scheduler does not schedule: they have ended, or they hang on the node that they name themselves."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubesched.api import KubeObject, PersistentVolumeClaim, Pod, StorageClass, kind_of
from kubesched.state import storage_class_of

__all__ = ["Ended", "ended_of", "hanging_pods", "why_it_hangs"]

_BINDS_LATE: Final = "WaitForFirstConsumer"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
Get = Callable[[str, str], KubeObject | None]
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
    """The pods that hang on the node that they name, because of a claim or because the node does not exist.

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


def why_it_hangs(pod: Pod, get: Get) -> str:
    """Why a pod that has a node and has not started cannot start, as far as a scheduler would have prevented it.

    Returns: a phrase; empty where nothing is known to keep the pod from starting.
    Rule: kube-scheduler v1.36 takes only pods without spec.nodeName; the volume controller leaves a claim of a class
        with WaitForFirstConsumer alone until a scheduler has selected its node or its volume.
    """
    if not _has_not_started(pod):
        return ""
    if get("Node", pod.node_name) is None:
        return f"node {pod.node_name} does not exist"
    claims = [key for key in _claims(pod) if _waits_for_scheduler(get("PersistentVolumeClaim", key), get)]
    if not claims:
        return ""
    what = f"claim {claims[0]} is" if len(claims) == 1 else f"claims {', '.join(claims)} are"
    return f"{what} not bound, and {_BINDS_LATE} leaves that to the scheduler"


def _has_not_started(pod: Pod) -> bool:
    return bool(pod.node_name) and pod.status.phase == "Pending" and not pod.is_terminating


def _claims(pod: Pod) -> Iterator[str]:
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            yield f"{pod.namespace}/{volume.persistent_volume_claim.claim_name}"
        elif volume.ephemeral is not None:
            yield f"{pod.namespace}/{pod.name}-{volume.name}"


def _waits_for_scheduler(claim: KubeObject | None, get: Get) -> bool:
    if not isinstance(claim, PersistentVolumeClaim) or claim.spec.volume_name or _SELECTED_NODE in claim.annotations:
        return False
    name = storage_class_of(claim)
    storage_class = get("StorageClass", name) if name else None
    return isinstance(storage_class, StorageClass) and storage_class.volume_binding_mode == _BINDS_LATE
