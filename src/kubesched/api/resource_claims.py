"""Devices and claims of resource.k8s.io/v1 (Dynamic Resource Allocation, DRA): what decides about their allocation.

Nothing is allocated yet; snapshots keep what a later version needs. The opaque parameters of drivers, `config`, and
the data that drivers report in a claim's status are not decoded: they decide nothing, and may hold secrets.
"""

from typing import Final

import msgspec

from kubesched.api.meta import KubeObject, Value
from kubesched.api.node import Taint
from kubesched.api.pod_fields import PodCondition, Quantities, Toleration
from kubesched.api.selectors import NodeSelector

POD_CLAIM_NAME: Final = "resource.kubernetes.io/pod-claim-name"
"""The annotation of a claim of a template: the entry of the pod that it is for."""
EXTENDED_RESOURCE_CLAIM: Final = "resource.kubernetes.io/extended-resource-claim"
"""The annotation of a claim that serves the extended resources of its pod: "true"."""

Quantity = str | int | float


class CELSelector(Value, frozen=True, gc=False):
    """An expression over one device."""

    expression: str = ""


class DeviceSelector(Value, frozen=True, gc=False):
    """One entry of selectors; all must hold."""

    cel: CELSelector | None = None


class DeviceClassSpec(Value, frozen=True, gc=False):
    """spec of a DeviceClass."""

    selectors: tuple[DeviceSelector, ...] | None = None
    extended_resource_name: str = ""


class DeviceClass(KubeObject, frozen=True):
    """A class of devices. Pods may ask for them as an extended resource, too."""

    spec: DeviceClassSpec = DeviceClassSpec()


# --- devices ---


class DeviceAttribute(Value, frozen=True, gc=False):
    """The value of an attribute: one of the four."""

    integer: int | None = msgspec.field(default=None, name="int")
    boolean: bool | None = msgspec.field(default=None, name="bool")
    string: str | None = None
    version: str | None = None


class CapacityRange(Value, frozen=True, gc=False):
    """The amounts that may be consumed: from min to max in steps."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(Value, frozen=True, gc=False):
    """What a request for a part of a capacity is raised to."""

    default: Quantity | None = None
    valid_values: tuple[Quantity, ...] | None = None
    valid_range: CapacityRange | None = None


class DeviceCapacity(Value, frozen=True, gc=False):
    """An amount of something that a device has."""

    amount: Quantity = msgspec.field(default=0, name="value")
    request_policy: CapacityRequestPolicy | None = None


class Counter(Value, frozen=True, gc=False):
    """An amount of something that devices of a pool share."""

    amount: Quantity = msgspec.field(default=0, name="value")


class CounterSet(Value, frozen=True, gc=False):
    """One entry of sharedCounters."""

    name: str = ""
    counters: dict[str, Counter] | None = None


class CounterConsumption(Value, frozen=True, gc=False):
    """One entry of consumesCounters."""

    counter_set: str = ""
    counters: dict[str, Counter] | None = None


class Device(Value, frozen=True, gc=False):
    """One device of a slice."""

    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: tuple[CounterConsumption, ...] | None = None
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    taints: tuple[Taint, ...] | None = None
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    allow_multiple_allocations: bool = False


class ResourcePool(Value, frozen=True, gc=False):
    """The pool that a slice is part of."""

    name: str = ""
    generation: int = 0
    resource_slice_count: int = 0


class ResourceSliceSpec(Value, frozen=True, gc=False):
    """spec of a ResourceSlice."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    per_device_node_selection: bool = False
    devices: tuple[Device, ...] | None = None
    shared_counters: tuple[CounterSet, ...] | None = None


class ResourceSlice(KubeObject, frozen=True):
    """Devices that a driver has on a node, or on several."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


# --- claims ---


class CapacityRequirements(Value, frozen=True, gc=False):
    """How much of its capacities a request needs of a device."""

    requests: Quantities | None = None


class DeviceSubRequest(Value, frozen=True, gc=False):
    """What a request asks for: `exactly`, without a name, or one entry of `firstAvailable`."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] | None = None
    allocation_mode: str = ""
    count: int = 0
    admin_access: bool = False
    tolerations: tuple[Toleration, ...] | None = None
    capacity: CapacityRequirements | None = None


class DeviceRequest(Value, frozen=True, gc=False):
    """One entry of requests."""

    name: str = ""
    exactly: DeviceSubRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None


class DeviceConstraint(Value, frozen=True, gc=False):
    """What the devices of some requests must have in common, or apart."""

    requests: tuple[str, ...] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(Value, frozen=True, gc=False):
    """spec.devices of a claim."""

    requests: tuple[DeviceRequest, ...] | None = None
    constraints: tuple[DeviceConstraint, ...] | None = None


class ResourceClaimSpec(Value, frozen=True, gc=False):
    """spec of a ResourceClaim."""

    devices: DeviceClaim = DeviceClaim()

    @property
    def admin_request(self) -> int | None:
        """The position of the first request that asks for admin access; None for none."""
        asks = (request.exactly for request in self.devices.requests or ())
        return next((i for i, ask in enumerate(asks) if ask is not None and ask.admin_access), None)


class DeviceResult(Value, frozen=True, gc=False):
    """A device that is allocated for a request."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool = False
    tolerations: tuple[Toleration, ...] | None = None
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] | None = None
    share_id: str = msgspec.field(default="", name="shareID")
    consumed_capacity: Quantities | None = None


class DeviceResults(Value, frozen=True, gc=False):
    """allocation.devices."""

    results: tuple[DeviceResult, ...] | None = None


class Allocation(Value, frozen=True, gc=False):
    """What a claim got, and on which nodes it is."""

    devices: DeviceResults = DeviceResults()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ClaimUser(Value, frozen=True, gc=False):
    """One entry of reservedFor."""

    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


class DeviceStatus(Value, frozen=True, gc=False):
    """What a driver reports of an allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str = msgspec.field(default="", name="shareID")
    conditions: tuple[PodCondition, ...] | None = None


class ResourceClaimStatus(Value, frozen=True, gc=False):
    """status of a ResourceClaim."""

    allocation: Allocation | None = None
    reserved_for: tuple[ClaimUser, ...] | None = None
    devices: tuple[DeviceStatus, ...] | None = None


class ResourceClaim(KubeObject, frozen=True):
    """A claim for devices."""

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class TemplateMeta(Value, frozen=True, gc=False):
    """What a template gives its claims: labels and annotations."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class ResourceClaimTemplateSpec(Value, frozen=True, gc=False):
    """spec of a ResourceClaimTemplate."""

    metadata: TemplateMeta = TemplateMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubeObject, frozen=True):
    """What a claim is made from for each pod."""

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
