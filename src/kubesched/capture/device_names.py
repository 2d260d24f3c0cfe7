"""Numbers the names of device classes, slices, pools, devices and requests by themselves, in the order of the names.

kube-scheduler takes classes, slices and pools in the order of their names. So the numbers of one kind have that order,
whatever else has one of the names.
"""

import re
from collections.abc import Mapping, Set
from typing import Any, Final

from kubesched.api import (
    ContainerDeviceRequest,
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceResult,
    DeviceStatus,
    DeviceSubRequest,
    ResourcePool,
    ResourceSlice,
)
from kubesched.capture.replaced_words import hash_of

CLASS: Final = "deviceclass"
_SLICE: Final = "slice"
_POOL: Final = "resourcepool"
_DEVICE: Final = "device"
_REQUEST: Final = "devicerequest"
KINDS_OF_OBJECTS: Final[Mapping[type, str]] = {DeviceClass: CLASS, ResourceSlice: _SLICE}
"""What the names of objects name."""
_KINDS: Final[Mapping[tuple[type, str], str]] = {
    (DeviceSubRequest, "device_class_name"): CLASS,
    (ResourcePool, "name"): _POOL,
    **{(of, "pool"): _POOL for of in (DeviceResult, DeviceStatus)},
    (Device, "name"): _DEVICE,
    **{(of, "device"): _DEVICE for of in (DeviceResult, DeviceStatus)},
    **{(of, "name"): _REQUEST for of in (DeviceRequest, DeviceSubRequest)},
    (DeviceResult, "request"): _REQUEST,
    (DeviceConstraint, "requests"): _REQUEST,
    (ContainerDeviceRequest, "request_name"): _REQUEST,
}
_OF_SPECIAL_CLAIM: Final = re.compile("container-[0-9]+-request-[0-9]+")
"""The requests that a scheduler writes for extended resources."""


def kind_of_name(of: Any, field: str) -> str:
    """What a field of a struct names; empty for anything else."""
    return _KINDS.get((type(of), field), "")


def parts_of(kind: str, name: str) -> list[str]:
    """The names in a name: a request may be named together with its alternative."""
    return name.split("/") if kind == _REQUEST else [name]


class DeviceNames:
    """The replacements of names.

    Args:
        names: by what they name.
        salt: as for ReplacedWords.
    Attributes:
        used: the replacements that were given out, and the names.
    """

    def __init__(self, names: Mapping[str, Set[str]], salt: str) -> None:
        self.used: dict[str, str] = {}
        self._new: dict[tuple[str, str], str] = {}
        for kind, known in names.items():
            chosen = sorted(name for name in known if name and not _OF_SPECIAL_CLAIM.fullmatch(name))
            width = len(str(len(chosen)))
            for i, name in enumerate(chosen, 1):
                self._new[kind, name] = hash_of(name, salt.encode()) if salt else f"{kind}-{i:0{width}}"

    def renamed(self, kind: str, name: str) -> str:
        """The replacement of a name, part by part."""
        return "/".join(self._part(kind, part) for part in parts_of(kind, name))

    def _part(self, kind: str, name: str) -> str:
        new = self._new.get((kind, name), name)
        if new != name:
            self.used[new] = name
        return new
