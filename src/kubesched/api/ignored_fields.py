"""Fields that a version of Kubernetes does not read, because their feature gate is off.

They are taken off where objects come in, so that no rule has to ask. The JSON of an object keeps them: what is written,
or sent to an extender, is the object as it was read.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from kubesched.api.meta import KubeObject
from kubesched.api.pod import Pod
from kubesched.api.resource_claims import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from kubesched.release import Release

T = TypeVar("T", bound=msgspec.Struct)
ObjectT = TypeVar("ObjectT", bound=KubeObject)

_EACH: Final = "[]"
_CLAIM: Final = ("spec", "devices", "requests", _EACH, "exactly")
_ALTERNATIVES: Final = ("spec", "devices", "requests", _EACH, "first_available")
_DEVICE: Final = ("spec", "devices", _EACH)
_RESULT: Final = ("status", "allocation", "devices", "results", _EACH)


class IgnoredField(NamedTuple):
    """A field that counts only while a gate is on.

    Attributes:
        gate: the gate.
        kind: the kind of objects.
        path: the attributes that lead to it; `[]` stands for each entry of a list.
    """

    gate: str
    kind: type[KubeObject]
    path: tuple[str, ...]

    @property
    def spelled(self) -> str:
        """The path as manifests spell it, such as `spec.resources`."""
        return ".".join(map(_spelled, self.path)).replace(f".{_EACH}", _EACH)


def _fields(gate: str, kind: type[KubeObject], *paths: tuple[str, ...]) -> tuple[IgnoredField, ...]:
    return tuple(IgnoredField(gate, kind, path) for path in paths)


def _of_requests(gate: str, *names: str) -> tuple[IgnoredField, ...]:
    """Fields of a request, and of its alternatives."""
    paths = [(*place, name) for name in names for place in (_CLAIM, (*_ALTERNATIVES, _EACH))]
    of_templates = [("spec", *path) for path in paths]
    return (*_fields(gate, ResourceClaim, *paths), *_fields(gate, ResourceClaimTemplate, *of_templates))


IGNORED_FIELDS: Final = (
    *_fields(
        "PodLevelResources",
        Pod,
        ("spec", "resources"),
        ("status", "resources"),
        ("status", "allocated_resources"),
    ),
    *_fields(
        "InPlacePodLevelResourcesVerticalScaling", Pod, ("status", "resources"), ("status", "allocated_resources")
    ),
    *_fields("DynamicResourceAllocation", Pod, ("spec", "resource_claims")),
    *_fields("DRAExtendedResource", DeviceClass, ("spec", "extended_resource_name")),
    *_fields("DRADeviceTaints", ResourceSlice, (*_DEVICE, "taints")),
    *_of_requests("DRADeviceTaints", "tolerations"),
    *_fields("DRAPartitionableDevices", ResourceSlice, ("spec", "shared_counters"), (*_DEVICE, "consumes_counters")),
    *_fields("DRAConsumableCapacity", ResourceSlice, (*_DEVICE, "allow_multiple_allocations")),
    *_fields("DRAConsumableCapacity", ResourceClaim, (*_RESULT, "consumed_capacity")),
    *_of_requests("DRAConsumableCapacity", "capacity"),
    *_fields(
        "DRADeviceBindingConditions",
        ResourceSlice,
        (*_DEVICE, "binds_to_node"),
        (*_DEVICE, "binding_conditions"),
        (*_DEVICE, "binding_failure_conditions"),
    ),
    *_fields(
        "DRADeviceBindingConditions",
        ResourceClaim,
        (*_RESULT, "binding_conditions"),
        (*_RESULT, "binding_failure_conditions"),
    ),
)
"""What counts only with a gate.

Rule: kube-scheduler v1.33 to v1.37. The gates of devices are alpha before v1.36, where upstream has other code for
them; without them the fields are not read.
"""


def without_ignored_fields(release: Release) -> Callable[[ObjectT], ObjectT] | None:
    """What makes an object one that the version reads; None where it reads everything."""
    paths: dict[type[KubeObject], list[tuple[str, ...]]] = {}
    for field in IGNORED_FIELDS:
        if not release.has(field.gate):
            paths.setdefault(field.kind, []).append(field.path)
    if not paths:
        return None

    def read(one: ObjectT) -> ObjectT:
        for path in paths.get(type(one), ()):
            one = _cleared(one, path)
        return one

    return read


def ignored_fields(release: Release, objects: Iterable[KubeObject]) -> dict[IgnoredField, int]:
    """The fields that some objects have and the version does not read, and how many objects have each."""
    off = [field for field in IGNORED_FIELDS if not release.has(field.gate)]
    if not off:
        return {}
    found = Counter(
        field for one in objects for field in off if type(one) is field.kind and _cleared(one, field.path) is not one
    )
    return {field: found[field] for field in off if found[field]}


def _spelled(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def _cleared(value: T, path: tuple[str, ...]) -> T:
    """The value without what is at a path; the value itself where nothing is."""
    name, *rest = path
    inner: Any = getattr(value, name)
    if not inner:
        return value
    if not rest:
        return msgspec.structs.replace(value, **{name: getattr(type(value)(), name)})
    if rest[0] == _EACH:
        changed: Any = tuple(_cleared(entry, tuple(rest[1:])) for entry in inner)
        is_same = all(entry is before for entry, before in zip(changed, inner, strict=True))
    else:
        changed = _cleared(inner, tuple(rest))
        is_same = changed is inner
    return value if is_same else msgspec.structs.replace(value, **{name: changed})
