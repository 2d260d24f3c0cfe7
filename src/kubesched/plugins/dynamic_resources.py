"""DynamicResources: devices by resource claim. kubesched does not place pods that have claims.

A pod without claims is treated exactly as upstream treats it, words and extension points included; one with claims is
rejected before any node is looked at. Rule: kube-scheduler v1.36 DynamicResources; pods with claims are where we
differ, because the objects of resource.k8s.io are not read.
"""

from collections.abc import Hashable
from typing import Final

import numpy as np

from kubesched.api import ActionType, EventResource, Pod
from kubesched.engine import IntVector
from kubesched.framework import (
    Codes,
    CycleState,
    DependsOn,
    Diagnosis,
    EventRegistration,
    Plugin,
    PostFilterResult,
    Status,
)
from kubesched.plugins.args import DynamicResourcesArgs
from kubesched.plugins.hints import registration
from kubesched.state import Nodes

__all__ = ["DynamicResources"]

_NOT_PLACED: Final = Status.unresolvable("kubesched does not place pods with resource claims yet")
_NOTHING_TO_FREE: Final = Status.unschedulable("no new claims to deallocate")
_NOT_FOUND: Final = "not found"


class PreFiltered:
    """Marks that PreFilter looked at the pod's claims."""

    __slots__ = ()


_PRE_FILTERED: Final = PreFiltered()


class DynamicResources(Plugin):
    """Turn down pods with resource claims; let all others pass."""

    Args = DynamicResourcesArgs
    args: DynamicResourcesArgs
    depends_on = DependsOn.NODE

    def pre_enqueue(self, pod: Pod) -> Status:
        """Whether the claims exist is not looked at."""
        return Status.SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Nodes) -> Status:
        """Skips where the pod has no claims."""
        state.write(_PRE_FILTERED)
        return _NOT_PLACED if pod.spec.resource_claims else Status.SKIP

    def filter_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> Codes:
        """Asked only where PreFilter is switched off, and then it has nothing to go by."""
        raise RuntimeError(_NOT_FOUND)

    def filter_part(self, state: CycleState, pod: Pod) -> Hashable:
        """Nothing: no verdict is ever kept."""
        return None

    def post_filter(self, state: CycleState, pod: Pod, diagnosis: Diagnosis) -> tuple[PostFilterResult | None, Status]:
        """There is never a claim to give back; fails where another plugin ended PreFilter before this one was asked."""
        return None, Status.error(_NOT_FOUND) if state.find(PreFiltered) is None else _NOTHING_TO_FREE

    def score_nodes(self, state: CycleState, pod: Pod, nodes: Nodes) -> IntVector:
        state.read(PreFiltered, _NOT_FOUND)
        return np.zeros(len(nodes), dtype=np.int64)

    def score_part(self, state: CycleState, pod: Pod) -> Hashable:
        """Nothing: all pods have the same score."""
        state.read(PreFiltered, _NOT_FOUND)
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
        """A node comes or changes, a claim is made for the pod; events of resource.k8s.io are not read."""
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        claim = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        return [registration(EventResource.NODE, node), registration(EventResource.POD, claim)]
