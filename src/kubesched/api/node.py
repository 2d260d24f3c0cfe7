"""Nodes with the fields that a scheduler reads."""

from collections.abc import Mapping
from typing import Final

from kubesched.api.meta import KubeObject, StatusCondition, Value, condition_status
from kubesched.api.pod_fields import Quantities
from kubesched.api.well_known import BETA_ZONE, ZONE

TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


class Taint(Value, frozen=True, gc=False):
    """One entry of spec.taints."""

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Value, frozen=True, gc=False):
    """spec."""

    taints: tuple[Taint, ...] | None = None
    unschedulable: bool = False


class ContainerImage(Value, frozen=True, gc=False):
    """An image that the node has, under all its names."""

    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class NodeSystemInfo(Value, frozen=True, gc=False):
    """status.nodeInfo: what the node runs."""

    kubelet_version: str = ""


class NodeStatus(Value, frozen=True, gc=False):
    """status. Capacity is not read: only allocatable counts."""

    allocatable: Quantities | None = None
    images: tuple[ContainerImage, ...] | None = None
    declared_features: tuple[str, ...] | None = None
    conditions: tuple[StatusCondition, ...] | None = None
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(KubeObject, frozen=True):
    """A node. `spec` and `status` hold the wire fields."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def taints(self) -> tuple[Taint, ...]:
        """spec.taints."""
        return self.spec.taints or ()

    @property
    def zone(self) -> str:
        """The zone, by its label or by that of Kubernetes before 1.17; empty if the node has neither."""
        return zone_of(self.labels)

    def condition(self, type: str) -> str:
        """The status of a condition, such as `True`; empty without the condition."""
        return condition_status(self.status.conditions, type)

    @property
    def unschedulable(self) -> bool:
        """spec.unschedulable: the node is cordoned."""
        return self.spec.unschedulable


def zone_of(labels: Mapping[str, str]) -> str:
    """The zone that the labels of a node name, as `Node.zone`."""
    return labels.get(ZONE) or labels.get(BETA_ZONE) or ""
