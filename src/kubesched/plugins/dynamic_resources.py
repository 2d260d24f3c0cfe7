"""DynamicResources: devices by resource claim. kubesched does not place pods that need claims.

A pod needs claims if it lists some, or if it asks for an extended resource that a device class serves. kubesched does
not decide about such a pod: it is rejected before any node is looked at, so that nothing is evicted for it. All other
pods are treated exactly as upstream treats them, words and extension points included. Rule: kube-scheduler v1.36
DynamicResources, with DRAExtendedResource on.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np

from kubesched.api import ActionType, EventResource, KubeObject, Pod, PodRequests
from kubesched.engine import IntVector
from kubesched.framework import (
    Codes,
    CycleState,
    DependsOn,
    Diagnosis,
    EventRegistration,
    Plugin,
    PostFilterResult,
    QueueingHint,
    Status,
)
from kubesched.plugins.args import DynamicResourcesArgs
from kubesched.plugins.shared_hints import queue_if, registration
from kubesched.state import Nodes, resources_of_class

_WITH_CLAIMS: Final = Status.undecided("kubesched does not place pods with resource claims yet")
_NOTHING_TO_FREE: Final = Status.unschedulable("no new claims to deallocate")
_NOT_FOUND: Final = "not found"


class ClaimsSeen:
    """Marks that PreFilter looked at the pod's claims."""

    __slots__ = ()


_PRE_FILTERED: Final = ClaimsSeen()


class DynamicResources(Plugin):
    """Turn down pods that need resource claims; let all others pass."""

    Args = DynamicResourcesArgs
    args: DynamicResourcesArgs
    depends_on = DependsOn.NODE
    reads = ("DeviceClass",)

    def pre_enqueue(self, pod: Pod) -> Status:
        """Whether the claims exist is not looked at."""
        return Status.SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips where the pod needs no claims."""
        state.write(_PRE_FILTERED)
        if pod.spec.resource_claims:
            return _WITH_CLAIMS
        classes = self.handle.cluster_state.devices.classes
        served = classes.serving(state.pod.requests.value.wanted) if classes.by_resource else {}
        for resource, name in served.items():
            return Status.undecided(
                f"kubesched does not place pods whose {resource} is served through DeviceClass {name} yet"
            )
        return Status.SKIP

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """Asked only where PreFilter is switched off, and then it has nothing to go by."""
        raise RuntimeError(_NOT_FOUND)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        """Nothing: no verdict is ever kept."""
        return None

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[PostFilterResult | None, Status]:
        """There is never a claim to give back; fails where another plugin ended PreFilter before this one was asked."""
        return None, Status.error(_NOT_FOUND) if state.find(ClaimsSeen) is None else _NOTHING_TO_FREE

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        state.read(ClaimsSeen, _NOT_FOUND)
        return np.zeros(len(nodes), dtype=np.int64)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """Nothing: all pods have the same score."""
        state.read(ClaimsSeen, _NOT_FOUND)
        return None

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Without claims there is nothing to take."""
        return Status.SUCCESS

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Without claims there is nothing to give back."""

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Without claims there is nothing to write."""
        return Status.SKIP

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Without claims there is nothing to write."""
        return Status.SUCCESS

    def events_to_register(self) -> list[EventRegistration]:
        """A node comes or changes, a claim is made for the pod, a class comes, changes or goes.

        Upstream also registers for claims, slices and devices that come: they change nothing for pods that are
        rejected here. It does not register for classes that go: after that we decide about the pod.
        """
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        claim = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        device_class = ActionType.ADD | ActionType.UPDATE | ActionType.DELETE
        return [
            registration(EventResource.NODE, node),
            registration(EventResource.POD, claim),
            registration(EventResource.DEVICE_CLASS, device_class, _class_hint, self._wanted),
        ]

    def _wanted(self, pod: Pod) -> Hashable:
        return self.handle.cluster_state.pod_info(pod).requests, bool(pod.spec.resource_claims)


def _class_hint(pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
    """Another try when a class that serves a resource of the pod comes, changes or goes."""
    changed = set(resources_of_class(old)) ^ set(resources_of_class(new))
    return queue_if(not pod.spec.resource_claims and any(PodRequests(pod).wanted.get(name, 0) for name in changed))
