"""Which objects of a cluster a rule that is not the same in two versions of Kubernetes is about."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from kubesched.api import (
    CSIDriver,
    DeviceClass,
    DeviceSubRequest,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceSlice,
)
from kubesched.plugins import needed_features

_NEGATIVE: Final = ("NotIn", "DoesNotExist")


def _any(_: object) -> bool:
    return True


def _waits(pod: Pod) -> bool:
    return not (pod.node_name or pod.is_finished or pod.is_terminating)


def _has_negative_selector(pod: Pod) -> bool:
    terms = () if pod.spec.affinity is None else pod.spec.affinity.pod_terms
    return any(_is_negative(term.namespace_selector) for term in terms)


def _is_negative(selector: Any) -> bool:
    if selector is None or selector.match_labels or not selector.match_expressions:
        return False
    return all(one.operator in _NEGATIVE for one in selector.match_expressions)


def _is_resized(pod: Pod) -> bool:
    """Whether one of several containers has other resources than its spec requests."""
    requests = {one.name: one.requests for one in pod.containers}
    return len(requests) > 1 and any(
        one.resources is not None and (one.resources.requests or {}) != requests.get(one.name, {})
        for one in pod.status.container_statuses or ()
    )


def _asks(claim: ResourceClaim) -> Iterable[DeviceSubRequest]:
    for request in claim.spec.devices.requests or ():
        if request.exactly is not None:
            yield request.exactly
        yield from request.first_available or ()


CONCERNED: Final[dict[str, tuple[type[KubeObject], Callable[[Any], bool]]]] = {
    "waiting": (Pod, _waits),
    "terminating": (Pod, lambda pod: bool(pod.node_name) and pod.is_terminating),
    "no start time": (Pod, lambda pod: bool(pod.node_name) and not pod.is_finished and not pod.status.start_time),
    "negative selector": (Pod, _has_negative_selector),
    "image volume": (Pod, lambda pod: any(volume.image is not None for volume in pod.volumes)),
    "comparing toleration": (Pod, lambda pod: any(one.operator in ("Lt", "Gt") for one in pod.tolerations)),
    "resize": (Pod, _is_resized),
    "status of whole pod": (
        Pod,
        lambda pod: not pod.spec.resources and bool(pod.status.resources or pod.status.allocated_resources),
    ),
    "volumes": (Pod, lambda pod: _waits(pod) and bool(pod.claim_names)),
    "claims of pods": (Pod, lambda pod: bool(pod.spec.resource_claims)),
    "needed features": (Pod, lambda pod: bool(needed_features(pod))),
    "taints": (Node, lambda node: any(taint.effect != "PreferNoSchedule" for taint in node.taints)),
    "single pod access": (PersistentVolumeClaim, lambda one: "ReadWriteOncePod" in (one.spec.access_modes or ())),
    "attributes class": (PersistentVolumeClaim, lambda one: bool(one.spec.volume_attributes_class_name)),
    "portworx": (PersistentVolume, lambda one: one.spec.portworx_volume is not None),
    "required driver": (CSIDriver, lambda one: bool(one.spec.prevent_pod_scheduling_if_missing)),
    "claim": (ResourceClaim, _any),
    "slice": (ResourceSlice, _any),
    "counters": (ResourceSlice, lambda one: bool(one.spec.shared_counters)),
    "all devices": (ResourceClaim, lambda one: any(ask.allocation_mode == "All" for ask in _asks(one))),
    "capacity request": (ResourceClaim, lambda one: any(ask.capacity is not None for ask in _asks(one))),
    "distinct attribute": (
        ResourceClaim,
        lambda one: any(constraint.distinct_attribute for constraint in one.spec.devices.constraints or ()),
    ),
    "device selector": (DeviceClass, lambda one: bool(one.spec.selectors)),
}
"""What a rule may be about -> the kind of the objects, and which of them it concerns."""


def n_concerned(objects: Sequence[KubeObject], concerns: Iterable[str]) -> dict[str, tuple[str, int]]:
    """The kind of the objects that each of some rules is about, and how many there are."""
    of_type: dict[type[KubeObject], list[KubeObject]] = {}
    for one in objects:
        of_type.setdefault(type(one), []).append(one)
    found = {}
    for name in dict.fromkeys(concerns):
        kind, is_concerned = CONCERNED[name]
        found[name] = kind.__name__, sum(map(is_concerned, of_type.get(kind, ())))
    return found
