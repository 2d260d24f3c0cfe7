"""Devices and claims of resource.k8s.io (Dynamic Resource Allocation, DRA): what a scheduler reads."""

from kubesched.api.meta import KubeObject, Value


class DeviceClassSpec(Value, frozen=True, gc=False):
    """spec of a DeviceClass."""

    extended_resource_name: str = ""


class DeviceClass(KubeObject, frozen=True):
    """A class of devices. Pods may ask for them as an extended resource, too."""

    spec: DeviceClassSpec = DeviceClassSpec()


class ResourceSlice(KubeObject, frozen=True):
    """Devices that a driver has on a node, or on several."""


class ResourceClaim(KubeObject, frozen=True):
    """A claim for devices."""


class ResourceClaimTemplate(KubeObject, frozen=True):
    """What a claim is made from for each pod."""
